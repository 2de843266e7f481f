"""A student's side of the playground: runs in a worker of the browser that has no other use.

`assets/playground_worker.js` calls `handle`; `referee` is the other side. Nothing here is trusted:
the referee checks each answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import product
from typing import Any, Final, cast

from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError, headline
from connect4.games.base import Game
from connect4.isolation import protocol
from connect4.isolation.seat import InProcessSeat
from connect4.players.base import Agent, Method, Outcome, Setup, source_text
from connect4.players.student import StudentAgent
from connect4.views.words import ON_A_COPY

NOT_THERE: Final = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core")
"""Modules of the browser's Python; a student's machine has none of them."""

METHODS: Final[tuple[Method, ...]] = ("expectimax", "intelligent")

LINE: Final = re.compile(r'ai\.py", line (\d+)')

LACKED: Final = re.compile("module '(signal|resource|os|time)' has no attribute")

ONLY_HERE: Final = "; only the browser's Python lacks it: run check on a machine"

_loaded: list[tuple[Agent, Game]] = []


def handle(kind: str, text: str, say: Callable[[str], object]) -> str:
    """Return the answer to a request; both are JSON. `say` receives a line of progress."""
    request = json.loads(text)
    if kind == "turn":
        agent, game = _loaded[0]
        answer = protocol.answer(agent, game, request)
        lines = [protocol.line_of(answer)]
        if protocol.THOUGHT in answer:
            protocol.say_thought(lines.append, agent)
        return b"".join(lines).decode()
    setup = protocol.read_setup(request["setup"])
    if kind == "check":
        return json.dumps(list(_findings(setup, request, say)))
    _confine()
    protocol.draw_from(setup.derived_seed())
    said: list[bytes] = []
    loaded = protocol.load(said.append, setup, None)
    if loaded is None:
        return said[0].decode()
    if kind == "explain":
        state = setup.game.from_json(request["state"])
        return json.dumps(cast(StudentAgent, loaded).call("explain", state))
    _loaded.append((loaded, setup.game))
    return json.dumps({protocol.READY: True})


def _confine() -> None:
    """Let the file import what it may import when it is graded."""
    import sys

    protocol.confine(("connect4", *ALLOWED_MODULES), ALLOWED_MODULES)
    for name in NOT_THERE:
        sys.modules.pop(name, None)


def _findings(
    setup: Setup, request: dict[str, Any], say: Callable[[str], object]
) -> Iterator[dict[str, Any]]:
    """Yield what `check` finds: first the rules of form, then what comes of a few moves."""
    from types import SimpleNamespace

    from grader.handin.form import Finding, source_findings

    assert setup.source is not None
    say("reading the file")
    try:
        source_text(setup.source)
        found = source_findings(setup.source, cast("Any", SimpleNamespace(**request["rules"])))
    except InputError as error:
        found = [Finding(1, "file", str(error))]
    yield from map(asdict, found)
    if any(finding.required for finding in found):
        return
    game = setup.game
    games = [(kind, list(map(game.from_json, states))) for kind, states in request["games"]]
    _confine()
    protocol.draw_from(setup.derived_seed())
    changed = ""
    for method, (kind, states) in product(METHODS, games):
        asked = replace(setup, method=method, player=states[0].mover)
        seat = InProcessSeat(asked, StudentAgent)
        for state in states:
            rows, columns = state.board().shape
            where = f"get_{method}_move on {rows} rows and {columns} columns{kind}"
            say(where)
            reply = seat.ask(state, setup.seconds)
            if reply.changed and not changed:
                changed = f"get_{method}_move changed {reply.changed}. {ON_A_COPY}"
                yield asdict(Finding(1, "smoke", changed, required=False))
            wrong = None
            if reply.outcome is not Outcome.PLAYED:
                wrong = headline(reply.detail or reply.outcome)
            elif reply.action not in state.legal_actions():
                wrong = f"{reply.text} is not a legal move"
            if wrong is not None:
                lines = LINE.findall(reply.detail or "")
                line = int(lines[-1]) if lines else 1
                if seat.load_failure is not None:
                    where = "the file cannot be loaded"
                lacks = LACKED.search(wrong) is not None
                text = f"{where}: {wrong}{ONLY_HERE if lacks else ''}"
                yield asdict(Finding(line, "smoke", text, required=not lacks))
                return

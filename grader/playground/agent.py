"""A student's side of the playground: runs in a worker of the browser that has no other use.

`assets/playground_worker.js` calls `handle`; `referee` is the other side. Nothing here is trusted:
the referee checks each answer.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any, Final, cast

from connect4.config import ALLOWED_MODULES
from connect4.errors import InputError, headline
from connect4.games.base import Game, Seconds, State
from connect4.isolation import protocol
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import InProcessSeat
from connect4.players.base import Agent, Outcome, Setup, source_text
from connect4.players.student import StudentAgent
from connect4.players.thoughts import WRONG
from connect4.referee import step
from connect4.views.words import ON_A_COPY
from grader.handin.form import Finding, source_findings
from grader.handin.positions import KEEPS_STATE, line_of, question

NOT_THERE: Final = ("js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core")
"""Modules of the browser's Python; a student's machine has none of them."""

OLDEST: Final = (3, 11)
"""The oldest Python of the kit; the browser's is newer."""

LACKED: Final = re.compile(
    "module '(signal|resource|os|time)' has no attribute|the Python standard library in the Pyodide"
)

ONLY_HERE: Final = "only the browser's Python lacks it: on a machine it is there"

NOBODY: Final = "input() and breakpoint() have nobody to ask: print what you want to see"

SLOW: Final = "a browser is about three times slower than a machine: run check there to know"

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
    if kind == "form":
        return json.dumps({"found": [asdict(one) for one in _form(setup, request["rules"])]})
    _confine()
    protocol.draw_from(setup.derived_seed())
    if kind == "moves":
        return json.dumps(_moves(setup, request, say))
    said: list[bytes] = []
    loaded = protocol.load(said.append, setup, note)
    if loaded is None:
        return said[0].decode()
    if kind == "explain":
        state = setup.game.from_json(request["state"])
        return json.dumps(cast(StudentAgent, loaded).call("explain", state))
    _loaded[:] = [(loaded, setup.game)]
    return json.dumps({protocol.READY: True})


def _confine() -> None:
    """Let the file import what it may import when it is graded."""
    if not isinstance(sys.meta_path[0], protocol.Imports):
        protocol.confine(("connect4", *ALLOWED_MODULES), ALLOWED_MODULES)
    for name in NOT_THERE:
        sys.modules.pop(name, None)


def note(error: BaseException) -> str | None:
    """Return a line for the author of a file about what a browser lacks, else None."""
    if isinstance(error, EOFError) or type(error).__name__ == "BdbQuit":
        return f"note: {NOBODY}"
    top = str(getattr(error, "name", "")).partition(".")[0]
    gone = isinstance(error, ModuleNotFoundError) and top in sys.stdlib_module_names
    return f"note: {ONLY_HERE}" if gone or LACKED.search(str(error)) else None


def _form(setup: Setup, rules: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings of form, and what the kit's oldest Python does not know."""
    assert setup.source is not None
    try:
        text = source_text(setup.source)
        found = source_findings(setup.source, cast("Any", SimpleNamespace(**rules)))
    except InputError as error:
        found, text = [Finding(1, "file", str(error))], ""
    yield from found
    if any(finding.rule in ("file", "syntax") for finding in found):
        return
    for line, what in _newer(text):
        advice = f"{what}; needs Python 3.12, and the kit runs from Python 3.11 on"
        yield Finding(line, "python", advice, required=False)


def _newer(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines that the browser's Python reads and the kit's oldest does not."""
    try:
        ast.parse(text, feature_version=OLDEST)
    except SyntaxError as error:
        yield error.lineno or 1, error.msg
    inside: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_END":
            inside.pop()
        elif name in ("STRING", "FSTRING_START"):
            quotes = token.string.lstrip("rRbBuUfF")
            if any(quotes.startswith(outer) for outer in inside):
                yield token.start[0], "an f-string has its own quotes inside"
            if name == "FSTRING_START":
                inside.append(quotes)


def _moves(setup: Setup, request: dict[str, Any], say: Callable[[str], object]) -> dict[str, Any]:
    """Return what comes of the moves of a method, as `check` asks for them.

    `seconds` is the smallest time at which it plays, None if there is none.
    """
    game, times = setup.game, request["times"]
    games = [(kind, list(map(game.from_json, states))) for kind, states in request["games"]]
    trial = Trial(setup, games, say)
    wrong: Finding | None = None
    for seconds in times:
        if trial.longest <= seconds or seconds == times[-1]:
            wrong = trial.ask(seconds)
            if wrong is None or not trial.loaded:
                break
    found = [asdict(one) for one in (wrong, trial.advice) if one is not None]
    return {"found": found, "seconds": None if wrong else seconds, "loaded": trial.loaded}


@dataclass
class Trial:
    """Asks a method of a file for moves; nothing ends one that takes too long."""

    setup: Setup
    games: list[tuple[str, list[State]]]
    say: Callable[[str], object]
    longest: Seconds = 0.0
    """What the longest answer took, of those that were late."""
    loaded: bool = True
    advice: Finding | None = None

    def ask(self, seconds: Seconds) -> Finding | None:
        """Return what is wrong with the answers of players who are told `seconds`, or None."""
        for kind, states in self.games:
            seat = None
            for number, state in enumerate(states, 1):
                seat = seat or self._player(seconds, state)
                where = question(self.setup.method or "intelligent", state, kind)
                self.say(where)
                where = where if number == 1 else f"{where}, move {number} of one player"
                found = self._ask(seat, state, seconds, where)
                if found is None:
                    continue
                new = None if number == 1 else self._player(seconds, state)
                if found.required and new and not self._ask(new, state, seconds, where):
                    found = replace(found, text=f"{found.text}; {KEEPS_STATE}")
                return found
        return None

    def _player(self, seconds: Seconds, state: State) -> InProcessSeat:
        setup = replace(self.setup, seconds=seconds, player=state.mover)
        return InProcessSeat(setup, lambda own: StudentAgent(own, note))

    def _ask(
        self, seat: InProcessSeat, state: State, seconds: Seconds, where: str
    ) -> Finding | None:
        """Return what is wrong with an answer, or None."""
        assert self.setup.source is not None
        name, source = where.split(maxsplit=1)[0], self.setup.source.decode("utf-8-sig")
        reply = seat.ask(state, None)
        detail = reply.detail or ""
        said = f"{name} changed {reply.changed}. {ON_A_COPY}" if reply.changed else ""
        if reply.outcome is Outcome.PLAYED and detail.startswith(WRONG):
            said = said or f"{name}: {detail}"
        if said and self.advice is None:
            self.advice = Finding(line_of(name, source), "smoke", said, required=False)
        over = reply.seconds - seconds
        turn, _ = step(1, state, reply)
        if turn.outcome is Outcome.PLAYED:
            if over <= Limits().margin_seconds:
                return None
            self.longest = max(self.longest, reply.seconds)
            text = (
                f"{where}: the answer came {over:.2f} s after its {seconds:g} s were over; {SLOW}"
            )
            return Finding(line_of(name, source), "smoke", text, required=False)
        wrong = headline(turn.detail or turn.outcome)
        if seat.load_failure is not None:
            self.loaded, where = False, "cannot be loaded"
        remark = next((one for one in (ONLY_HERE, NOBODY) if detail.endswith(f"note: {one}")), "")
        text = "; ".join(filter(None, [f"{where}: {wrong}", remark]))
        line = line_of(name, source, detail)
        return Finding(line, "smoke", text, required=remark != ONLY_HERE)

"""One move of each method on each board size, for `check`: does the file run at all?"""

from __future__ import annotations

import re
from contextlib import closing
from typing import Final

from connect4.errors import headline
from connect4.games import GAMES
from connect4.games.base import Seconds, State
from connect4.isolation.limits import Limits
from connect4.isolation.seat import Level, open_seat
from connect4.players.base import Method, Outcome, Reply, Setup
from grader.handin.form import Finding
from grader.play.one_game import OWN_FILE
from grader.rubric.model import Rubric, all_boards

SECONDS: Final[Seconds] = 0.1

METHODS: Final[tuple[Method, ...]] = ("expectimax", "intelligent")

LINE: Final = re.compile(r'ai\.py", line (\d+)')


def smoke_findings(source: str, rubric: Rubric, level: Level) -> list[Finding]:
    """Return the failures of a submission that is called for moves in a separate process."""
    sizes: dict[tuple[int, ...], State] = {}
    game = GAMES[rubric.match.game]
    for board in all_boards(rubric):
        state = game.from_json(board.start)
        sizes.setdefault(state.board().shape, state)
    limits = Limits(start_seconds=rubric.limits.startup)
    given = source.encode(), rubric.submission.allowed
    found: list[Finding] = []
    for method in METHODS:
        for (rows, columns), state in sorted(sizes.items(), key=lambda item: item[0]):
            setup = Setup(OWN_FILE, state.mover, game, SECONDS, 0, method, *given)
            with closing(open_seat(setup, level, limits)) as seat:
                if seat.load_failure is not None:
                    return [_finding(f"cannot be loaded: {headline(seat.load_failure)}", "")]
                reply = seat.ask(state, SECONDS)
            what = _problem(reply, state)
            if what is not None:
                where = f"get_{method}_move on {rows} rows and {columns} columns"
                late = reply.outcome is Outcome.TIMEOUT
                found.append(_finding(f"{where}: {what}", reply.detail or "", required=not late))
                break
    return found


def _problem(reply: Reply, state: State) -> str | None:
    """Return the error of a reply, in words."""
    if reply.outcome is Outcome.TIMEOUT:
        return (
            f"no answer within {SECONDS:g} s, though that was its time limit; does it keep to the "
            "limit that its constructor is given?"
        )
    if reply.outcome is not Outcome.PLAYED:
        return headline(reply.detail or reply.outcome)
    return None if reply.action in state.legal_actions() else f"{reply.text} is not a legal move"


def _finding(text: str, detail: str, required: bool = True) -> Finding:
    lines = LINE.findall(detail)
    return Finding(int(lines[-1]) if lines else 1, "smoke", text, required)

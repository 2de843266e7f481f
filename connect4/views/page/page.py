"""The replay page: `python3 -m connect4.views.page RECORD... -o game.html`.

One HTML file that shows one game or several. The boards are computed here by replaying the record
and go into the page as differences, so that the page knows no rules and shows every game.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from connect4 import record as records
from connect4.cli import Parser
from connect4.errors import InputError
from connect4.games.base import Player, State
from connect4.record import Record
from connect4.referee import Turn
from connect4.views import document
from connect4.views.board_data import Board, changed_cells, shape_data
from connect4.views.words import ENDINGS

MAX_DETAILS: Final = 40_000
"""Characters of tracebacks and reasons in one game's data; what comes later is cut short."""

CUT_DETAIL: Final = 200

MAX_LINE: Final = 12
"""Moves of a line that are shown."""


def page(games: Sequence[Record]) -> str:
    """Return the page that shows `games`, finished and checked records, as one HTML document.

    Raises `InputError` where there are none.
    """
    if not games:
        raise InputError("a page needs at least one record")
    titles = [
        f"{record.game.title}: {' against '.join(player.agent for player in record.players)}"
        for record in games
    ]
    title = titles[0] if len(titles) == 1 else f"{len(titles)} games"
    data = {"games": [game_data(record) for record in games]}
    return document.build(title, ("base", "board", "chart", "advice", "page"), data)


def game_data(record: Record) -> dict[str, Any]:
    """Return what the page shows of one record, as plain values."""
    assert record.result is not None, "a page shows games that have ended"
    states = list(records.replay(record))
    details: dict[str, int] = {}
    turns = [
        turn_data(turn, before, after, details)
        for turn, (before, after) in zip(record.turns, pairwise(states), strict=True)
    ]
    return {
        **shape_data(record.start),
        "title": record.game.title,
        "names": [player.agent for player in record.players],
        "facts": facts(record),
        "limit": record.time_limit,
        "start": "".join(map(str, record.start.board().ravel().tolist())),
        "scores": list(record.start.scores()),
        "left": record.start.pop_outs_left,
        "turns": turns,
        "details": shortened(list(details)),
        "scores_end": list(record.result.scores),
        "result": result_text(record),
        "why": record.result.detail,
        "line": winning_line(record, states),
        "analysis": analysis_data(record),
    }


def facts(record: Record) -> list[str]:
    """Return what a reader should know of how the game was played."""
    rows, columns = record.start.board().shape
    found = [f"{rows}×{columns}", f"{record.time_limit:g} s a move", f"seed {record.seed}"]
    if record.game.sides is not None:
        (one, two), symbols = record.game.sides, record.start.symbols
        found.append(f"player 1 is {one} ({symbols[0]}), player 2 {two} ({symbols[1]})")
    found += [
        f"player {number}: {player.asked} move"
        for number, player in enumerate(record.players, 1)
        if player.asked
    ]
    return found


def turn_data(turn: Turn, before: State, after: State, details: dict[str, int]) -> list[Any]:
    """Return `[player, text, outcome, seconds, scores, popouts left, changed cells, detail]`.

    `details` collects the distinct texts; a turn holds the number of its own, or None.
    """
    detail = turn.detail or None
    if detail is not None and turn.text and turn.action is None:
        detail = f"{detail}\n(the answer: {turn.text})"
    return [
        turn.player,
        turn.text,
        turn.outcome.value,
        round(turn.seconds, 3),
        list(after.scores()),
        after.pop_outs_left,
        changed_cells(before.board(), after.board()),
        None if detail is None else details.setdefault(detail, len(details)),
    ]


def shortened(details: list[str]) -> list[str]:
    """Return the details with the last line of those that no longer fit."""
    kept = []
    room = MAX_DETAILS
    for detail in details:
        room -= len(detail)
        kept.append(detail if room >= 0 else detail.rstrip().rpartition("\n")[2][:CUT_DETAIL])
    return kept


def result_text(record: Record) -> str:
    """Say who won and why the game ended."""
    assert record.result is not None
    one, two = record.result.scores
    winner = record.result.winner
    who = f"Player {winner} wins" if winner else "Nobody wins"
    return f"{who}, {one}:{two} ({ENDINGS[record.result.ending]})."


def winning_line(record: Record, states: list[State]) -> list[int] | None:
    """Return the cells of the longest line through the last move of a game that a line ended."""
    if record.result is None or record.result.ending != "line" or len(states) < 2:
        return None
    board = states[-1].board()
    winner: Player = 1 if record.result.winner == 1 else 2
    changed = changed_cells(states[-2].board(), board)
    lines = [
        line_through(board, cell, winner, direction)
        for cell, value in zip(changed[::2], changed[1::2], strict=True)
        if value == winner
        for direction in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    return max(lines, key=len, default=None)


def line_through(board: Board, cell: int, player: Player, direction: tuple[int, int]) -> list[int]:
    """Return the cells of `player`'s run through `cell`, from one end to the other."""
    rows, columns = board.shape
    run = [cell]
    for sign in (-1, 1):
        row, column = divmod(cell, columns)
        while True:
            row, column = row + sign * direction[0], column + sign * direction[1]
            inside = 0 <= row < rows and 0 <= column < columns
            if not inside or board[row, column] != player:
                break
            run.insert(0 if sign < 0 else len(run), row * columns + column)
    return run


def analysis_data(record: Record) -> dict[str, Any] | None:
    """Return what the analysis added to the record, None where there is nothing.

    A turn is `[before, after, loss, line]`, the line beginning with the better move. Raises
    `InputError` where the record's `analysis` is not of that form.
    """
    found = record.extra.get("analysis")
    if found is None:
        return None
    try:
        turns = [
            [*(finite(turn[key]) for key in ("before", "after", "loss")), words(turn["line"])]
            for turn in found["turns"]
        ]
        if len(turns) != len(record.turns):
            raise ValueError(f"{len(turns)} turns, the game has {len(record.turns)}")
        worst = [int(number) for numbers in found["worst"] for number in numbers]
        if not all(0 < number <= len(turns) and turns[number - 1][3] for number in worst):
            raise ValueError("a worst move is none of the turns that have a better one")
        unit, agent, seconds = str(found["unit"]), str(found["agent"]), finite(found["seconds"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the record's analysis cannot be read: {error!r}") from None
    source = f"Found by {agent}, {seconds:g} s for each search. The cost is in {unit}."
    return {"turns": turns, "worst": worst, "unit": unit, "source": source}


def finite(value: Any) -> float:
    """Return a number; raises `ValueError` where a page could not draw it."""
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{value!r} is no number to draw")
    return number


def words(line: Any) -> list[str]:
    """Return a line of moves as they are typed, shortened where it is long."""
    if not isinstance(line, list):
        raise ValueError(f"{line!r:.60} is no line of moves")
    return [str(move)[:8] for move in line[:MAX_LINE]]


def read_all(paths: Sequence[Path]) -> list[Record]:
    """Read the records; raises `InputError` that names the file."""
    return [records.read(path) for path in paths]


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.views.page",
        description="Make one HTML file that replays recorded games in any browser.",
        epilog="example: python3 -m connect4.views.page game.json -o game.html",
        allow_abbrev=False,
    )
    parser.add_argument("records", metavar="RECORD", nargs="+", type=Path, help="a game's record")
    parser.add_argument("-o", metavar="FILE", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args(argv)
    try:
        text = page(read_all(arguments.records))
        document.write(text, arguments.o)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    count = len(arguments.records)
    size = f"{len(text.encode()) / 1000:.0f} kB"
    print(f"{arguments.o}: {count} game{'s' if count > 1 else ''}, {size}")
    return 0

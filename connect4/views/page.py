"""The replay page, and the data of a game for it; also `python3 -m connect4.views.page`.

It is one HTML file that shows one or more games. The boards are computed here by replaying the
record and stored in the page as differences. The page needs no rules and can show every game.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from connect4 import record as records
from connect4 import safe
from connect4.cli import Parser, fail
from connect4.errors import IllegalAction, InputError, headline
from connect4.games.base import Ending, Game, State
from connect4.isolation.seat import level_named, level_of
from connect4.players.base import Turn
from connect4.record import MAX_SECONDS, Record
from connect4.views.board import RunTable, changed_cells, shape_data
from connect4.views.document import Page
from connect4.views.words import ENDINGS, changed_text, skipped_text, whole_reason

PARTS: Final = ("base", "theme", "runs", "board", "chart", "advice", "thought", "page")
"""The assets of the page."""

MAX_DETAILS: Final = 40_000
"""The maximum length of the details in one game's data; later ones are shortened."""

CUT_DETAIL: Final = 200

MAX_LINE: Final = 12
"""The maximum number of moves of a better line."""

MAX_MOVE: Final = 8
"""The characters of a move in it that are shown."""

MAX_SEARCHED: Final = 10_000
MAX_VALUE: Final = 1e9
"""Limits that no analysis reaches: plies, and the value of a position."""


def page(games: Sequence[Record]) -> str:
    """Return one HTML document that shows `games`, which are finished and checked records.

    Raises `InputError` if there are none.
    """
    if not games:
        raise InputError("a page needs at least one record")
    titles = [
        f"{record.game.title}: {' against '.join(player.agent for player in record.players)}"
        for record in games
    ]
    title = titles[0] if len(titles) == 1 else f"{len(titles)} games"
    data = {"games": [game_data(record) for record in games]}
    return Page(title, PARTS, data=data).alone()


def game_data(record: Record) -> dict[str, Any]:
    """Return the data of one record for the page, as plain values."""
    states = list(records.replay(record))
    details: dict[str, int] = {}
    runs = [state.runs() for state in states]
    table = RunTable(record.start)
    turns = [
        turn_data(turn, before, after, table.changes(*changed), details)
        for turn, (before, after), changed in zip(
            record.turns, pairwise(states), pairwise(runs), strict=True
        )
    ]
    result = record.result
    analysis = analysis_data(record, states, table)  # it adds runs to the table
    thoughts = [brief(turn.thought) for turn in record.turns]
    return {
        "turns": turns,
        "details": shortened(list(details)),
        "scores_end": list(states[-1].scores()),
        "result": result_text(record),
        "why": None if result is None else result.detail,
        "winner": 0 if result is None else result.winner,
        "runs": table.rows(),
        "first_runs": list(range(len(runs[0]))),
        "analysis": analysis,
        "thoughts": thoughts if any(thoughts) else [],
        **shape_data(record.start),
        "title": record.game.title,
        "names": [player.agent for player in record.players],
        "facts": facts(record),
        "limit": record.time_limit,
        "scores": list(record.start.scores()),
        "left": record.start.pop_outs_left,
        "counts_points": record.start.game.counts_points,
    }


def facts(record: Record) -> list[str]:
    """Return facts about the conditions of the game."""
    rows, columns = record.start.board().shape
    level = level_named(record.isolation)
    limit = f"{level.limit_text(record.time_limit)} per move"
    found = [f"{rows}×{columns}", limit, f"seed {record.seed}"]
    if record.game.sides is not None:
        (one, two), symbols = record.game.sides, record.start.symbols
        found.append(f"player 1 plays {symbols[0]} ({one} in the protocol)")
        found.append(f"player 2 {symbols[1]} ({two})")
    found += [
        f"player {number}: get_{player.asked}_move"
        for number, player in enumerate(record.players, 1)
        if player.asked
    ]
    if hints := [str(turn.number) for turn in record.turns if turn.hint]:
        found.append(f"hint in turn {', '.join(hints)}")
    if record.taken_back:
        found.append(f"{record.taken_back} turns taken back")
    return found


def turn_data(
    turn: Turn, before: State, after: State, changes: list[list[int]], details: dict[str, int]
) -> list[Any]:
    """Return `[player, text, outcome, seconds, scores, popouts left, cells, runs, detail]`.

    `cells` are the changed cells, `runs` the changes of `RunTable`. `details` collects the distinct
    texts; `detail` is an index into it, or None.
    """
    changed = changed_text("The agent", [replace(turn, number=0)])
    detail = "\n".join(filter(None, (whole_reason(turn), changed)))
    return [
        turn.player,
        turn.text,
        turn.outcome.value,
        round(level_of(turn).seconds_of(turn), 3),
        list(after.scores()),
        after.pop_outs_left,
        changed_cells(before.board(), after.board()),
        changes,
        details.setdefault(detail, len(details)) if detail else None,
    ]


def brief(value: Any) -> Any:
    """Return a thought with a shorter line, and one decimal; of shares, such as 0.58, two."""
    if isinstance(value, dict):
        return {key: brief(each) for key, each in value.items()}
    if isinstance(value, float):
        return round(value, 1 if abs(value) > 1 else 2)
    return value[:MAX_LINE] if isinstance(value, list) else value


def shortened(details: list[str]) -> list[str]:
    """Return the details; beyond the limit, keep only the line that names the cause."""
    kept = []
    room = MAX_DETAILS
    for detail in details:
        room -= len(detail)
        kept.append(detail if room >= 0 else headline(detail)[:CUT_DETAIL])
    return kept


def result_text(record: Record) -> str:
    """Return who won, by which points, why it ended; an empty text while the game is played."""
    if record.result is None:
        return ""
    winner = record.result.winner
    who = f"Player {winner} wins" if winner else "Nobody wins"
    score = ", {}:{}".format(*record.result.scores) if record.start.game.counts_points else ""
    if record.result.ending is Ending.ABORTED:
        return f"Stopped{score}."
    return f"{who}{score} ({ENDINGS[record.result.ending]})."


def analysis_data(
    record: Record, states: Sequence[State], table: RunTable
) -> dict[str, Any] | None:
    """Return the data of the record's analysis, None if there is none.

    A turn is `[before, after, loss, line, moves, proven, slower]`, None if it was not analysed: the
    line begins with the better move, and `moves` holds what `line_turns` returns for it. The runs
    of these moves are added to `table`.
    Raises `InputError` if the record's `analysis` has another form.
    """
    found = record.extra.get("analysis")
    if found is None:
        return None
    try:
        analysis = safe.fields(found, "it")
        judged = safe.items(analysis["turns"], "turns", len(record.turns))
        if len(judged) != len(record.turns):
            raise InputError(f"{len(judged)} turns, the game has {len(record.turns)}")
        turns = [
            None if turn is None else judged_turn(turn, record.game, state, table)
            for turn, state in zip(judged, states, strict=False)
        ]
        worst = worst_turns(analysis["worst"], turns)
        unit, agent = (safe.text(analysis[key], key) for key in ("unit", "agent"))
        seconds = safe.number(analysis["seconds"], "seconds", MAX_SECONDS)
    except KeyError as error:
        raise InputError(f"the record's analysis cannot be read: no {error}") from None
    except InputError as error:
        raise InputError(f"the record's analysis cannot be read: {error}") from None
    cost = "The cost" if unit == "points" else "A cost in figures"
    source = f"Analysed by the kit's agent {agent}, {seconds:g} s per search. {cost} is in {unit}."
    if left_out := skipped_text(turns, agent):
        source = f"{source} {left_out}"
    return {"turns": turns, "worst": worst, "unit": unit, "source": source}


def judged_turn(value: Any, game: Game, state: State, table: RunTable) -> list[Any]:
    """Return what an analysis says of a turn; raises `KeyError` or `InputError`."""
    turn = safe.fields(value, "a turn")
    line = [
        safe.text(move, "a move")[:MAX_MOVE]
        for move in safe.items(turn["line"], "line", MAX_SEARCHED)[:MAX_LINE]
    ]
    return [
        *(safe.number(turn[key], key, MAX_VALUE, -MAX_VALUE) for key in ("before", "after")),
        safe.number(turn["loss"], "loss", MAX_VALUE),
        line,
        line_turns(game, state, line, table),
        safe.flag(turn["proven"], "proven"),
        safe.whole(turn["slower"], "slower", MAX_SEARCHED),
    ]


def worst_turns(value: Any, turns: Sequence[list[Any] | None]) -> list[int]:
    """Return the costliest turns of both sides; raises `InputError`."""
    found = []
    for side in safe.items(value, "worst", 2):
        for number in safe.items(side, "worst", len(turns)):
            turn = turns[safe.whole(number, "a worst turn", len(turns), 1) - 1]
            if turn is None or not turn[3]:
                raise InputError(f"turn {number} is among the worst and has no better move")
            found.append(number)
    return found


def line_turns(game: Game, state: State, line: Sequence[str], table: RunTable) -> list[list[Any]]:
    """Return `[scores, popouts left, cells, runs]` of each move of a line, as `turn_data` has them.

    The list ends before an illegal move.
    """
    turns = []
    for text in line:
        try:
            after = state.apply(game.parse_action(text)) if state.legal_actions() else state.skip()
        except IllegalAction:
            break
        cells = changed_cells(state.board(), after.board())
        runs = table.changes(state.runs(), after.runs())
        turns.append([list(after.scores()), after.pop_outs_left, cells, runs])
        state = after
    return turns


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = Parser(
        prog="python3 -m connect4.views.page",
        description="Make one HTML file that replays recorded games in any browser.",
        epilog="example: python3 -m connect4.views.page game.json -o game.html",
    )
    parser.add_argument("records", metavar="RECORD", nargs="+", type=Path, help="a game's record")
    parser.add_argument("-o", metavar="FILE", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args(argv)
    try:
        text = page([records.read(path) for path in arguments.records])
        safe.write_text(arguments.o, text, "the page")
    except InputError as error:
        return fail(error)
    count = len(arguments.records)
    size = f"{len(text.encode()) / 1000:.0f} kB"
    print(f"{arguments.o}: {count} game{'s' if count > 1 else ''}, {size}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

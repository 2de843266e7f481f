"""The summary of a finished game: the agents' output, the scores, what to do next."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from connect4 import record as records
from connect4.errors import InputError, harmless
from connect4.games.base import SIDES, Ending, Player
from connect4.isolation.measuring import NO_PLAYER
from connect4.players.base import Outcome
from connect4.record import Record
from connect4.referee import Result, Turn
from connect4.table import TablePlan
from connect4.views.words import BUSY, ENDINGS, faults_text, not_loaded_report, repeat_command

SHOWN_LINES: Final = 20
"""The number of lines of an agent's output to print."""

WITHOUT_POINTS: Final = (Ending.LINE, Ending.FORFEIT, Ending.NOT_LOADED)
"""Endings in which the points do not determine the winner."""


def tell_log(heading: str, log: str) -> None:
    """Print the end of an agent's output."""
    lines = harmless(log).splitlines()
    cut = f" (the last {SHOWN_LINES} lines; --log FILE keeps all)"
    print(heading + (cut if len(lines) > SHOWN_LINES else ""))
    for line in lines[-SHOWN_LINES:]:
        print(f"  {line}")


def tell_result(record: Record) -> None:
    """Print the scores, why the game ended, who has won, and each side's faults."""
    assert record.result is not None
    names = [harmless(player.agent) for player in record.players]
    if record.result.ending is Ending.NOT_LOADED:
        print(not_loaded_report(record.result, names))
    for player, points in zip(SIDES, record.result.scores, strict=True):
        print(f"Player {player} Score: {points}")
    why = ENDINGS[record.result.ending].removesuffix(": a draw")  # the next line says it
    print(f"The game ended: {why}.")
    print(winner_text(record.result, names))
    for player in SIDES:
        faults = faults_of(record, player)
        if faults:
            print(f"Player {player} faults: {faults_text(faults)}")
    if any(turn.starved and turn.outcome is Outcome.TIMEOUT for turn in record.turns):
        print(BUSY)


def winner_text(result: Result, names: Sequence[str]) -> str:
    """Return who won, and by how much if points decide; the percentage is that of part A."""
    if not result.winner:
        return "No winner." if result.ending.undecided else "A draw."
    margin = abs(result.scores[0] - result.scores[1])
    percent = 100 * margin / max(min(result.scores), 1)
    by = f", by {margin} point{'' if margin == 1 else 's'} ({percent:.1f} %)"
    who = f"Winner: player {result.winner} ({names[result.winner - 1]})"
    return f"{who}{'' if result.ending in WITHOUT_POINTS else by}."


def faults_of(record: Record, player: Player) -> list[Turn]:
    """Return the lost turns of a side."""
    return [turn for turn in record.turns if turn.player == player and turn.is_lost]


def agents_faults(record: Record) -> list[Turn]:
    """Return the first lost turn of each side that is a program."""
    return [
        turn
        for player in SIDES
        if record.players[player - 1].agent != "human"
        for turn in faults_of(record, player)[:1]
    ]


def tell_what_next(record: Record, record_name: str) -> None:
    """Print the command that replays the first lost turn of each side that is a program."""
    for turn in agents_faults(record):
        why = f"To see why player {turn.player} lost turn {turn.number}, play it once more:"
        print(f"{why} {repeat_command(record_name, turn)}")
        tell_debug(turn.detail)
        if may_be_kept(record, turn):
            print("That asks a fresh player. --lifetime move makes one for each turn of a game.")


def may_be_kept(record: Record, turn: Turn) -> bool:
    """Return whether state from earlier turns may explain a lost turn."""
    earlier = record.turns[: turn.number - 1]
    return (
        turn.outcome in (Outcome.INVALID, Outcome.ERROR)
        and not (turn.detail or "").startswith(NO_PLAYER)
        and record.lifetime == "game"
        and record.players[turn.player - 1].asked is not None
        and any(other.player == turn.player for other in earlier)
    )


def tell_debug(detail: str | None) -> None:
    """If an agent asked for a terminal, print how it gets one."""
    if any(word in (detail or "") for word in ("bdb.BdbQuit", "EOFError")):
        print("breakpoint() and input() need a terminal: add --debug to that command.")


def tell_average(one: str, two: str, results: Sequence[Result]) -> None:
    """Print the mean scores of two agents over both sides."""
    (first_one, first_two), (second_two, second_one) = (result.scores for result in results)
    mean_one, mean_two = (first_one + second_one) / 2, (first_two + second_two) / 2
    margin = mean_one - mean_two
    print(f"Average over both sides: {one} {mean_one:g}, {two} {mean_two:g}, margin {margin:+g}")


def keep(
    record: Record, logs: Sequence[str], plan: TablePlan, log: Path | None, named: Path | None
) -> None:
    """Print the summary of a finished game; write its logs to `log`, and its record.

    The record is written if a file is `named` for it, or if a program lost a turn.
    """
    faulty = bool(agents_faults(record))
    printed = [
        (f"Player {player} ({agent.text}) printed:", text)
        for player, (agent, text) in enumerate(zip(plan.agents, logs, strict=True), 1)
        if text
    ]
    if not log:
        for heading, text in printed:
            tell_log(heading, text)
    tell_result(record)
    sys.stdout.flush()
    if log:
        for heading, text in printed:
            keep_log(heading, text, log)
    if named or faulty:
        try:
            records.write(record, Path(plan.record_name))
        except InputError as error:
            if named:
                raise
            print(f"note: {error}; --record FILE puts it elsewhere", file=sys.stderr)
            return
    tell_what_next(record, plan.record_name)
    if faulty and not named:
        print(f"The game's record is in {plan.record_name}; --record FILE puts it elsewhere.")
    elif named and str(named) != plan.record_name:  # one of two games
        print(f"The game's record is in {plan.record_name}.")
    sys.stdout.flush()


def keep_log(heading: str, log: str, place: Path | None) -> None:
    """Write an agent's output to the file of `--log`, or show the end of it."""
    if place is None:
        tell_log(heading, log)
    else:
        write_text(place, f"{heading}\n{harmless(log)}\n")


def write_text(place: Path, text: str) -> None:
    """Append to a text file, or truncate it if the text is empty; raises `InputError`."""
    try:
        with place.open("a" if text else "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None

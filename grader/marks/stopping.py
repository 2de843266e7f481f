"""Ends a match once the interval of its points is narrow enough: `[match] stop`.

A match is checked after each round, which is one pair of games on every board. Rounds are checked
in the order of the schedule, so the result does not depend on which game ends first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grader.marks.earned import earned
from grader.marks.intervals import first_look
from grader.marks.tally import Tally, by_match, tally
from grader.play.schedule import Match, PlannedGame
from grader.results.store import PlayedGame
from grader.rubric.model import Rubric


def counted(
    games: Iterable[PlannedGame], played: Mapping[str, PlayedGame], rubric: Rubric
) -> list[PlannedGame]:
    """Return the games that count: of a match that ended early, only those until its end."""
    games = list(games)
    if rubric.match.stop is None:
        return games
    rounds = {
        match: rounds_needed(match, listed, played, rubric)
        for match, listed in by_match(games).items()
    }
    return [game for game in games if game.repeat < rounds[game.match]]


def rounds_needed(
    match: Match, games: Iterable[PlannedGame], played: Mapping[str, PlayedGame], rubric: Rubric
) -> int:
    """Return the number of rounds after which a match ends, judged by the games so far.

    A match that has not ended early has all its rounds.
    """
    by_round: dict[int, list[PlannedGame]] = {}
    for game in games:
        by_round.setdefault(game.repeat, []).append(game)
    so_far: list[PlannedGame] = []
    for number, listed in by_round.items():
        so_far += listed
        if any(game.key not in played for game in listed):
            break
        pairs = len(so_far) // 2
        if pairs >= first_look(rubric.statistics) and _is_known(match, so_far, played, rubric):
            return number + 1
    return len(by_round)


def _is_known(
    match: Match, games: Iterable[PlannedGame], played: Mapping[str, PlayedGame], rubric: Rubric
) -> bool:
    """Return whether the interval of a match's points is narrower than `[match] stop`."""
    total: Tally = tally(games, played)
    bounds = earned(match, total, rubric).bounds
    stop = rubric.match.stop
    return stop is not None and bounds is not None and bounds[1] - bounds[0] < stop

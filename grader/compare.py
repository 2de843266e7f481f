"""Is a new agent better than an old one? Pairs of games on varied openings until that is clear."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from connect4.errors import BadInput
from connect4.games.extended import EXTENDED
from grader.grading import Tally
from grader.rubric import Board, Rubric, make_board
from grader.run import Result
from grader.schedule import SIDES, Contestant, Game, Match, seed_of
from grader.statistics import Interval, Verdict, verdict
from grader.store import Faults, Played

COMPARE: Final = "compare"


def opening(board: Board, plies: int, seed: int) -> Board:
    """Return the board after `plies` random moves, fewer where the game would be over."""
    rng = random.Random(seed)
    state = EXTENDED.from_json(board.start)
    for _ in range(plies):
        after = state.apply(rng.choice(state.legal_actions()))
        if after.is_over():
            break
        state = after
    return make_board(f"{board.name} opening {seed}", state.to_json())


def pairs(new: Contestant, old: Contestant, rubric: Rubric, games: int) -> Iterator[list[Game]]:
    """Yield the pairs of games of a comparison, at most `games` games; boards take turns."""
    rules = rubric.compare
    match = Match(COMPARE, new, old)
    for number in range(games // 2):
        board = rules.boards[number % len(rules.boards)]
        seed = seed_of(rubric.match.playing_seed, COMPARE, number)
        start = opening(board, rules.opening_plies, seed)
        yield [
            Game(match, start, number, side, seed, rubric.match.time_limit, rubric.limits)
            for side in SIDES
        ]


def played_of(result: Result) -> Played:
    """Return a fresh result as one that was stored."""
    one, two = (Faults(*side) for side in result["faults"])
    scores = result["scores"][0], result["scores"][1]
    return Played(
        result["key"], scores, result["ending"], result["turns"], (one, two), result["seconds"]
    )


@dataclass(slots=True)
class Comparison:
    """Takes results in any order and judges them in the order of the schedule.

    So the verdict does not depend on which game ended first.
    """

    rubric: Rubric
    tally: Tally
    samples: list[float]
    waiting: dict[int, list[tuple[Game, Played]]]
    verdict: Verdict = "open"
    interval: Interval | None = None

    def add(self, game: Game, played: Played) -> None:
        """Count a game; once its pair and all earlier ones are there, judge."""
        self.waiting.setdefault(game.repeat, []).append((game, played))
        while self.verdict == "open" and len(self.waiting.get(len(self.samples), ())) == 2:
            both = self.waiting.pop(len(self.samples))
            before = self.tally.own - self.tally.other
            for item in both:
                self.tally.add(*item)
            self.samples.append((self.tally.own - self.tally.other - before) / 2)
            self.verdict, self.interval = verdict(self.samples, self.rubric.compare)


def begin(rubric: Rubric) -> Comparison:
    """Return a comparison without games."""
    return Comparison(rubric, Tally(), [], {})


def shorter(rubric: Rubric, games: int | None) -> Rubric:
    """Return the rubric with another greatest number of games; raises `BadInput` below 2."""
    if games is None:
        return rubric
    if games < len(SIDES):
        raise BadInput(
            f"--games {games}: expected 2 or more; a pair of games is one from each side"
        )
    return replace(rubric, compare=replace(rubric.compare, max_games=games))


def conclusion(comparison: Comparison, names: Sequence[str]) -> str:
    """Return what a comparison came to, in one or two lines."""
    new, old = names
    words = {
        "better": f"{new} is better than {old}",
        "worse": f"{new} is worse than {old}",
        "equal": f"no difference between {new} and {old} that matters",
        "open": f"not clear yet whether {new} is better than {old}",
    }
    total = comparison.tally
    mean = total.mean_margin
    interval = comparison.interval
    percent = f"{1 - comparison.rubric.compare.error:.0%}"
    bounds = "no interval with so few games"
    if interval is not None and abs(interval.low) != float("inf"):
        bounds = f"{percent} interval {interval.low:+.1f} .. {interval.high:+.1f}"
    faults = {new: total.faults.total, old: total.other_faults.total}
    lost = "".join(f", lost turns of {name}: {turns}" for name, turns in faults.items() if turns)
    return (
        f"{words[comparison.verdict]}: mean margin {mean:+.2f} a game ({bounds})\n"
        f"{total.games} games: {total.wins} won, {total.draws} drawn, {total.losses} lost{lost}"
    )

"""The staged tournament: groups with all pairings, promotion, final; and unlikely margins in it.

The submissions, the rubric and the played games determine the state of a tournament. It is
computed again on each use, so a stopped tournament can simply continue.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.marks.tally import Tally, by_match, t_quantile, tally
from grader.play.schedule import Contestant, PlannedGame, group_games, seed_of, submitted
from grader.results import Faults, PlayedGame
from grader.rubric.model import Rubric, Stage

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Pair: TypeAlias = tuple[int, int, float]
"""Players one and two of a pair of games with sides swapped, and the mean margin of one."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a table; `total` has the games played so far."""

    contestant: Contestant
    rating: "Rating"
    total: Tally
    lot: int
    """The place in the draw, which decides between equals: the tie-break `name`."""
    place: int = 0
    """The place in its group; those who are equal in all but the draw share one."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a stage: its games and its current table."""

    name: str
    games: tuple[PlannedGame, ...]
    standings: tuple[Standing, ...]
    missing: int


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage that has begun; it is complete when no group has missing games."""

    stage: Stage
    groups: tuple[Group, ...]

    @property
    def complete(self) -> bool:
        return not any(group.missing for group in self.groups)


def stages(
    contestants: Sequence[Contestant], played: Mapping[str, PlayedGame], rubric: Rubric
) -> list[StageState]:
    """Return the stages begun so far; the last one may be incomplete.

    The first stage is drawn by lot from the rubric's seed, which also decides every tie that
    nothing else decides. Later stages are seeded in the order of promotion.
    """
    rules = rubric.tournament
    order = sorted(contestants, key=lambda item: item.id)
    random.Random(seed_of(rubric.match.playing_seed, "draw")).shuffle(order)
    lots = {contestant: place for place, contestant in enumerate(order)}
    begun: list[StageState] = []
    for stage in rules.stages:
        count, groups = group_count(len(order), stage), []
        for number, listed in enumerate(deal(order, count), 1):
            name = group_name(stage, number, count)
            games = tuple(group_games(name, listed, stage, rubric))
            table = tuple(standings(listed, games, played, rubric, lots))
            groups.append(Group(name, games, table, sum(one.key not in played for one in games)))
        begun.append(StageState(stage, tuple(groups)))
        if not begun[-1].complete:
            break
        order = [  # the winners of the groups first
            group.standings[place].contestant
            for place in range(stage.promote)
            for group in groups
            if place < len(group.standings)
        ]
    return begun


def group_count(contestants: int, stage: Stage) -> int:
    """Return the number of groups of a stage; no group has only one contestant."""
    if not stage.group_size:
        return 1
    return max(1, min(-(-contestants // stage.group_size), contestants // 2))


def group_name(stage: Stage, number: int, count: int) -> str:
    """Return the name of a group: one of the stage `groups` is `group 1`."""
    return stage.name if count == 1 else f"{stage.name.removesuffix('s')} {number}"


def deal(order: Sequence[Contestant], count: int) -> list[list[Contestant]]:
    """Deal contestants into `count` groups in alternating direction, for equal strength."""
    groups: list[list[Contestant]] = [[] for _ in range(count)]
    for place, contestant in enumerate(order):
        turn, column = divmod(place, count)
        groups[column if turn % 2 == 0 else count - 1 - column].append(contestant)
    return groups


def standings(
    contestants: Sequence[Contestant],
    games: Sequence[PlannedGame],
    played: Mapping[str, PlayedGame],
    rubric: Rubric,
    lots: Mapping[Contestant, int],
) -> list[Standing]:
    """Return the table of a group, the best first, ordered by the rubric's tie-breaks.

    `lots` are the places in the draw of the tournament.
    """
    index = {contestant: place for place, contestant in enumerate(contestants)}
    pairs: list[Pair] = []
    for match, listed in by_match(games).items():
        one, two = index[match.one], index[match.two]
        pairs += [(one, two, margin) for margin in tally(listed, played).pairs]
    totals = {contestant: Tally() for contestant in contestants}
    for game in games:
        if (result := played.get(game.key)) is not None:
            for side, contestant in enumerate(game.players):
                own, other = result.scores[side], result.scores[1 - side]
                lost = Faults() if game.board.hidden else result.faults[side]
                totals[contestant].count(own, other, lost)
    rated = ratings(len(contestants), pairs, rubric.tournament.ridge)
    table = [
        Standing(contestant, rating, totals[contestant], lots[contestant])
        for contestant, rating in zip(contestants, rated, strict=True)
    ]
    ordered = sorted(table, key=lambda standing: (_order(standing, rubric), standing.lot))
    tied = [_order(standing, rubric) for standing in ordered]
    return [
        replace(standing, place=tied.index(key) + 1)
        for standing, key in zip(ordered, tied, strict=True)
    ]


def _order(standing: Standing, rubric: Rubric) -> tuple[float, ...]:
    """Return the values that decide an order; between those who are equal in them, the lot does."""
    values: dict[str, float] = {
        "rating": -round(standing.rating.value, 9),
        "mean_margin": -standing.total.mean_margin,
        "wins": -standing.total.wins,
        "faults": standing.total.faults.total,
    }
    return tuple(values[key] for key in rubric.tournament.tie_breaks if key in values)


@dataclass(frozen=True, slots=True)
class Placing:
    """The place of a contestant, and its points."""

    place: int
    stage: str
    standing: Standing
    points: float


def placings(begun: Sequence[StageState], rubric: Rubric) -> list[Placing]:
    """Return all places: by the last stage reached, the place in its group, the numbers there.

    Tied contestants share the first of their places, and the points of all of them.
    """
    reached: dict[Contestant, tuple[str, Standing]] = {}
    for state in reversed(begun):
        ranked = [standing for group in state.groups for standing in group.standings]
        for standing in sorted(ranked, key=lambda one: (one.place, _order(one, rubric), one.lot)):
            reached.setdefault(standing.contestant, (state.stage.name, standing))
    ordered = reached.values()
    points = [*rubric.tournament.points, *[0.0] * len(ordered)]
    tied = [(stage, standing.place, _order(standing, rubric)) for stage, standing in ordered]
    shares: dict[tuple[object, ...], list[float]] = {}
    for key, value in zip(tied, points, strict=False):
        shares.setdefault(key, []).append(value)
    share = {key: sum(values) / len(values) for key, values in shares.items()}
    return [
        Placing(tied.index(key) + 1, stage, standing, share[key])
        for key, (stage, standing) in zip(tied, ordered, strict=True)
    ]


def later_games(begun: Sequence[StageState], rubric: Rubric) -> dict[str, list[PlannedGame]]:
    """Return the games of each stage not yet begun, with placeholders for promoted contestants.

    There are none before the first stage.
    """
    groups = [len(group.standings) for state in begun[-1:] for group in state.groups]
    found: dict[str, list[PlannedGame]] = {}
    left = rubric.tournament.stages[len(begun) - 1 :] if begun else ()
    for before, stage in pairwise(left):
        order = [
            submitted(f"{stage.name} {number}", f"{stage.name} {number}")
            for number in range(sum(min(before.promote, size) for size in groups))
        ]
        count = group_count(len(order), stage)
        dealt = deal(order, count)
        found[stage.name] = [
            game
            for number, group in enumerate(dealt, 1)
            for game in group_games(group_name(stage, number, count), group, stage, rubric)
        ]
        groups = [len(group) for group in dealt]
    return found


@dataclass(frozen=True, slots=True)
class Rating:
    """The strength of an agent: its margin against an average agent, with the standard error."""

    value: float
    error: float
    freedom: int
    """Degrees of freedom of the standard error."""


def ratings(count: int, pairs: Sequence[Pair], ridge: float) -> list[Rating]:
    """Rate agents `0..count-1` by the mean margins `(one, two, margin of one)` of their pairs.

    Least squares on margins, K. Massey, "Statistical models applied to the rating of sports
    teams" (1997): a margin is the difference of two ratings plus noise. `ridge` adds the squares
    of the ratings (A. Hoerl and R. Kennard, "Ridge regression", Technometrics 12, 1970). Agents
    that no chain of games connects then have ratings too, and few games give small ratings.
    """
    table = np.array(pairs, dtype=np.float64).reshape(-1, 3)
    one, two = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    margins = table[:, 2]
    normal, right = normal_equations(count, one, two, margins, np.ones(len(pairs)), ridge)
    values = np.linalg.solve(normal, right)
    residuals = margins - (values[one] - values[two])
    freedom = max(0, len(pairs) - count + 1)
    errors = np.full(count, math.nan)
    if freedom:
        noise = float(np.square(residuals).sum()) / freedom
        inverse = np.linalg.inv(normal)
        spread = inverse @ (normal - ridge * np.eye(count)) @ inverse
        errors = np.sqrt(noise * np.diag(spread))
    return [
        Rating(float(value), float(error), freedom)
        for value, error in zip(values, errors, strict=True)
    ]


def normal_equations(
    count: int, one: Ints, two: Ints, margins: Floats, weights: Floats, ridge: float = 0.0
) -> tuple[Floats, Floats]:
    """Return matrix and right side of a weighted least-squares fit of ratings to margins."""
    matrix = np.eye(count) * ridge
    for first, second in ((one, two), (two, one)):
        np.add.at(matrix, (first, first), weights)
        np.add.at(matrix, (first, second), -weights)
    pull = weights * margins
    right = np.bincount(one, pull, count) - np.bincount(two, pull, count)
    return matrix, right.astype(np.float64)


def pairings(pairs: Sequence[Pair]) -> tuple[Ints, Ints, Floats, Floats, float]:
    """Group pairs by pairing; the order of the two players does not matter.

    Return the players, number and mean margin of each pairing, and the sum of squared deviations
    of pairs from the mean of their pairing.
    """
    table = np.array(pairs, dtype=np.float64).reshape(-1, 3)
    one, two = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    margin = np.where(one < two, table[:, 2], -table[:, 2])
    low, high = np.minimum(one, two), np.maximum(one, two)
    size = int(high.max()) + 1 if len(high) else 1
    codes, place = np.unique(low * size + high, return_inverse=True)
    number = np.bincount(place, minlength=len(codes)).astype(np.float64)
    mean = np.bincount(place, margin, minlength=len(codes)) / np.maximum(number, 1)
    within = float(((margin - mean[place]) ** 2).sum())
    return codes // size, codes % size, number, mean, within


LEVEL: Final = 0.05
"""The probability that a class lists anybody although every margin follows from the ratings."""

LEAST_GAMES: Final = 4
"""Games between two players, from which on their pairing is tested."""

LEAST_EACH: Final = 20
"""Games that each of both has played."""

LEAST_FREEDOM: Final = 5


@dataclass(frozen=True, slots=True)
class Unlikely:
    """A pairing whose margin is far from what the ratings predict; margins are those of `one`."""

    one: int
    two: int
    games: int
    margin: float
    expected: float
    residual: float
    """In standard errors."""


def unlikely(pairs: Sequence[Pair], students: Collection[int]) -> list[Unlikely]:
    """Return the pairings of two of the `students` that do not fit, the farthest first.

    Friends may have thrown games there. The test is the one for an outlier in a regression: R. D.
    Cook and S. Weisberg, "Residuals and Influence in Regression" (1982), 2.2.2. It compares the
    mean margin of each pairing with what all other games predict for it, and its level holds for
    all pairings together. A pairing's mean varies by chance and by how two ways to play meet, so
    its weight grows with the number of its pairs up to a bound.
    """
    one, two, number, means, _ = pairings(pairs)
    players, places = np.unique(np.stack([one, two]), return_inverse=True)
    places = places.reshape(2, -1)
    rows = np.arange(len(one))
    design = np.zeros((len(one), len(players)))
    design[rows, places[0]], design[rows, places[1]] = 1.0, -1.0
    root = np.sqrt(number / (1 + number))
    scaled, target = design * root[:, None], means * root
    inverse = np.linalg.pinv(scaled)
    ratings = inverse @ target
    leverage = np.minimum(np.sum(scaled * inverse.T, axis=1), 1 - 1e-9)
    residuals = target - scaled @ ratings
    freedom = len(one) - round(float(leverage.sum())) - 1
    if freedom < LEAST_FREEDOM:
        return []
    own = residuals**2 / (1 - leverage)
    without = np.maximum((np.sum(residuals**2) - own) / freedom, 1e-9)
    scores = residuals / np.sqrt(without * (1 - leverage))
    games = 2 * np.bincount(places.ravel(), np.tile(number, 2))
    able = (games >= LEAST_EACH) & np.isin(players, list(students))
    tested = rows[(2 * number >= LEAST_GAMES) & able[places].all(axis=0)]
    bound = t_quantile(1 - LEVEL / 2 / max(1, len(tested)), freedom)
    expected = design @ ratings
    listed = [
        Unlikely(one[row], two[row], 2 * int(number[row]), means[row], expected[row], scores[row])
        for row in tested.tolist()
        if abs(scores[row]) > bound and leverage[row] < 1 - 1e-6
    ]
    return sorted(listed, key=lambda item: -abs(item.residual))

"""The ladder's ratings and its choice of pairs, on leagues whose true strengths are known."""

from dataclasses import dataclass

import numpy as np
import pytest

from grader.ladder.fit import FIRST_NOISE, LEAST_PAIRS, Fit, Pair, choose, is_open, widest_first
from grader.marks.tournament import ratings

LEVEL = 0.95
RUNGS = (0.0, 40.0, 150.0, 200.0)


def test_ratings_are_those_of_the_tournament_when_every_pairing_has_as_many_pairs() -> None:
    rng = np.random.default_rng(1)
    games = [(one, two, rng.normal(0, 50)) for one in range(6) for two in range(one)] * 2
    own = Fit(6, games, LEVEL).values
    theirs = np.array([rating.value for rating in ratings(6, games, 1e-9)])
    assert np.allclose(own, theirs - theirs[0], atol=1e-4)


def test_player_0_is_the_anchor_and_a_player_without_a_link_to_it_has_no_rating() -> None:
    fit = Fit(5, [(1, 0, 30.0), (2, 1, 10.0), (3, 4, 99.0)], LEVEL)
    assert np.allclose(fit.values[:3], [0, 30, 40])
    assert np.isnan(fit.values[3:]).all()
    assert [fit.is_rated(player) for player in range(5)] == [True, True, True, False, False]
    assert fit.interval(0).bounds == (0.0, 0.0)
    assert fit.interval(3).high == float("inf") or np.isnan(fit.interval(3).high)


def test_a_matchup_effect_is_told_from_chance() -> None:
    rng = np.random.default_rng(7)
    pairs: list[Pair] = []
    for one in range(12):
        for two in range(one):
            effect = rng.normal(0, 60)
            pairs += [(one, two, effect + float(rng.normal(0, 20))) for _ in range(4)]
    noise = Fit(12, pairs, LEVEL).noise
    assert noise.pair == pytest.approx(20**2, rel=0.2)
    assert noise.pairing == pytest.approx(60**2, rel=0.4)


def test_the_least_pairs_that_tell_chance_and_a_matchup_effect() -> None:
    once = Fit(2, [(1, 0, 10.0)], LEVEL).noise
    again = Fit(2, [(1, 0, 10.0), (1, 0, 20.0)], LEVEL).noise
    assert (once.pair, again.pair, again.freedom) == (FIRST_NOISE**2, 50.0, 1)
    circle = [(1, 0, 0.0), (1, 0, 0.0), (2, 0, 0.0), (2, 1, 90.0)]
    assert Fit(3, circle, LEVEL).noise.pairing > 1000
    assert Fit(3, circle[1:], LEVEL).noise.pairing == 0, "no pairing is repeated"


@dataclass(frozen=True)
class League:
    """One kind of simulated league; deviations and the width are in points."""

    versions: int = 12
    weeks: int = 3
    strength: float = 70.0
    noise: float = 50.0
    effect: float = 0.0
    width: float = 60.0


def simulate(league: League, seed: int) -> tuple[np.ndarray, Fit]:
    """Play a league; return the true ratings and the fit at its end."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(RUNGS[2], league.strength, league.versions)
    truth = np.concatenate([RUNGS, drawn])
    effects: dict[tuple[int, int], float] = {}
    pairs: list[Pair] = []
    fit = Fit(len(RUNGS), pairs, LEVEL)

    def play(one: int, two: int) -> None:
        low, high = min(one, two), max(one, two)
        if (low, high) not in effects:
            effects[low, high] = rng.normal(0, league.effect) if league.effect else 0.0
        margin = truth[low] - truth[high] + effects[low, high] + league.noise * rng.normal()
        pairs.append((low, high, float(margin)))

    for week in range(1, league.weeks + 1):
        count = len(RUNGS) + league.versions * week // league.weeks
        while True:
            fit = Fit(count, pairs, LEVEL)
            needing = widest_first(fit, range(1, count), league.width)
            chosen = choose(fit, needing, range(count), range(len(RUNGS)), 2)
            if not chosen:
                break
            for pair in chosen:
                play(*pair)
    return truth, fit


def coverage(league: League, leagues: int) -> float:
    """Return the share of intervals that hold the true rating."""
    held: list[bool] = []
    for seed in range(leagues):
        truth, fit = simulate(league, seed)
        intervals = [fit.interval(player) for player in range(1, fit.count)]
        held += [
            interval.low <= true <= interval.high
            for interval, true in zip(intervals, truth[1:], strict=True)
        ]
    return sum(held) / len(held)


@pytest.mark.slow
@pytest.mark.parametrize("league", [League(), League(effect=30.0, width=80.0)])
def test_intervals_hold_the_true_strength_in_95_of_100_cases(league: League) -> None:
    share = coverage(league, 25)
    assert 0.88 <= share <= 0.99, "of 25 leagues"


def known_league() -> Fit:
    """Return a league of two rungs, 0 and 1, and players at 0, 50, 100, 150, known equally well."""
    strengths = [0.0, 100.0, 0.0, 50.0, 100.0, 150.0, 100.0]
    rng = np.random.default_rng(8)
    pairs = [
        (one, two, strengths[one] - strengths[two] + float(rng.normal(0, 30)))
        for one in range(6)
        for two in range(one)
        for _ in range(4)
    ]
    return Fit(7, [*pairs, (6, 4, 20.0)], LEVEL)


def test_a_new_version_plays_every_rung_first() -> None:
    fit = Fit(6, [(1, 0, 40.0)], LEVEL)
    chosen = choose(fit, [4, 5], range(6), [0, 1], 2)
    assert chosen == [(4, 0), (4, 1), (5, 0), (5, 1)]


def test_a_version_plays_opponents_near_its_rating_that_it_has_not_played() -> None:
    fit = known_league()
    (chosen,) = choose(fit, [6], range(7), [0, 1], 2)
    assert chosen[1] == 1
    far = choose(fit, [6], [0, 2, 5], [0, 1], 2)
    assert far[0][1] == 5


def test_a_pair_that_would_tell_next_to_nothing_is_not_played() -> None:
    rng = np.random.default_rng(9)
    pairs = [(1, 0, float(rng.normal(0, 30))) for _ in range(1000)]
    fit = Fit(2, pairs, LEVEL)
    assert is_open(fit, 1, 0.1)
    assert choose(fit, [1], [0, 1], [0, 1], 2) == []


def test_a_round_fills_the_slots_with_different_opponents_and_has_no_pairing_twice() -> None:
    fit = known_league()
    chosen = choose(fit, [6], range(7), [0, 1], 8)
    assert len({opponent for _, opponent in chosen}) == len(chosen) == 4
    both = choose(fit, [6, 5], [5, 6], [0, 1], 2)
    assert both == [(6, 5)]


def test_an_opponent_with_which_games_fail_is_not_chosen() -> None:
    fit = known_league()
    (chosen,) = choose(fit, [6], range(7), [0, 1], 2, {6: {1, 4}})
    assert chosen[1] not in (1, 4)


def test_a_player_is_open_until_its_interval_is_narrow_and_it_has_played_enough() -> None:
    fit = known_league()
    assert is_open(fit, 6, 1000.0), "one pair"
    assert fit.pairs[3] >= LEAST_PAIRS
    assert not is_open(fit, 3, 1000.0)
    assert is_open(fit, 3, 1.0)
    assert widest_first(fit, range(1, 7), 1.0)[0] == 6

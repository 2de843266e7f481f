"""Intervals cover, the sequential test keeps its promise, ratings recover strengths."""

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.intervals import coverage
from grader.handin import Person, Submission
from grader.handin.roster import assign
from grader.marks import Mark, mark_match
from grader.marks.tally import Tally, by_match, mean_interval, t_quantile, verdict
from grader.marks.tournament import ratings
from grader.output.explain import explained, gradescope
from grader.output.results import GRADE, Results
from grader.output.tables import grades_csv, margins, text_table
from grader.play.schedule import PlannedGame, grade_games, submitted
from grader.results import Faults, PlayedGame
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

RUBRIC = rubrics.read()


@pytest.mark.parametrize("pairs", [2, 3, 10])
def test_intervals_hold_the_mean_of_normal_margins_as_often_as_they_promise(pairs: int) -> None:
    assert 0.93 <= coverage("normal", pairs, 3000, RUBRIC.statistics) <= 0.97


@pytest.mark.parametrize("shape", ["skewed (exponential)", "two peaks, 50 to 50"])
def test_intervals_of_ten_pairs_hold_the_mean_of_other_margins_too(shape: str) -> None:
    assert coverage(shape, 10, 3000, RUBRIC.statistics) >= 0.93


def test_the_rubrics_confidence_is_that_of_every_interval() -> None:
    rules = replace(RUBRIC.statistics, confidence=0.5)
    assert 0.47 <= coverage("normal", 6, 3000, rules) <= 0.53


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (3, 3.182), (10, 2.228), (30, 2.042)]
)
def test_students_t_is_that_of_the_tables(freedom: int, quantile: float) -> None:
    assert round(t_quantile(0.975, freedom), 3) == quantile


def test_one_pair_has_no_interval_and_equal_pairs_prove_little() -> None:
    assert not mean_interval([1.0], RUBRIC.statistics).known
    assert math.isnan(mean_interval([], RUBRIC.statistics).mean)
    same = mean_interval([2.0, 2.0], RUBRIC.statistics)
    assert same.low < 0 < same.mean < same.high


def test_the_interval_of_a_percentage_is_that_of_a_ratio() -> None:
    """Over games whose scores differ in size alone, the percentage is certain, the margin not."""
    total = Tally(games=4, own=450, other=300, pairs=[25.0, 50.0], others=[50.0, 100.0])
    interval = total.percent_interval(RUBRIC.statistics)
    assert interval.mean == 50
    assert 45 < interval.low < 50 < interval.high < 55
    assert total.interval(RUBRIC.statistics).low < 0


def test_points_have_the_interval_of_their_margin_within_their_maximum(tmp_path: Path) -> None:
    """Three boards; the student wins by 0, 2 and 4 against random, and always by 9 above it."""
    rubric = small_rubric(tmp_path, boards=3)
    (match_a, games_a), (match_b, games_b) = by_match(grade_games([STUDENT], rubric)).items()
    a = mark_match(match_a, games_a, results(games_a, [0, 2, 4]), rubric, {})
    assert a.points == 8.0  # 2 points on 10 are 20 %, the cap is 50 %, the part has 20 points
    assert a.bounds == (0, 20)  # 69.7 %: above the cap
    b = mark_match(match_b, games_b, results(games_b, [9, 9, 9]), rubric, {})
    assert b.points == 9.5
    assert b.bounds is not None
    assert 9.0 < b.bounds[0] < 9.5 < b.bounds[1] <= 10
    ann = Submission("ann", "ann", b"", None, None)
    low, _ = Mark(ann, (a, b)).bounds or (0.0, 0.0)
    assert low == pytest.approx(17.5 - 8.0, abs=0.05)
    assert Mark(ann, (a, replace(b, bounds=None))).bounds is None


def test_a_long_name_ends_with_an_ellipsis_so_that_a_table_fits_80_columns() -> None:
    """A Chinese character takes two columns of a terminal."""
    rows = [["a name " * 12, "1"], ["张" * 50, "22"], ["bo", ""]]
    lines = text_table(rows, ("submission", "games")).splitlines()
    assert [len(line) for line in lines[:3]] == [80, 80, 80]
    assert lines[2].endswith("a name ...      1")
    assert lines[3] == f"{'张' * 35}...     22"
    assert lines[4] == "bo"


STUDENT = submitted("ann", "1" * 64)


def small_rubric(folder: Path, boards: int) -> Rubric:
    names = [f"board{number}.txt" for number in range(boards)]
    for number, name in enumerate(names):
        (folder / name).write_text(f"{number}\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")
    path = folder / "rubric.toml"
    step = '{agent = "greedy", points = 10.0, low = -10.0, high = 10.0}'
    path.write_text(
        f"[part_a]\npoints = 20.0\nboards = {names}\n[part_b]\nboards = {names}\n"
        f"baselines = [{step}]\n",
        encoding="utf-8",
    )
    return rubrics.read(path)


def results(games: Sequence[PlannedGame], margins: Sequence[int]) -> dict[str, PlayedGame]:
    """Return results in which the student has `margins` more than 10 on the boards."""
    found = {}
    for game in games:
        own = 10 + margins[int(game.board.name[5])]
        scores = (own, 10) if game.side == 1 else (10, own)
        found[game.key] = PlayedGame(scores, "no_action", 8, (Faults(), Faults()))
    return found


def verdicts(draw: str, mean: float, trials: int) -> tuple[dict[str, int], float]:
    """Return how often each verdict came, looking after every pair, and the mean length."""
    rng = np.random.default_rng(7)
    pairs = RUBRIC.compare.max_games // 2
    counts: dict[str, int] = {}
    lengths = []
    for _ in range(trials):
        noise = rng.normal(0, 20, pairs) if draw == "normal" else 10 * rng.standard_t(3, pairs)
        samples = list(np.round(noise + mean))
        for length in range(1, pairs + 1):
            answer, _ = verdict(samples[:length], RUBRIC.compare)
            if answer != "open":
                break
        counts[answer] = counts.get(answer, 0) + 1
        lengths.append(length)
    return counts, float(np.mean(lengths))


@pytest.mark.parametrize("draw", ["normal", "heavy tails"])
def test_looking_all_the_time_is_wrong_in_few_of_a_hundred(draw: str) -> None:
    counts, _ = verdicts(draw, 0, 150)
    wrong = counts.get("better", 0) + counts.get("worse", 0)
    assert wrong / 150 <= RUBRIC.compare.error + 0.02


@pytest.mark.parametrize(("mean", "answer"), [(20, "better"), (-20, "worse")])
def test_a_clear_difference_is_found_early(mean: float, answer: str) -> None:
    counts, length = verdicts("normal", mean, 50)
    assert counts[answer] >= 48
    assert length < 25


def test_equal_results_in_every_pair_mean_no_difference() -> None:
    assert verdict([0.0] * 9, RUBRIC.compare)[0] == "open"
    assert verdict([0.0] * 40, RUBRIC.compare)[0] == "equal"
    assert verdict([5.0] * 9, RUBRIC.compare)[0] == "open"
    assert verdict([5.0] * 10, RUBRIC.compare)[0] == "better"


def test_ratings_recover_strengths_from_margins() -> None:
    strengths = [12.0, 5.0, 0.0, -17.0]
    rng = np.random.default_rng(1)
    pairs = [
        (one, two, strengths[one] - strengths[two] + float(rng.normal(0, 2)))
        for one in range(4)
        for two in range(one)
        for _ in range(40)
    ]
    rated = ratings(4, pairs, ridge=1.0)
    for rating, strength in zip(rated, strengths, strict=True):
        assert abs(rating.value - strength) < 0.5
        assert 0 < rating.error < 0.5


def test_ratings_need_no_round_robin() -> None:
    chain = ratings(3, [(0, 1, 10.0)] * 20 + [(1, 2, 10.0)] * 20, ridge=0.1)
    assert [round(rating.value) for rating in chain] == [10, 0, -10]
    apart = ratings(4, [(0, 1, 6.0)], ridge=1.0)
    assert [round(rating.value, 2) for rating in apart] == [2.0, -2.0, 0.0, 0.0]
    assert math.isnan(apart[0].error)
    assert ratings(0, [], ridge=1.0) == []


def test_points_of_hidden_boards_follow_from_margins_alone(tmp_path: Path) -> None:
    """Two games of a pair on each board; on the hidden one everybody has 1,000 points more."""
    rubric = small_rubric(tmp_path, boards=2)
    hidden = replace(rubric.part_a.boards[1], hidden=1)
    part_a = replace(rubric.part_a, boards=(rubric.part_a.boards[0], hidden))
    rubric = replace(rubric, part_a=part_a)
    games = [game for game in grade_games([STUDENT], rubric) if game.match.part == "A"]
    played = results(games, [2, 6])
    for game in games:
        if game.board.hidden:
            old = played[game.key]
            played[game.key] = replace(old, scores=(old.scores[0] + 1000, old.scores[1] + 1000))
    mark = mark_match(games[0].match, games, played, rubric, {})
    assert mark.tally.percent == 40  # a mean margin of 4 on 10 points a game
    assert mark.points == 16
    text = "\n".join(explained(mark, rubric))
    assert "not hidden, 100 x 4.00 / 10.00 = +40.00 %" in text
    assert "10" not in text.replace("100 x", "").replace("10.00", "")
    assert [margins(total)[2] for total in mark.boards.values()] == ["+20.0", "-"]


def test_a_mark_without_points_names_the_reason(tmp_path: Path) -> None:
    """In the gradebook's last column, in results.json and in the explanation."""
    rubric = small_rubric(tmp_path, boards=2)
    ann = Submission("ann", "ann", b"source", people=(Person("ann"),))
    games = grade_games([submitted("ann", str(ann.sha256))], rubric)
    played = results(games, [2, 6])
    lost, ahead = (game for game in games if game.match.part == "A" and game.side == 1)
    del played[lost.key], played[ahead.key]
    failure = "OSError: no space in /srv/scratch/w1"
    (mark,) = Results(GRADE, rubric, [ann], played, {lost.key: failure}, assign([ann], ())).marks
    why = (
        "A: random: 2 of 4 games have no result: 1 failed: OSError: no space in /srv/scratch/w1; "
        "1 not played yet"
    )
    (row,) = csv.DictReader(grades_csv([mark]).removeprefix("\ufeff").splitlines())
    assert list(row)[-1] == "Withheld"
    assert row["Withheld"] == why
    first, second = gradescope(mark, rubric, ())["tests"][:2]
    assert first["extra_data"]["withheld"] == why.partition(": ")[2].partition(": ")[2].replace(
        "/srv/scratch/", ""
    )
    assert "1 failed: OSError: no space in w1; 1 not played yet." in first["output"]
    assert "extra_data" not in second

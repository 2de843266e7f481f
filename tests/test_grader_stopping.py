"""`[match] stop` ends a match once its points are known, and the points keep their interval."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from connect4.errors import InputError
from grader.handin.submission import Submission
from grader.marks.earned import baseline_of
from grader.marks.points import mark_match, marks
from grader.marks.stopping import counted
from grader.marks.tally import by_match
from grader.output.report import read_results
from grader.play.schedule import PART_B, PlannedGame, grade_games, submitted
from grader.results.store import Faults, PlayedGame, Store
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric
from tests.command import run
from tests.grading import COMMAND, count, hand_in, rubric, searcher

SOURCE = "an agent"
ITEM = Submission("ann", "ann", SOURCE, "Ann, 1\n", None)
ANN = submitted("ann", str(ITEM.sha256))


def stop_rubric(folder: Path, stop: float, repeats: int = 20) -> Rubric:
    (folder / "tiny.txt").write_text("0\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")
    (folder / "small.txt").write_text("0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")
    path = folder / "stop.toml"
    step = '{agent = "greedy", points = 10.0, low = -50.0, high = 50.0}'
    boards = 'boards = ["tiny.txt", "small.txt"]\n'
    path.write_text(
        f"[match]\nrepeats = {repeats}\nstop = {stop}\n[part_a]\n{boards}"
        f"[part_b]\n{boards}baselines = [{step}]\n",
        encoding="utf-8",
    )
    return rubrics.read(path)


def results(
    games: Sequence[PlannedGame],
    margins: Mapping[int, float],
    noise: np.random.Generator | None = None,
) -> dict[str, PlayedGame]:
    """Return results of all games; both games of a pair have the round's margin, and noise."""
    found = {}
    pairs: dict[tuple[object, ...], float] = {}
    for game in games:
        pair = (game.match, game.board.name, game.repeat)
        pairs.setdefault(pair, 0.0 if noise is None else float(noise.normal(0, 10)))
        own = 1000 + round(margins[game.repeat] + pairs[pair])
        scores = (own, 1000) if game.side == 1 else (1000, own)
        found[game.key] = PlayedGame(game.key, scores, "no_action", 8, (Faults(), Faults()), 1.0)
    return found


def ladder_games(rules: Rubric) -> list[PlannedGame]:
    games = grade_games([ANN], rules)
    return next(listed for match, listed in by_match(games).items() if match.part == PART_B)


def test_a_match_ends_after_the_first_round_that_makes_its_points_known(tmp_path: Path) -> None:
    rules = stop_rubric(tmp_path, stop=0.5)
    games = ladder_games(rules)
    kept = counted(games, results(games, dict.fromkeys(range(20), 7)), rules)
    rounds = {game.repeat for game in kept}
    assert rounds == {0, 1, 2}, "five pairs are required, and a round has two"
    assert len(kept) == 3 * 2 * 2
    wild = {number: 40 * (-1) ** number for number in range(20)}
    assert counted(games, results(games, wild), rules) == games


def test_games_that_were_played_after_the_end_do_not_count(tmp_path: Path) -> None:
    """Which games end first depends on the machine; the mark must not."""
    rules = stop_rubric(tmp_path, stop=0.5)
    games = grade_games([ANN], rules)
    margins = {number: 7 if number < 3 else -40 for number in range(20)}
    everything = results(games, margins)
    exact = {game.key: everything[game.key] for game in games if game.repeat < 3}
    (late,), (early,) = (marks([ITEM], played, rules, {}) for played in (everything, exact))
    assert late == early
    assert not early.incomplete
    assert [match.spared for match in early.matches] == [34, 34]
    assert early.matches[1].points == pytest.approx(5.7)


def test_a_round_with_a_missing_game_ends_nothing(tmp_path: Path) -> None:
    rules = stop_rubric(tmp_path, stop=0.5)
    games = ladder_games(rules)
    played = results(games, dict.fromkeys(range(20), 7))
    del played[games[1].key]
    assert counted(games, played, rules) == games


def test_the_interval_of_an_ended_match_holds_the_true_points(tmp_path: Path) -> None:
    """An ordinary 95 % interval, looked at after each round, would do so less often."""
    rules = stop_rubric(tmp_path, stop=2.5)
    games = ladder_games(rules)
    rng = np.random.default_rng(5)
    held = ended = 0
    trials = 150
    true = 5 + 10 * 8 / 100
    for _ in range(trials):
        played = results(games, dict.fromkeys(range(20), 8), rng)
        match = mark_match(games[0].match, counted(games, played, rules), played, rules)
        assert match.bounds is not None
        ended += match.spared > 0
        held += match.bounds[0] <= true <= match.bounds[1]
    assert ended > trials / 2
    assert held / trials >= 0.93


def test_a_stop_that_can_end_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one round and cannot end early; set repeats"):
        stop_rubric(tmp_path, stop=0.5, repeats=1)
    with pytest.raises(InputError, match=r"match\.stop: expected a number above 0, got 0"):
        stop_rubric(tmp_path, stop=0)
    rules = stop_rubric(tmp_path, stop=0.5)
    assert rules.statistics.watched
    assert baseline_of(ladder_games(rules)[0].match, rules).points == 10
    assert not replace(rules.statistics, watched=False).watched


@pytest.mark.slow
def test_grade_plays_no_more_of_a_match_whose_points_are_known(tmp_path: Path) -> None:
    """Two deterministic agents repeat one pair of games; the random player's games differ."""
    rubric(tmp_path, match="repeats = 7\nstop = 3.0\n")
    hand_in(tmp_path / "class", "ann", searcher(1))
    arguments = ("grade", "class", "--rubric", "rubric.toml", "--jobs", "1", "--out", "out")
    process = ("--isolation", "process")
    done = run(COMMAND, *arguments, *process, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    played = count(tmp_path / "grade.db")
    assert 10 + 10 <= played < 14 + 14, "games under way at the end are kept"
    with Store(tmp_path / "grade.db", writing=False) as store:
        assert read_results(store).missing == 0
    page = (tmp_path / "out" / "feedback" / "ann.html").read_text(encoding="utf-8")
    assert "The match ended early, " in page
    assert "narrower than 3. This rule is the same for everybody." in page
    with open(tmp_path / "out" / "grades.csv", encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    assert row["Part B"]

"""`compare`: stops when the answer is clear, on openings that vary, whoever is faster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connect4.games.extended import EXTENDED
from grader import compare
from grader import rubric as rubrics
from grader.schedule import baseline, submitted
from grader.store import Faults, Played
from tests.command import assert_refused, run
from tests.grading import COMMAND, hand_in, rubric, searcher

NEW, OLD = submitted("new", "1" * 64), submitted("old", "2" * 64)


def played(key: str, scores: tuple[int, int]) -> Played:
    return Played(key, scores, "no_action", 9, (Faults(), Faults()), 1.0)


def test_openings_vary_and_each_is_played_from_both_sides() -> None:
    rubric = rubrics.read()
    pairs = list(compare.pairs(NEW, OLD, rubric, 60))
    assert len(pairs) == 30
    starts = set()
    for first, second in pairs:
        assert first.players == (NEW, OLD)
        assert second.players == (OLD, NEW)
        assert first.board == second.board
        assert first.seed == second.seed
        state = EXTENDED.from_json(first.board.start)
        assert not state.is_over()
        assert (state.board() > 0).sum() <= rubric.compare.opening_plies
        starts.add(first.board.digest)
    assert len(starts) >= 29


def test_the_verdict_does_not_depend_on_the_order_of_the_results() -> None:
    rubric = rubrics.read()
    scheduled = [game for pair in compare.pairs(NEW, OLD, rubric, 60) for game in pair]
    results = [
        (game, played(game.key, (30, 10 + place % 7) if game.side == 1 else (5, 30)))
        for place, game in enumerate(scheduled)
    ]
    forward, backward = compare.begin(rubric), compare.begin(rubric)
    for item in results:
        forward.add(*item)
    for item in reversed(results):
        backward.add(*item)
    assert forward.verdict == backward.verdict == "better"
    assert forward.samples == backward.samples
    assert len(forward.samples) < 30
    text = compare.conclusion(forward, ("new", "old"))
    assert text.startswith("new is better than old: mean margin +")
    assert "95% interval +" in text


def test_too_few_games_give_no_interval() -> None:
    comparison = compare.begin(rubrics.read())
    first, second = next(compare.pairs(NEW, baseline("random"), rubrics.read(), 2))
    comparison.add(first, played(first.key, (10, 4)))
    comparison.add(second, played(second.key, (10, 4)))
    text = compare.conclusion(comparison, ("new", "random"))
    assert "not clear yet whether new is better than random: mean margin +0.00" in text
    assert "no interval with so few games" in text
    assert "2 games: 1 won, 0 drawn, 1 lost" in text


def test_the_lost_turns_of_both_are_said() -> None:
    comparison = compare.begin(rubrics.read())
    first, second = next(compare.pairs(NEW, OLD, rubrics.read(), 2))
    faults = Faults(invalid=1), Faults(errors=9)
    comparison.add(first, replace(played(first.key, (10, 0)), faults=faults))
    comparison.add(second, replace(played(second.key, (0, 10)), faults=faults[::-1]))
    text = compare.conclusion(comparison, ("new", "old"))
    assert text.endswith(" 0 lost, lost turns of new: 2, lost turns of old: 18")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_the_command_finds_the_stronger_one(tmp_path: Path) -> None:
    rubric(tmp_path, compare="min_pairs = 4\nerror = 0.2\n")
    hand_in(tmp_path, "new", searcher(2))
    arguments = ("--rubric", "rubric.toml", "--isolation", "process")
    done = run(COMMAND, "compare", "new/ai.py", "random", "--games", "80", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new/ai.py is better than random: mean margin +")
    same = run(
        COMMAND, "compare", "new/ai.py", "new/ai.py", "--games", "4", *arguments, cwd=tmp_path
    )
    assert "not clear yet whether NEW is better than OLD: mean margin +0.00" in same.stdout


def test_a_mistyped_file_is_missing_and_no_unknown_agent(tmp_path: Path) -> None:
    assert_refused(
        run(COMMAND, "compare", "random", "old.py", cwd=tmp_path), "old.py: no such file"
    )
    assert_refused(run(COMMAND, "compare", "random", "old", cwd=tmp_path), "no agent 'old'")

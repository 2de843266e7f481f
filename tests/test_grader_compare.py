"""`compare`: stops when the answer is clear, on openings that vary, whoever is faster."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from connect4 import record as records
from connect4.games.extended import EXTENDED
from grader.commands import compare
from grader.handin.positions import Part
from grader.marks.tally import PartComparison
from grader.play.schedule import Contestant, baseline, submitted
from grader.results import Faults, PlayedGame
from grader.rubric import reading as rubrics
from tests.command import ROOT, run
from tests.grading import COMMAND, hand_in, rubric, searcher

NEW, OLD = submitted("new", "1" * 64), submitted("old", "2" * 64)


def played(scores: tuple[int, int]) -> PlayedGame:
    return PlayedGame(scores, "no_action", 9, (Faults(), Faults()))


def duel(games: int = 60, part: Part = "b", old: Contestant = OLD) -> compare.Duel:
    rules = rubrics.read()
    limited = replace(rules, compare=replace(rules.compare, max_games=games))
    return compare.Duel(NEW, old, {}, [part], limited)


def test_openings_vary_and_each_is_played_from_both_sides() -> None:
    games = list(duel().games("b"))
    assert len(games) == 60
    starts = set()
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.players, second.players) == ((NEW, OLD), (OLD, NEW))
        assert (first.board, first.seed) == (second.board, second.seed)
        state = EXTENDED.from_json(first.board.start)
        assert not state.is_over()
        assert (state.board() > 0).sum() <= rubrics.read().compare.opening_plies
        starts.add(first.board.digest)
    assert len(starts) >= 29


def test_the_verdict_does_not_depend_on_the_order_of_the_results() -> None:
    results = [
        (game, played((30, 10 + place % 7) if game.side == 1 else (5, 30)))
        for place, game in enumerate(duel().games("b"))
    ]
    forward, backward = PartComparison(rubrics.read()), PartComparison(rubrics.read())
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


def test_too_few_games_give_no_interval_and_the_lost_turns_of_both_are_said() -> None:
    comparison = PartComparison(rubrics.read())
    first, second = duel(2, old=baseline("random")).games("b")
    faults = Faults(invalid=1), Faults(errors=9)
    comparison.add(first, replace(played((10, 4)), faults=faults))
    comparison.add(second, replace(played((10, 4)), faults=faults[::-1]))
    text = compare.conclusion(comparison, ("new", "random"))
    assert "not clear yet whether new is better than random: mean margin +0.00" in text
    assert "no interval with so few games" in text
    assert "2 games: 1 won, 0 drawn, 1 lost" in text
    assert text.endswith(", lost turns of new: 2 invalid, lost turns of random: 18 errors")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_the_command_finds_the_stronger_one(tmp_path: Path) -> None:
    rubric(tmp_path, compare="min_pairs = 4\nerror = 0.2\n")
    hand_in(tmp_path, "new", searcher(2))
    arguments = ("--rubric", "rubric.toml", "--isolation", "process")
    named = ("compare", "new/ai.py", "random", "--games", "80", "--part", "b")
    done = run(COMMAND, *named, *arguments, cwd=tmp_path, status=0)
    assert done.stdout.startswith("new/ai.py is better than random: mean margin +")
    assert "at most 80 games, at most " in done.stderr
    same = run(
        COMMAND, "compare", "new/ai.py", "new/ai.py", "--games", "4", *arguments, cwd=tmp_path
    )
    part_a, part_b = same.stdout.split("part B, get_intelligent_move, against each other:\n")
    assert part_a.startswith("part A, get_expectimax_move, each against random:\n")
    assert "not clear yet whether NEW is better than OLD: +0.00 points more margin" in part_a
    assert part_a.count("4 games: ") == 2
    assert "not clear yet whether NEW is better than OLD: mean margin +0.00" in part_b


BREAKS_PART_A = """

class AIPlayer(AIPlayer):
    def get_expectimax_move(self, state):
        raise ValueError("lost in part A")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_a_broken_get_expectimax_move_is_found_and_the_games_are_kept(tmp_path: Path) -> None:
    rubric(tmp_path, compare="min_pairs = 3\nerror = 0.5\neffect = 2.0\n")
    hand_in(tmp_path, "new", searcher(1) + BREAKS_PART_A)
    hand_in(tmp_path, "old", searcher(1))
    named = ("compare", "new/ai.py", "old/ai.py", "--games", "6", "--rubric", "rubric.toml")
    kept = ("--records", "games", "--isolation", "process")
    done = run(COMMAND, *named, *kept, cwd=tmp_path, status=0)
    part_a, part_b = done.stdout.split("part B")
    assert "new/ai.py is worse than old/ai.py: -" in part_a
    line_of_new, line_of_old = part_a.splitlines()[-2:]
    assert line_of_new.startswith("new/ai.py: ")
    assert ", lost turns of new/ai.py: " in line_of_new
    assert "lost turns" not in line_of_old
    assert "lost turns" not in part_b
    paths = sorted((tmp_path / "games").glob("*.json"))
    against_random = [path for path in paths if "random" in path.name]
    assert len(against_random) >= 12
    assert len(paths) > len(against_random)
    first = records.read(next(path for path in against_random if "new" in path.name))
    asked = {player.asked for player in first.players}
    assert asked == {"expectimax", None}
    turn = 1 if first.players[0].asked else 2
    name = next(path for path in against_random if "new" in path.name).name
    again = run("connect4.ConnectFour", "--replay-turn", f"{name}:{turn}", cwd=tmp_path / "games")
    assert "lost in part A" in again.stdout + again.stderr


def test_part_a_compares_pairs_of_games_against_the_same_random_player() -> None:
    listed = list(duel(part="a").games("a"))
    scheduled = [listed[at : at + 4] for at in range(0, len(listed), 4)]
    assert len(scheduled) == 30
    for games in scheduled:
        assert [game.players[game.side - 1] for game in games] == [NEW, NEW, OLD, OLD]
        assert {game.players[2 - game.side].agent for game in games} == {"random"}
        assert len({game.board.digest for game in games}) == 1
        assert len({game.seed for game in games}) == 1
    comparison = PartComparison(rubrics.read(), "a", OLD)
    for games in scheduled:
        for game in reversed(games):
            own = 40 + game.repeat % 5 if game.match.one == NEW else 30
            comparison.add(game, played((own, 20) if game.side == 1 else (20, own)))
    assert comparison.verdict == "better"
    assert comparison.samples == [10.0 + number % 5 for number in range(len(comparison.samples))]
    text = compare.conclusion(comparison, ("new", "old"))
    assert text.startswith("new is better than old: +1")
    assert f"\nold: {len(comparison.samples) * 2} games: " in text


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
@pytest.mark.parametrize("module", ["connect4.search", "no_such_module"])
def test_a_file_that_cannot_be_loaded_is_refused_by_its_name_without_the_kits_lines(
    tmp_path: Path, module: str
) -> None:
    rubric(tmp_path)
    (tmp_path / "mine.py").write_text(f"import {module}\n", encoding="utf-8")
    named = ("compare", "mine.py", "random", "--rubric", "rubric.toml")
    done = run(COMMAND, *named, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: mine.py: cannot be loaded: ")
    assert module in last
    files = [line for line in done.stderr.splitlines() if line.strip().startswith("File ")]
    assert files == ['  File "mine.py", line 1, in <module>']


@pytest.mark.slow
def test_agents_of_the_kit_are_compared_in_any_game(tmp_path: Path) -> None:
    (tmp_path / "popout.toml").write_text('[match]\ngame = "popout"\n', encoding="utf-8")
    played = ("alphabeta:depth=2", "random", "--rubric", "popout.toml", "--part", "b")
    kept = ("--games", "4", "--records", "games")
    done = run(COMMAND, "compare", *played, *kept, cwd=tmp_path, status=0)
    assert "4 games: 4 won, 0 drawn, 0 lost" in done.stdout
    assert "mean margin +1.00 a game" in done.stdout
    assert "; a win is 1, a draw 0, a loss -1)\n" in done.stdout
    record = records.read(next((tmp_path / "games").glob("*.json")))
    assert record.game.name == "popout"


def played_in(folder: Path) -> int:
    """Return how many games the results file of a running comparison holds."""
    for path in folder.glob("connect4-compare-*/results.db"):
        with suppress(sqlite3.OperationalError), sqlite3.connect(path) as database:
            return database.execute("SELECT count(*) FROM game").fetchone()[0]
    return 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")
def test_ctrl_c_gives_the_result_so_far(tmp_path: Path) -> None:
    rubric(tmp_path)
    slow = searcher(1).replace("return self.best", "time.sleep(0.1); return self.best")
    hand_in(tmp_path, "new", f"import time\n{slow}")  # so that no answer is clear before Ctrl-C
    named = ("compare", "new/ai.py", "random", "--games", "5000", "--part", "b")
    kept = ("--rubric", "rubric.toml", "--records", "games")
    command = [sys.executable, "-m", COMMAND, *named, *kept]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("at most 5000 games"):
            assert process.poll() is None
        assert line.endswith("; Ctrl-C gives the result so far\n")
        while played_in(tmp_path) < 3:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert re.search(r"new/ai.py .* random.*: mean margin [+-]\d", output)
    assert re.search(r"\n\d+ games: \d+ won", output)

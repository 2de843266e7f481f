"""From which time per move on a file plays: what `check` and the commands that play say of it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from grader.commands.check import summary
from tests.command import run
from tests.grading import COMMAND, SUBMISSIONS, count, hand_in, rubric, searcher

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

RESERVE = (SUBMISSIONS / "keeps_half_a_second.py").read_text(encoding="utf-8")
FLAG = (SUBMISSIONS / "keeps_a_stop_flag.py").read_text(encoding="utf-8")

AGENT = """import time
from connect4.utils import get_valid_actions

class AIPlayer:
    def __init__(self, player_number, limit):
        self.number, self.limit = player_number, limit

    def get_expectimax_move(self, state):
        {line}

    def get_intelligent_move(self, state):
        return get_valid_actions(self.number, state)[0]
"""

OUTPUTS = ("grades.csv", "class.html", "feedback/ann.html", "tables.txt")

NAMED = """with 0.2 s a move these files do not play as they could:
  {name}: plays from 1 s a move, not at 0.2 s
"""


def check(folder: Path, source: str, seconds: float = 0.2, more: str = "") -> list[str]:
    """Return what `check` says of a source."""
    rubric(folder, seconds, limits=more)
    hand_in(folder, "ann", source)
    done = run(COMMAND, "check", "ann/ai.py", "--rubric", "rubric.toml", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return [line.removeprefix("ann/ai.py:") for line in done.stdout.splitlines()]


def test_a_file_with_time_in_reserve_is_well_formed(tmp_path: Path) -> None:
    assert check(tmp_path, RESERVE, 1.0) == [
        " well formed, plays from 1 s a move (not at 0.5 s)",
        "The submission meets every required rule: 0 faults to fix, 0 pieces of advice.",
    ]
    refused = check(tmp_path, RESERVE, 0.3)
    assert refused[0].startswith("18: smoke: get_expectimax_move on ")
    assert "UnboundLocalError" in refused[0]
    large = f"import numpy\nLARGE = numpy.ones(40_000_000)\n{RESERVE}"
    assert "Unable to allocate" in check(tmp_path, large, 1.0, "memory_mb = 256\n")[0]


@pytest.mark.parametrize("lifetime", ["game", "move"])
def test_a_player_that_answers_once_is_found(tmp_path: Path, lifetime: str) -> None:
    found, _, last = check(tmp_path, FLAG, 1.0, f'lifetime = "{lifetime}"\n')
    advice = " (advice)" if lifetime == "move" else ""
    assert found.startswith(f"18: smoke{advice}: get_expectimax_move on ")
    assert ", move 2 of one player: an action is a tuple (column, is_popout), not None " in found
    assert found.endswith(
        "a new player gives a valid move there. Reset what is kept on self (such as a flag that "
        "stops the search) at the start of the method; --lifetime move plays the file as it is"
    )
    assert last.startswith("The submission meets" if advice else "The submission breaks")


@pytest.mark.slow
def test_a_reserve_that_eats_all_of_a_short_time_is_named(tmp_path: Path) -> None:
    """The file answers at once up to 0.5 s, where it searches with more."""
    searches = (
        "end = time.time() + self.limit - 0.5\n        while time.time() < end: pass\n        "
    )
    search = f"{searches}return get_valid_actions(self.number, state)[0]"
    found, last = check(tmp_path, AGENT.format(line=search), 1.0)
    assert found == (
        " well formed, plays from 0.1 s a move, answers in under 1 % of its time up to 0.5 s"
    )
    assert last.startswith("The submission meets every required rule")
    how = ("--rubric", "rubric.toml", "--time", "0.2", "--dry-run")
    done = run(COMMAND, "grade", "ann/ai.py", *how, cwd=tmp_path)
    assert "  ai: answers in under 1 % of its time up to 0.5 s\n" in done.stderr


def test_where_a_method_was_not_asked_nothing_is_promised() -> None:
    assert "formed, not known whether it plays: 0 faults to fix" in summary(Counter(unknown=1))
    assert "; of 2 it is not known whether it plays: " in summary(Counter(good=1, unknown=2))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("time.sleep(self.limit + 0.3); return 3", " s after its 0.2 s were over; an action is a "),
        (
            "time.sleep(self.limit + 0.3); return 3, False",
            " s after its 0.2 s were over; the move itself, 3, is legal",
        ),
        ("while True: pass", "no answer within 0.2 s, nor in the 2 s after that; does it end?"),
    ],
)
def test_a_late_answer_is_judged_and_an_endless_loop_is_not_well_formed(
    tmp_path: Path, line: str, text: str
) -> None:
    found, last = check(tmp_path, AGENT.format(line=line))
    assert ": smoke: get_expectimax_move on " in found
    assert text in found
    assert last == "The submission breaks a required rule: 1 fault to fix, 0 pieces of advice."


@pytest.mark.slow
def test_what_takes_long_is_said(tmp_path: Path) -> None:
    rubric(tmp_path, 1.0)
    hand_in(tmp_path, "ann", AGENT.format(line="while True: pass"))
    done = run(COMMAND, "check", "ann/ai.py", "--rubric", "rubric.toml", cwd=tmp_path)
    said = done.stderr.splitlines()
    assert "ann/ai.py: asking get_expectimax_move for a move with 1 s" in said
    assert len(said) == len(set(said))


@pytest.mark.slow
def test_each_command_names_who_does_not_play_before_it_plays(tmp_path: Path) -> None:
    boards = '[ladder]\nboards = ["tiny.txt"]\nrungs = ["random", "greedy"]\n'
    rubric(tmp_path, 0.2, tournament=boards)
    hand_in(tmp_path / "class", "ann", RESERVE)
    hand_in(tmp_path / "class", "bo", searcher(1))
    how = ("--rubric", "rubric.toml", "--isolation", "process", "--time", "0.2")
    for command in ("grade", "tournament"):
        done = run(COMMAND, command, "class", *how, "--dry-run", cwd=tmp_path, status=0)
        assert NAMED.format(name="ann") in done.stderr
        assert count(tmp_path / f"{command}.db") == 0
    done = run(COMMAND, "tournament", "class", *how, cwd=tmp_path)
    before, _, after = done.stderr.partition(" games to play in stage")
    assert NAMED.format(name="ann") in before
    assert NAMED.format(name="ann") in after  # beside the standings too
    named = ("class/ann/ai.py", "class/bo/ai.py", "--games", "2", "--part", "b")
    done = run(COMMAND, "compare", *named, *how, cwd=tmp_path)
    assert NAMED.format(name="class/ann/ai.py") in done.stderr
    done = run(COMMAND, "ladder", "class", *how, "--minutes", "0.01", cwd=tmp_path)
    assert NAMED.format(name="ann v1") in done.stderr


def test_the_lost_turns_of_a_slow_file_are_explained_in_every_output(tmp_path: Path) -> None:
    slow = "time.sleep(0.3); return get_valid_actions(self.number, state)[0]"
    for name in ("ann", "bo"):
        hand_in(tmp_path / "class", name, f"{AGENT.format(line=slow)}# {name}\n", report=None)
    how = ("--rubric", rubric(tmp_path, 0.2), "--isolation", "process", "--out", "out")
    done = run(COMMAND, "grade", "class", *how, cwd=tmp_path, status=0)
    told = (
        r"timeouts? \(no answer within 0.2 s\); plays from (0.5|1) s a move, not at 0.2 s; no rep"
    )
    shown = [(tmp_path / f"out/{name}").read_text(encoding="utf-8") for name in OUTPUTS]
    for text in (done.stdout, *shown):
        row = re.sub("</td><td[^>]*>", "; ", " ".join(text.split()))
        assert re.search(told, row)


@pytest.mark.slow
def test_a_quick_look_takes_a_time_with_which_the_file_plays(tmp_path: Path) -> None:
    how = ("--rubric", "rubric.toml", "--isolation", "process", "--quick")
    rubric(tmp_path, 1.0)
    hand_in(tmp_path, "ann", RESERVE)
    done = run(COMMAND, "grade", "ann/ai.py", *how, cwd=tmp_path)
    assert "--quick: a first look, not a mark: 1 s a move instead of 1, one pair" in done.stderr
    assert "not every file" not in done.stderr
    assert "total " in done.stdout
    assert count(tmp_path / "quick.db") == 4
    assert not (tmp_path / "grade.db").exists()


@pytest.mark.slow
def test_a_file_that_plays_with_no_time_is_named_with_the_reason(tmp_path: Path) -> None:
    rubric(tmp_path, 0.2)
    hand_in(tmp_path, "ann", AGENT.format(line="return 3"))
    done = run(COMMAND, "grade", "ann/ai.py", "--rubric", "rubric.toml", "--dry-run", cwd=tmp_path)
    assert (
        "  ai: no move with up to 5 s: get_expectimax_move: an action is a tuple (column, "
        "is_popout), not 3\n"
    ) in done.stderr


def test_of_one_file_each_reason_for_lost_turns_is_printed(tmp_path: Path) -> None:
    rubric(tmp_path, 5.0)
    hand_in(tmp_path, "ann", AGENT.format(line="return None"))
    done = run(COMMAND, "grade", "ann", "--rubric", "rubric.toml", cwd=tmp_path)
    told = re.sub(r"\s+", " ", done.stdout)
    assert re.search(
        r" \d+ turns lost: an action is a tuple \(column, is_popout\), not None "
        r"\(a method without `return` gives None\) "
        r"\(the first in A: random, tiny.txt, as player 1, round 1, turn 1: invalid\) $",
        told,
    )

"""A command asks before it runs somebody else's file in its own process."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader import compare
from tests.command import assert_refused, environment, run

COMMAND = "connect4.ConnectFour"

FILE = """
open({ran!r}, "a").write("ran ")

class AIPlayer:
    def __init__(self, player_number, time): pass
    def get_expectimax_move(self, state): return 0, False
    get_intelligent_move = get_expectimax_move

def agent(observation, configuration): return 0
"""


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Return a folder to be in; beside it and below it lie files that tell when they are run."""
    here = tmp_path / "here"
    for place in ("here/mine.py", "here/class/eve.py", "there/eve.py"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILE.format(ran=str(tmp_path / "ran")), encoding="utf-8")
    (here / "linked.py").symlink_to(tmp_path / "there" / "eve.py")
    (here / "through").symlink_to(tmp_path / "there")
    (here / "through-me").symlink_to(".")
    return here


def has_run(folders: Path) -> bool:
    """Return whether a file has been run since the last call."""
    ran = folders.parent / "ran"
    found = ran.exists()
    ran.unlink(missing_ok=True)
    return found


def record_of(folders: Path, agent: str) -> str:
    """Write the record of a game of an agent, and return the place of its first turn."""
    document = {
        "format": "connect4-record/1", "game": "extended", "rules_version": 1,
        "start": {"popouts": 0, "board": [[0, 0], [1, 2]]}, "time_limit": 1, "seed": 0,
        "players": [{"agent": agent, "asked": "expectimax"}, {"agent": "random"}],
        "turns": [{"player": 1, "action": "0", "outcome": "played"}],
        "result": {"scores": [2, 0], "ending": "left", "winner": 0},
    }  # fmt: skip
    (folders / "game.json").write_text(json.dumps(document), encoding="utf-8")
    return "game.json:1"


FOREIGN = ("../there/eve.py", "class/eve.py", "linked.py", "through/eve.py")


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("option", ["--debug", "--isolation none"])
def test_a_foreign_file_of_a_record_is_not_run_here_unasked(
    folders: Path, name: str, option: str
) -> None:
    """Not one that a link leads to, nor one of the class below the current folder."""
    turn = ("--replay-turn", record_of(folders, f"ai:{name}"), *option.split())
    told = f"error: {option} runs {(folders / name).resolve()} in this process: it can do all"
    assert_refused(run(COMMAND, *turn, cwd=folders), told, "; without a terminal, give --yes")
    assert not has_run(folders)
    assert run(COMMAND, *turn, "--yes", cwd=folders).returncode == 0
    assert has_run(folders)


@pytest.mark.parametrize("name", ["mine.py", "through-me/mine.py", "../here/mine.py"])
@pytest.mark.parametrize("option", ["--debug", "--isolation none"])
def test_a_file_of_the_current_folder_is_ones_own(folders: Path, name: str, option: str) -> None:
    turn = ("--replay-turn", record_of(folders, f"ai:{name}"), *option.split())
    done = run(COMMAND, *turn, cwd=folders)
    assert (done.returncode, done.stderr) == (0, "")
    assert has_run(folders)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("ai:../there/eve.py", "random", "case4"),
        ("random", "ai:class/eve.py", "case4"),
        ("kaggle:../there/eve.py", "random", "--game", "classic"),
    ],
)
def test_a_game_without_isolation_asks_too(folders: Path, words: tuple[str, ...]) -> None:
    words = (*words, "--view", "none", "--time", "1")
    refused = run(COMMAND, *words, "--isolation", "none", cwd=folders)
    assert_refused(refused, "error: --isolation none runs ", "eve.py in this process")
    assert not has_run(folders)
    assert run(COMMAND, *words, "--isolation", "none", "--yes", cwd=folders).returncode == 0
    assert has_run(folders)
    isolated = run(COMMAND, *words, "--isolation", "process", cwd=folders)
    assert "in this process" not in isolated.stderr
    assert not has_run(folders), "in its own process it may write no file"


def test_a_record_that_names_no_method_is_asked_for_the_one_of_its_opponent(folders: Path) -> None:
    turn = ("--replay-turn", record_of(folders, "ai:mine.py"), "--debug")
    text = (folders / "game.json").read_text(encoding="utf-8")
    (folders / "game.json").write_text(text.replace('"asked": "expectimax"', '"asked": null'))
    done = run(COMMAND, *turn, cwd=folders)
    assert (done.returncode, done.stderr) == (0, "")
    assert "get_expectimax_move of " in done.stdout, "against random"


@pytest.mark.parametrize("answer", ["n", "", "y"])
def test_on_a_terminal_the_answer_decides(folders: Path, answer: str) -> None:
    teacher, terminal = pty.openpty()
    os.write(teacher, f"{answer}\n".encode())
    turn = ["--replay-turn", record_of(folders, "ai:class/eve.py"), "--debug"]
    done = subprocess.run(
        [sys.executable, "-m", COMMAND, *turn],
        cwd=folders, env=environment(), stdin=terminal, capture_output=True, text=True, check=False,
    )  # fmt: skip
    os.close(teacher)
    os.close(terminal)
    file = folders / "class" / "eve.py"
    asked = f"--debug runs {file} in this process: it can do all that you can do here\nRun it?"
    assert done.stderr.startswith(f"{asked} [y/N] ")
    assert has_run(folders) == (answer == "y")
    assert done.returncode == (0 if answer == "y" else 2)
    assert (f"error: {file} was not run; " in done.stderr) == (answer != "y")


def test_the_grader_runs_no_submission_in_its_own_process(folders: Path) -> None:
    with pytest.raises(InputError, match="isolation none: submissions never run in the grader's"):
        compare(folders / "mine.py", folders / "class" / "eve.py", isolation="none")
    assert not has_run(folders)

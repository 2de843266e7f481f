"""What an agent reads in a container whose root has few rights: Gradescope's, and the doctor's."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.doctor import PROTECTIONS
from tests.command import ROOT, run
from tests.grading import COMMAND, hand_in, rubric

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux"),
    pytest.mark.skipif(os.geteuid() != 0, reason="root only"),
]

CONTAINER = ("landlock", "capabilities")
"""What a container of Docker's default lacks on a kernel below 5.13; bubblewrap cannot work."""

SECRET = "0\n0 0 0 0\n0 0 1 0\n"

THIEF = """
import os

class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self, state):
        found = []
        for path in {paths!r}:
            try:
                with open(path, "rb") as file:
                    file.read()
                found.append(os.path.basename(path))
            except OSError:
                pass
        raise RuntimeError(f"root: {{os.getuid() == 0}}, read: {{' '.join(found) or 'nothing'}}.")

    get_expectimax_move = get_intelligent_move
"""
"""Says in its error, which its student sees, what it could read."""

CLOSED = ("rubric.toml", "tiny.txt", "hidden.txt", "baseline.py", "kit/connect4/players/ai.py")
CLOSED += ("kit/connect4/reference/lines.py", "kit/connect4/initial_states/case1.txt")
CLOSED += ("kit/grader/rubric.toml",)  # a teacher's own rubrics may lie beside it


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user may enter; that of a test lies below a closed one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def autograder(course: Path, home: Path) -> None:
    """Unpack the autograder of a rubric with a hidden board and a submission that reads it."""
    mine = rubric(course, match='hidden = ["hidden.txt"]\n')
    (course / "hidden.txt").write_text(SECRET, encoding="utf-8")
    text = mine.read_text(encoding="utf-8")
    text = text.replace(
        'boards = ["tiny.txt"]\nbaselines = [', 'boards = ["hidden.txt"]\nbaselines = ['
    )
    reference = '{agent = "reference:nodes=50", points = 10.0, low = -10.0, high = 10.0}, '
    mine.write_text(text.replace("baselines = [", f"baselines = [{reference}"), encoding="utf-8")
    options = ("--gradescope", "--rubric", mine)
    done = run(COMMAND, "handout", "g.zip", *options, cwd=course)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(course / "g.zip") as archive:
        archive.extractall(home / "source")
    paths = [str(home / "source" / name) for name in (*CLOSED, "kit/connect4/utils.py")]
    hand_in(home, "submission", THIEF.format(paths=paths))


def run_without(
    lacking: tuple[str, ...], *command: str | Path, home: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a command as root of a container that lacks some protections."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "tests.denied", *lacking, "--", *command],
        cwd=ROOT,
        env={**os.environ, "AUTOGRADER_HOME": str(home), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


def run_autograder(home: Path, *lacking: str) -> subprocess.CompletedProcess[str]:
    """Run the autograder of a folder."""
    return run_without(lacking, "bash", home / "source" / "run_autograder", home=home)


@pytest.mark.parametrize(
    "lacking",
    [
        CONTAINER,
        (*CONTAINER, "bubblewrap"),
        (*CONTAINER, "seccomp"),
        pytest.param(("landlock",), marks=pytest.mark.sandbox),
        ("capabilities",),
    ],
    ids=" ".join,
)
def test_no_agent_of_an_autograder_reads_what_its_student_does_not_have(
    lacking: tuple[str, ...], open_folder: Path, tmp_path: Path
) -> None:
    """Seed, hidden board, the rubric's agents, solution; these opponents play all the same."""
    autograder(tmp_path, open_folder)
    ran = run_autograder(open_folder, *lacking)
    assert ran.returncode == 0, ran.stderr
    assert "RuntimeError: root: False, read: utils.py." in ran.stderr
    text = (open_folder / "results" / "results.json").read_text(encoding="utf-8")
    assert "withheld" not in text
    assert [test["name"] for test in json.loads(text)["tests"]][1] == "B: reference:nodes=50"


def test_agents_are_another_user_also_where_only_root_may_read_the_kit(tmp_path: Path) -> None:
    """They keep one right of root's, to read, which Landlock restricts."""
    autograder(tmp_path, tmp_path)
    ran = run_autograder(tmp_path, "capabilities")
    assert "RuntimeError: root: False, read: utils.py." in ran.stderr


def test_where_nothing_keeps_a_file_from_agents_nothing_is_played(tmp_path: Path) -> None:
    """Other users cannot enter a folder above the kit, so that the agent would have to be root."""
    autograder(tmp_path, tmp_path)
    ran = run_autograder(tmp_path, *CONTAINER)
    assert ran.returncode == 1
    last = ran.stderr.splitlines()[-1]
    assert last.startswith(
        "error: isolation process: agents could read every file of root: no other user can read /"
    )
    assert "; the kernel has no Landlock; bubblewrap" in last
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["output"].splitlines()[-1] == last
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", ["rubric.toml", "hidden.txt", "baseline.py"])
def test_a_secret_that_every_user_can_read_is_refused_where_agents_could_read_it(
    name: str, open_folder: Path, tmp_path: Path
) -> None:
    """As by an autograder that closes nothing."""
    autograder(tmp_path, open_folder)
    source = open_folder / "source"
    for path in (source / "rubric.toml", source / "hidden.txt", source / "baseline.py"):
        path.chmod(0o644 if path.name == name else 0o600)
    begin = f"{source / name}: agents here could read it, as every user can, because the kernel "
    options = (open_folder / "submission", "--rubric", source / "rubric.toml")
    done = run_without(CONTAINER, sys.executable, "-m", COMMAND, "grade", *options)
    assert done.stderr.splitlines()[-1].startswith(f"error: {begin}"), done


def test_a_rubric_can_demand_bubblewrap_of_an_autograder(open_folder: Path, tmp_path: Path) -> None:
    autograder(tmp_path, open_folder)
    packed = open_folder / "source" / "rubric.toml"
    text = packed.read_text(encoding="utf-8").replace(
        "[limits]\n", '[limits]\nrequire = "strong"\n'
    )
    packed.write_text(text, encoding="utf-8")
    ran = run_autograder(open_folder, *CONTAINER)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith("error: isolation strong: bubblewrap does not")


def doctor(kit: Path, *lacking: str) -> subprocess.CompletedProcess[str]:
    """Run the self-test of a copy of the kit as root of such a container."""
    for name in ("connect4", "grader"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, kit / name, ignore=ignore)
    program = (sys.executable, "-m", COMMAND, "doctor")
    return run_without(lacking, "env", f"--chdir={kit}", *program)


def test_the_doctor_tries_to_read_the_seed_and_the_solution_in_such_a_container(
    open_folder: Path,
) -> None:
    done = doctor(open_folder, *CONTAINER)
    lines = [line.split()[-4:] for line in done.stdout.splitlines() if "secret seed" in line]
    assert lines == [["yes", "absent", "absent", "6"]], done.stdout + done.stderr
    assert "read a public file (from its turn)" in done.stdout
    assert PROTECTIONS["present"].why not in done.stdout
    assert done.returncode == 0


def test_the_doctor_says_why_nothing_is_played_and_how_to_get_it(tmp_path: Path) -> None:
    done = doctor(tmp_path, *CONTAINER)
    assert done.returncode == 1, done.stderr
    assert (
        "level process\n  why: agents could read every file of root: no other user" in done.stdout
    )
    assert "let every user read Python and the kit" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("no: `grade` does not play: isolation process: agents could read every")

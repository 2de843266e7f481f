"""Help is there for whoever needs it most: with a file that cannot even be read as Python."""

import ast
import inspect
import re
import shutil
import subprocess
import sys

import pytest

from connect4.isolation.seat import GRADED
from connect4.players.base import STUDENT_FILE
from grader.__main__ import COMMANDS as OF_GRADER
from grader.__main__ import command_of, make_parser, with_values
from tests.command import ROOT, run

PACKAGES = ("connect4", "grader", "benchmarks")

COMMANDS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if path.name == "__main__.py"
    or ("\ndef main(" in (text := path.read_text(encoding="utf-8")) and "\nif __name__ ==" in text)
)


@pytest.fixture(scope="module")
def broken_kit(tmp_path_factory):
    """Return a copy of the kit whose student's file has a syntax error."""
    kit = tmp_path_factory.mktemp("kit")
    for package in PACKAGES:
        if (ROOT / package).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, kit / package, ignore=ignored)
    (kit / STUDENT_FILE.relative_to(ROOT)).write_text("def broken(:\n")
    return kit


def test_the_commands_are_found():
    known = {"connect4.ConnectFour", "connect4", "connect4.analysis", "connect4.server"}
    known |= {"connect4.client", "connect4.views.tree", "connect4.views.page", "grader"}
    assert known <= set(COMMANDS)


def test_the_page_of_figures_names_every_benchmark():
    page = ROOT / "docs" / "benchmarks.md"
    named = set(re.findall(r"python3 -m (benchmarks[.\w]*)", page.read_text(encoding="utf-8")))
    assert named == {command for command in COMMANDS if command.startswith("benchmarks")}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.slow if command.startswith("benchmarks") else [])
        for command in COMMANDS
    ],
)
def test_help_needs_no_file_of_the_students(command, broken_kit):
    done = run(command, "--help", cwd=broken_kit)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")


def test_the_command_line_ends_where_it_is_parsed():
    """Only a module that is a command itself, and parses its own options, names the namespace.

    Of the grader that is `__main__`, which does not name it either, and passes named values on.
    """
    found = set()
    for path in sorted([*ROOT.glob("connect4/**/*.py"), *ROOT.glob("grader/**/*.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = ("attr", "id", "name")  # `argparse.Namespace`, `Namespace`, and its import
        names = {getattr(node, part, "") for node in ast.walk(tree) for part in parts}
        if "Namespace" in names:
            found.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    commands = {name for name in COMMANDS if not name.startswith("grader")}
    assert {name.removesuffix(".__main__") for name in found} <= commands


WORDS = {
    "check": "ai.py",
    "compare": "ai.py old.py",
    "practice": "ai.py",
    "correct": "ann --results a.db --reason r",
    "forget": "ann --results a.db",
    "grade": "class",
    "handout": "a.zip",
    "ladder": "class",
    "playground": "site",
    "publish-game": "a.db ann 1 --out o",
    "report": "a.db",
    "similar": "class",
    "tournament": "class",
    "viva": "ann --results a.db -o a.html",
}
"""The words that a command of the grader requires."""


@pytest.mark.parametrize("command", OF_GRADER)
def test_the_options_of_a_command_are_the_parameters_of_its_function(command):
    words = [command, *WORDS.get(command, "").split()]
    options = vars(make_parser().parse_args(words))
    del options["command"]
    inspect.signature(command_of(command)).bind(**with_values(options))


def test_every_level_of_isolation_is_offered_and_help_loads_no_numpy():
    """The command line names the levels itself, so that it starts in little time."""
    levels = "{auto," + ",".join(GRADED) + "}"
    assert levels in "".join(run("grader", "grade", "--help", cwd=ROOT).stdout.split())
    loaded = "import sys, grader.__main__; print('numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True, cwd=ROOT) == "False\n"

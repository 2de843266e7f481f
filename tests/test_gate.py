"""The gate: a bare machine, the report of what a run left out, and skips that are failures."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from tests import bare, needs
from tests.command import ROOT

KIT = ("connect4", "grader")
OF_PACKAGES = ("__init__", "__main__")

TESTS = """
import pytest

@pytest.mark.netcat
def test_of_nc(): pass

@pytest.mark.slow
def test_that_takes_long(): pass

def test_of_nothing(): pass

@pytest.mark.xfail
def test_of_what_is_known(): assert False

def test_elsewhere(): pytest.skip("needs Linux")
"""
NO_NC = "nc is not installed (apt install netcat-openbsd)"


def run_tests(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run `TESTS` under the kit's settings on a machine without programs; return what it says."""
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    settings = ("-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}", "-o", "testpaths=.")
    kept = {name: value for name, value in os.environ.items() if name not in bare.FORGOTTEN}
    plugins = ("-p", "tests.conftest", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *settings, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), "PATH": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_where_the_gate_has_installed_everything_a_skip_is_a_failure(tmp_path: Path) -> None:
    module = "import pytest\npytest.importorskip('no_such_module', reason='it is missing')\n"
    (tmp_path / "test_module.py").write_text(module, encoding="utf-8")
    everything = ("-m", "", "--continue-on-collection-errors")
    status, said = run_tests(tmp_path, *everything, CONNECT4_CI="1")
    assert status == 1, said
    for reason in (NO_NC, "it is missing"):
        assert f"skipped where everything was installed: {reason}" in said
    assert "2 passed, 1 skipped, 1 xfailed, 2 errors" in said


@pytest.mark.parametrize(
    ("reason", "without", "fails"),
    [
        (NO_NC, "gcc", True),
        (NO_NC, "gcc nc", False),
        ("bwrap does not work here: no namespaces", "bwrap", False),
        ("root may read every file", "", False),
    ],
)
def test_only_what_could_not_be_installed_may_be_skipped(
    reason: str, without: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(needs.CI_WITHOUT, without)
    monkeypatch.delenv(needs.CI, raising=False)
    assert not needs.is_failure(reason)
    monkeypatch.setenv(needs.CI, "1")
    assert needs.is_failure(reason) == fails


def test_every_marker_but_three_has_its_needs() -> None:
    """So that a test with a new marker is left out of the quick run as its author means."""
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    _, _, rest = settings.partition("\nmarkers = [")
    named = [
        line.strip().strip('"').partition(":")[0]
        for line in rest.partition("\n]")[0].split("\n")[1:]
    ]
    assert named == ["full", "slow", "soak", *needs.NEEDS]


def test_a_bare_machine_has_its_programs_but_not_those_that_are_hidden(tmp_path: Path) -> None:
    for name in ("bwrap", "chromium", "hello"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3").symlink_to(sys.executable)
    code = (
        "import os, shutil, sys\n"
        "print(*(name for name in ('bwrap', 'chromium', 'hello') if shutil.which(name)))\n"
        "print('DISPLAY' in os.environ, sys.executable)\n"
        "sys.exit(7)"
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "bare.py"), "python3", "-c", code],
        env={**os.environ, "PATH": str(tmp_path), "DISPLAY": ":1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"hello\nFalse {tmp_path / 'python3'}\n"
    assert done.returncode == 7


def test_the_architecture_page_names_every_module_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = {
        path.stem
        for top in KIT
        for path in (ROOT / top).rglob("*.py")
        if "corpus" not in path.parts and path.stem not in OF_PACKAGES
    }
    commands = {path.stem for path in (ROOT / "grader" / "commands").glob("*.py")}
    words = set(re.findall(r"[\w-]+", text))
    assert modules - commands - words == set(), "modules that the page does not name"
    named = set(re.findall(r"(\w+)\.py", text))
    there = {path.stem for top in KIT for path in (ROOT / top).rglob("*.py")}
    assert named - there == set(), "modules that the page names and that do not exist"


NAMED_OBJECT = re.compile(r"((?:connect4|grader)[.\w]*):[A-Za-z_]\w*")


def heights() -> dict[str, int]:
    """Return how high a module stands in the contracts of import-linter; more is higher."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            for depth, layer in enumerate(contract["layers"]):
                for name in re.findall(r"\w+", layer):
                    found[f"{container}.{name}"] = -depth
    return found


def test_no_string_names_an_object_of_a_higher_layer() -> None:
    known, upward, seen = heights(), [], 0
    for path in (path for top in KIT for path in (ROOT / top).rglob("*.py")):
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            if not (isinstance(value, str) and (named := NAMED_OBJECT.fullmatch(value))):
                continue
            seen += 1
            ours, theirs = f"{own}.".split("."), f"{named[1]}.".split(".")
            pairs = zip(ours, theirs, strict=False)
            same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
            below = known.get(".".join(ours[: same + 1]), 0)
            if known.get(".".join(theirs[: same + 1]), 0) > below or ours[0] < theirs[0]:
                upward.append(f"{own}: {value}")
    assert seen, "the agents' table has such names"
    assert upward == []

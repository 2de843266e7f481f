"""The autograder for Classroom 50, run in a student's checkout as its runner does."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, module_of, run
from tests.grading import rubric, searcher

SET = {
    "CLASSROOM": "cs101-autumn",
    "ASSIGNMENT": "connect4",
    "SUBMISSION_TAG": "submission/3",
    "COMMIT_URL": "https://example.org/ann/connect4/commit/1f",
    "RELEASE_URL": "https://example.org/ann/connect4/releases/3",
    "REVIEW_URL": "https://example.org/ann/connect4/pull/1",
}
SCHEMA = Path(__file__).parent / "data" / "classroom50_result.schema.json"


def valid_result(checkout: Path) -> dict[str, Any]:
    """Return the result in a checkout, which meets Classroom 50's contract."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema, of the extra `test`")
    result: dict[str, Any] = json.loads((checkout / "result.json").read_text(encoding="utf-8"))
    jsonschema.validate(result, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert all(item["score"] <= item["max-score"] for item in (result, *result["tests"]))
    return result


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked zip of a teacher whose rubric has one small board."""
    folder = tmp_path_factory.mktemp("autograder")
    own = rubric(folder)
    done = run(
        "grader", "handout", "a.zip", "--classroom50", "--rubric", own, cwd=folder, seconds=110
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / "a.zip") as archive:
        archive.extractall(folder / "autograder")
    return folder / "autograder"


def grade(unpacked: Path, checkout: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the autograder as the runner does: in the checkout, with little in the environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout), **SET, **more}
    return subprocess.run(
        [sys.executable, unpacked / "autograder.py"],
        cwd=checkout,
        env={name: value for name, value in environment.items() if value},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([10.0, 20.0], [10, 20]),
        ([0.4, 0.4, 0.4], [1, 0, 0]),
        ([3.33, 7.77], [3, 8]),
        ([9.99, 9.99, 0.01], [10, 10, 0]),
    ],
)
def test_whole_points_have_the_rounded_sum(values: list[float], expected: list[int]) -> None:
    assert module_of(ROOT / "grader" / "classroom50" / "autograder.py").whole(values) == expected


@pytest.mark.slow
def test_a_checkout_becomes_a_valid_result(unpacked: Path, tmp_path: Path) -> None:
    """Also with what a student may have put there to be run or written through."""
    checkout = tmp_path / "checkout"
    players = checkout / "connect4" / "players"
    players.mkdir(parents=True)
    (players / "ai.py").write_text(searcher(), encoding="utf-8")
    (players / "report.txt").write_text("Ann, 1\n", encoding="utf-8")
    for name in ("pip", "venv", "numpy", "json", "tabulate", "grader"):
        text = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
        (checkout / f"{name}.py").write_text(text, encoding="utf-8")
    kept = tmp_path / "kept.txt"
    kept.write_text("as it was", encoding="utf-8")
    (checkout / "result.json").symlink_to(kept)
    done = grade(unpacked, checkout, GITHUB_ACTIONS="true")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
    began, _, log = done.stdout.partition("\n::stop-commands::")  # no line of the games is one
    assert began.startswith("autograder: set up in ")
    assert log.endswith(f"\n::{log.partition(chr(10))[0]}::\n")
    assert kept.read_text(encoding="utf-8") == "as it was"
    result = valid_result(checkout)
    assert result["classroom"] == SET["CLASSROOM"]
    assert result["assignment"] == SET["ASSIGNMENT"]
    assert result["submission"] == SET["SUBMISSION_TAG"]
    assert result["release"] == SET["RELEASE_URL"]
    assert (result["commit"], result["review"]) == (SET["COMMIT_URL"], SET["REVIEW_URL"])
    assert result["score"] == sum(test["score"] for test in result["tests"]) > 0
    assert [test["test-name"].split(":")[0] for test in result["tests"]][:2] == ["A", "B"]
    body = (checkout / "release-body.md").read_text(encoding="utf-8")
    assert body.startswith(f"## {result['score']} of {result['max-score']} points\n")


@pytest.mark.slow
def test_no_file_is_no_points_and_not_the_machines_failure(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("tomorrow", encoding="utf-8")
    done = grade(unpacked, tmp_path, REVIEW_URL="")
    assert done.returncode == 0, done.stderr
    result = valid_result(tmp_path)
    assert result["score"] == 0 < result["max-score"]
    assert result["review"] == SET["COMMIT_URL"]
    assert "ai.py" in result["tests"][0]["output"]


def test_a_missing_variable_is_the_runners_failure(tmp_path: Path) -> None:
    done = grade(ROOT / "grader" / "classroom50", tmp_path, SUBMISSION_TAG="")
    assert done.returncode == 1
    assert done.stderr == "autograder: not set in the environment: SUBMISSION_TAG\n"
    assert not (tmp_path / "result.json").exists()


@pytest.mark.slow
def test_the_autograder_has_no_hostile_agent_and_no_test(unpacked: Path) -> None:
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*.py")}
    assert {"autograder.py", "kit/grader/__main__.py", "libraries/tabulate/__init__.py"} <= names
    assert not [name for name in names if "/corpus/" in name or name.startswith("kit/tests/")]

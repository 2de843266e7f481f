"""The autograder of Classroom 50: run in a student's checkout, it writes `result.json` there.

It needs Python 3.11 or newer and what lies beside it: `kit`, `libraries` and `rubric.toml`. Where
numpy is missing it installs the wheel into an environment of its own. The exit status is 0 if the
grading ran to its end; anything else is the machine's failure, never the student's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = "classroom50/result/v1"
NAMES = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
"""The fields that come from the environment."""


def main() -> int:
    """Grade the submission in the current folder."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    checkout = Path.cwd()
    for name in ("result.json", "release-body.md"):  # a student's own would pass for ours
        path = checkout / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    missing = [name for name in NAMES.values() if not os.environ.get(name)]
    if missing:
        print(f"autograder: not set in the environment: {', '.join(missing)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="autograder-") as work:
        began = time.monotonic()
        python = python_with_numpy(Path(work))
        if python is None:
            return 1
        print(f"autograder: set up in {time.monotonic() - began:.1f} s", flush=True)
        status = grade(python, checkout, Path(work))
        found = Path(work, "out", "results.json")
        if status != 0 or not found.is_file():
            print(f"autograder: the grader stopped with exit status {status}", file=sys.stderr)
            return 1
        results = json.loads(found.read_text(encoding="utf-8"))
    tests = whole_tests(results)
    write(checkout / "release-body.md", release_body(tests))
    write(checkout / "result.json", json.dumps(document(tests), indent=1, ensure_ascii=False))
    return 0


def python_with_numpy(work: Path) -> str | None:
    """Return a Python that has numpy: this one, or a new environment with the wheel."""
    if importlib.util.find_spec("numpy") is not None:
        return sys.executable
    folder = work / "python"
    wanted = ["-I", "-m", "pip"]  # with -I nothing of the student's folder is imported
    wanted += ["install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    wanted += ["--only-binary=:all:", "numpy>=1.26"]
    try:
        subprocess.run([sys.executable, "-I", "-m", "venv", folder], cwd=work, check=True)
        subprocess.run([folder / "bin" / "python", *wanted], cwd=work, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"autograder: numpy cannot be installed: {error}", file=sys.stderr)
        return None
    return str(folder / "bin" / "python")


def grade(python: str, checkout: Path, work: Path) -> int:
    """Run the grader; return its exit status."""
    path = os.pathsep.join((str(HERE / "kit"), str(HERE / "libraries")))
    command = [python, "-m", "grader", "grade", str(checkout), "--name", "submission"]
    command += ["--rubric", str(HERE / "rubric.toml")]
    command += ["--results", str(work / "grade.db"), "--out", str(work / "out")]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=HERE / "kit", env=environment, check=False).returncode


def whole_tests(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tests with whole points, whose sum is the rounded sum; `points` is exact."""
    tests = results["tests"]
    scores = whole([max(0.0, float(test["score"])) for test in tests])
    most = whole([float(test["max_score"]) for test in tests])
    return [
        {
            "test-name": test["name"],
            "passed": test["status"] == "passed",
            "score": min(score, full),
            "max-score": full,
            "points": test["score"],
            "output": test["output"],
        }
        for test, score, full in zip(tests, scores, most, strict=True)
    ]


def whole(values: list[float]) -> list[int]:
    """Return whole numbers with the rounded sum of the values, each less than 1 from its value."""
    rounded = [int(value) for value in values]
    missing = int(sum(values) + 0.5) - sum(rounded)
    by_rest = sorted(range(len(values)), key=lambda at: rounded[at] - values[at])
    for at in by_rest[:missing]:
        rounded[at] += 1
    return rounded


def document(tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of `result.json`."""
    values = {field: os.environ[name] for field, name in NAMES.items()}
    return {
        "schema": SCHEMA,
        **values,
        "review": os.environ.get("REVIEW_URL") or values["commit"],
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def release_body(tests: list[dict[str, Any]]) -> str:
    """Return the text of the release: a table, then what each test printed."""
    total, full = (sum(test[name] for test in tests) for name in ("score", "max-score"))
    lines = [f"## {total} of {full} points", "", "| test | points | of |", "| --- | ---: | ---: |"]
    for test in tests:
        name = test["test-name"].replace("|", "\\|")
        lines.append(f"| {name} | {test['score']} | {test['max-score']} |")
    for test in tests:
        if test["output"]:
            indented = [f"    {line}" for line in test["output"].splitlines()]
            lines += ["", f"### {test['test-name']}", "", *indented]
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Write a new file; raises `OSError` if something is there, a link for instance."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())

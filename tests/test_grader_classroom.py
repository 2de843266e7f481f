"""A class of 24, with broken and hostile hand-ins, is graded; nothing secret reaches a student."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.classroom import CLASS, build
from tests.command import run
from tests.grading import COMMAND, all_records

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(1200)]

UNGRADED = {
    "erin": "cannot be loaded: SyntaxError: expected ':' (ai.py, line 2)",
    "finn": "cannot be loaded: ai.py defines no class AIPlayer",
    "gus": "not UTF-8 (line 1, byte 5); save the file as UTF-8",
    "hana": "the archive holds another archive, inner.zip; hand in ai.py or one zip of it",
    "ivan": "cannot be loaded: ModuleNotFoundError: No module named 'torch'",
}

HOSTILE = ("kurt", "lena", "nora", "otto", "quin")

HIDDEN = re.compile(r"cellar|0000012021211212|2, 1, 2, 1|2 1 2 1|\[0, 1, 2, 0\]")
"""The name and the rows of the hidden board."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classroom")
    build(folder)
    arguments = ("--rubric", "rubric.toml", "--out", "marks")
    done = run(COMMAND, "grade", *CLASS, *arguments, cwd=folder, seconds=1100)
    assert done.returncode == 0, done.stderr
    return folder


def test_everybody_has_a_line_and_a_page_and_nobody_stops_the_others(graded: Path) -> None:
    with (graded / "marks" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["Submission"].removeprefix("'"): row for row in csv.DictReader(file)}
    pages = {path.stem for path in (graded / "marks" / "feedback").iterdir()}
    assert len(rows) == len(pages) == 24
    assert {name: rows[name]["Remark"] for name in UNGRADED} == UNGRADED
    assert {"Kim Lee (4711)", "Kim Lee (4712)", "Zoë Müller-Őry", "李小龙"} <= rows.keys()
    assert rows["alice"]["Total"] == rows["alice's friend"]["Total"] != "0.00"
    for name in HOSTILE:
        row = rows[name]
        assert float(row["Total"]) == 0
        assert int(row["Timeouts"]) + int(row["Invalid"]) + int(row["Errors"]) > 100
    page = (graded / "marks" / "class.html").read_text(encoding="utf-8")
    assert "alice; alice&#x27;s friend" in page.replace("'", "&#x27;")


def test_a_student_finds_no_seed_no_hidden_board_and_no_path(graded: Path) -> None:
    """In the page and the JSON of each student, whose agents tried to find them."""
    with contextlib.closing(sqlite3.connect(graded / "grade.db")) as database:
        query = "SELECT value FROM meta WHERE name = 'secret'"
        secret = int(database.execute(query).fetchone()[0], 16)
    seeds = {secret, *(record["seed"] for record in all_records(graded / "grade.db").values())}
    numbers = [text for seed in seeds for text in (str(seed), f"{seed:x}")]
    paths = [str(graded), str(graded.parent), sys.prefix, sys.base_prefix, "site-packages/"]
    files = [*(graded / "marks" / "feedback").iterdir(), *(graded / "marks" / "results").iterdir()]
    assert len(files) == 48
    for path in files:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            text = json.dumps(json.loads(text), ensure_ascii=False)
        assert not [number for number in numbers if number in text], path
        assert not [place for place in paths if place in text], path
        assert not HIDDEN.search(text), path
    otto = (graded / "marks" / "feedback" / "otto.html").read_text(encoding="utf-8")
    assert "BOARD [[0, 0, 0, 0, 0, 0]" in otto.replace("&#x27;", "'"), "of the board that is shown"

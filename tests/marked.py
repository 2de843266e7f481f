"""A class with known marks: hand-ins as a platform packs them, and results without playing."""

import contextlib
import csv
import io
import json
import os
import subprocess
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from grader.__main__ import main
from grader.handin.find import find
from grader.marks import gradable
from grader.play.schedule import grade_games
from grader.play.trials import STAND_IN
from grader.results import Attempt, Faults, PlayedGame
from grader.results.store import Store
from grader.rubric import reading as rubrics
from tests.grading import rubric

MARGIN = "# margin "
NONE = Faults()


def agent(margin: int, note: str = "") -> str:
    """Return a source that is worth `points(margin)` here; `note` makes it a file of its own."""
    return f"{STAND_IN.decode()}# {note}\n{MARGIN}{margin}\n"


def points(margin: int) -> Decimal:
    """Return the mark of `agent(margin)`, another one for each margin from -10 to 50."""
    part_a = Decimal(40 * min(max(margin, 0), 50)) / 50
    return part_a + Decimal(10 * min(max(margin + 10, 0), 20)) / 20


def write_class(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, by their places."""
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")


def grade_without_playing(
    hand_ins: Path, results: Path, more: str = "", hidden_lost: Faults = NONE
) -> None:
    """Store the hand-ins, and for each game the margin that its source names.

    `more` are lines at the end of the rubric, `hidden_lost` what each submission loses in a game on
    a hidden board.
    """
    path = results.with_name("rubric.toml")
    if not path.is_file():
        rubric(results.parent)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    own = rubrics.read(path)
    with Store(results, writing=True) as store:
        found = find([hand_ins], own.submission)
        values = json.dumps(rubrics.stored_values(own))
        store.set_meta({"kind": "grade", "rubric": values})
        store.set_submissions(found, whole=True)
        for game in grade_games(gradable(found), own):
            source = (store.source(game.match.one.id) or b"").decode()
            points = 100 + int(source.rpartition(MARGIN)[2])
            scores = (points, 100) if game.side == 1 else (100, points)
            lost = hidden_lost if game.board.hidden else NONE
            faults = (lost, NONE) if game.side == 1 else (NONE, lost)
            played = PlayedGame(scores, "no_action", 8, faults)
            one, two = game.players
            store.add(Attempt(game.key, (one.id, two.id), played))


def grader(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Call `python3 -m grader` in this process, without a terminal."""
    out, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        open(os.devnull) as nothing,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("sys.stdin", nothing)
        status = main(list(words))
    return subprocess.CompletedProcess(words, status, out.getvalue(), errors.getvalue())


def rows(path: Path, encoding: str = "utf-8-sig", delimiter: str = ",") -> list[dict[str, str]]:
    """Return the lines of a CSV file by their columns."""
    text = path.read_text(encoding=encoding)
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def totals(out: Path) -> dict[str, str]:
    """Return the total of each student in `grades.csv`, by name and number."""
    return {f"{row['Name']} {row['ID']}".strip(): row["Total"] for row in rows(out / "grades.csv")}


def stored(results: Path, table: str) -> list[Any]:
    """Return the rows of a table of a results file."""
    with Store(results, writing=False) as store:
        return store._database.execute(f"SELECT * FROM {table}").fetchall()

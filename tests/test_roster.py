"""A class with a roster: late days, groups and corrections, in the three forms of download."""

from __future__ import annotations

import csv
import io
import math
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from connect4.errors import InputError
from grader.handin.roster import Roster, Student, assign, read
from grader.handin.submission import Member, Submission
from grader.marks.late import lateness
from grader.rubric import reading as rubrics
from tests.command import assert_refused, run
from tests.grading import count, hand_in, hand_in_each, rubric, searcher
from tests.test_exports import marks_by_hand

HEADER = "Name;ID;E-mail;Section;Group;Extension (days);Submitted;Adjust;Reason;Tutor\r\n"
CLASS = {
    "Ann Lee": ("u1", "a", "1", "", "", ""),
    "Ben Müller": ("u2", "a", "1", "", "", ""),
    "Cara O'Neil": ("u3", "b", "2", "", "", ""),
    "Dan Ng": ("u4", "b", "2", "", "", ""),
    "Eve Kim": ("u5", "a", "", "", "", ""),
    "Fay Zhu": ("u6", "a", "", "2", "", ""),
    "Gil Ode": ("u7", "a", "", "", "", ""),
    "Hal Roy": ("u8", "b", "", "2,5", "", ""),
    "Ida Sol": ("u9", "b", "", "", "-1,25", "=a late report"),
    "Jo Tan": ("u10", "b", "", "", "", ""),
    "Kim Lee": ("u11", "b", "", "", "", ""),
    "Lou Lee": ("u12", "b", "", "", "", ""),
}
"""Number, section, group, days of extension, correction and reason of each student."""

HANDED_IN = {
    "Ann Lee": "2030-03-30 23:59",
    "Dan Ng": "2030-03-30 12:00",
    "Eve Kim": "2030-04-01 23:59",
    "Fay Zhu": "2030-04-04 00:00",
    "Gil Ode": "2030-04-09 08:30",
    "Hal Roy": "2030-04-02 11:00",
    "Ida Sol": "2030-03-29 10:00",
    "Jo Tan": "2030-03-30 10:00",
    "Kim Lee": "2030-03-30 10:00",
}
"""In Berlin, where clocks change on the 31st; Ben and Cara share, Lou handed nothing in."""

LATE = (
    '[late]\ndeadline = "2030-03-30 23:59"\nzone = "Europe/Berlin"\npercent_a_day = 2\n'
    "grace_days = 1\ncap_percent = 5\n"
)
"""One of the 50 points for each day after the first, 2.5 at most."""

DAYS = {"Eve Kim": 2, "Fay Zhu": 3, "Gil Ode": 10}
"""Late days, by hand: Fay has two more days, and the minute after midnight begins a third."""


def roster(folder: Path, encoding: str = "utf-8-sig", separator: str = ";", times: str = "") -> str:
    """Write the roster as Excel does, with the times of `HANDED_IN` in a format if there is one."""
    lines = HEADER
    for name, (number, section, group, extension, adjust, reason) in CLASS.items():
        given = HANDED_IN.get(name)
        time = datetime.fromisoformat(given).strftime(times) if given else ""
        mail = f"{number}@x.org"
        cells = name, number, mail, section, group, extension, time, adjust, reason, "T"
        lines += ";".join(f'"{cell}"' if "," in cell else cell for cell in cells) + "\r\n"
    path = folder / "roster.csv"
    path.write_bytes(lines.replace(";", separator).encode(encoding))
    return path.name


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def canvas(folder: Path, sources: dict[str, str]) -> list[str]:
    """Write Canvas's download, in which Gil and Jo handed in again; the roster has the times."""
    for number, (name, source) in enumerate(sources.items(), 101):
        first, last = name.split()
        late = "_LATE" if name in DAYS or name == "Hal Roy" else ""
        begin = folder / f"{last}{first}{late}_{number}".lower().replace("_late", "_LATE")
        again = name in ("Gil Ode", "Jo Tan")
        if again:
            write(Path(f"{begin}_7{number}_ai.py".replace("_LATE", "")), "x = 'the old one'\n")
        write(Path(f"{begin}_8{number}_ai{'-1' * again}.py"), source)
        write(Path(f"{begin}_9{number}_report.txt"), f"{name}, {number}\n")
    return ["--roster", roster(folder.parent, "utf-8-sig", ";", "%d.%m.%Y %H:%M")]


def moodle(folder: Path, sources: dict[str, str]) -> list[str]:
    """Write Moodle's download, and its grading worksheet, which has the times."""
    out = io.StringIO()
    head = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]
    csv.writer(out).writerow([*head, "Last modified (submission)"])
    for number, name in enumerate(CLASS, 9001):
        given = HANDED_IN.get(name)
        shown = "-"
        if given is not None:
            shown = datetime.fromisoformat(given).strftime("%A, %d %B %Y, %I:%M %p")
        mail = f"{CLASS[name][0]}@x.org"
        csv.writer(out).writerow([f"Participant {number}", name, mail, "", "100.00", shown])
        if name in sources:
            place = folder / f"{name}_{number}_assignsubmission_file_"
            write(place / "ai.py", sources[name])
            write(place / "report.txt", f"{name}\n")
    write(folder.parent / "worksheet-export.csv", out.getvalue())
    options = ["--gradebook", "worksheet-export.csv"]
    return [*options, "--roster", roster(folder.parent, "cp1252", "\t")]


def gradescope(folder: Path, sources: dict[str, str]) -> list[str]:
    """Write Gradescope's download, whose metadata has the times in UTC."""
    lines = "---\n"
    for number, (name, source) in enumerate(sources.items(), 1):
        berlin = datetime.fromisoformat(HANDED_IN[name]).replace(tzinfo=ZoneInfo("Europe/Berlin"))
        time = berlin.astimezone(ZoneInfo("UTC")).strftime("%Y-%m-%d %H:%M:%S.123456789 Z")
        lines += f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{number}'\n"
        lines += f"    :email: {CLASS[name][0]}@x.org\n  :created_at: {time}\n"
        write(folder / f"submission_{number}" / "ai.py", source)
        write(folder / f"submission_{number}" / "report.txt", f"{name}\n")
    write(folder / "submission_metadata.yml", lines)
    return ["--roster", roster(folder.parent, "utf-8-sig", ",")]


def by_hand(part_a: float, part_b: float, name: str) -> dict[str, str]:
    """Return what `grades.csv` must say of a student."""
    charged = max(0, DAYS.get(name, 0) - 1) * 50 * 2 / 100
    deducted = min(charged, 2.5, part_a + part_b)
    adjust = float(CLASS[name][4].replace(",", ".") or 0)
    return {
        "Part A": f"{part_a:.2f}",
        "Late Deduction": f"{deducted:.2f}",
        "Adjust": f"{adjust:.2f}",
        "Total": f"{max(0, part_a + part_b - deducted + adjust):.2f}",
        "Section": CLASS[name][1],
        "Group": CLASS[name][2],
    }


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


@pytest.mark.slow
def test_a_class_of_twelve_in_three_forms_has_the_marks_made_by_hand(tmp_path: Path) -> None:
    """The games of the first form count for the others: a roster and late days play nothing."""
    own = rubric(tmp_path)
    own.write_text(own.read_text(encoding="utf-8") + LATE, encoding="utf-8")
    sources = {name: searcher(1 + n % 3, 1 - n % 2 * 2, name) for n, name in enumerate(HANDED_IN)}
    played = []
    for form in (canvas, moodle, gradescope):
        options = form(tmp_path / form.__name__, sources)
        words = [form.__name__, "--rubric", own, "--results", "marks.db", "--out", form.__name__]
        words = [*words[:-1], f"out-{form.__name__}", *options]
        done = run("grader", "grade", *words, cwd=tmp_path, seconds=110)
        assert done.returncode == 0, done.stderr
        played.append(count(tmp_path / "marks.db"))
        assert "roster.csv: columns that are not used: Tutor\n" in done.stderr
        assert "roster.csv: nothing was handed in, 0 points: Lou Lee\n" in done.stderr
        assert "not in it" not in done.stderr
        assert "time is known" not in done.stderr
        out = tmp_path / f"out-{form.__name__}"
        grades = {row["Name"]: row for row in rows(out / "grades.csv")}
        assert grades.keys() == CLASS.keys()
        marks = marks_by_hand(tmp_path / "marks.db")
        for name, row in grades.items():
            expected = by_hand(*marks.get(row["SHA-256"], (0.0, 0.0)), name)
            assert {key: row[key] for key in expected} == expected, name
            days = str(DAYS.get(name, 0))
            assert row["Late Days"] == days if name != "Lou Lee" else not row["Late Days"]
        assert grades["Ann Lee"]["SHA-256"] == grades["Ben Müller"]["SHA-256"]
        assert grades["Ida Sol"]["Reason"] == "'=a late report"
        for name in ("Gil Ode", "Ida Sol", "Lou Lee"):
            place = next((out / "feedback").glob(f"{grades[name]['Submission']}.html"))
            page = place.read_text(encoding="utf-8")
            assert f"{grades[name]['Total']} of 50" in page
            assert {
                "G": "10 days late, 2.50 points less",
                "I": "corrected by -1.25: =a late",
                "L": "noth",
            }[name[0]] in page
    assert played == [played[0]] * 3
    filled = {row["Full name"]: row["Grade"] for row in rows(tmp_path / "out-moodle/worksheet.csv")}
    assert filled == {name: f"{2 * float(row['Total']):.2f}" for name, row in grades.items()}

"""A class of sixty through every platform, roster and gradebook: no cell has another one's mark."""

import hashlib
import re
import subprocess
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from tests.marked import grade_without_playing, grader, points, rows
from tests.sixty import BOOKS, LATE, OPEN, PLATFORMS, Course, Pupil
from tests.sixty_files import book, download, name_hand_ins

SEEDS = (0, 1, 22, 23)
FULL = 50
WRITTEN = {
    "canvas": ("canvas.csv", "utf-8", ",", "Connect-4 (2)", 100),
    "moodle": ("moodle.csv", "utf-8", ",", "Assignment: Connect-4 (Real)", FULL),
    "worksheet": ("worksheet.csv", "utf-8-sig", ",", "Grade", 50),
    "brightspace": ("brightspace.csv", "utf-8", ",",
        "Connect-4 Points Grade <Numeric MaxPoints:25>", 25),
    "blackboard": ("blackboard.xls", "utf-16", "\t", "Connect-4 [Total Pts: 10 Score] |77", 10),
}  # fmt: skip
"""The file of each gradebook below `out`, its encoding, its separator, the column, the maximum."""


def bare(text: str) -> str:
    """Return the letters of a text without accents, as a list may have them."""
    text = unicodedata.normalize("NFD", text.casefold())
    for letter, two in (("ł", "l"), ("ø", "o"), ("đ", "d"), ("ı", "i"), ("ß", "ss"), ("oe", "o"),
        ("ue", "u"), ("ae", "a")):  # fmt: skip
        text = text.replace(letter, two)
    return "".join(letter for letter in text if letter.isalnum())


class Graded:
    """A class in a folder of its own: its lists, and each wrong cell in what is written."""

    def __init__(self, folder: Path, seed: int, platform: str) -> None:
        self.folder, self.course = folder, Course(seed, platform)
        (folder / "class.zip").write_bytes(download(self.course))
        for name in BOOKS:
            (folder / f"{name}.csv").write_bytes(book(self.course, name))
        grade_without_playing(folder / "class.zip", folder / "marks.db", LATE)
        self.owner = {
            hashlib.sha256(one.source.encode()).hexdigest(): one.margin
            for one in self.course.pupils
        }

    def report(self) -> subprocess.CompletedProcess[str]:
        """Write the roster, and fill all gradebooks whoever is missing there."""
        (self.folder / "roster.csv").write_bytes(book(self.course, "roster"))
        books = [word for name in BOOKS for word in ("--gradebook", f"{name}.csv")]
        done = grader(
            *("report", "marks.db", "--out", "out", "--roster", "roster.csv", *books),
            *("--feedback-zip", "pages.zip", "--yes"),
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr
        self.told = "\n".join(
            [line for line in done.stderr.splitlines() if "its record cannot be" not in line]
            + [path.read_text("utf-8") for path in (self.folder / "out").glob("*.txt")
               if path.name != "tables.txt"]
            + [path.read_text("utf-8-sig") for path in (self.folder / "out").glob("unmatched.csv")]
        )  # fmt: skip
        return done

    def is_told(self, one: Pupil) -> bool:
        """Return whether somebody is listed by name, of the platform or of a list."""
        names = [one.name, one.on_platform, f"{one.last}{one.first}"]
        names.append(self.course.title(one))
        return any(bare(name) in bare(self.told) for name in names if name)

    def wrong(self) -> Iterator[str]:
        """Yield every cell and every page that is not as it must be."""
        yield from self._wrong_in_grades()
        for name in BOOKS:
            yield from self._wrong_in_book(name)
        yield from self._wrong_pages()

    def _wrong_in_grades(self) -> Iterator[str]:
        course, seen = self.course, set()
        lines = {f"tag {one.place}": one for one in course.lines["roster"]}
        for row in rows(self.folder / "out/grades.csv"):
            one, margin = lines.pop(row["Section"], None), self.owner.get(row["SHA-256"])
            seen.add(margin)
            if row["Section"] and one is None:
                yield f"grades.csv: {row['Section']} twice"
            elif one is None:
                yield from self._wrong_alone(row, margin)
            else:
                yield from self._wrong_on_line(row, one, margin)
        yield from (f"grades.csv: no line of the roster's {tag}" for tag in lines)
        for one in course.pupils:
            is_there = one.handed_in and one.role != "broken"
            if is_there and course.counting(one) in (one.place, OPEN) and one.margin not in seen:
                yield f"grades.csv: the hand-in of {one} is lost"

    def _wrong_alone(self, row: Mapping[str, str], margin: int | None) -> Iterator[str]:
        """Judge a line of `grades.csv` of somebody who is not in the roster."""
        owners = [one for one in self.course.pupils if one.margin == margin and one.handed_in]
        broken = [one for one in self.course.pupils if one.role == "broken"]
        owners = owners if row["SHA-256"] else broken
        totals = set[str]()
        for one in owners:
            totals |= self._shown(one)
        if row["Total"] not in totals:
            yield f"grades.csv: {row['Total']} and not {totals}: {dict(row)}"
        if all(self.course.is_clear(one, "roster") for one in owners):
            yield f"grades.csv: not found in the roster: {owners}"
        if not any(self.is_told(one) for one in owners):
            yield f"grades.csv: not listed: {owners}"

    def _shown(self, one: Pupil) -> set[str]:
        """Return the texts that a mark may be, out of all points; it may be open where it may."""
        on_roster = one in self.course.lines["roster"]
        true = self.course.total(one, on_roster)
        shown = {"" if true is None else f"{true:.2f}"}
        is_sure = one.handed_in and self.course.is_clear(one, "roster")
        return shown | (set() if is_sure or one.role == "member" else {""})

    def _wrong_on_line(
        self, row: Mapping[str, str], one: Pupil, margin: int | None
    ) -> Iterator[str]:
        """Judge the line of `grades.csv` that belongs to a line of the roster."""
        whose, total = self.course.counting(one), self.course.total(one)
        told = f"{row['Total'] or 'empty'}, true is {total}: {one}: {dict(row)}"
        is_missed = not row["Total"] and not row["SHA-256"]
        if is_missed and (whose is None or not self.course.is_clear(one, "roster")):
            if not (row["Remark"].startswith("not decided") and self.is_told(one)):
                yield f"grades.csv: neither a mark nor listed: {told}"
            return
        expected = "" if total is None else f"{total:.2f}"
        if row["Total"] != expected:
            yield f"grades.csv: {told}"
        own = None if whose is None else self.course.pupils[whose]
        has_file = own and own.role != "broken" and not (one.mark and not row["SHA-256"])
        if own and whose != OPEN and has_file and margin != own.margin:
            yield f"grades.csv: another one's file: {told}"
        late = self.course.days(own, True) if own and whose != OPEN else 0
        cells = {"Group": one.group, "Adjust": f"{Decimal(one.adjust or 0):.2f}"}
        cells |= {"Percent": one.percent, "Mark": one.mark}
        if total is not None and own and own.role != "broken" and not one.mark:
            cells["Late Deduction"] = f"{min(2 * late, points(own.margin)):.2f}"
        for title, text in cells.items():
            if row[title] != text:
                yield f"grades.csv: {title} {row[title]} and not {text}: {told}"

    def _wrong_in_book(self, name: str) -> Iterator[str]:
        file, encoding, separator, column, most = WRITTEN[name]
        kinds = {"canvas": ["canvas"], "moodle": ["email"], "worksheet": ["moodle"],
            "brightspace": ["number", "login"], "blackboard": ["login"]}  # fmt: skip
        titles = {"canvas": "ID", "moodle": "Email address", "worksheet": "Identifier",
            "brightspace": "OrgDefinedId", "blackboard": "Username"}  # fmt: skip
        lines = {
            self.course.id_in(one, name, kinds[name][0]).lower(): one
            for one in self.course.lines[name]
        }
        path = self.folder / "out" / file
        for row in rows(path, encoding, separator) if path.exists() else ():
            key = row[titles[name]].removeprefix("Participant ").removeprefix("#").lower()
            if row[titles[name]] == "":
                continue  # Points Possible
            one = lines.pop(key)
            yield from self._wrong_in_line(f"{file}: ", name, one, row[column], most)
        for one in lines.values():
            yield from self._wrong_in_line(f"{file}, left out: ", name, one, None, most)

    def _wrong_in_line(
        self, where: str, name: str, one: Pupil, text: str | None, most: int
    ) -> Iterator[str]:
        """Judge a cell of a gradebook; None if the line is left out."""
        before = "7.25" if one.place % 9 == 0 else ""
        on_roster = one in self.course.lines["roster"]
        true = {self.course.total(one, on_roster)}
        shown = {before if mark is None else f"{mark * most / FULL:.2f}" for mark in true}
        told = f"{where}{text!r} and not {shown}: {one}"
        if text is None or (text == before and before not in shown):
            if self.course.counting(one) is not None and self.course.is_clear(one, name):
                yield told
            elif self.course.counting(one) is not None and not self.is_told(one):
                yield f"{told} (not listed)"
        elif text not in shown:
            yield told

    def _wrong_pages(self) -> Iterator[str]:
        """Judge the pages of the zip, and the lines for a mail merge."""
        course = self.course
        with zipfile.ZipFile(self.folder / "pages.zip") as zipped:
            names = zipped.namelist()
            pages = {name: zipped.read(name).decode() for name in names}
        if len(names) != len(pages):
            yield f"pages.zip: {[name for name, n in Counter(names).items() if n > 1]} twice"
        by_number = {one.ids["moodle"]: one for one in course.pupils}
        for name, page in pages.items():
            found = re.search(r'<p class="total"><b>(.*?)</b>', page)
            number = re.search(r"_(\d+)_assignsubmission_file_/", name)
            assert number, name
            one = by_number[number[1]]
            shown = {text or "incomplete" for text in self._shown(one)}
            if found is None or found[1] not in shown:
                yield f"{name}: {found and found[1]} and not {shown}"
        by_email = {one.ids["email"].lower(): one for one in course.pupils}
        for row in rows(self.folder / "pages.csv"):
            page = Path(row["Page"]).read_text("utf-8")
            if f"<b>{row['Mark'] or 'incomplete'}</b>" not in page:
                yield f"pages.csv: the page has another mark: {dict(row)}"
            one = by_email.get(row["Email"].lower())
            if one is not None and row["Mark"] not in self._shown(one):
                yield f"pages.csv: {row['Mark']} and not {self._shown(one)}: {one}"


@pytest.fixture(params=[(p, s) for p in PLATFORMS for s in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}")
def graded(request: pytest.FixtureRequest, tmp_path: Path) -> Graded:
    return Graded(tmp_path, request.param[1], request.param[0])


@pytest.mark.slow
def test_no_cell_and_no_page_has_another_ones_mark(graded: Graded) -> None:
    graded.report()
    assert list(graded.wrong()) == []
    name_hand_ins(graded.course)
    graded.report()
    assert list(graded.wrong()) == []

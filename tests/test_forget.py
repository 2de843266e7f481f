"""`forget` leaves nothing of a student: no name, no source, no move, in no file or free page."""

import contextlib
import html
import re
import shutil
import sqlite3
import subprocess
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest

from grader.handin import file_name
from tests.command import assert_refused, run
from tests.grading import COMMAND, games, hand_in_each, id_of, rubric
from tests.marked import rows
from tests.test_ladder import Term

pytestmark = pytest.mark.slow

WHO = "älice o'bor"
OTHERS = ("bernard box", "charlotte", "dietrich")
RUN = ("class", "--rubric", "rubric.toml", "--isolation", "process", "--records")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class and its tournament, in which all games are drawn: the lot decides every order."""
    folder = tmp_path_factory.mktemp("forget")
    hand_in_each(folder / "class", WHO, *OTHERS)
    rubric(folder, 0.5, tournament="points = [9, 7, 4, 2]\n")
    for command in ("grade", "tournament"):
        run(COMMAND, command, *RUN, "--out", command, cwd=folder, seconds=110, status=0)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "copy"))


def forget(
    folder: Path, command: str, *more: str, name: str = WHO
) -> subprocess.CompletedProcess[str]:
    option = "--site" if command == "ladder" else "--out"
    words = (name, "--results", f"{command}.db", option, command, *more)
    return run(COMMAND, "forget", *words, cwd=folder)


def places_of(text: str, *roots: Path) -> set[str]:
    """Return every file and every table that holds a text, as bytes or compressed."""
    found, forms = set(), {text, html.escape(text), file_name(text), quote(file_name(text))}
    files = [path for root in roots for path in (root, *root.rglob("*")) if path.is_file()]
    for path in files:
        held = f"{path.name}\n{path.read_bytes().decode(errors='ignore')}"
        found |= {path.name for form in forms if form in held}
    for path in (path for path in files if path.suffix == ".db"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                for row in database.execute(f"SELECT * FROM {table}"):
                    values = (zlib.decompress(v) if isinstance(v, bytes) else v for v in row)
                    held = "\n".join(map(str, values))
                    found |= {table for form in forms if form in held}
    return found


def texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("command", ["grade", "tournament"])
def test_nothing_of_a_student_is_left(folder: Path, command: str) -> None:
    results, out = folder / f"{command}.db", folder / command
    id_, before = id_of(results, WHO)[:8], texts(out)
    assert {"source", "author"} <= places_of(WHO, results, out)
    assert {"version", "game", "record", "index.csv"} <= places_of(id_, results, out)
    done = forget(folder, command, "--yes")
    assert re.search(f"{command}.db: {WHO} is forgotten, with the moves of [24] games", done.stdout)
    assert "still holds" not in done.stdout
    after = texts(out)
    for place in before.keys() - after.keys() if command == "grade" else ():
        assert file_name(WHO) in place or id_ in place
    for name in (f"feedback/{name}.html" for name in OTHERS if command == "grade"):
        assert after[name] == before[name], "the pages of the others stay as they are"
    beside = [path for path in folder.iterdir() if path.name.startswith(command)]
    assert places_of(WHO, *beside) == places_of(id_, *beside) == set()
    assert run(COMMAND, "report", results, "--out", out, cwd=folder).returncode == 0


def test_a_tournament_is_the_same_apart_from_the_name(folder: Path) -> None:
    whole = texts(folder / "tournament")
    before, pages = whole["standings.txt"], {name for name in whole if name.startswith("games/")}
    links = re.findall('href="(games/[^"]+)"', whole["standings.html"])
    assert {quote(name) for name in pages} == set(links)
    margins = sorted(row[2:] for row in games(folder / "tournament.db").values())
    for number, name in enumerate((WHO, OTHERS[0]), 1):
        forget(folder, "tournament", "--yes", name=name)
        before = before.replace(name, f"withdrawn-{number}")
        after = texts(folder / "tournament")
        assert after["standings.txt"] == before
        pages -= {page for page in pages if html.escape(name) in whole[page]}
        assert pages == {name for name in after if name.startswith("games/")}
    assert sorted(row[2:] for row in games(folder / "tournament.db").values()) == margins


def test_who_handed_in_the_same_file_keeps_its_games(folder: Path) -> None:
    shutil.copytree(folder / "class" / WHO, folder / "class" / "zoe")
    assert run(COMMAND, "grade", *RUN, "--out", "grade", cwd=folder).returncode == 0
    before = texts(folder / "grade")["feedback/zoe.html"]
    forget(folder, "grade", "--yes")
    assert places_of(WHO, folder / "grade.db", folder / "grade") == {"source", "grade.db", "ai.py"}
    run(COMMAND, "report", "grade.db", "--out", "grade", "--records", cwd=folder, status=0)
    assert texts(folder / "grade")["feedback/zoe.html"] == before


def test_a_roster_loses_a_student_too_also_one_without_a_hand_in(folder: Path) -> None:
    lines = f"name,e-mail\n{WHO},ann@uni.example\nnobody,nobody@uni.example\n"
    (folder / "roster.csv").write_text(lines, encoding="utf-8")
    words = ("report", "grade.db", "--out", "grade", "--roster", "roster.csv")
    assert run(COMMAND, *words, cwd=folder).returncode == 0
    for name, address in ((WHO, "ann@uni.example"), ("nobody@uni.example",) * 2):
        assert "roster" in places_of(address, folder / "grade.db")
        assert forget(folder, "grade", "--yes", name=name).returncode == 0
        assert places_of(address, folder / "grade.db", folder / "grade") == set()


@pytest.mark.parametrize("command", ["grade", "tournament"])
def test_several_folders_are_cleaned_and_wrong_ones_refused(folder: Path, command: str) -> None:
    for place in ("mraks", "class"):
        refused = forget(folder, command, "--yes", "--out", place)
        assert_refused(refused, f"--out {place}: ", "; nothing is forgotten")
    copy = shutil.copytree(folder / command, folder / "copy")
    assert forget(folder, command, "--yes", "--out", "copy").returncode == 0
    assert places_of(WHO, folder / command, copy) == set()
    again = forget(folder, command, "--yes")
    assert_refused(again, f"{WHO!r} is not in it")


def test_points_for_placement_stay_until_they_are_taken_out(folder: Path) -> None:
    def points_after(*words: str) -> tuple[bool, list[float]]:
        done = run(COMMAND, *words, "--out", "grade", cwd=folder)
        assert "earned points there" not in done.stderr
        points = sorted(float(row["Placement"]) for row in rows(folder / "grade/grades.csv"))
        return "placement points of tournament.db are included\n" in done.stderr, points

    report = ("report", "grade.db")
    assert points_after(*report, "--placement", "tournament.db") == (True, [3, 3, 8, 8])
    (folder / "class/dietrich").rename(folder / "class/dora")
    assert points_after("grade", *RUN) == (True, [3, 3, 8, 8])
    forget(folder, "grade", "--yes")
    assert points_after(*report) in ((True, [3, 3, 8]), (True, [3, 8, 8]))
    for option in (("--placement", "none"), ()):
        assert points_after(*report, *option) == (False, [0, 0, 0])


def test_the_teacher_is_asked_and_an_unknown_name_is_refused(folder: Path) -> None:
    before = games(folder / "grade.db")
    assert_refused(forget(folder, "grade"), "without a terminal, give --yes")
    assert_refused(forget(folder, "grade", "--yes", name="eve"), "'eve' is not in it; bernard")
    assert games(folder / "grade.db") == before


def test_a_ladder_keeps_its_ratings_and_its_site_loses_the_pages(tmp_path: Path) -> None:
    term = Term(tmp_path)
    strengths = {"ann miller": 60.0, "bob stone": 180.0, "cleo": 120.0, "dora": 9.0}
    for name, strength in strengths.items():
        term.hand_in(name, strength, f"the source of {name}")
    term.run()
    site, student = tmp_path / "ladder", term.entry("bob stone").student
    assert student is not None
    site.mkdir()
    (site / "index.html").touch()
    forget(tmp_path, "ladder", "--yes", name="dora")  # writes the site
    assert "index.html" in places_of(student.pseudonym, site)
    rating = term.entry("cleo").rating.mean  # type: ignore[union-attr]
    played = len(games(term.path))
    assert forget(tmp_path, "ladder", "--yes", name="bob stone").returncode == 0
    for text in ("bob stone", student.pseudonym, student.token):
        assert places_of(text, term.path, site) == set()
    assert len(games(term.path)) == played
    assert term.entry("cleo").rating.mean == pytest.approx(rating)  # type: ignore[union-attr]
    assert term.entry("cleo").rank == 1

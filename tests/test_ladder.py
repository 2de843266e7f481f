"""The ladder: hand-ins become versions, few games place them, and a stopped run goes on."""

import csv
import os
import re
import sqlite3
import subprocess
import textwrap
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.__main__ import make_parser
from grader.commands.ladder import LadderRun, begin
from grader.handin import find as submissions
from grader.ladder import Book, Version, pseudonym
from grader.ladder.league import Entry, Standings, player_id, ratings_csv, read_league, table_text
from grader.results import Attempt
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric
from tests.command import ROOT, assert_refused, run
from tests.grading import COMMAND, SEED
from tests.simulated import hand_in, simulated_pool

SMALL = f"""[match]
seed = {SEED}
[ladder]
boards = ["empty8x10"]
opening_plies = 0
width = 200.0
rungs = ["random", "minimax:depth=2"]
"""


def rubric(folder: Path, more: str = "") -> Rubric:
    path = folder / "rubric.toml"
    path.write_text(SMALL + more, encoding="utf-8")
    return rubrics.read(path)


class Term:
    """A class with a ladder whose games are simulated."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.folder = folder / "class"
        self.path = folder / "ladder.db"
        self.rubric = rubric(folder, more)

    def hand_in(self, name: str, strength: float, note: str = "") -> None:
        hand_in(self.folder, name, strength, note)

    def run(self, day: str = "2026-10-05", minutes: float = 5.0) -> tuple[list[Version], str]:
        """Rate the hand-ins; return the new versions and why the run ended."""
        with Book(self.path, writing=True) as book:
            found = submissions.find([self.folder], self.rubric.submission)
            new = begin(book, self.rubric, found, day)
            run = LadderRun(book, self.rubric, simulated_pool(), minutes)
            return new, run.go()

    def challenge(self, *names: str, minutes: float = 5.0) -> str:
        """Play an unrated match; return what is said at its end."""
        with Book(self.path, writing=True) as book:
            run = LadderRun(book, self.rubric, simulated_pool(), minutes)
            return run.challenge(names)

    def standings(self) -> Standings:
        with Book(self.path, writing=False) as book:
            return Standings(book, self.rubric)

    def entry(self, name: str) -> Entry:
        """Return the line of a student or of a rung."""
        (found,) = (
            item
            for item in self.standings().entries
            if name == (item.name if item.student is None else item.student.name)
        )
        return found

    def pairs(self) -> list[tuple[str, str]]:
        """Return both players of each pair in the order of the plan, first whom it was for."""
        with Book(self.path, writing=False) as book:
            league = read_league(book, self.rubric)
            names = {player_id(one): one.name for one in league.players} | league.real_names()
            rows = book._database.execute("SELECT wanted_by, one, two FROM planned WHERE side = 1")
            return [(names[own], names[two if own == one else one]) for own, one, two in rows]


@pytest.fixture
def term(tmp_path: Path) -> Term:
    term = Term(tmp_path)
    for name, strength in (("ann", 60.0), ("bob", 180.0)):
        term.hand_in(name, strength)
    return term


@pytest.mark.slow
def test_a_version_is_known_by_its_content(term: Term) -> None:
    assert [(item.student, item.number) for item in term.run()[0]] == [("ann", 1), ("bob", 1)]
    assert term.run("2026-10-06")[0] == []
    term.hand_in("bob", 180.0, "changed")
    assert [(item.student, item.number) for item in term.run("2026-10-07")[0]] == [("bob", 2)]
    term.hand_in("bob", 180.0)
    assert term.run("2026-10-08")[0] == [], "the first version again"
    student = term.entry("bob").student
    assert student is not None
    assert student.latest == student.versions[0].sha256


@pytest.mark.slow
def test_ratings_are_near_the_true_strengths_and_random_has_0(term: Term) -> None:
    term.run()
    for name, strength in (("ann", 60), ("bob", 180), ("minimax:depth=2", 150), ("random", 0)):
        rating = term.entry(name).rating
        assert rating is not None
        assert rating.low - 40 <= strength <= rating.high + 40
    assert [item.rank for item in term.standings().entries if item.student] == [1, 2]
    assert term.entry("random").rating.bounds == (0.0, 0.0)  # type: ignore[union-attr]


@pytest.mark.slow
def test_only_what_a_new_version_needs_is_played(term: Term) -> None:
    assert term.run()[1] == "every rating is known well enough"
    before = len(term.pairs())
    term.run("2026-10-06")
    assert len(term.pairs()) == before
    term.hand_in("cleo", 120.0)
    term.run("2026-10-07")
    new = term.pairs()[before:]
    assert {own for own, _ in new} <= {"cleo v1", "ann v1", "bob v1", "minimax:depth=2"}
    rungs = [rung.name for rung in term.rubric.ladder.rungs]
    assert sorted(new[: len(rungs)]) == [("cleo v1", rung) for rung in sorted(rungs)]


@pytest.mark.slow
def test_an_unrated_match_changes_no_rating_and_can_be_stopped(term: Term) -> None:
    term.run()
    before = table_text(term.standings())
    assert term.challenge("bob v1", "ann", minutes=0).startswith("the time is used")
    other = term.challenge("bob", "random")  # plays this match alone
    said = term.challenge("ann", "bob")
    assert said.startswith("ann against bob: won-drawn-lost 0-0-2, no rating changes; page games/")
    won, drawn, lost = map(int, term.challenge("bob", "ann v1").split()[5].strip(",").split("-"))
    assert (won >= 2, won + drawn + lost) == (True, 4), "both matches together"
    assert other.split("; ")[1] != said.split("; ")[1]
    assert table_text(term.standings()) == before
    for names, why in (
        (("ann", "bobb"), "no 'bobb' can be played (did you mean 'bob'?)"),
        (("ann", "ann v1"), "ann and ann v1 are the same file"),
    ):
        with pytest.raises(InputError, match=re.escape(why)):
            term.challenge(*names)


@pytest.mark.slow
def test_the_best_version_counts_or_the_latest(term: Term) -> None:
    term.run()
    term.hand_in("bob", 20.0)
    term.run("2026-10-12")
    assert term.entry("bob").label.endswith(" v1")
    term.rubric = replace(term.rubric, ladder=replace(term.rubric.ladder, policy="latest"))
    latest = term.entry("bob")
    assert latest.rating is not None
    assert latest.label.endswith(" v2")
    assert latest.rating.mean < 120
    assert (latest.change or 0) < -60, "against version 1, a week ago"
    assert [day for day, _ in latest.curve] == ["2026-10-05", "2026-10-12"]


@pytest.mark.slow
def test_a_stopped_round_is_finished_before_the_next_is_chosen(term: Term) -> None:
    term.run()
    expected = term.pairs()
    (term.folder.parent / "again").mkdir()
    stopped = Term(term.folder.parent / "again")
    stopped.folder = term.folder

    class Killed(Exception):
        pass

    class DyingBook(Book):
        def add(self, attempt: Attempt) -> None:
            super().add(attempt)
            raise Killed

    for _ in range(200):
        with DyingBook(stopped.path, writing=True) as book:
            found = submissions.find([stopped.folder], stopped.rubric.submission)
            begin(book, stopped.rubric, found, "2026-10-05")
            once = LadderRun(book, stopped.rubric, simulated_pool(), 5.0)
            try:
                once.go()
            except Killed:
                continue
            break
    assert stopped.pairs() == expected
    assert [item.rating for item in stopped.standings().entries] == [
        item.rating for item in term.standings().entries
    ]


@pytest.mark.slow
def test_what_cannot_be_played_is_named_and_the_version_before_counts(term: Term) -> None:
    term.run()
    for day, name in (("2026-10-05", "bob"), ("2026-10-06", "ann")):  # later the same bytes
        term.hand_in(name, 90.0, "\nimport networkx")
        term.run(day)
        assert term.entry(name).label.endswith(" v1")
        text = table_text(term.standings())
        assert f"{name}: v2 is not played: line 14: imports" in text
        assert max(map(len, text.splitlines())) <= 80
    term.rubric = rubric(term.folder.parent, '[submission]\nallowed = ["networkx"]\n')
    term.run("2026-10-06")
    assert "is not played" not in table_text(term.standings()), "by the new rules"
    for name in ("a.py", "b.py"):
        (term.folder / "ann" / name).write_text("", encoding="utf-8")
    (term.folder / "ann" / "ai.py").unlink()
    term.run("2026-10-07")
    assert "ann: last hand-in not read: two files that could be" in table_text(term.standings())


@pytest.mark.slow
def test_the_grade_book_has_the_private_page_of_each_student(term: Term) -> None:
    term.run()
    text = ratings_csv(term.standings(), [], "https://ladder.example/")
    rows = {row["Name"]: row for row in csv.DictReader(text.lstrip("\ufeff").splitlines())}
    assert set(rows) == {"ann", "bob"}
    assert rows["bob"]["Rank"] == "1"
    pages = {row["Private page"] for row in rows.values()}
    assert len(pages) == 2
    assert all(re.fullmatch(r"https://ladder\.example/own/\w{32}\.html", one) for one in pages)


@pytest.mark.slow
def test_pseudonyms_stay_the_same_all_term_and_are_not_shared(term: Term) -> None:
    term.run()
    before = {item.student.name: item.name for item in term.standings().entries if item.student}
    term.hand_in("aaron", 10.0)
    term.run("2026-11-30")
    after = {item.student.name: item.name for item in term.standings().entries if item.student}
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == 3
    taken: set[str] = set()
    for number in range(1000):
        taken.add(pseudonym(SEED, f"student {number}", taken))
    assert len(taken) == 1000
    assert pseudonym(SEED, "ann", set()) != pseudonym(SEED + 1, "ann", set())


@pytest.mark.slow
def test_games_under_another_time_limit_are_not_compared(term: Term) -> None:
    term.run()
    term.rubric = replace(term.rubric, ladder=replace(term.rubric.ladder, time_limit=3.0))
    assert term.entry("bob").rating is None
    before = len(term.pairs())
    term.run("2026-10-06")
    assert len(term.pairs()) > before
    assert term.entry("bob").rating is not None


def test_only_damage_is_called_damage(tmp_path: Path) -> None:
    path, locked = tmp_path / "a.db", pytest.raises(InputError, match="another program has locked")
    with locked, Book(path, writing=True) as book, closing(sqlite3.connect(path)) as other:
        book._database.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN EXCLUSIVE")
        book.students()
    with pytest.raises(sqlite3.OperationalError, match="no such column"), Book(path, False) as book:
        book._first("SELECT mark FROM meta")


@pytest.mark.slow
def test_results_of_another_command_are_refused(tmp_path: Path) -> None:
    term = Term(tmp_path)
    term.hand_in("ann", 1.0)
    with Book(term.path, writing=True) as book:
        book.set_meta({"kind": "grade"})
    refused = run(COMMAND, "ladder", term.folder, "--results", term.path, cwd=tmp_path)
    assert_refused(refused, "holds a grade; --results names another file")


def test_the_workflow_for_github_gives_a_command_of_this_kit_and_no_token_to_students() -> None:
    text = (ROOT / "docs" / "ladder-workflow.yml").read_text(encoding="utf-8")
    steps = re.split(r"\n      - ", text)
    (rating,) = (step for step in steps if "grader ladder" in step)
    assert not re.search("TOKEN|secrets|github.token", rating)
    (command,) = re.findall(r"python3 -m grader (ladder .*)", rating)
    arguments = make_parser().parse_args(command.split())
    assert (arguments.results, arguments.site) == (Path("ladder.db"), Path("site"))
    for script in re.findall(r"run: \|\n((?: {10}.*\n|\n)+)", text):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


GH = """#!/bin/sh
case "$*" in
    "repo list"*) printf '%s\\n' connect4-ann connect4- connect4-. connect4-.. connect4-ann.py \\
        connect4-ann.zip connect4-bob_2 connect4-none other-cy ;;
    *none/*|*connect4-/*) exit 1 ;;
    *) echo "# $2" ;;
esac
"""
"""Lists repositories of a class, of which some have a name that leads to other hand-ins."""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_the_workflow_for_github_fetches_into_a_folder_of_each_students_own(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "ladder-workflow.yml").read_text(encoding="utf-8")
    (step,) = (part for part in text.split("\n      - ") if "mkdir hand-ins" in part)
    script = textwrap.dedent(step.partition("run: |\n")[2])
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH)
    gh.chmod(0o755)
    named = {"ORG": "class", "PREFIX": "connect4-", "PATH": f"{gh.parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=named, check=True)
    fetched = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("ai.py")}
    assert fetched == {"hand-ins/ann/ai.py", "hand-ins/bob_2/ai.py"}

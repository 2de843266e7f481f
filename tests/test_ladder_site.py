"""The site of the ladder: what it shows and never shows; only changed pages are written."""

import platform
import re
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from grader.ladder import Book
from grader.ladder.league import Standings
from grader.ladder.site import pairing_place, write_site
from grader.play.one_game import public_reason
from tests import grading
from tests.browser import PHONE, WIDE
from tests.command import assert_refused, run
from tests.grading import COMMAND, searcher
from tests.test_ladder import SMALL, Term
from tests.test_web import violations

pytestmark = pytest.mark.slow

SITE = "site"
PLAYGROUND = "https://example.org/play/"


def written(term: Term) -> int:
    """Write the site of a term; return how many pages are written again."""
    site = term.folder.parent / SITE
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*.html")}
    with Book(term.path, writing=False) as book:
        write_site(book, Standings(book, term.rubric), site, PLAYGROUND)
    return sum(path.stat().st_mtime_ns != before.get(path) for path in site.rglob("*.html"))


def pages(term: Term) -> dict[str, str]:
    """Return the text of every file of the site by its place."""
    site = term.folder.parent / SITE
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def term(tmp_path: Path) -> Term:
    term = Term(tmp_path)
    for name, strength in (("ann miller", 60.0), ("bob stone", 180.0)):
        term.hand_in(name, strength, f"the source of {name}")
    term.run()
    return term


def test_an_unrated_match_has_a_page_of_its_own_that_stays(term: Term) -> None:
    place = term.challenge("ann miller", "bob stone").split("page ")[1]
    written(term)
    page = pages(term)[place]
    assert '"turns"' in page
    assert not any(name in page for name in ("ann miller", "bob stone"))
    assert (written(term), place in pages(term)) == (0, True)


def test_public_pages_have_pseudonyms_and_no_source(term: Term) -> None:
    written(term)
    names = {item.student.name: item.name for item in term.standings().entries if item.student}
    index = pages(term)["index.html"]
    assert all(name in index for name in names.values())
    assert f'href="{PLAYGROUND}"' in index
    public = {place: text for place, text in pages(term).items() if not place.startswith("own/")}
    for place, text in public.items():
        assert "ann miller" not in text + place
        assert "bob stone" not in text + place
    assert not any("STRENGTH" in text for text in pages(term).values())
    assert f"agents/{names['bob stone']}.html" in public


def test_a_private_page_tells_its_student_who_it_is_and_nothing_links_to_it(term: Term) -> None:
    written(term)
    held = pages(term)
    (student,) = (item.student for item in term.standings().entries if item.rank == 1)
    assert student is not None
    place = f"own/{student.token}.html"
    assert f"bob stone is {student.pseudonym} on this site" in held[place]
    others = [text for other, text in held.items() if other != place]
    assert not any(student.token in text for text in others)
    assert "ann miller" not in held[place]


def test_real_names_and_own_pages_only(term: Term) -> None:
    written(term)
    term.rubric = replace(term.rubric, ladder=replace(term.rubric.ladder, names="real"))
    written(term)
    assert "bob stone" in pages(term)["index.html"]
    assert "agents/bob stone.html" in pages(term)
    entry, held = term.standings().entries[0], term.standings()
    a, b, c, d = (replace(entry, name=name) for name in ("A - B", "C", "A", "B - C"))
    assert pairing_place(a, b, held) != pairing_place(c, d, held)
    term.rubric = replace(term.rubric, ladder=replace(term.rubric.ladder, names="own"))
    written(term)
    held = pages(term)
    assert not any(place.startswith("agents/") for place in held)
    assert sum(place.startswith("own/") for place in held) == 2
    assert "bob stone" not in held["index.html"]
    assert "games/" not in held["index.html"]


def test_only_pages_that_change_are_written(term: Term) -> None:
    assert written(term) > 5
    assert written(term) == 0
    before = pages(term)
    term.hand_in("cleo", 120.0)
    term.run("2026-10-05")
    assert written(term) > 0
    after = pages(term)
    kept = [place for place in before if before[place] == after[place]]
    assert any(place.startswith("games/") for place in kept)


def test_pages_of_those_who_left_are_removed(term: Term) -> None:
    written(term)
    before = pages(term)
    (term.folder / "ann miller" / "ai.py").unlink()
    (term.folder / "ann miller").rmdir()
    term.hand_in("cleo", 120.0)
    term.run("2026-10-06")
    written(term)
    gone = before.keys() - pages(term).keys()
    assert {place.partition("/")[0] for place in gone} == {"agents", "games", "own"}
    names = [item.student.name for item in term.standings().entries if item.student]
    assert sorted(names) == ["bob stone", "cleo"]


def test_a_public_reason_has_no_line_of_source() -> None:
    text = (
        'Traceback (most recent call last):\n  File "submissions/x/ai.py", line 3, in f\n'
        "    return secret_table[9]\nIndexError: list index out of range, secret_table"
    )
    assert public_reason("error", text) == "IndexError"
    assert public_reason("error", "no colon here, but a secret") == "an exception"
    assert public_reason("error", "ann_is_bad: a type of the file's own") == "an exception"
    assert public_reason("error", "submission.Ann: another one") == "an exception"
    used_up = "without a player: its loading time of 10 s was used up"
    assert public_reason("error", f"{used_up}\nmore") == used_up
    assert public_reason("error", f"{used_up}: a secret") == "an exception"
    assert public_reason("invalid", "an action is a tuple, not 'ann is bad'") == "not a valid move"
    assert public_reason("timeout", "no answer within 1 s\n  in line 7: x = secret") == (
        "no answer within 1 s"
    )


@pytest.mark.browser
def test_the_site_works_by_mouse_and_keyboard_on_a_wide_screen_and_on_a_phone(
    term: Term, browser
) -> None:
    term.hand_in("ann miller", 90.0, "a better version")
    term.run("2026-11-22")
    written(term)
    site = term.folder.parent / SITE
    for size, dark in ((WIDE, False), (PHONE, True)):
        browser.open(site / "index.html", size=size, dark=dark)
        assert browser.run("return document.querySelectorAll('#curve-plot .line').length") == 2
        label = browser.run("return document.querySelector('button.theme').textContent")
        assert label.endswith("Light" if dark else "Dark")
        browser.assert_quiet(site / "assets")
    for width in (1400, 800, 640, 390):
        browser.open(site / "index.html", size=(width, 900))
        assert browser.run("return document.documentElement.scrollWidth") <= width
        shown = "const table = document.querySelector('.scroll'); return table.scrollWidth"
        assert browser.run(f"{shown} <= table.clientWidth"), width
        stacked = browser.find("td").value_of_css_property("display") != "table-cell"
        assert stacked is (width <= 640), width
    browser.open(site / "index.html")
    browser.run("document.getElementById('grid-canvas').focus()")
    told = "return document.getElementById('grid-told').textContent"
    assert browser.run(told) == "", "nothing is selected before a click or a key"
    key = {"key": "ArrowDown", "code": "ArrowDown", "windowsVirtualKeyCode": 40}
    browser.devtools("Input.dispatchKeyEvent", type="keyDown", **key)
    assert re.search(r" against .+ points per game, \d+ games$", browser.run(told))
    links = browser.run(
        "return [...document.querySelectorAll('a[href^=agents]')].map(link => link.href)"
    )
    assert len(links) == 4
    for link in links:
        assert Path(urllib.request.url2pathname(link.removeprefix("file://"))).is_file()


@pytest.mark.browser
def test_the_chart_starts_with_the_second_day_and_shows_each_version(term: Term, browser) -> None:
    written(term)
    index = term.folder.parent / SITE / "index.html"
    browser.open(index)
    assert browser.text("#curves").endswith("The chart starts with the second day.")
    assert not browser.find_all("#curve-plot, #curves select")
    term.hand_in("bob stone", 90.0, "a worse version")
    term.run("2026-10-07")
    written(term)
    browser.open(index)
    assert browser.text("#curve-plot").split()[-6:] == ["5", "Oct", "6", "Oct", "7", "Oct"]
    titles = "return [...document.querySelectorAll('.version title')].map((one) => one.textContent)"
    assert [title[:3] for title in browser.run(titles)] == ["v1:", "v2:"], "the best counts: v1"


def test_agents_without_a_rating_are_listed_below_the_table_by_the_reason(term: Term) -> None:
    grading.hand_in(term.folder, "cleo", "class AIPlayer: pass\nimport socket\n")
    term.run("2026-10-06")
    written(term)
    text = pages(term)["index.html"]
    assert text.count("<li>No rating yet, no version can be played: ") == 1
    assert "A rung is an agent of the kit and has no rank." in text


@pytest.mark.browser
@pytest.mark.web
def test_axe_finds_nothing_on_the_site_and_its_button_changes_the_colours(
    term: Term, browser
) -> None:
    written(term)
    site = term.folder.parent / SITE
    files = {path.parent: path for path in sorted(site.rglob("*.html"))}
    for file in files.values():  # one page of each folder
        browser.open(file)
        background = "return getComputedStyle(document.documentElement).backgroundColor"
        light = browser.run(background)
        assert violations(browser) == [], file
        browser.find("button.theme").click()
        assert browser.run(background) != light
        assert violations(browser) == [], file


LADDER = ("ladder", "class", "--rubric", "rubric.toml", "--minutes", "9", "--site", SITE)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a class of one failing agent, whose games have been played."""
    folder = tmp_path_factory.mktemp("real")
    failing = searcher().replace("return self.best", "secret = {}[9]\n        return self.best")
    grading.hand_in(folder / "class", "ann miller", failing)
    (folder / "tiny.txt").write_text(grading.TINY, encoding="utf-8")
    text = SMALL.replace("empty8x10", "tiny.txt").replace("minimax:depth=2", "greedy")
    (folder / "rubric.toml").write_text(text.replace("200.0", "900.0"), encoding="utf-8")
    done = run(COMMAND, *LADDER, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "new: ann miller v1 (1 in all)" in done.stdout
    assert "every rating is known well enough" in done.stdout
    return folder


def test_the_command_plays_real_games_and_a_second_run_plays_none(real: Path) -> None:
    played = grading.games(real / "ladder.db")
    assert len(played) >= 12
    again = run(COMMAND, *LADDER, cwd=real)
    assert "no new versions" in again.stdout
    assert grading.games(real / "ladder.db") == played
    assert (real / "ladder.csv").read_text(encoding="utf-8").startswith("\ufeffName,ID,Email")


def test_public_pages_tell_the_type_of_an_exception_and_the_own_page_all_of_it(real: Path) -> None:
    """Every page of ratings names the protections, and none the machine."""
    site = real / SITE
    (agent,) = (path for path in site.glob("agents/*.html") if "rung" not in path.name)
    (own,) = site.glob("own/*.html")
    assert "KeyError" in agent.read_text(encoding="utf-8")
    for page in (site / "index.html", *site.glob("*/*.html")):
        text = page.read_text(encoding="utf-8")
        assert ("secret = {}[9]" in text) == (page == own), page
        assert platform.node() not in text, page
        if page.parent.name != "games":
            protected = r"Games were played at isolation level (process|strong)\."
            assert re.search(protected, text), page


def test_report_names_the_command_that_writes_the_files_of_a_ladder(real: Path) -> None:
    refused = run(COMMAND, "report", "ladder.db", cwd=real)
    assert_refused(
        refused,
        "ladder.db: the results of a ladder; `python3 -m grader ladder HAND-INS --results "
        "ladder.db --site DIR` writes its files again",
    )

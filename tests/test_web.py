"""The pages by the field's own checkers: axe-core in Chromium, and TypeScript over the scripts."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from connect4.games import GAMES, load_start
from connect4.search.trace import Kind, Node
from connect4.views import document
from connect4.views.page import PARTS as REPLAY
from connect4.views.page import page
from connect4.views.tree import PARTS as TREE
from connect4.views.tree import tree_page
from grader.handin import Submission
from grader.handin.roster import assign
from grader.output.pages import section, table, whole
from grader.output.result_pages import standings_page
from grader.output.results import TOURNAMENT, Results
from grader.output.tables import Number
from grader.playground import ASSETS as PLAYGROUND
from grader.rubric.reading import read as read_rubric
from tests.browser import PHONE, WIDE, Browser
from tests.command import run
from tests.grading import hand_in, rubric, searcher
from tests.hostile import source_of
from tests.needs import WEB_PACKAGES
from tests.test_page import FAULTS, HOSTILE, played, with_advice

pytestmark = pytest.mark.web

WEB = WEB_PACKAGES.parent
SIZES = {"wide": WIDE, "phone": PHONE}
PROJECTOR = (1920, 1080)
STANDINGS = "night/standings.html"


def violations(browser: Browser) -> list[str]:
    """Return what axe finds on the page that is open: the rule, and where it is broken."""
    script = (WEB_PACKAGES / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    browser.devtools("Runtime.evaluate", expression=script)
    found: list[dict[str, Any]] = browser.driver.execute_async_script(
        "const done = arguments[0];"
        "axe.run({resultTypes: ['violations']}).then((result) => done(result.violations));"
    )
    return [
        f"{broken['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for broken in found
        for node in broken["nodes"]
    ]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a class that was graded and has played a tournament."""
    folder = tmp_path_factory.mktemp("class")
    for name, source in (
        ("ann", searcher(1)),
        ("bo", searcher(2)),
        ("cy", f"raise ValueError({HOSTILE!r})\n"),
    ):
        hand_in(folder / "class", name, source)
    failing = source_of("raises")
    hand_in(folder / "class", "di", failing)
    rubric(folder)
    for command, out in (("grade", "marks"), ("tournament", "night")):
        done = run(
            "grader", command, "class", "--rubric", "rubric.toml", "--isolation", "process",
            "--out", out, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(graded: Path) -> dict[str, Path]:
    """Return a file of every page, with hostile text in names and messages."""
    names = ("ai", f"a very long name of an agent:depth=4 {HOSTILE}")
    lost = with_advice(played("case1", names, FAULTS), 5, ["1", "2"])
    games = page([lost, played("start", game=GAMES["dynamic"])])
    start = load_start(GAMES["extended"], "mid8x10")
    searched = tree_page(start.game, start, HOSTILE, [Node(0, None, Kind.MAX, 0.0)])
    made = {"replay": games, "tree": searched}
    for name, text in made.items():
        (graded / f"{name}.html").write_text(text, encoding="utf-8")
    found = ("feedback/di.html", "feedback/cy.html", "class.html")
    return {
        **{name: graded / f"{name}.html" for name in made},
        **{name: graded / "marks" / name for name in found},
        "standings": graded / STANDINGS,
    }


PAGES = {
    "replay": ("#1.7", "#1.5", "#2.20"),
    "tree": ("",),
    "feedback/di.html": ("",),
    "feedback/cy.html": ("",),
    "class.html": ("",),
    "standings": ("",),
}
"""Where each page is looked at: at the replay's lost turn, advice and second game."""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_narrow_enough_and_shows_hostile_text_as_text(
    browser: Browser, pages: dict[str, Path], name: str, size: str, dark: bool
) -> None:
    for fragment in PAGES[name]:
        browser.open(pages[name], fragment, SIZES[size], dark)
        assert violations(browser) == []
        width = browser.run("return document.documentElement.scrollWidth")
        assert width <= SIZES[size][0], "nothing reaches over the right edge"
        if name == "replay":
            browser.press("1", "b")
            assert violations(browser) == []
        assert browser.run("return window.stolen") is None
        assert browser.find_all("img") == []
        browser.assert_quiet()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_one_button_for_dark_and_light(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    (button,) = (one for one in browser.find_all("button.theme") if one.is_displayed())
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.run(background)
    button.click()
    dark = browser.run(background)
    assert dark != light
    browser.driver.refresh()
    browser.wait(f"{background} === {dark!r}")  # the choice outlives a reload


@pytest.mark.parametrize("width", [800, 390])
@pytest.mark.parametrize("name", ["marks/feedback/di.html", "marks/class.html", STANDINGS])
def test_no_table_of_the_grader_scrolls_sideways(
    browser: Browser, graded: Path, name: str, width: int
) -> None:
    browser.open(graded / name, "", (width, 1100))
    cut = browser.run(
        "return [...document.querySelectorAll('.report .scroll')].filter((table) =>"
        " table.scrollWidth > table.clientWidth).map((table) => table.textContent)"
    )
    assert cut == []
    labels = browser.run(
        "return [...document.querySelectorAll('.stacked td[data-label]:not(:empty)')].map((cell) =>"
        " getComputedStyle(cell, '::before').content !== 'none')"
    )
    assert labels
    assert all(shown is (width == 390) for shown in labels), (
        "where rows are stacked, cells are named"
    )


def test_the_standings_show_the_bracket_and_who_goes_on(browser: Browser, graded: Path) -> None:
    browser.open(graded / "night" / "standings.html")
    stages = browser.find_all(".stage-groups")
    assert len(stages) == 2
    goes_on = [item.text for item in stages[0].find_elements("css selector", ".promoted .name")]
    last = [item.text for item in stages[1].find_elements("css selector", "li .name")]
    assert sorted(goes_on) == sorted(last)
    winner = stages[1].find_element("css selector", ".winner .name").text.removesuffix(" \u2605")
    assert re.fullmatch(
        rf"\u2605 {winner} wins, \+\d+\.\d points a game", browser.text(".headline")
    )
    assert "Places" in browser.text(".standings")
    group = stages[0].find_element("css selector", ".group")
    assert not group.find_element("css selector", "table").is_displayed()
    group.find_element("css selector", "summary").click()
    shown = group.find_element("css selector", "table").rect
    assert shown["width"] > 0.8 * browser.find(".standings").rect["width"], (
        "in the card, at its width"
    )
    assert "cy: cannot be loaded: ValueError: </script>" in browser.text(".standings")
    numbers = browser.find_all(".standings td.number")
    assert numbers
    assert {number.value_of_css_property("text-align") for number in numbers} == {"right"}


def test_a_phone_shows_the_final_before_the_groups(browser: Browser, graded: Path) -> None:
    tops = "return [...document.querySelectorAll('.stage-groups')].map((one) => one.offsetTop)"
    browser.open(graded / STANDINGS, "", PHONE)
    groups, final = browser.run(tops)
    assert final < groups
    browser.open(graded / STANDINGS)
    groups, final = browser.run(tops)
    assert groups == final, "side by side"


def test_forced_colours_show_what_is_chosen(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["replay"], "#1.5")
    forced = [{"name": "forced-colors", "value": "active"}]
    browser.devtools("Emulation.setEmulatedMedia", features=forced)
    browser.press("1")
    try:
        for chosen in ("#moves [aria-current]", "#player1 .score", ".player.turn"):
            style = browser.find(chosen).value_of_css_property("outline-style")
            assert style == "solid", chosen
    finally:
        browser.devtools("Emulation.setEmulatedMedia", features=[])


SCRIPTS = {
    "replay": (*REPLAY, "positions", "play", "served", "figures"),
    "tree": (*TREE, "runs"),
    "standings": ("theme", "table", "standings", "reload"),
    "ladder": ("base", "theme", "ladder"),
    "start": ("base", "theme", "start"),
    "playground": (*PLAYGROUND, "playground_frame", "playground_worker", "playground_offline"),
}
"""The scripts that share their names on a page."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_have_the_types_that_they_say(name: str, tmp_path: Path) -> None:
    """TypeScript's strict check of the plain JavaScript, its types written as JSDoc."""
    files = [str(document.ASSETS / f"{part}.js") for part in SCRIPTS[name]]
    settings = tmp_path / "tsconfig.json"
    settings.write_text(json.dumps({"extends": str(WEB / "tsconfig.json"), "files": files}))
    compiler = WEB_PACKAGES / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        ["node", str(compiler), "-p", str(settings)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_every_script_is_checked() -> None:
    checked = {f"{part}.js" for parts in SCRIPTS.values() for part in parts}
    assert {path.name for path in document.ASSETS.glob("*.js")} == checked


def names_in(browser: Browser) -> list[tuple[float, bool]]:
    """Return the size in pixels of each name in the bracket, and whether it is below the edge."""
    found: list[tuple[float, bool]] = browser.run(
        "return [...document.querySelectorAll('.stages .name')].filter((name) => name.offsetWidth)"
        ".map((name) => [parseFloat(getComputedStyle(name).fontSize),"
        " name.getBoundingClientRect().bottom > innerHeight])"
    )
    return found


def test_a_projector_shows_the_bracket_alone_and_large(browser: Browser, graded: Path) -> None:
    from selenium.webdriver import Keys

    browser.open(graded / "night" / "standings.html", size=PROJECTOR)
    small = [size for size, _ in names_in(browser)]
    browser.find("#projector").click()
    names = names_in(browser)
    assert len(names) == len(small), "all stages, and everybody in them"
    assert min(size for size, _ in names) >= 44 > max(small)
    assert not any(cut for _, cut in names)
    assert not browser.find_all(".standings table")[-1].is_displayed()
    assert "wins, +" in browser.text(".headline"), "a champion, beside the game and the unit"
    assert violations(browser) == []
    browser.driver.refresh()
    assert names_in(browser) == names, "a page that reloads itself stays as it is"
    browser.press(Keys.ESCAPE)
    assert [size for size, _ in names_in(browser)] == small
    assert browser.find_all(".standings table")[-1].is_displayed()


def test_a_click_in_the_row_of_a_game_opens_it(browser: Browser, graded: Path) -> None:
    from selenium.webdriver import ActionChains

    browser.open(graded / "marks" / "feedback" / "di.html")
    row = browser.find_all(".report tr:has(.whole-row)")[1]
    ActionChains(browser.driver).click(row.find_elements("css selector", "td")[2]).perform()
    assert browser.find("#game").get_property("value") == "1"


def test_a_count_on_the_class_page_shows_whom_it_counts_and_the_head_stays(
    browser: Browser, graded: Path, tmp_path: Path
) -> None:
    browser.open(graded / "marks" / "class.html")
    shown = "return [...document.querySelectorAll('[data-kinds]:not([hidden])')].map((row) =>"
    shown += " row.cells[0].textContent)"
    (failing,) = (one.text for one in browser.find_all("[data-kinds]") if "di" in one.text[:2])
    assert failing.count("error") == 1, "what was lost is told once in a row"
    everybody = browser.run(shown)
    for kind, names in (("not-playable", ["cy"]), ("with-lost-turns", ["di"])):
        button = browser.find(f"[data-kind={kind}]")
        assert button.text.split()[0] == "1"
        button.click()
        assert browser.run(shown) == names
    button.click()
    assert browser.run(shown) == everybody
    order = "return document.querySelector('[aria-sort] .sort').textContent"
    assert browser.run(order) == "total", "the arrow of the order in which the page opens"
    rows = [(f"kim {number}", number) for number in range(99)]
    long = whole("Class", section("Marks", table(("submission", Number("total")), rows)))
    (tmp_path / "long.html").write_text(long, encoding="utf-8")
    browser.open(tmp_path / "long.html")
    browser.run("window.scrollTo(0, 1500)")
    assert browser.find("th").rect["y"] == 1500


def test_a_phone_s_table_sorts_by_a_click_and_shows_the_rows_of_a_name(
    browser: Browser, tmp_path: Path
) -> None:
    rows = [(f"kim {number}", number * 7 % 10, *"xyz") for number in range(10)]
    file = tmp_path / "class.html"
    file.write_text(
        whole("Class", table(("submission", Number("total"), *"abc"), rows)), encoding="utf-8"
    )
    browser.open(file, "", PHONE)
    shown = "return [...document.querySelectorAll('tbody tr:not([hidden])')].map((row) =>"
    shown += " row.cells[1].textContent)"
    for column, expected in ((2, "9876543210"), (2, "0123456789"), (1, "0741852963")):
        browser.find(f"th:nth-child({column}) .sort").click()
        assert "".join(browser.run(shown)) == expected
    browser.find("input").send_keys("KIM 3")
    assert browser.run(shown) == ["1"]


def test_a_projector_shows_thirty_students_legibly(browser: Browser, tmp_path: Path) -> None:
    names = [f"{name}-{number}" for number, name in enumerate(("kim", "maria-luisa", "bo") * 10)]
    rules = read_rubric()
    found = [Submission(name, "", f"x = {number}".encode()) for number, name in enumerate(names)]
    file = tmp_path / "standings.html"
    page_text = standings_page(
        Results(TOURNAMENT, rules, found, {}, {}, assign(found, ())), tmp_path
    )
    file.write_text(page_text, encoding="utf-8")
    browser.open(file, "#projector", PROJECTOR)
    shown = names_in(browser)
    assert min(size for size, _ in shown) >= 44
    assert not any(cut for _, cut in shown)
    groups = [group for group in browser.find_all(".stages .group") if group.is_displayed()]
    begun_groups = [group for group in groups if "games" in group.text]
    assert len(begun_groups) == 5
    promoted = browser.run("return document.querySelectorAll('.stages .promoted').length")
    assert len(shown) >= promoted == 10
    assert all("and 4 more" in group.text for group in begun_groups)

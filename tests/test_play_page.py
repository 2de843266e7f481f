"""The page in a real browser: games to watch, people's games, the start page."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connect4 import record as records
from connect4.games import GAMES
from connect4.games.base import Ending
from tests.browser import PHONE, STILL, WIDE, Browser
from tests.command import environment
from tests.test_web import violations

pytestmark = [pytest.mark.browser, pytest.mark.web]

ENTER, LEFT, RIGHT, HOME = "\ue007", "\ue012", "\ue014", "\ue011"
"""Keys as WebDriver names them."""

Begin = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def begin(tmp_path: Path, browser: Browser) -> Iterator[Begin]:
    """Start a command whose browser is the test's; return its process and the address."""
    running: list[subprocess.Popen[str]] = []
    asked = tmp_path / "asked.txt"
    script = tmp_path / "browser.sh"
    script.write_text(f'#!/bin/sh\ncat "${{1#file://}}" > {asked}.new; mv {asked}.new {asked}\n')
    script.chmod(0o755)

    def start(module: str, *words: str) -> tuple[subprocess.Popen[str], str]:
        own = {"BROWSER": f"{script} %s", "CONNECT4_VIEW": "browser", "HOME": str(tmp_path)}
        command = [sys.executable, "-m", module, *words]
        process = subprocess.Popen(
            command, cwd=tmp_path, env={**environment(), **own}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        running.append(process)
        until = time.monotonic() + 30
        while not asked.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)
        address = re.findall('url=(.*)"', asked.read_text())[0]
        asked.unlink()
        browser.driver.get_log("browser")
        browser.driver.get(address)
        return process, address

    yield start
    for process in running:
        process.kill()
        process.communicate()


def said(browser: Browser, text: str) -> None:
    """Wait until the page says something."""
    wanted = f"includes({json.dumps(text)})"
    browser.wait(f"return document.querySelector('#said')?.textContent.{wanted}")


def answered(browser: Browser, text: str) -> None:
    """Wait until the page answers a person."""
    wanted = f"includes({json.dumps(text)})"
    browser.wait(f"return document.querySelector('#answer')?.textContent.{wanted}")


def asked(browser: Browser, player: int = 1) -> None:
    """Wait until it is a person's move, and the last token has landed."""
    browser.wait(f"return document.querySelector('#clock{player}:not([hidden]) .yours')")
    browser.wait(STILL)


def quiet(browser: Browser) -> None:
    assert browser.driver.get_log("browser") == []


def test_a_game_to_watch_ends_its_command_and_stays_on_the_page(
    begin: Begin, browser: Browser
) -> None:
    process, _ = begin("connect4.ConnectFour", "greedy", "random", "case1", "--seed", "7")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    one, two = map(int, re.findall(r"Player . Score: (\d+)", out))
    browser.wait("return document.querySelector('#save-page')")
    winner = (
        "greedy" if "greedy" in browser.text("#player1" if one > two else "#player2") else "random"
    )
    words = f"{winner} won {one}:{two}"
    browser.wait(f"return document.querySelector('#outcome').textContent === {json.dumps(words)}")
    turns = browser.run("return document.querySelectorAll('#moves li').length")
    browser.find("#first").click()
    said(browser, "The start.")
    browser.find("#outcome").click()
    said(browser, f"Turn {turns - 1}:")
    quiet(browser)


def test_a_column_typed_too_early_shows_no_runs(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "reference", "case1", "--time", "3")
    asked(browser)
    browser.press("3")
    browser.wait("return document.querySelector('#clock2:not([hidden])')?.textContent")
    browser.press("1")
    assert browser.text("#sum") == ""
    asked(browser)
    browser.press("2")
    said(browser, "Turn 3:")
    quiet(browser)


def test_a_page_that_opens_late_and_one_that_reloads_show_the_whole_game(
    begin: Begin, browser: Browser
) -> None:
    _, address = begin("connect4.ConnectFour", "human", "greedy", "case1", "--seed", "7")
    for turn in (2, 4):
        asked(browser)
        browser.press("3")
        said(browser, f"Turn {turn}:")
    browser.driver.refresh()
    said(browser, "Turn 4:")
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.driver.get(address)
    said(browser, "Turn 4:")
    browser.press("3")
    said(browser, "Turn 6:")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    said(browser, "Turn 6:")


@pytest.mark.parametrize("game", GAMES)
def test_a_person_plays_by_key_and_click_and_resigns(
    game: str, begin: Begin, browser: Browser
) -> None:
    browser.resize(PHONE)
    process, _ = begin("connect4.ConnectFour", "human", "random", "--game", game, "--seed", "5")
    asked(browser)
    browser.press(*("72N" if game == "dynamic" else "9"))
    answered(browser, "72" if game == "dynamic" else "column 9")
    browser.press(*("72W" if game == "dynamic" else "4"))
    said(browser, "Turn 2:")
    asked(browser)
    if game != "dynamic":
        browser.find("#board svg").click()
        said(browser, "Turn 4:")
        asked(browser)
    browser.find("#resign").click()
    browser.find("#resign").click()
    out, _ = process.communicate(timeout=30)
    assert "The game ended: a player resigned.\nWinner: player 2 (random)" in out
    browser.wait("return document.querySelector('#save-page')")
    quiet(browser)


def test_a_refused_pop_out_shakes_its_column_and_says_why_there(
    begin: Begin, browser: Browser
) -> None:
    browser.resize(PHONE)
    begin("connect4.ConnectFour", "human", "human", "case1")
    asked(browser)
    filled = "return document.querySelectorAll('#board .legal').length"
    assert browser.run(filled) == 0
    browser.press("2")
    asked(browser, 2)
    browser.press("p", "2")
    browser.wait("return document.getAnimations().length")
    answered(browser, "player 2 pops out of odd columns")
    place = "const it = document.querySelector('%s').getBoundingClientRect(); return [it.x, it.y]"
    across, down = browser.run(place % "#answer")
    assert across < PHONE[0] / 2
    assert down < browser.run(place % "#player1")[1]
    browser.press("4")
    asked(browser)
    assert browser.run(filled) == 2, "columns 2 and 4 have tokens"
    wide = "return document.querySelector('#board .legal').getBoundingClientRect().width"
    assert browser.run(wide) >= 28
    browser.find("#board .legal").click()
    said(browser, "plays 2P")


def test_a_person_is_told_how_to_move_until_they_have(begin: Begin, browser: Browser) -> None:
    browser.resize(WIDE)
    begin("connect4.ConnectFour", "human", "greedy", "case1")
    asked(browser)
    said(browser, "Click a column or type its number, a triangle or P and a number to pop out.")
    browser.resize(PHONE)
    assert browser.text("#said") == "The start. Click a column, a triangle to pop out."
    browser.press("3")
    said(browser, "Turn 2:")
    asked(browser)
    assert "Click" not in browser.text("#said")


def test_on_a_full_board_the_page_says_that_pop_outs_are_left(
    begin: Begin, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "full.txt").write_text("2\n1 2 1 2\n2 1 2 1\n")
    begin("connect4.ConnectFour", "human", "human", "full.txt")
    asked(browser)
    said(browser, "All columns are full: click a filled triangle or press P and a number.")


def test_a_board_without_pop_outs_shows_none(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "greedy", "case4")
    asked(browser)
    assert not browser.find_all("#board [class^=own]")
    assert "pop out" not in browser.text("#said")


def test_an_answer_beside_the_board_does_not_outlive_its_place(
    begin: Begin, browser: Browser
) -> None:
    browser.resize(WIDE)
    begin("connect4.ConnectFour", "human", "greedy", "case1")
    asked(browser)
    browser.press("9")
    answered(browser, "column 9 is outside 0..7")
    browser.resize(PHONE)
    browser.wait("return !document.querySelector('#answer').textContent")
    assert browser.run("return document.documentElement.scrollWidth") == PHONE[0]


def test_the_arrows_look_back_and_a_click_on_the_board_returns(
    begin: Begin, browser: Browser
) -> None:
    begin("connect4.ConnectFour", "human", "greedy", "case1")
    for key in "33":
        asked(browser)
        browser.press(key)
    said(browser, "Turn 4:")
    asked(browser)
    assert not browser.find("#slider").is_displayed()
    browser.press(LEFT, LEFT)
    assert browser.text("#return") == "Turn 2 of 4 \u2013 back to the game"
    browser.press("3")
    browser.find("#board svg").click()
    said(browser, "Turn 4:")
    assert not browser.find("#return").is_displayed()
    assert len(browser.find_all("#moves li")) == 5, "no move was made"


@pytest.mark.parametrize("size", [(1440, 900), PHONE], ids=["wide", "phone"])
def test_all_that_a_person_needs_is_in_the_window(
    size: tuple[int, int], begin: Begin, browser: Browser
) -> None:
    browser.resize(size)
    begin("connect4.ConnectFour", "human", "greedy", "mid12x12")
    asked(browser)
    browser.press("0", "3")
    said(browser, "Turn 2:")
    for part in ("#player1", "#player2", "#board svg", "#changes", "#said", "#bar"):
        box = browser.find(part).rect
        assert box["y"] + box["height"] <= size[1], part
    heights = "return ['#said', '#changes'].map((id) => document.querySelector(id).offsetHeight)"
    before = browser.run(heights)
    asked(browser)
    browser.press("0", "7")
    said(browser, "Turn 4:")
    assert browser.run(heights) == before


def test_a_hint_and_a_take_back_are_in_the_record(
    begin: Begin, browser: Browser, tmp_path: Path
) -> None:
    words = ("human", "greedy", "case1", "--record", "g.json")
    process, address = begin("connect4.ConnectFour", *words)
    for key, turn in (("3", 2), ("4", 4)):
        asked(browser)
        browser.press(key)
        said(browser, f"Turn {turn}:")
    asked(browser)
    browser.find("#take-back").click()
    said(browser, "Turn 2:")
    asked(browser)
    browser.find("#ask-hint").click()
    answered(browser, "Hint: ")
    hint = browser.text("#answer").split()[-1]
    assert browser.find_all("#board .ghost"), "it is shown on the board"
    browser.driver.get(address)
    said(browser, "Turn 2:")
    asked(browser)
    browser.press(*(("p", hint[0]) if hint.endswith("P") else hint))
    said(browser, "Turn 4:")
    asked(browser)
    browser.press("5")
    said(browser, "Turn 6:")
    asked(browser)
    browser.find("#resign").click()
    browser.find("#resign").click()
    assert process.wait(30) == 0
    record = records.read(tmp_path / "g.json")
    assert record.taken_back == 2
    assert [turn.number for turn in record.turns if turn.hint] == [3]
    assert record.turns[2].text == hint
    assert record.ending is Ending.RESIGNED
    assert browser.text("#facts").splitlines()[-2:] == ["hint in turn 3", "2 turns taken back"]


def test_with_human_strict_nothing_is_taken_back(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "greedy", "case1", "--human-strict")
    asked(browser)
    browser.press("3")
    said(browser, "Turn 2:")
    asked(browser)
    assert not browser.find("#take-back").is_enabled()
    assert not browser.find("#ask-hint").is_enabled()
    browser.run(
        "fetch('move', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({text: 'back', turn: 3})})"
    )
    answered(browser, "without --human-strict")


def test_a_column_of_two_digits_is_typed(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "human", "--rows", "4", "--columns", "12")
    asked(browser)
    browser.press("1", "0")
    said(browser, "player 1 plays 10")
    asked(browser, 2)
    browser.press("7", ENTER)
    said(browser, "player 2 plays 7")


def test_both_games_of_a_swap_are_on_one_page(begin: Begin, browser: Browser) -> None:
    words = ("greedy", "random", "case4", "--swap", "--seed", "3")
    process, _ = begin("connect4.ConnectFour", *words)
    assert process.wait(60) == 0
    browser.wait("return document.querySelector('#save-page')")
    browser.wait("return document.querySelectorAll('#game option').length === 2")


def test_the_start_page_plays_makes_and_opens(
    begin: Begin, browser: Browser, tmp_path: Path
) -> None:
    process, address = begin("connect4", "--port", "0")
    choose(browser, "file")
    browser.find(".go").click()
    assert browser.text("#wrong").startswith("Type the path")
    browser.find("#game option[value='dynamic']").click()
    browser.find("[value=watch]").click()
    assert browser.text("#command").endswith("alphabeta greedy --game dynamic")
    browser.find("#game option[value='extended']").click()
    choose(browser, "case4")
    browser.find("#more summary").click()
    browser.find("#seconds").clear()
    browser.find("#seconds").send_keys("soon" + ENTER)
    browser.wait("return document.querySelector('#wrong').textContent.includes('not a time limit')")
    browser.find("#seconds").clear()
    browser.find("#seconds").send_keys("0.2")
    words = browser.text("#command").split()[3:]
    browser.find(".go").click()
    browser.wait("return document.querySelector('#save')?.textContent.includes('New game')")
    assert words == ["alphabeta", "greedy", "case4", "--time", "0.2"]
    for label, page in (("What moves cost", "#worst-title"), ("Search tree", "#tree")):
        browser.wait("return !document.querySelector('#outcome').hidden")
        browser.press(HOME, RIGHT)
        next(one for one in browser.find_all("#save button") if one.text == label).click()
        browser.wait("return document.querySelector('#made a')")
        made = browser.find("#made a").get_attribute("href")
        home = browser.driver.current_url
        browser.driver.get(made)
        browser.wait(f"return document.querySelector('{page}')")
        browser.driver.get(home)
        browser.wait("return document.querySelector('#save')?.textContent.includes('New game')")
    browser.driver.get(address)
    assert browser.text("#command").split()[3:] == words, "the last choices are kept"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    quiet_but_closed(browser)


def choose(browser: Browser, board: str) -> None:
    """Choose a board of the start page by its picture."""
    browser.run(f"document.querySelector('.thumb:has([value={board}])').click()")


def test_a_rematch_with_sides_swapped_is_another_of_the_last_games(
    begin: Begin, browser: Browser
) -> None:
    _, address = begin("connect4", "--port", "0")
    choose(browser, "case4")
    browser.find("#second-kind option[value=greedy]").click()
    assert browser.text("#second-kind option:checked").startswith("greedy: the best margin")
    browser.find(".go").click()
    asked(browser)
    browser.find("#resign").click()
    browser.find("#resign").click()
    browser.wait("return document.querySelector('#save')?.textContent.includes('Swap sides')")
    assert browser.text("#outcome") == "greedy won (a player resigned)"
    next(one for one in browser.find_all("#save button") if one.text == "Swap sides").click()
    asked(browser, 2)
    assert "greedy" in browser.text("#player1")
    browser.driver.get(address)
    browser.wait("return document.querySelectorAll('#last-games li').length === 2")
    games = [one.text for one in browser.find_all("#last-games li")]
    assert games[0] == "greedy against human: being played"
    assert games[1].startswith("human against greedy: Player 2 wins, 0:0 (a player resigned)")


def quiet_but_closed(browser: Browser) -> None:
    """Check the console; a server that has ended leaves a failed stream."""
    assert all("ERR_" in row["message"] for row in browser.driver.get_log("browser"))


def test_the_start_page_opens_a_record_and_a_state_file(
    begin: Begin, browser: Browser, tmp_path: Path
) -> None:
    words = ["random", "random", "case4", "--seed", "3", "--view", "none", "--record", "g.json"]
    subprocess.run(
        [sys.executable, "-m", "connect4.ConnectFour", *words],
        cwd=tmp_path, env=environment(), check=True, capture_output=True,
    )  # fmt: skip
    (tmp_path / "own.txt").write_text("1\n0 0 0 0\n1 2 1 2\n")
    _, address = begin("connect4", "--port", "0")
    for text, why in (
        ("1\n0 0 0\n1 2\n", "bad.txt:3"),
        (f"1\n{'0 ' * 14}\n", "1 rows and 14 columns"),
    ):
        drop(browser, "bad.txt", text)
        browser.find(".go").click()
        browser.wait(f"return document.querySelector('#wrong').textContent.includes('{why}')")
    drop(browser, "own.txt", (tmp_path / "own.txt").read_text())
    browser.find("[value=persons]").click()
    assert browser.text("#command").endswith("human human own.txt")
    browser.find(".go").click()
    asked(browser)
    browser.driver.get(address)
    browser.find("#record").send_keys(str(tmp_path / "g.json"))
    browser.wait("return document.querySelector('#outcome')?.textContent")
    one, two = records.read(tmp_path / "g.json").result.scores
    assert browser.text("#outcome").endswith(f"{one}:{two}")
    quiet(browser)


def test_the_tree_of_a_turn_is_opened_while_the_game_goes_on(
    begin: Begin, browser: Browser
) -> None:
    begin("connect4", "--port", "0")
    browser.find(".go").click()
    for turn in (2, 4):
        asked(browser)
        browser.press("3")
        said(browser, f"Turn {turn}:")
    (button,) = [one for one in browser.find_all("#save button") if one.text == "Search tree"]
    button.click()
    browser.wait("return document.querySelector('#made a')")
    browser.press("4")
    said(browser, "Turn 6:")
    made = browser.find("#made a").get_attribute("href")
    browser.press(HOME, RIGHT)
    button.click()
    browser.wait("return document.querySelector('#made').textContent.includes('human')")
    home = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.driver.get(made)
    browser.wait("return document.querySelector('#tree')")
    assert "player 2" in browser.text("body")
    browser.driver.close()
    browser.driver.switch_to.window(home)
    quiet(browser)


def drop(browser: Browser, name: str, text: str) -> None:
    """Drop a file onto the page."""
    browser.run(
        "const data = new DataTransfer();"
        "data.items.add(new File([arguments[1]], arguments[0]));"
        "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}));",
        name,
        text,
    )
    browser.wait(f"return document.querySelector('#command').textContent.includes('{name}')")


def test_the_command_ends_when_its_last_page_has_gone(
    begin: Begin, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONNECT4_PAGE_SECONDS", "1")
    process, _ = begin("connect4", "--port", "0")
    browser.wait("return document.querySelector('#command').textContent")
    browser.driver.get("about:blank")
    assert process.wait(20) == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_on_the_pages(
    size: tuple[int, int], dark: bool, begin: Begin, browser: Browser
) -> None:
    browser.resize(size, dark)
    begin("connect4", "--port", "0")
    assert violations(browser) == []
    browser.find(".go").click()
    asked(browser)
    assert violations(browser) == []

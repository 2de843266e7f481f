"""The page in a real browser: games to watch, people's games, the start page."""

from __future__ import annotations

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
from tests.browser import PHONE, WIDE, Browser
from tests.command import environment
from tests.test_web import violations

pytestmark = [pytest.mark.browser, pytest.mark.web]

ENTER, RIGHT, HOME = "\ue007", "\ue014", "\ue011"
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
    more, less = max(one, two), min(one, two)
    winner = (
        "greedy" if "greedy" in browser.text("#player1" if one > two else "#player2") else "random"
    )
    assert browser.text("#outcome") == f"{winner} won {more} : {less}"
    turns = browser.run("return document.querySelectorAll('#moves li').length")
    browser.find("#first").click()
    said(browser, "The start.")
    browser.find("#outcome").click()
    said(browser, f"Turn {turns - 1}:")
    quiet(browser)


def test_a_page_that_opens_late_and_one_that_reloads_show_the_whole_game(
    begin: Begin, browser: Browser
) -> None:
    _, address = begin("connect4.ConnectFour", "human", "greedy", "case1", "--seed", "7")
    for turn in (2, 4):
        answered(browser, "your move")
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


@pytest.mark.parametrize(
    ("game", "key", "typed"),
    [
        ("extended", "3", "5"),
        ("classic", "4", "6"),
        ("classic-full", "4", "6"),
        ("popout", "4", "6"),
        ("dynamic", "", "72W"),
    ],
)
def test_a_person_plays_by_key_click_and_word(
    game: str, key: str, typed: str, begin: Begin, browser: Browser
) -> None:
    process, _ = begin("connect4.ConnectFour", "human", "random", "--game", game, "--seed", "5")
    turn = 0
    if key:
        answered(browser, "your move")
        browser.press(key)
        said(browser, "Turn 2:")
        answered(browser, "your move")
        browser.find("#board svg").click()
        turn = 4
        said(browser, "Turn 4:")
    answered(browser, "your move")
    if game == "dynamic":
        example = browser.text("#how").rstrip(".").split()[-1]
        assert example[:2] in ("13", "15", "17", "72", "74", "76"), "a piece of the mover"
    browser.find("#typed").send_keys("99Q" + ENTER)
    browser.wait("return !document.querySelector('#answer').textContent.includes('your move')")
    browser.find("#typed").send_keys(typed + ENTER)
    said(browser, f"Turn {turn + 2}:")
    browser.find("#typed").send_keys("q" + ENTER)
    out, _ = process.communicate(timeout=30)
    assert "The game ended: a player left." in out
    browser.wait("return document.querySelector('#save-page')")
    assert not browser.text("#answer")
    quiet(browser)


def test_arrows_and_enter_drop_and_pop_out(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "human", "case1")
    answered(browser, "Player 1: your move")
    browser.press(RIGHT, RIGHT, ENTER)
    said(browser, "player 1 plays 2")
    answered(browser, "Player 2: your move")
    browser.press("p")
    answered(browser, "player 2 pops out of odd columns")
    browser.press("4")
    answered(browser, "Player 1: your move")
    browser.press("p")
    said(browser, "plays 2P")


def test_a_column_of_two_digits_is_typed(begin: Begin, browser: Browser) -> None:
    begin("connect4.ConnectFour", "human", "human", "--rows", "4", "--columns", "12")
    answered(browser, "Player 1: your move")
    from selenium.webdriver import ActionChains  # a bare machine has none

    ActionChains(browser.driver).send_keys("10", ENTER).perform()
    said(browser, "player 1 plays 10")


def test_both_games_of_a_swap_are_on_one_page(begin: Begin, browser: Browser) -> None:
    words = ("greedy", "random", "case4", "--swap", "--seed", "3")
    process, _ = begin("connect4.ConnectFour", *words)
    assert process.wait(60) == 0
    browser.wait("return document.querySelector('#save-page')")
    assert len(browser.find_all("#game option")) == 2


def test_the_start_page_plays_makes_and_opens(
    begin: Begin, browser: Browser, tmp_path: Path
) -> None:
    process, address = begin("connect4", "--port", "0")
    browser.find("#board option[value='file']").click()
    browser.find(".go").click()
    assert browser.text("#wrong").startswith("Type the path")
    browser.find("#game option[value='dynamic']").click()
    browser.find("[value=watch]").click()
    assert browser.text("#command").endswith("alphabeta greedy --game dynamic")
    browser.find("#game option[value='extended']").click()
    browser.find("#board option[value='case4']").click()
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
    answered(browser, "Player 1: your move")
    browser.driver.get(address)
    browser.find("#record").send_keys(str(tmp_path / "g.json"))
    browser.wait("return document.querySelector('#outcome')?.textContent")
    one, two = records.read(tmp_path / "g.json").result.scores
    assert browser.text("#outcome").endswith(f"{max(one, two)} : {min(one, two)}")
    quiet(browser)


def test_the_tree_of_a_turn_is_opened_while_the_game_goes_on(
    begin: Begin, browser: Browser
) -> None:
    begin("connect4", "--port", "0")
    browser.find(".go").click()
    for turn in (2, 4):
        answered(browser, "your move")
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
    answered(browser, "your move")
    assert violations(browser) == []

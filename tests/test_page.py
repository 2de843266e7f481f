"""The replay page in a real Chromium, opened from disk as a student opens it."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from connect4 import record as records
from connect4.games import GAMES, load_start
from connect4.games.base import Ending, Game, State, leader
from connect4.games.board import run_changes
from connect4.games.extended import ExtendedState
from connect4.players.base import Outcome, Turn
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result
from connect4.views.page import page
from tests.browser import PHONE, WIDE, Browser
from tests.command import run
from tests.games import classic_record

HOSTILE = "</script><script>window.stolen=1</script><img src=x onerror=window.stolen=1>\u202e&amp;"
TRACEBACK = f"Traceback (most recent call last):\n  {HOSTILE}\nIndexError: {HOSTILE}"
FAULTS = {4: Outcome.TIMEOUT, 7: Outcome.ERROR, 10: Outcome.INVALID}
DETAILS = {4: "no answer within 20 s", 7: TRACEBACK, 10: "column 3 is full"}

LEFT, RIGHT, HOME, END, ESCAPE = "\ue012", "\ue014", "\ue011", "\ue010", "\ue00c"
PAGE_UP, PAGE_DOWN = "\ue00e", "\ue00f"


def played(
    start: str,
    names: tuple[str, str] = ("ai", "random"),
    faults: dict[int, Outcome] | None = None,
    game: Game = GAMES["extended"],
) -> Record:
    """Return a random game, seed 1, with the turns of `faults` lost."""
    rng, turns = random.Random(1), list[Turn]()
    state = first = load_start(game, start)
    while not state.is_over():
        number, seconds = len(turns) + 1, round(rng.uniform(0.01, 3), 3)
        whose = {"number": number, "player": state.mover}
        outcome = (faults or {}).get(number)
        if outcome is not None:
            text = "3" if outcome is Outcome.INVALID else None
            turns.append(Turn(outcome, None, text, seconds, detail=DETAILS.get(number), **whose))
            state = state.skip()
            continue
        action = rng.choice(state.legal_actions())
        text = game.format_action(action)
        turns.append(Turn(Outcome.PLAYED, action, text, seconds, **whose))
        state = state.apply(action)
    ending = state.ending()
    assert ending is not None
    one, two = state.scores()
    winner = leader((one, two))
    players = (RecordedPlayer(names[0], "intelligent"), RecordedPlayer(names[1]))
    return Record(game, first, players, 20.0, 1, turns, Result((one, two), ending, winner))


@pytest.fixture(scope="module")
def record() -> Record:
    return played("case1", ("ai", HOSTILE), FAULTS)


@pytest.fixture(scope="module")
def file(record: Record, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "game.html"
    text = page([record, played("case4")]).replace('"games":[{', '"games":[{"number":7,')
    path.write_text(text, encoding="utf-8")  # the numbers of a report have gaps
    return path


Show = Callable[..., None]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Show:
    """Return what writes a page of some games and opens it."""

    def show(*games: Record, fragment: str = "", size: tuple[int, int] = WIDE) -> None:
        file = tmp_path / "game.html"
        file.write_text(page(games), encoding="utf-8")
        browser.open(file, fragment, size=size)

    return show


def shown_board(browser: Browser) -> list[list[int]]:
    """Return the cells that the picture shows."""
    classes, headings = browser.run(
        "return [[...document.querySelectorAll('#board .tokens > g')]"
        ".map(token => token.getAttribute('class')),"
        "document.querySelectorAll('#cells tr:first-child th').length]"
    )
    values = [int(name[1]) for name in classes]
    columns = headings - 1
    return [values[start : start + columns] for start in range(0, len(values), columns)]


def position(browser: Browser) -> int:
    return int(browser.find("#slider").get_property("value"))


def assert_shows(browser: Browser, record: Record, turn: int) -> None:
    """Check every part of the page that depends on the turn."""
    state = list(records.replay(record))[turn]
    assert isinstance(state, ExtendedState)
    assert position(browser) == turn
    assert shown_board(browser) == state.board().tolist()
    for player in (1, 2):
        assert browser.text(f"#player{player} .score") == str(state.scores()[player - 1])
        assert f"{state.popouts[player - 1]} pop-out" in browser.text(f"#player{player} .more")
    current = browser.find_all("#moves [aria-current=step]")
    assert [item.text.split()[0] for item in current] == [str(turn)]


def test_the_page_opens_at_the_start_with_names_and_settings(
    browser: Browser, file: Path, record: Record
) -> None:
    browser.open(file)
    assert_shows(browser, record, 0)
    assert browser.text("#title") == "ExtendedConnect4"
    assert browser.text("#outcome").startswith("ai won ")
    assert browser.find("#player2 bdi").get_property("textContent") == HOSTILE
    assert browser.run("return document.scripts.length") == 2
    assert browser.text("#facts").splitlines() == [
        "6×8", "20 s per move", "seed 1", "player 1: get_intelligent_move",
    ]  # fmt: skip
    browser.assert_quiet()


def test_keys_step_through_the_game(browser: Browser, file: Path, record: Record) -> None:
    browser.open(file)
    last = len(record.turns)
    for key, turn in (
        (RIGHT, 1), (RIGHT, 2), (LEFT, 1), (END, last), (RIGHT, last), (PAGE_UP, last - 10),
        (HOME, 0), (LEFT, 0), (PAGE_DOWN, 10),
    ):  # fmt: skip
        browser.press(key)
        assert_shows(browser, record, turn)
    browser.press(RIGHT, on="#slider")
    assert_shows(browser, record, 11)
    browser.assert_quiet()


def test_a_click_in_the_move_list_goes_there(browser: Browser, file: Path, record: Record) -> None:
    browser.open(file)
    items = browser.find_all("#moves button")
    assert len(items) == len(record.turns) + 1
    for turn in (5, len(record.turns), 0):
        browser.run("arguments[0].scrollIntoView()", items[turn])
        items[turn].click()
        assert_shows(browser, record, turn)


def test_a_click_in_a_chart_goes_there(browser: Browser, file: Path, record: Record) -> None:
    from selenium.webdriver import ActionChains

    browser.open(file)
    for figure in ("lead", "time"):
        browser.press(HOME)
        chart = browser.find(f"#{figure}")
        browser.run("arguments[0].scrollIntoView()", chart)
        ActionChains(browser.driver).move_to_element(chart).click().perform()
        middle = len(record.turns) / 2
        assert abs(position(browser) - middle) <= middle * 0.15


def test_the_curve_says_the_lead_and_the_engine_s_value_of_the_turn_under_the_pointer(
    browser: Browser, show: Show
) -> None:
    from selenium.webdriver import ActionChains

    record = with_advice(played("case1"), 5, ["1"])
    show(record, fragment="#1.0")
    chart = browser.find("#lead svg")
    ActionChains(browser.driver).move_to_element(chart).perform()
    after, said = browser.text("#lead-said").removeprefix("After turn ").split(":")
    one, two = list(records.replay(record))[int(after)].scores()
    assert abs(int(after) - len(record.turns) / 2) < 6
    assert f"lead +{abs(one - two)}" in " ".join(said.split())
    assert "best play +2" in " ".join(said.split())
    assert position(browser) == 0, "to look is not to go"
    ActionChains(browser.driver).move_to_element(browser.find("#said")).perform()
    assert browser.text("#lead-said").startswith("After turn 0:")


def test_the_move_list_is_one_stop_of_tab_and_times_show_where_they_matter(
    browser: Browser, show: Show
) -> None:
    from selenium.webdriver import ActionChains, Keys

    record = played("case1")
    quick = played("case1")
    quick.turns[:] = [replace(turn, seconds=0.3) for turn in quick.turns]
    show(record, quick, fragment="#2.3")
    assert browser.text(".moves .heads").split() == ["Turn", "Move", "Gain"]
    assert not browser.find("#time-figure").is_displayed()
    assert "total" not in browser.text("#player1")
    show(record, quick, fragment="#1.3")
    assert browser.text(".moves .heads").split() == ["Turn", "Move", "Gain", "Time"]
    browser.find("#moves [aria-current]").click()
    ActionChains(browser.driver).send_keys(
        Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP
    ).perform()
    assert_shows(browser, record, 4)
    inside = "return document.getElementById('moves').contains(document.activeElement)"
    assert browser.run(inside)
    ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    assert not browser.run(inside)


def test_play_runs_to_the_end_and_pause_stops_it(
    browser: Browser, file: Path, record: Record
) -> None:
    browser.open(file)
    browser.run("document.getElementById('speed').value = '150'")
    browser.press(" ")
    assert "Pause" in browser.text("#play")
    browser.wait("return Number(document.getElementById('slider').value) >= 2")
    browser.press(" ")
    assert "Play" in browser.text("#play")
    browser.press(END, LEFT, LEFT)
    browser.find("#play").click()
    browser.wait(
        "const {value, max} = document.getElementById('slider');"
        "return value === max && document.getElementById('play').textContent.includes('Play')"
    )
    assert_shows(browser, record, len(record.turns))
    assert "Player " in browser.text("#said")
    assert "no valid action" in browser.text("#said")
    browser.assert_quiet()


def test_faults_are_marked_and_can_be_walked(browser: Browser, file: Path, record: Record) -> None:
    browser.open(file)
    for turn, words in ((4, "too late"), (7, "error"), (10, "invalid action")):
        browser.press("m")
        assert_shows(browser, record, turn)
        assert words in browser.text("#said")
        assert browser.text("#moves [aria-current] .fault") == words
        assert DETAILS[turn].splitlines()[0] in browser.text("#detail")
    assert "the answer: 3" in browser.text("#detail")
    browser.find("#mistake").click()
    assert_shows(browser, record, 4)
    letters = [mark.text for mark in browser.find_all("#time text.fault")]
    assert letters == ["T", "E", "I"]
    assert "2 faults" in browser.run(
        "const slider = document.getElementById('slider'); slider.value = 12;"
        "slider.dispatchEvent(new Event('input'));"
        "return document.getElementById('player2').textContent"
    )


def test_the_policy_refuses_foreign_scripts_and_requests(browser: Browser, file: Path) -> None:
    """The second wall: even markup that got in would not run and could not call anywhere."""
    browser.open(file)
    browser.run(
        "const script = document.createElement('script'); script.textContent = 'window.stolen = 1';"
        "document.body.append(script);"
        "const box = document.createElement('div'); document.body.append(box);"
        "box.innerHTML = '<img src=x onerror=\"window.stolen = 1\">';"
    )
    assert browser.run("return window.stolen") is None
    refused = browser.driver.execute_async_script(
        "const done = arguments[0];"
        "fetch('http://127.0.0.1:9/').then(() => done(false), () => done(true))"
    )
    assert refused
    policy_reports = [
        row for row in browser.driver.get_log("browser") if "Content Security" in row["message"]
    ]
    assert len(policy_reports) >= 3


def test_several_games_are_chosen_in_one_page(browser: Browser, file: Path) -> None:
    from selenium.webdriver.support.ui import Select

    other = played("case4")
    browser.open(file)
    chooser = Select(browser.find("#game"))
    assert len(chooser.options) == 2
    assert browser.run("return location.hash") == "#7.0"
    chooser.select_by_index(1)
    assert "pop-out" not in browser.text("#player1 .more")
    browser.press(END)
    assert shown_board(browser) == list(records.replay(other))[-1].board().tolist()
    browser.driver.refresh()
    browser.wait("return document.querySelector('#moves button') !== null")
    assert shown_board(browser) == list(records.replay(other))[-1].board().tolist()
    browser.assert_quiet()


def test_a_screen_reader_gets_the_board_the_turn_and_the_charts(
    browser: Browser, file: Path, record: Record
) -> None:
    browser.open(file, "#7.6")
    cells = browser.run(
        "return [...document.querySelectorAll('#cells td')].map(td => td.textContent)"
    )
    words = ["empty", "player 1", "player 2"]
    state = list(records.replay(record))[6]
    assert cells == [words[value] for value in state.board().ravel().tolist()]
    assert (
        browser.find("#slider").get_attribute("aria-valuetext")
        == f"after turn 6 of {len(record.turns)}"
    )
    assert browser.find("#said").get_attribute("aria-live") == "polite"
    tree = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    roles = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node["ignored"]
    }
    assert ("slider", "Turn") in roles
    assert ("button", "One turn on") in roles
    assert any(role == "table" and name == "The board after turn 6" for role, name in roles)
    assert any(
        role == "image" and name.startswith("Player 1's lead over the turns")
        for role, name in roles
    )
    nameless = [role for role, name in roles if role in ("button", "slider") and not name]
    assert nameless == []


def test_a_game_that_never_began_says_why(browser: Browser, show: Show) -> None:
    whole = played("case4")
    why = "SyntaxError: invalid syntax (ai.py, line 1)"
    result = Result((0, 0), Ending.NOT_LOADED, 2, why)
    record = Record(whole.game, whole.start, whole.players, 20.0, 1, [], result)
    show(record)
    browser.press(" ", RIGHT, "m", END)
    assert "an agent could not be loaded" in browser.text("#said")
    assert browser.text("#detail") == why
    browser.assert_quiet()


@pytest.mark.parametrize(
    ("name", "start"),
    [("classic", "case1"), ("classic-full", "case4"), ("dynamic", "a"), ("extended", "case4")],
)
def test_every_game_is_shown_move_by_move(
    browser: Browser, tmp_path: Path, show: Show, name: str, start: str
) -> None:
    if name.startswith("classic"):
        (tmp_path / "start.txt").write_text("0\n" + "0 0 0 0 0 0 0\n" * 6, encoding="utf-8")
        start = str(tmp_path / "start.txt")
    game = played(start, game=GAMES[name])
    show(game)
    for state in records.replay(game):
        assert shown_board(browser) == state.board().tolist()
        browser.press(RIGHT)
    assert game.result is not None
    assert bool(browser.find_all("#board .run.won")) == (game.result.ending is Ending.LINE)
    browser.assert_quiet()


def test_dynamic_is_labelled_as_its_moves_are_written(browser: Browser, show: Show) -> None:
    show(played("start", game=GAMES["dynamic"]))
    labels = [text.text for text in browser.find_all("#board text")]
    assert labels == list("1234567") * 2
    assert "player 1 plays O (white in the protocol)" in browser.text("#facts")


def test_a_line_of_four_is_drawn_from_end_to_end(browser: Browser, show: Show) -> None:
    show(classic_record((0, 0, 1, 1, 3, 3, 2)))
    assert browser.find_all("#board line.line") == []
    browser.press(END)
    line = browser.find("#board line.line")
    ends = [float(line.get_attribute(name)) for name in ("x1", "y1", "x2", "y2")]
    assert ends == [20, 220, 140, 220], "cells are 40 wide; the bottom row, columns 0 to 3"
    assert "Player 1 wins (a winning line)." in browser.text("#said")


def test_a_game_full_of_tracebacks_stays_small() -> None:
    game = played("case1")
    failed = f"Traceback (most recent call last):\n  {'x' * 8000}\nError "
    turns = []
    for number in range(1, 81, 2):
        column = number // 2 % 8
        turns += [
            Turn(Outcome.PLAYED, (column, False), str(column), number=number),
            Turn(Outcome.ERROR, number=number + 1, player=2, detail=f"{failed}{number + 1}"),
        ]
    result = Result((0, 0), Ending.ABORTED, 0)
    text = page([Record(game.game, game.start, game.players, 20.0, 1, turns, result)])
    assert len(text.encode()) < 200_000
    assert "Error 80" in text


@pytest.mark.slow
def test_the_commands_write_the_page(tmp_path: Path) -> None:
    for name, seed in (("one", "1"), ("two", "2")):
        done = run(
            "connect4.ConnectFour", "random", "random", "case4", "--seed", seed, "--view", "none",
            "--record", f"{name}.json", "--page", f"{name}.html", cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = run("connect4.views.page", "one.json", "-o", "again.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
        == f"again.html: 1 game, {(tmp_path / 'one.html').stat().st_size / 1000:.0f} kB\n"
    )
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "one.html").read_bytes()
    done = run("connect4.views.page", "one.json", "two.json", "-o", "both.html", cwd=tmp_path)
    assert done.stdout.startswith("both.html: 2 games, ")


def shown_gains(browser: Browser) -> list[tuple[int, int]]:
    """Return `(player, points)` of each run that glows or breaks, as its label shows."""
    found = []
    for chip in browser.find_all("#changes .chip"):
        player = int(chip.find_element("css selector", ".mark").get_attribute("class")[-1])
        points = chip.find_element("css selector", "b").text.replace("\u2212", "-")
        found.append((player, int(points)))
    return found


@pytest.mark.parametrize("start", ["case1", "mid8x10"])
def test_each_turn_shows_the_runs_that_changed_the_score(
    browser: Browser, show: Show, start: str
) -> None:
    record = played(start)
    show(record)
    states = list(records.replay(record))
    for turn in range(1, min(12, len(states))):
        browser.press(RIGHT)
        gains = shown_gains(browser)
        for player in (1, 2):
            gained = states[turn].scores()[player - 1] - states[turn - 1].scores()[player - 1]
            assert sum(points for who, points in gains if who == player) == gained
            marks = browser.find_all("#board .points text")
            drawn = [mark.get_property("textContent") for mark in marks]
        assert sorted(drawn) == sorted(f"{points:+}".replace("-", "\u2212") for _, points in gains)


def test_a_side_s_runs_are_shown_with_their_sum(
    browser: Browser, file: Path, record: Record
) -> None:
    browser.open(file)
    browser.press(END)
    for player in (1, 2):
        button = browser.find(f"#player{player} .score")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        state = list(records.replay(record))[-1]
        own = [run for run in state.runs() if run.player == player]
        assert len(browser.find_all("#board .run.standing")) == len(own)
        *_, total = browser.find_all("#sum tr")
        assert total.text == f"in all {len(own)} {state.scores()[player - 1]}"
    browser.press("2")
    assert browser.find_all("#board .run.standing") == []
    assert browser.text("#sum") == ""
    browser.press("1", LEFT)
    assert browser.find("#player1 .score").get_attribute("aria-pressed") == "true"
    browser.assert_quiet()


def test_a_game_that_a_line_wins_shows_no_points(browser: Browser, show: Show) -> None:
    games = [played("start", game=GAMES["dynamic"]), played("case4")]
    show(*games)
    browser.press(END, "1")
    assert browser.text("#player1 .score") == browser.text("#sum") == ""
    assert not browser.find("#lead-figure").is_displayed()
    assert "0:0" not in browser.text("#said")
    assert "0:0" not in browser.text("#game")
    assert len(browser.find_all("#changes .chip")) == 0


def with_advice(record: Record, number: int, line: list[str]) -> Record:
    """Add an analysis in which turn `number` was costly and `line` was better."""
    usual = {"before": 2.0, "after": 2.0, "loss": 0.0, "line": [], "proven": True, "slower": 0}
    turns = [usual for _ in record.turns]
    turns[number - 1] = {**usual, "after": -3.0, "loss": 5.0, "line": line}
    record.extra["analysis"] = {
        "agent": "x", "seconds": 1, "unit": "points", "turns": turns, "worst": [[number], []],
    }  # fmt: skip
    return record


def test_the_better_line_is_drawn_and_can_be_stepped_through(browser: Browser, show: Show) -> None:
    record = played("case1")
    states = list(records.replay(record))
    state, line, branch = states[4], list[str](), list[State]()
    for _ in range(3):
        action = next(a for a in state.legal_actions() if record.turns[4].action != a)
        state = state.apply(action)
        line.append(record.game.format_action(action))
        branch.append(state)
    show(with_advice(record, 5, line))
    assert len(browser.find_all("#lead .mistake")) == 1
    browser.press("m")
    assert position(browser) == 5
    assert len(browser.find_all("#board .ghost")) == 1, "the better move over the game's board"
    moves = browser.find_all("#advice .branch button")
    assert [move.text for move in moves] == line
    for step, after in enumerate(branch):
        browser.press("b" if step == 0 else RIGHT)
        assert shown_board(browser) == after.board().tolist()
        assert moves[step].get_attribute("aria-pressed") == "true"
        assert position(browser) == 5
        points = [browser.find(f"#player{player} .score").text for player in (1, 2)]
        assert points == [f"{score}" for score in after.scores()], "the variation's points"
        assert browser.find_all("#board .ghost") == []
        assert f"plays {line[step]}." in browser.find("#said").text
    assert f"Variation after turn 4: {' '.join(line)}" in browser.find("#variation").text
    browser.press(RIGHT, LEFT, LEFT)
    assert shown_board(browser) == branch[0].board().tolist(), "the arrows stay in the variation"
    assert "in place of turn 5" in browser.find("#caption").get_property("textContent")
    browser.find("#leave").click()
    assert shown_board(browser) == states[5].board().tolist()
    browser.find_all("#advice .branch button")[1].click()
    assert shown_board(browser) == branch[1].board().tolist()
    browser.press(ESCAPE)
    assert shown_board(browser) == states[5].board().tolist()
    assert not browser.find("#variation").is_displayed()
    assert browser.find_all("#advice [aria-pressed=true]") == []
    browser.assert_quiet()


def test_the_chart_of_costs_numbers_the_three_worst_moves_and_the_list_has_all(
    browser: Browser, show: Show
) -> None:
    record = with_advice(played("case1"), 5, ["1"])
    analysis = record.extra["analysis"]
    costs = {3: 2.0, 5: 9.0, 7: 4.0, 8: 3.0, 10: 8.0, 12: 1.0}
    for number, cost in costs.items():
        changes = {"before": 0.0, "after": -cost, "loss": cost, "line": ["1"]}
        analysis["turns"][number - 1] = {**analysis["turns"][0], **changes}
    analysis["worst"] = [[5, 7, 3], [10, 8, 12]]
    show(record)
    numbers = [label.get_attribute("textContent") for label in browser.find_all("#loss .fault")]
    assert sorted(numbers) == ["10", "5", "7"]
    tops = [label.rect["y"] for label in browser.find_all("#loss .fault")]
    assert min(tops) >= browser.find("#loss").rect["y"], "no number is cut off"
    assert len(browser.find_all("#worst-table tbody tr")) == len(costs)


@pytest.mark.slow
def test_a_solved_game_shows_wins_and_losses_in_place_of_numbers(
    browser: Browser, show: Show
) -> None:
    record = with_advice(played("start", game=GAMES["dynamic"]), 5, ["1"])
    analysis = record.extra["analysis"]
    won = {**analysis["turns"][0], "before": 100.0, "after": 100.0}
    lost = {**won, "before": -100.0, "after": -100.0}
    thrown = {**won, "after": -100.0, "loss": 200.0, "line": ["1"]}
    after = [lost] * (len(analysis["turns"]) - 5)
    analysis.update(unit="hundredths of a win", turns=[*[won] * 4, thrown, *after])
    show(record, fragment="#1.5")
    levels = [text.get_attribute("textContent") for text in browser.find_all("#lead text")]
    assert levels[:3] == ["player 1 wins", "draw", "player 2 wins"]
    assert not browser.find("#loss-figure").is_displayed()
    steps = browser.find("#lead path.expected").get_attribute("d")
    assert "H" in steps, "a result holds until the turn that changes it"
    assert browser.text(".moves .heads").split() == ["Turn", "Move", "Cost", "Time"]
    assert browser.text("#moves [aria-current] .cost") == "win → loss"
    browser.assert_quiet()


def test_a_game_of_faults_alone_has_marks_that_do_not_touch(
    browser: Browser, tmp_path: Path
) -> None:
    lost = dict.fromkeys(range(1, 60, 2), Outcome.ERROR)
    file = tmp_path / "game.html"
    file.write_text(page([played("case4", faults=lost)]), encoding="utf-8")
    for size in (PHONE, (1280, 900)):
        browser.open(file, size=size)
        for marks in ("#slider-marks span", "#time .fault-tick"):
            boxes = [mark.rect for mark in browser.find_all(marks)]
            assert len(boxes) > 2
            assert all(one["x"] + one["width"] <= two["x"] for one, two in pairwise(boxes)), marks


def test_a_phone_shows_the_board_and_the_controls_at_once(browser: Browser, show: Show) -> None:
    names = ("ai:/home/somebody/a-folder/ai.py", "alphabeta:depth=3,heuristic=margin,quiescence=on")
    show(with_advice(played("mid8x10", names), 5, ["1"]), fragment="#1.9", size=PHONE)
    low = browser.run("return document.getElementById('next').getBoundingClientRect().bottom")
    assert low <= browser.run("return innerHeight")
    names_heights = browser.run(
        "return [...document.querySelectorAll('.player .name')].map(n => n.offsetHeight)"
    )
    assert max(names_heights) < 40, "a name takes two lines at most"


def focused(browser: Browser) -> str:
    """Return the name by which a screen reader speaks of the element that has the focus."""
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    for node in reversed(nodes):
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        if properties.get("focused"):
            return str(node.get("name", {}).get("value", ""))
    return ""


def spoken(browser: Browser, selector: str) -> str:
    """Return all text that a screen reader finds in an element."""
    document = browser.devtools("DOM.getDocument")["root"]["nodeId"]
    found = browser.devtools("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
    by_id = {
        node["nodeId"]: node for node in browser.devtools("Accessibility.getFullAXTree")["nodes"]
    }

    def texts(node: dict[str, Any]) -> list[str]:
        own = [node["name"]["value"]] if node["role"]["value"] == "StaticText" else []
        children = [by_id[child] for child in node.get("childIds", []) if child in by_id]
        return own + [text for child in children for text in texts(child)]

    backend = browser.devtools("DOM.describeNode", nodeId=found)["node"]["backendNodeId"]
    (node,) = (node for node in by_id.values() if node.get("backendDOMNodeId") == backend)
    return " ".join(" ".join(texts(node)).split())


def test_keyboard_and_screen_reader_alone_lead_to_the_worst_move(
    browser: Browser, show: Show
) -> None:
    """The walk of a student who has lost: to the costliest move, what it cost, what was better."""
    from selenium.webdriver import ActionChains, Keys

    record = played("case1")
    state = list(records.replay(record))[6]
    better = next(a for a in state.legal_actions() if a != record.turns[6].action)
    line = record.game.format_action(better)
    show(with_advice(record, 7, [line]))

    def tab_to(name: str) -> None:
        for _ in range(40):
            ActionChains(browser.driver).send_keys(Keys.TAB).perform()
            if focused(browser) == name:
                return
        raise AssertionError(f"forty presses of Tab do not lead to {name!r}")

    tab_to("Next mistake")
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    assert position(browser) == 7
    said = spoken(browser, "#said")
    assert said.startswith(f"Turn 7: player {record.turns[6].player} plays {record.turns[6].text}")
    advice = spoken(browser, "#advice")
    assert "Cost: 5 points." in advice, advice
    assert f"Better: {line}" in advice
    gained = [
        change
        for change in run_changes(state.runs(), state.apply(record.turns[6].action).runs())
        if change.points
    ]
    assert spoken(browser, "#changes").count("player ") == len(gained)
    tab_to(line)
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    assert spoken(browser, "#caption") == f"The board after {line} in place of turn 7"
    ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
    assert spoken(browser, "#caption") == "The board after turn 7"
    assert focused(browser) == line, "the focus is where it was before"
    browser.assert_quiet()

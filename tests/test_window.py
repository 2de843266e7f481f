"""The window on a real display (Xvfb): real clicks, real keys, real processes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from connect4 import record as records
from connect4.games import GAMES
from connect4.games.base import Game
from connect4.games.runs import run_changes
from connect4.search.base import ORDERS
from connect4.views import palette
from connect4.views.motion import Drop, Motion, PopOut, Slide, motion_between, motion_of, moves_of
from connect4.views.window.choices import Choices, choices_file, load_choices, save_choices
from connect4.views.window.display import open_window
from tests.command import ROOT, assert_refused, environment, run
from tests.screen import screen

with suppress(ImportError):  # without tkinter what needs no window is tested all the same
    from connect4.views.window.game_page import GamePage
    from connect4.views.window.start_page import StartPage
    from connect4.views.window.window import Window

COMMAND = "connect4.ConnectFour"

SLOW_AGENT = """
import time
from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        time.sleep(SECONDS)
        return get_valid_actions(self.player_number, state)[0]

    get_expectimax_move = get_intelligent_move
"""

FAILING_AGENT = """
class AIPlayer:
    def __init__(self, player_number, time): pass
    def get_intelligent_move(self, state): raise RuntimeError("no idea")
    get_expectimax_move = get_intelligent_move
"""

WHOLE_GAME = "1\n0 0\n"
"""One row, one pop-out each: over after four drops and both pop-outs."""


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A screen of our own."""
    with screen() as (display, _):
        yield display


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return choices_file()


@pytest.fixture
def window(display: str, config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("DISPLAY", display)
    opened = open_window()
    yield opened
    close(opened)


def close(window: Window) -> None:
    """Close as the window manager's button does; closing twice is fine here."""
    try:
        window.root.eval(window.root.protocol("WM_DELETE_WINDOW"))
    except Exception as error:
        assert "destroyed" in str(error) or "invalid command" in str(error), error


def wait(window: Window, done: Callable[[], bool], seconds: float = 20) -> None:
    """Let the window live until something has happened."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, texts(window)
        window.root.update()
        time.sleep(0.005)
    window.root.update()


def texts(window: Window) -> str:
    """Return all text that stands in the window."""
    found = []
    waiting: list[Any] = [window.root]
    while waiting:
        widget = waiting.pop(0)
        waiting += widget.winfo_children()
        if not widget.winfo_viewable():
            continue
        kind = widget.winfo_class()
        if kind == "Treeview":
            found += [" ".join(map(str, widget.set(row).values())) for row in widget.get_children()]
        elif kind == "Text":
            found.append(widget.get("1.0", "end"))
        elif kind in ("TEntry", "TCombobox", "TSpinbox"):
            found.append(widget.get())
        elif kind in ("TLabel", "TButton", "TRadiobutton", "TCheckbutton"):
            found.append(str(widget.cget("text")))
    return "\n".join(found)


def xdotool(*arguments: object) -> None:
    """Move the real pointer, press real keys."""
    subprocess.run(["xdotool", *map(str, arguments)], check=True, timeout=20)


def widgets(window: Window, *kinds: str) -> Iterator[Any]:
    """Yield the widgets of those kinds that can be seen."""
    waiting: list[Any] = [window.root]
    while waiting:
        widget = waiting.pop(0)
        waiting += widget.winfo_children()
        if widget.winfo_class() in kinds and widget.winfo_viewable():
            yield widget


def button(window: Window, text: str) -> Any:
    for widget in widgets(window, "TButton", "TRadiobutton"):
        if widget.cget("text") == text:
            return widget
    raise AssertionError(f"no button {text!r}")


def click(window: Window, widget: Any, at: tuple[int, int] | None = None) -> None:
    """Click a widget in its middle, or at a place inside it."""
    window.root.update()
    x, y = at or (widget.winfo_width() // 2, widget.winfo_height() // 2)
    xdotool("mousemove", widget.winfo_rootx() + x, widget.winfo_rooty() + y, "click", 1)


def press(window: Window, *keys: str) -> None:
    window.root.focus_force()
    window.root.update()
    xdotool("key", *keys)


def game_page(window: Window) -> GamePage:
    assert isinstance(window.page, GamePage)
    return window.page


def click_cell(window: Window, row: int, column: int) -> None:
    board = game_page(window).board
    click(window, board, board.cell_at((row, column)))


def start(window: Window, folder: Path, text: str, **fields: Any) -> None:
    """Fill the start page in and press its button."""
    (folder / "start.txt").write_text(text, encoding="utf-8")
    save_choices(Choices(board="file", file=str(folder / "start.txt"), **fields))
    window.show_start_page()
    wait(window, lambda: "The same in a terminal" in texts(window))
    click(window, button(window, "Play"))
    wait(window, lambda: isinstance(window.page, GamePage))


def agent_file(folder: Path, text: str, seconds: float = 0) -> str:
    (folder / "agent.py").write_text(text.replace("SECONDS", str(seconds)), encoding="utf-8")
    return f"ai:{folder / 'agent.py'}"


def test_two_persons_play_a_small_game_to_its_end_by_clicks(window: Window, tmp_path: Path) -> None:
    start(window, tmp_path, WHOLE_GAME, mode="persons")
    clicks = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1)]
    for turn, (row, column) in enumerate(clicks, 1):
        wait(window, lambda turn=turn: f"turn {turn - 1} of" in texts(window) or turn == 1)
        wait(window, lambda: "your move" in texts(window))
        click_cell(window, row, column)
        wait(window, lambda turn=turn: f"turn {turn} of {turn}" in texts(window))
    wait(
        window, lambda: "The game is over: the player to move has no valid action." in texts(window)
    )
    listed = re.findall(r"^(\d) ([12]) (\S+) ", texts(window), re.MULTILINE)
    assert [move for _, _, move in listed] == ["0", "1", "0P", "1P", "0", "1"]
    assert "0 pop-outs left" in texts(window)


def test_a_click_that_is_no_move_costs_nothing_and_typed_nonsense_is_asked_for_again(
    window: Window, tmp_path: Path
) -> None:
    start(window, tmp_path, "1\n0 0\n1 2\n", mode="persons")
    wait(window, lambda: "your move: click the board" in texts(window))
    click_cell(window, 2, 1)
    wait(window, lambda: "player 1 cannot pop out of column 1 now" in texts(window))
    click_cell(window, 0, 0)
    wait(window, lambda: "Player 2, your move" in texts(window))
    click_cell(window, 0, 0)
    wait(window, lambda: "column 0 is full" in texts(window))
    for keys, expected in (
        (["7", "x", "Return"], "'7x' is not a move"),
        (["9", "Return"], "column 9 is outside 0..1"),
        (["0", "p", "Return"], "player 2 pops out of odd columns only, not of column 0"),
        (["BackSpace", "1", "p", "Return"], "turn 2 of 2"),
    ):
        game_page(window).board.focus_force()
        window.root.update()
        xdotool("key", "--delay", 30, *keys)
        wait(window, lambda expected=expected: expected in texts(window))
        wait(window, lambda: game_page(window).asked)
        assert expected in texts(window), "the reason stays while the person is asked again"
    assert "\n2 2 1p 0 : 2" in texts(window) or "\n2 2 1P" in texts(window)


def test_a_piece_of_dynamic_connect_4_moves_by_two_clicks_or_as_typed(
    window: Window, tmp_path: Path
) -> None:
    board = " , , , , , ,X\nX, , , , , ,O\n" + " , , , , , , \n" * 5
    start(window, tmp_path, board, mode="persons", game="dynamic")
    wait(window, lambda: "your move" in texts(window))
    click_cell(window, 0, 6)
    wait(window, lambda: "click one of your pieces that can move" in texts(window))
    click_cell(window, 1, 6)
    click_cell(window, 1, 5)
    wait(window, lambda: "1 1 72W" in texts(window))
    wait(window, lambda: "Player 2, your move" in texts(window))
    game_page(window).board.focus_force()
    window.root.update()
    xdotool("key", "--delay", 30, "1", "2", "shift+n", "Return")
    wait(window, lambda: "2 2 12N" in texts(window))


def test_the_keyboard_alone_plays(window: Window, tmp_path: Path) -> None:
    start(window, tmp_path, WHOLE_GAME, mode="persons")
    wait(window, lambda: "your move" in texts(window))
    xdotool("mousemove", 1270, 890)
    game_page(window).board.focus_force()
    window.root.update()
    for number, keys in enumerate((["Right", "Return"], ["Right", "Return"], ["Left", "p"]), 1):
        xdotool("key", "--delay", 30, *keys)
        wait(window, lambda number=number: f"turn {number} of" in texts(window))
        wait(window, lambda: "your move" in texts(window))
    assert "3 1 0P" in texts(window)


def test_the_window_lives_while_an_agent_thinks_and_closes_at_once(
    window: Window, tmp_path: Path
) -> None:
    name = agent_file(tmp_path, SLOW_AGENT, 30)
    start(window, tmp_path, WHOLE_GAME, mode="against", opponent=name, begins="2")
    seen = set()

    def clock() -> bool:
        seen.update(re.findall(r"thinks: (\d\.\d) of 20 s", texts(window)))
        return len(seen) >= 5

    wait(window, clock)
    began = time.monotonic()
    close(window)
    assert time.monotonic() - began < 5


def test_a_new_game_in_the_middle_of_anything_leaves_no_complaint(
    window: Window, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    board = "3\n" + "0 0 0 0 0 0\n" * 4
    for turns in (0, 2):
        start(window, tmp_path, board, mode="watch", first="random")
        wait(window, lambda turns=turns: f"turn {turns} of {turns}" in texts(window) or not turns)
        window.root.geometry(f"{900 + 20 * turns}x720")
        window.root.update()
        window.show_start_page()
        end = time.monotonic() + 0.3
        wait(window, lambda end=end: time.monotonic() > end)
    assert capfd.readouterr().err == ""


def test_a_running_game_is_left_only_when_the_person_says_so(
    window: Window, tmp_path: Path
) -> None:
    start(window, tmp_path, WHOLE_GAME, mode="persons")
    wait(window, lambda: "your move" in texts(window))
    for key, title in (("ctrl+n", "New game"), ("ctrl+o", "Open a record")):
        answer = answer_dialog(title, "Return")  # what is chosen already goes on
        press(window, key)
        wait(window, lambda answer=answer: answer.poll() is not None)
        wait(window, lambda: not window.root.grab_current())
        assert "your move" in texts(window), "the game goes on"
    click_cell(window, 0, 0)
    wait(window, lambda: "turn 1 of 1" in texts(window))
    answer_dialog("New game", "alt+y")
    press(window, "ctrl+n")
    wait(window, lambda: "The same in a terminal" in texts(window))


def answer_dialog(title: str, key: str) -> subprocess.Popen[bytes]:
    """Press a key in the dialog of that title, once it is there."""
    search = f"xdotool search --sync --onlyvisible --name '{title}' windowfocus"
    return subprocess.Popen(["sh", "-c", f"{search}; sleep 0.3; xdotool key {key}"])


def test_pause_holds_an_agent_and_a_step_lets_one_turn_through(
    window: Window, tmp_path: Path
) -> None:
    start(window, tmp_path, "0\n" + "0 0 0 0 0 0\n" * 4, mode="watch", first="random")
    click(window, button(window, "slow"))
    wait(window, lambda: "turn 1 of 1" in texts(window))
    click(window, button(window, "Pause"))
    wait(window, lambda: "Play" in texts(window).split())
    assert "turn 1 of 1" in texts(window)
    click(window, button(window, "Step"))
    wait(window, lambda: "turn 2 of 2" in texts(window))
    click(window, button(window, "full speed"))
    end = time.monotonic() + 0.5
    wait(window, lambda: time.monotonic() > end)
    assert "turn 2 of 2" in texts(window), "the pause holds"
    click(window, button(window, "Play"))
    wait(window, lambda: "turn 24 of 24" in texts(window))
    wait(window, lambda: "The game is over" in texts(window))


def after_a_lost_turn(window: Window, fault: str) -> str:
    """Play a move, and return what is shown once the opponent has lost its turn."""
    wait(window, lambda: "your move" in texts(window))
    click_cell(window, 0, 0)
    wait(window, lambda: fault in texts(window))
    wait(window, lambda: "your move" in texts(window))
    return texts(window)


def test_a_failing_agent_is_shown_with_its_traceback(window: Window, tmp_path: Path) -> None:
    name = agent_file(tmp_path, FAILING_AGENT)
    start(window, tmp_path, WHOLE_GAME, mode="against", opponent=name)
    shown = after_a_lost_turn(window, "✗ error")
    assert "Traceback (most recent call last)" in shown
    assert "RuntimeError: no idea" in shown


def test_a_late_turn_is_shown_with_position_and_command(window: Window, tmp_path: Path) -> None:
    name = agent_file(tmp_path, SLOW_AGENT, 30)
    state = tmp_path / "start.txt"
    state.write_text(WHOLE_GAME, encoding="utf-8")
    chosen = Choices(board="file", file=str(state), opponent=name, seconds="0.1")
    window.play([replace(chosen.planned(), record_name="fault.json")])
    shown = after_a_lost_turn(window, "✗ timeout")
    assert "lost turn 2 (timeout):\n  no answer within 0.1 s" in shown
    assert "The position, as a state file:\n" in shown
    assert "--replay-turn fault.json:2" in shown


def test_an_agent_that_cannot_be_loaded_ends_the_game_with_the_reason_in_sight(
    window: Window, tmp_path: Path
) -> None:
    name = agent_file(tmp_path, "import nothing_of_that_name\n")
    start(window, tmp_path, WHOLE_GAME, mode="against", opponent=name)
    wait(window, lambda: "The game is over" in texts(window))
    shown = texts(window)
    assert "an agent could not be loaded, so no turn was played" in shown
    assert "No module named 'nothing_of_that_name'" in shown
    assert "your move" not in shown


def test_a_finished_game_is_looked_through_by_keys_list_and_curve(
    window: Window, tmp_path: Path
) -> None:
    window.replay(recorded(tmp_path), "game.json")
    wait(window, lambda: "turn 0 of 24" in texts(window))
    assert "A recorded game" in texts(window)
    for key, turn in (("End", 24), ("Left", 23), ("Home", 0), ("Right", 1)):
        press(window, key)
        wait(window, lambda turn=turn: f"turn {turn} of 24" in texts(window))
    press(window, "space")
    wait(window, lambda: "turn 3 of 24" in texts(window))
    press(window, "space")
    wait(window, lambda: "Play" in texts(window).split())


def points_on(page: GamePage) -> list[str]:
    """Return the points that stand on the board."""
    return [page.board.itemcget(item, "text") for item in page.board.find_withtag("points")]


def test_the_board_shows_why_a_turn_scored_and_all_runs_of_a_side(
    window: Window, tmp_path: Path
) -> None:
    record = recorded(tmp_path)
    window.replay(record, "game.json")
    wait(window, lambda: "turn 0 of 24" in texts(window))
    page = game_page(window)
    states = list(records.replay(record))
    press(window, "Home")
    for turn in range(1, 9):
        press(window, "Right")
        wait(window, lambda turn=turn: f"turn {turn} of 24" in texts(window))
        gains = [
            change.points
            for change in run_changes(states[turn - 1].runs(), states[turn].runs())
            if change.points
        ]
        wait(window, lambda gains=gains: len(points_on(page)) == len(gains))
        assert [int(text.replace("−", "-")) for text in points_on(page)] == gains
        assert ("(" in page.status) == bool(gains)
    press(window, "End", "2")
    last = states[-1]
    own = [run.points for run in last.runs() if run.player == 2]
    wait(window, lambda: "Player 2's runs: " in texts(window))
    assert f"= {last.scores()[1]} points." in texts(window)
    assert set(points_on(page)) <= set(map(str, own)) and points_on(page)
    click(window, button(window, str(last.scores()[0])))
    wait(window, lambda: "Player 1's runs: " in texts(window))
    assert f"= {last.scores()[0]} points." in texts(window)


def test_a_game_without_points_shows_none(window: Window, tmp_path: Path) -> None:
    board = " , , , , , ,X\nX, , , , , ,O\n" + " , , , , , , \n" * 5
    start(window, tmp_path, board, mode="persons", game="dynamic")
    wait(window, lambda: "your move" in texts(window))
    assert "Score" not in texts(window)
    assert not [widget for widget in widgets(window, "TButton") if widget.cget("text") == "0"]


def test_pieces_that_slide_stand_on_squares_as_on_the_page(window: Window, tmp_path: Path) -> None:
    text = "O, , , , , ,X\n" * 2 + " , , , , , , \n" * 5
    start(window, tmp_path, text, mode="persons", game="dynamic")
    board = game_page(window).board
    wait(window, lambda: bool(board.find_withtag("plate")))
    (item,) = board.find_withtag("plate")
    name = board.itemcget(item, "image")
    left, top = board.coords(item)
    (x, y), (other, _) = board.cell_at((6, 2)), board.cell_at((6, 3))
    across = [(place - int(left), y - int(top)) for place in range(x, other + 1)]
    pixels = [window.root.tk.call(name, "get", *place) for place in across]
    colours = {f"#{bytes(map(int, pixel[:3])).hex()}" for pixel in pixels}
    assert colours == {palette.light("card"), palette.light("line")}
    tokens = {board.type(one) for one in board.find_overlapping(*board.cell_at((0, 0)) * 2)}
    assert tokens == {"image"}
    assert board.find_above(item), "the pieces lie over the squares"


def recorded(folder: Path) -> Any:
    path = folder / "game.json"
    done = run(
        COMMAND, "random", "random", "case4", "--seed", "1", "--view", "none", "--record", path,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return records.read(path)


@pytest.mark.skipif(find_spec("connect4.views.tree") is None, reason="there is no tree page")
def test_the_search_tree_of_a_move_opens_in_the_browser(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    start(window, tmp_path, WHOLE_GAME, mode="against", opponent="alphabeta:depth=3")
    wait(window, lambda: "your move" in texts(window))
    click(window, button(window, "Search tree"))
    wait(window, lambda: "No search tree: no agent has moved yet." in texts(window))
    click_cell(window, 0, 0)
    wait(window, lambda: "turn 2 of 2" in texts(window))
    click(window, button(window, "Search tree"))
    wait(window, (tmp_path / "opened").exists)
    wait(window, lambda: "The search tree is open in the browser." in texts(window))
    opened = (tmp_path / "opened").read_text(encoding="utf-8").strip().removeprefix("file://")
    assert "alphabeta:depth=3" in Path(opened).read_text(encoding="utf-8")


def test_an_agent_without_a_tree_is_said(window: Window, tmp_path: Path) -> None:
    start(window, tmp_path, WHOLE_GAME, mode="against", opponent="random", begins="2")
    wait(window, lambda: "your move" in texts(window))
    click(window, button(window, "Search tree"))
    wait(window, lambda: "No search tree: " in texts(window))


def test_a_record_is_opened_and_saved_with_the_dialogs(window: Window, tmp_path: Path) -> None:
    record = recorded(tmp_path)
    window.show_start_page()
    window.root.focus_force()
    window.root.update()

    def type_name(title: str, name: Path) -> None:
        search = f"xdotool search --sync --onlyvisible --name '{title}' windowfocus"
        keys = f"xdotool type --delay 5 '{name}'; xdotool key Return"
        subprocess.Popen(["sh", "-c", f"{search}; sleep 0.3; {keys}"])

    type_name("Open a record", tmp_path / "game.json")
    window.open_record()
    wait(window, lambda: "turn 0 of 24" in texts(window))
    type_name("Save the record", tmp_path / "copy.json")
    button(window, "Save record").invoke()
    wait(window, lambda: "The record is in" in texts(window))
    copy = json.loads((tmp_path / "copy.json").read_text(encoding="utf-8"))
    assert len(copy["turns"]) == len(record.turns)


def test_the_start_page_shows_the_command_checks_the_fields_and_remembers(
    window: Window, config: Path, tmp_path: Path
) -> None:
    window.show_start_page()
    wait(window, lambda: "python3 -m connect4.ConnectFour human ai" in texts(window))
    click(window, button(window, "Watch two agents"))
    wait(window, lambda: "python3 -m connect4.ConnectFour ai random" in texts(window))
    click(window, button(window, "the second agent"))
    wait(window, lambda: "python3 -m connect4.ConnectFour random ai" in texts(window))
    click(window, button(window, "from a file"))
    wait(window, lambda: "ConnectFour random ai case1" in texts(window))
    assert not config.exists()
    click(window, button(window, "Play"))
    wait(window, lambda: isinstance(window.page, GamePage))
    assert "ExtendedConnect4, case1" in texts(window)
    answer_dialog("New game", "alt+y")
    press(window, "ctrl+n")
    wait(window, lambda: isinstance(window.page, StartPage))
    wait(window, lambda: "python3 -m connect4.ConnectFour random ai case1" in texts(window))


def test_an_option_that_is_a_word_is_chosen_from_those_of_the_game(window: Window) -> None:
    save_choices(Choices(game="classic", opponent="alphabeta:depth=2"))
    window.show_start_page()
    wait(window, lambda: "human alphabeta:depth=2 --game classic" in texts(window))
    boxes = list(widgets(window, "TCombobox"))
    offered = [[str(value) for value in box.cget("values")] for box in boxes]
    heuristics = [entry.name for entry in GAMES["classic"].heuristics]
    assert ["", *heuristics] in offered
    click(window, boxes[offered.index(["", *ORDERS])])
    window.root.update()
    xdotool("key", "--delay", "100", "Down", "Return")
    wait(window, lambda: "human alphabeta:depth=2,order=center --game" in texts(window))


WRONG_FIELDS = [
    ({"seconds": "soon"}, "Time: 'soon' is not a time limit; expected seconds above 0"),
    ({"board": "file", "file": "case44"}, "case44: no such file"),
    ({"board": "file", "file": " "}, "Board: no file is named"),
    ({"board": "size", "rows": "x"}, "Rows: 'x' is no number of rows"),
    ({"board": "size", "columns": "7"}, "an even number of columns"),
    ({"opponent": "ai:nowhere.py"}, "no file 'nowhere.py'"),
    ({"opponent": "ai:nodes=x"}, "nodes is a whole number above 0, not 'x'"),
]


def test_wrong_fields_are_said_on_the_start_page(window: Window) -> None:
    for fields, message in WRONG_FIELDS:
        save_choices(Choices(**fields))
        window.show_start_page()
        window.root.update()
        press(window, "Return")
        wait(window, lambda message=message: message in texts(window))
        assert isinstance(window.page, StartPage)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mode": 3, "rows": "9"}', '{"mode": "none", "rows": "9"}', "\x00"]
)
def test_a_broken_choices_file_is_ignored(text: str, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text(text, encoding="utf-8")
    assert load_choices() in (Choices(), Choices(rows="9"))


def test_choices_are_kept_where_there_is_a_place_for_them(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = Choices(mode="watch", seconds="5", clocked=True, opponent="random")
    save_choices(choices)
    assert load_choices() == choices
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null/nowhere")
    save_choices(choices)
    assert load_choices() == Choices()


def without_display() -> dict[str, str]:
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "CONNECT4_VIEW")
    return {key: value for key, value in environment().items() if key not in gone}


def command(*arguments: object, env: dict[str, str], cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_without_a_display_the_terminal_command_is_shown(config: Path, tmp_path: Path) -> None:
    save_choices(Choices(mode="watch", board="file", file="case4", seconds="5"))
    process = command("connect4", env=without_display(), cwd=tmp_path)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors == (
        "error: no window: there is no display here (DISPLAY is not set); in the terminal: "
        "python3 -m connect4.ConnectFour ai random case4 --time 5\n"
    )


@pytest.mark.display
def test_a_display_that_is_not_there_is_one_line(config: Path, tmp_path: Path) -> None:
    broken = command("connect4", env={**without_display(), "DISPLAY": ":987"}, cwd=tmp_path)
    _, errors = broken.communicate(timeout=60)
    assert broken.returncode == 2
    assert "no window: couldn't connect to display" in errors
    assert errors.count("\n") == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_a_record_without_a_display_becomes_a_page(tmp_path: Path) -> None:
    recorded(tmp_path)
    process = command("connect4", "game.json", env=without_display(), cwd=tmp_path)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "python3 -m connect4.views.page game.json -o game.html" in errors


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text("{}", encoding="utf-8")
    assert_refused(run("connect4", "game.json", cwd=tmp_path), "game.json: not a record")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_auto_takes_the_terminal_without_a_display_and_window_says_there_is_none(
    tmp_path: Path,
) -> None:
    arguments = (COMMAND, "random", "random", "case4", "--seed", "1")
    auto = command(*arguments, env=without_display(), cwd=tmp_path)
    output, _ = auto.communicate(timeout=60)
    assert auto.returncode == 0
    assert "+---" in output
    assert "Player 1 Score: " in output
    bare = {**without_display(), "PATH": str(tmp_path)}  # no bubblewrap, which a game notes
    asked = command(*arguments, "--view", "window", env=bare, cwd=tmp_path)
    _, errors = asked.communicate(timeout=60)
    assert asked.returncode == 2
    assert errors == (
        "error: --view window: no window: there is no display here (DISPLAY is not set); "
        "--view terminal needs none\n"
    )
    wrong = command(*arguments, env={**without_display(), "CONNECT4_VIEW": "tv"}, cwd=tmp_path)
    _, errors = wrong.communicate(timeout=60)
    assert wrong.returncode == 2
    assert errors == "error: CONNECT4_VIEW=tv: expected one of auto, window, terminal, none\n"


def test_the_command_opens_the_window_prints_the_scores_and_keeps_it_open(
    display: str, tmp_path: Path
) -> None:
    (tmp_path / "small.txt").write_text("0\n0 0\n", encoding="utf-8")
    process = command(
        COMMAND, "random", "random", "small.txt", "--swap", "--seed", "1", "--record", "g.json",
        env={**without_display(), "DISPLAY": display}, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    printed = [process.stdout.readline().rstrip() for _ in range(10)]
    for game, lines in enumerate((printed[:5], printed[5:]), 1):
        assert lines == [
            "Player 1 Score: 0", "Player 2 Score: 0", lines[2], "A draw.",
            f"The game's record is in g-{game}.json.",
        ]  # fmt: skip
    assert process.poll() is None, "the window stays open"
    assert (tmp_path / "g-1.json").is_file()
    wait_for_window(display, process)
    press_quit(display)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert output.startswith("Average over both sides: ")


def wait_for_window(display: str, process: subprocess.Popen[str], title: str = "Connect-4") -> None:
    """Wait for the window of another process, and give it the keyboard."""
    end = time.monotonic() + 20
    search = ["xdotool", "search", "--onlyvisible", "--name", title]
    where = {**os.environ, "DISPLAY": display}
    while subprocess.run(search, env=where, capture_output=True, check=False).returncode:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    subprocess.run([*search, "windowfocus"], env=where, capture_output=True, check=False)


def press_quit(display: str) -> None:
    subprocess.run(["xdotool", "key", "ctrl+q"], env={**os.environ, "DISPLAY": display}, check=True)


def descendants(pid: int) -> set[int]:
    """Return the processes below one (Linux)."""
    found: set[int] = set()
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text(encoding="ascii").split()):
            found |= {child} | descendants(child)
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads the processes from /proc")
@pytest.mark.parametrize("way", ["key", "at once", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_closing_during_a_think_leaves_no_process(
    way: str | signal.Signals, display: str, tmp_path: Path
) -> None:
    name = agent_file(tmp_path, SLOW_AGENT, 60)
    process = command(
        COMMAND, name, "random", "case4", "--record", "g.json", "--time", "100",
        env={**without_display(), "DISPLAY": display}, cwd=tmp_path,
    )  # fmt: skip
    wait_for_window(display, process)
    if way != "at once":  # there the agents are still starting
        wait_for_window(display, process, "Connect-4: ExtendedConnect4, case4")
        assert descendants(process.pid), "the agents have processes of their own"
    family = {process.pid} | descendants(process.pid)
    if isinstance(way, signal.Signals):
        process.send_signal(way)
    else:
        wait_for_window(display, process)
    press_quit(display)
    output, errors = process.communicate(timeout=20)
    end = time.monotonic() + 10
    while any(map(is_alive, family)):
        assert time.monotonic() < end, family
        time.sleep(0.02)
    if way == signal.SIGKILL:
        return
    assert "Traceback" not in errors
    assert process.returncode == (128 + way if isinstance(way, signal.Signals) else 0)
    if way == "at once":
        return
    assert "Player 1 Score: 0" in output
    assert "The game ended: a player left." in output
    record = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert record["result"]["ending"] == "left"


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_legal_action_of_every_game_can_be_clicked(game: Game) -> None:
    choose = random.Random(3)
    for _ in range(5):
        state = game.start(None, None)
        while actions := state.legal_actions():
            assert list(moves_of(game, state).values()) == list(actions)
            state = state.apply(choose.choice(actions))


def turned_round(before: np.ndarray, after: np.ndarray) -> Motion | None:
    """Find the motion of a game in which tokens rise."""
    return motion_between(after, before)


def test_a_game_can_name_its_own_motions() -> None:
    rises = replace(GAMES["popout"], motion=f"{__name__}:turned_round")
    before = rises.start(None, None)
    after = before.apply((3, False))
    assert motion_of(GAMES["popout"], before, after) == Drop((5, 3))
    assert motion_of(rises, after, before) == Drop((5, 3))


def test_a_move_is_told_from_the_boards_alone() -> None:
    def seen(before: list[list[int]], after: list[list[int]]) -> Motion | None:
        return motion_between(np.array(before), np.array(after))

    assert seen([[0, 2], [0, 1]], [[0, 2], [2, 1]]) == Drop((1, 0))
    assert seen([[2, 2], [1, 1]], [[0, 2], [2, 1]]) == PopOut(0)
    assert seen([[1, 2], [1, 1]], [[0, 2], [1, 1]]) == PopOut(0), "all of one colour"
    assert seen([[1, 0], [0, 2]], [[0, 1], [0, 2]]) == Slide((0, 0), (0, 1))
    assert seen([[0, 1], [0, 2]], [[1, 0], [0, 2]]) == Slide((0, 1), (0, 0))
    assert seen([[0, 0], [0, 0]], [[0, 0], [0, 0]]) is None
    assert seen([[0, 0], [0, 0]], [[0, 0], [1, 2]]) is None, "two moves"
    assert seen([[1, 2], [2, 1]], [[0, 2], [2, 1]]) is None, "nothing has fallen"
    assert seen([[1, 2], [2, 1]], [[2, 1], [2, 1]]) is None, "two cells swapped"


def test_the_help_of_the_start_page_names_the_other_command() -> None:
    done = run("connect4", "--help", cwd=ROOT)
    assert done.returncode == 0
    assert "python3 -m connect4.ConnectFour --help" in done.stdout

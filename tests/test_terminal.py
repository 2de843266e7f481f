"""The terminal view on a real pseudo-terminal, read back through a terminal emulator."""

import fcntl
import io
import os
import pty
import re
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from connect4.games import GAMES
from connect4.players.base import AgentName
from connect4.table import TablePlan, Terms
from connect4.views.terminal import TerminalView
from tests.command import environment
from tests.games import agent_file

pyte = pytest.importorskip("pyte", reason="pyte, of the extra `test`, reads terminals")


PLAYS = "from connect4.utils import get_valid_actions\n"
FIRST_MOVE = "return get_valid_actions(self.player_number, state)[0]"


class Terminal:
    """A command on a terminal of 40 lines by 100 columns."""

    def __init__(self, folder: Path, *arguments: str, **variables: str) -> None:
        self.screen = pyte.Screen(100, 40)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "connect4.ConnectFour", *arguments, "--view", "terminal"],
            cwd=folder, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
            env={**environment(), "TERM": "xterm-256color", "LINES": "40", **variables},
        )  # fmt: skip
        os.close(slave)

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def read_until(self, done: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, self.text()
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the other side is closed
                break
            self.raw += data
            self.stream.feed(data)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def finish(self) -> str:
        self.read_until(lambda: False)
        self.process.wait(timeout=20)
        os.close(self.master)
        return self.text()


def test_a_game_has_a_line_for_each_turn_with_colours_and_the_last_move(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "random", "random", "case4", "--seed", "1")
    text = terminal.finish()
    assert len(re.findall(r"^ +\d+\. +\d+:\d+ +\d\.\d+ s  player", text, re.M)) > 15
    assert len(re.findall(r"\[[●○]\]", text)) == 1, "the last move is marked"
    assert "Player 1 ● random" in text
    assert "Player 1 Score: " in text
    assert b"\x1b[1;38;5;166m" in terminal.raw
    assert b"\x1b[1;38;5;32m" in terminal.raw


def test_dynamic_connect_4_has_a_frame_numbers_and_the_last_move(tmp_path: Path) -> None:
    options = ("--game", "dynamic", "--seed", "7", "--max-turns", "3", "--time", "5")
    text = Terminal(tmp_path, "random", "random", *options).finish()
    lines = text.splitlines()
    top = max(place for place, line in enumerate(lines) if "┌" in line)
    assert lines[top - 1].split() == list("1234567")
    rows = lines[top + 1 : top + 8]
    assert [re.sub(r"[^\d│]", "", row) for row in rows] == [f"{row}││" for row in range(1, 8)]
    assert lines[top + 8].strip() == f"└{'─' * 21}┘"
    move = re.search(r" 3\. .*player 1 plays (\d)(\d)(\w)", text)
    assert move, text
    column, row, way = int(move[1]), int(move[2]), move[3]
    across, down = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}[way]
    target = rows[row + down - 1].partition("│")[2][3 * (column + across - 1) :][:3]
    assert target == "[O]"


@pytest.mark.slow
def test_without_colour_the_tokens_still_differ(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "random", "random", "case4", "--seed", "1", NO_COLOR="1")
    text = terminal.finish()
    assert b"\x1b[1;3" not in terminal.raw
    assert "●" in text
    assert "○" in text


@pytest.mark.slow
def test_a_terminal_that_cannot_do_better_gets_ascii(tmp_path: Path) -> None:
    terminal = Terminal(
        tmp_path, "random", "random", "case4", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    terminal.finish()
    assert terminal.raw.isascii()
    dumb = Terminal(tmp_path, "random", "random", "case4", TERM="dumb")
    dumb.finish()
    assert b"\x1b" not in dumb.raw


def test_a_slip_of_the_fingers_leaves_its_reason_in_sight_and_costs_no_turn(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "human", "random", "case1", "--seed", "2")
    terminal.read_until(lambda: "your move:" in terminal.text())
    assert "P1 P2 P1 P2 P1 P2 P1 P2   pop-outs" in terminal.text()
    for typed, reason in (
        ("9", "column 9 is outside 0..7"),
        ("3P", "player 1 pops out of even columns only, not of column 3"),
        ("0P", "column 0 is empty: there is nothing to pop out"),
        ("x" * 150, "... is not a move"),
    ):
        terminal.type(f"{typed}\n")
        terminal.read_until(lambda reason=reason: reason in terminal.text())
        terminal.read_until(lambda: terminal.text().rstrip().endswith("your move:"))
        assert reason in terminal.text()
        assert "player 1 plays" not in terminal.text()
    terminal.type("4\n")
    terminal.read_until(lambda: "player 2 plays" in terminal.text())
    terminal.type("q\n")
    assert "The game ended: a player left." in terminal.finish()


def test_long_names_align(tmp_path: Path) -> None:
    name = f"{'long' * 10}.py"
    agent_file(tmp_path, FIRST_MOVE, name=name, before=PLAYS)
    text = Terminal(tmp_path, f"ai:{name}", "random", "case4").finish()
    lines = re.findall(r"^  Player [12] [●○] .*points", text, re.M)
    assert len(lines) >= 2
    assert len({line.index("points") for line in lines}) == 1
    assert "ai:longlong" in lines[0]
    assert "glong.py" in lines[0]


def test_the_board_is_shown_once_a_round_with_what_a_turn_gained(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "connect4.ConnectFour", "human", "greedy", "case1"],
        cwd=tmp_path, env={**environment(), "CONNECT4_VIEW": "terminal"}, input="4\n?\n3\nq\n",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("0  1  2  3  4") == 3, "before turns 1, 3 and 5"
    assert "player 1 plays 3, +2\n" in done.stdout
    assert "player 2 plays 4, +2\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_game_ends_by_ctrl_c_while_an_agent_thinks(tmp_path: Path) -> None:
    move = f"import time\ntime.sleep(0.5)\n{FIRST_MOVE}"
    agent_file(tmp_path, move, name="slow.py", before=PLAYS)
    terminal = Terminal(tmp_path, "ai:slow.py", "random", "case4", "--time", "3")
    terminal.read_until(lambda: " 2. " in terminal.text())
    terminal.type("\x03")
    text = terminal.finish()
    assert "Traceback" not in text
    assert "The game ended: a player left." in text


@pytest.mark.parametrize("game", GAMES)
def test_only_games_with_points_show_any(game: str) -> None:
    rules = GAMES[game]
    state, out = rules.start(None, None), io.StringIO()
    names = AgentName("one", "random"), AgentName("two", "random")
    TerminalView(TablePlan(rules, state, names, Terms(1.0, 1), rules.title), out).begin()
    assert ("0 points" in out.getvalue()) == state.game.counts_points

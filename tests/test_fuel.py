"""Games by fuel: budgets, the system that agents see, and games that repeat to the instruction."""

import json
import sys
import tracemalloc
from contextlib import closing

import pytest

from connect4.ConnectFour import main
from connect4.errors import InputError
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import MADE_ANEW, open_seat
from connect4.isolation.wasm import images, level, package
from connect4.players.base import Outcome
from grader.doctor import unavailable
from tests.command import ROOT, run
from tests.games import without_times
from tests.seats import board, setup

GAME = "connect4.ConnectFour"

POLLING = """
import random
import time
from connect4.utils import get_valid_actions

class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time = player_number, time

    def get_intelligent_move(self, state):
        began, looks = time.time(), 0
        while time.time() - began < self.time * 0.6:
            looks += 1
        print(looks, id(self), hash("seed"), {*"abcdef"})
        actions = get_valid_actions(self.player_number, state)
        return actions[(looks + random.randrange(9)) % len(actions)]

    get_expectimax_move = get_intelligent_move
"""


# -- one door

DOORS = ("connect4/isolation/wasm/", "grader/commands/grade.py")


def test_outside_its_doors_few_files_know_of_fuel():
    """A level of isolation is an entry of a table, which the rest of the kit asks."""
    knowing = {}
    for folder in ("connect4", "grader"):
        for path in (ROOT / folder).rglob("*.py"):
            place = path.relative_to(ROOT).as_posix()
            lines = path.read_text(encoding="utf-8").splitlines()
            count = sum("wasm" in line or "fuel" in line for line in lines)
            if count and "corpus" not in place and not place.startswith(DOORS):
                knowing[place] = count
    assert len(knowing) <= 8, knowing
    assert sum(knowing.values()) <= 45, knowing


# -- budgets


@pytest.mark.parametrize(
    ("text", "fuel"), [("5G", 5 * 10**9), ("1.5G", 15 * 10**8), ("5e9", 5 * 10**9), ("300M", 3e8)]
)
def test_a_budget_is_read_as_people_write_it(text, fuel):
    assert level.read_fuel(text) == fuel
    assert level.fuel_of(level.seconds_of(fuel)) == fuel


@pytest.mark.parametrize("text", ["", "5 G", "-5G", "G", "1e99", "0", "999K", "5GG", "inf"])
def test_anything_else_is_refused(text):
    with pytest.raises(InputError, match="fuel"):
        level.read_fuel(text)


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    assert main(["random", "random", "case4", "--fuel", "1G"]) == 2
    wanted = f"error: isolation wasm: it requires the extra `fuel`: {package.INSTALL}\n"
    assert capsys.readouterr().err == wanted
    assert unavailable()["wasm"] == "it requires the extra `fuel`: " + package.INSTALL


# -- games


def play(folder, *options, agents=("ai:a.py", "ai:b.py"), start="case4"):
    places = ("--record", "game.json", "--log", "log.txt")
    done = run(GAME, *agents, start, "--view", "none", *places, *options, cwd=folder, seconds=300)
    assert done.returncode == 0, done.stderr
    return [(folder / name).read_text(encoding="utf-8") for name in ("game.json", "log.txt")]


@pytest.mark.slow
@pytest.mark.timeout(700)
@pytest.mark.skipif(not package.is_compiled(), reason="Python for WebAssembly is not compiled here")
def test_a_game_by_fuel_is_the_same_in_two_processes(tmp_path):
    """The one test of the gate that runs agents by fuel: where the module is compiled already."""
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(POLLING, encoding="utf-8")
    first, printed = play(tmp_path, "--fuel", "20M", "--seed", "7")
    second, again = play(tmp_path, "--fuel", "20M", "--seed", "7")
    assert (without_times(first), printed) == (without_times(second), again)
    record = json.loads(first)
    assert (record["isolation"], record["fuel"]) == ("wasm", 20_000_000)
    assert record["fuel_per_second"] == level.FUEL_PER_SECOND
    assert record["agent_versions"] == {**package.identity(), "kit": images.kit_digest()}
    assert all(0 < turn["fuel"] < 20_000_000 for turn in record["turns"])
    assert "[turn 2]" in printed


def fuel_seat(folder, move, first=""):
    """Open a seat for an agent that does `first` when it is loaded, and `move` in its turns."""
    source = POLLING.replace("began, looks = time.time(), 0", f"{move}\n        began = looks = 0")
    path = folder / "ai.py"
    path.write_text(first + source.replace("< self.time * 0.6", "< -1"), encoding="utf-8")
    return closing(open_seat(setup(path), "wasm", Limits()))


@pytest.mark.fuel
def test_a_turn_over_its_budget_is_late_and_the_agent_is_made_anew(tmp_path):
    with fuel_seat(tmp_path, "while state is not None: pass") as seat:
        late = seat.ask(board(), 0.01)
    assert late.outcome is Outcome.TIMEOUT
    assert late.fuel == level.fuel_of(0.01)
    assert late.detail == f"no answer within 250M fuel\n{MADE_ANEW}"


SEES = """
import os, sys, time

def refused(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        return type(error).__name__
    return "nothing"

def look():
    began = time.time()
    time.sleep(2)
    print(2 <= time.time() - began < 2.01)
    print(os.listdir("/usr/local/lib"), os.listdir("/../usr"), os.listdir("/kit/connect4"))
    library = os.listdir("/usr/local/lib")[0]
    with open(f"/usr/../usr/local/lib/{library}", "rb") as file:
        file.seek(-4, os.SEEK_END)
        print(file.tell() > 10**6, len(file.read(9)))
    for path in ("/etc/passwd", "../etc/passwd", "/" + "x" * 5000):
        print(refused(open, path))
    for path in ("new.txt", "/kit/connect4/config.py"):
        print(refused(open, path, "w"), refused(os.unlink, path), refused(os.mkdir, path))
"""


@pytest.mark.fuel
def test_an_agent_sees_virtual_time_and_files_that_it_cannot_change(tmp_path):
    with fuel_seat(tmp_path, "look()", SEES) as seat:
        reply = seat.ask(board(), 1.0)
    assert reply.outcome is Outcome.PLAYED, reply.detail
    refused = ["FileNotFoundError"] * 2 + ["OSError"] * 7
    assert seat.log.splitlines()[:-1] == [
        "True",
        "['python315.zip'] ['local'] ['__init__.py', 'config.py', 'utils.py']",
        "True 4",
        *refused[:3],
        " ".join(refused[3:6]),
        " ".join(refused[6:]),
    ]


@pytest.mark.fuel
def test_much_that_is_printed_at_once_takes_little_memory_outside(tmp_path):
    with fuel_seat(tmp_path, "import sys; sys.stdout.write('x' * 150_000_000)") as seat:
        tracemalloc.start()
        try:
            reply = seat.ask(board(), 1.0)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert reply.outcome is Outcome.PLAYED, reply.detail
    assert " bytes left out)" in seat.log
    assert peak < 1 << 20

"""Games by fuel: budgets, the system that agents see, and games that repeat to the instruction."""

from __future__ import annotations

import json
import struct
import sys
import tracemalloc

import pytest

from connect4.ConnectFour import main
from connect4.errors import InputError
from connect4.isolation.limits import MAX_LINE, Limits
from connect4.isolation.measuring import MADE_ANEW, Log
from connect4.isolation.seat import open_seat
from connect4.isolation.wasm import ANSWERS, budget, images, package
from connect4.isolation.wasm.images import Tree
from connect4.isolation.wasm.system import (
    BADF,
    BOOT_TIME,
    LONGEST_PATH,
    NAMETOOLONG,
    NOENT,
    ROFS,
    ROOT,
    System,
)
from connect4.players.base import Outcome
from tests.command import run
from tests.games import without_times
from tests.hostile import AGENTS
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


# -- budgets


@pytest.mark.parametrize(
    ("text", "fuel"), [("5G", 5 * 10**9), ("1.5G", 15 * 10**8), ("5e9", 5 * 10**9), ("300M", 3e8)]
)
def test_a_budget_is_read_as_people_write_it(text, fuel):
    assert budget.read_fuel(text) == fuel
    assert budget.fuel_of(budget.seconds_of(fuel)) == fuel


@pytest.mark.parametrize("text", ["", "5 G", "-5G", "G", "1e99", "0", "999K", "5GG", "inf"])
def test_anything_else_is_refused(text):
    with pytest.raises(InputError, match="fuel"):
        budget.read_fuel(text)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--fuel", "5X"), "fuel '5X': expected a number with K, M, G or T, such as 5G, or 5e9"),
        (("--fuel", "5G", "--time", "1"), "--fuel takes the place of --time"),
        (("--fuel", "5G", "--isolation", "none"), "--fuel requires isolation wasm, not none"),
    ],
)
def test_options_that_contradict_fuel_are_refused(options, reason, capsys):
    try:
        status = main(["random", "random", "case4", *options])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert reason in capsys.readouterr().err


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    assert main(["random", "random", "case4", "--fuel", "1G"]) == 2
    wanted = f"error: isolation wasm: it requires the extra `fuel`: {package.INSTALL}\n"
    assert capsys.readouterr().err == wanted


# -- the system that an agent sees


class Bytes:
    """Memory of a program, with the fuel that it has used."""

    def __init__(self):
        self.data = bytearray(1 << 12)
        self.used = 0
        self.budget = 10**12

    def read(self, start, size):
        if start + size > len(self.data):
            raise IndexError(start)
        return bytes(self.data[start : start + size])

    def write(self, start, data):
        if start + len(data) > len(self.data):
            raise IndexError(start)
        self.data[start : start + len(data)] = data

    def spent(self):
        return self.used

    def charge(self, fuel):
        self.used += fuel
        return self.used < self.budget


@pytest.fixture
def system():
    made = System(Tree({"lib/b.py": b"two", "lib/a.py": b"one", "top.txt": b"hello"}), print)
    made.memory = Bytes()
    return made


def number(system, place, layout="<I"):
    return struct.unpack_from(layout, system.memory.data, place)[0]


def opened(system, path, flags=0, rights=0):
    system.memory.write(0, path.encode())
    error = system.call("path_open", (ROOT, 0, 0, len(path), flags, rights, 0, 0, 100))
    return error, number(system, 100)


def test_clocks_read_the_fuel_that_was_used(system):
    system.memory.used = 3 * budget.FUEL_PER_SECOND - 20_000  # which the call itself costs
    system.call("clock_time_get", (0, 0, 8))
    system.memory.used -= 20_000
    system.call("clock_time_get", (1, 0, 16))
    assert number(system, 8, "<Q") == BOOT_TIME + 3 * 10**9
    assert number(system, 16, "<Q") == 3 * 10**9


def test_sleep_moves_the_clock_on_and_costs_nothing(system):
    sleep = struct.pack("<QB7xIxxxxQQHxxxxxx", 5, 0, 1, 2 * 10**9, 0, 0)
    system.memory.write(0, sleep)
    before = system.memory.used
    assert system.call("poll_oneoff", (0, 100, 1, 200)) == 0
    assert (number(system, 200), number(system, 100, "<Q")) == (1, 5)
    assert system.memory.used - before < 1e6
    system.call("clock_time_get", (1, 0, 8))
    assert 2 * 10**9 <= number(system, 8, "<Q") < 2.01 * 10**9


def test_random_bytes_follow_from_the_seed(system):
    drawn = []
    for seed in (1, 2, 1):
        system.seed(seed)
        system.call("random_get", (0, 40))
        drawn.append(system.memory.read(0, 40))
    assert drawn[0] == drawn[2] != drawn[1]


def test_much_that_is_printed_at_once_takes_little_memory_outside(system):
    log = Log(1 << 16)
    system.printed = log.add
    system.memory.data = bytearray(4 << 20)
    system.memory.write(0, 50 * struct.pack("<II", 4096, 3 << 20))
    tracemalloc.start()
    try:
        assert system.call("fd_write", (1, 0, 50, 1000)) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert number(system, 1000) == 50 * (3 << 20)
    assert f"({50 * (3 << 20) - (1 << 16)} bytes left out)" in log.text()
    assert peak < 1 << 20


@pytest.mark.parametrize("name", ["fd_write", "random_get"])
def test_a_call_that_uses_up_the_fuel_does_nothing_more(system, name):
    printed = []
    system.printed = printed.append
    system.memory.data = bytearray(4 << 20)
    system.memory.write(0, 50 * struct.pack("<II", 4096, 3 << 20))
    system.memory.budget = system.memory.used + (1 << 20)
    before = bytes(system.memory.data)
    system.call(name, (1, 0, 50, 1000) if name == "fd_write" else (0, 3 << 20))
    assert sum(map(len, printed)) < 1 << 20
    assert system.memory.data == before


def test_an_answer_without_end_is_not_kept(system):
    system.memory.write(0, struct.pack("<II", 100, 800))
    for _ in range(200):
        assert system.call("fd_write", (ANSWERS, 0, 1, 16)) == 0
        assert number(system, 16) == 800
    assert MAX_LINE < len(system.answers) <= MAX_LINE + 800


def test_files_are_those_of_the_tree_and_cannot_be_changed(system):
    error, file = opened(system, "lib/../top.txt")
    assert error == 0
    system.memory.write(300, struct.pack("<II", 400, 100))
    assert system.call("fd_read", (file, 300, 1, 200)) == 0
    assert system.memory.read(400, number(system, 200)) == b"hello"
    assert opened(system, "nothing")[0] == NOENT
    assert opened(system, "../etc/passwd")[0] == NOENT
    assert opened(system, "new.txt", flags=1)[0] == ROFS
    assert system.call("path_filestat_get", (ROOT, 0, 0, LONGEST_PATH + 1, 100)) == NAMETOOLONG
    assert opened(system, "top.txt", rights=1 << 6)[0] == ROFS
    assert system.call("fd_write", (file, 300, 1, 200)) == BADF
    assert system.call("path_unlink_file", (ROOT, 0, 3)) == ROFS


def test_a_folder_is_listed_in_the_order_of_names(system):
    _, folder = opened(system, "lib")
    assert system.call("fd_readdir", (folder, 500, 500, 0, 200)) == 0
    listed = system.memory.read(500, number(system, 200))
    assert listed.index(b"a.py") < listed.index(b"b.py")


def test_an_address_outside_the_memory_is_an_error_and_no_crash(system):
    assert system.call("random_get", (1 << 20, 8)) != 0
    assert system.call("fd_write", (1, 1 << 20, 1, 0)) != 0


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
    assert record["fuel_per_second"] == budget.FUEL_PER_SECOND
    assert record["agent_versions"] == {**package.identity(), "kit": images.kit_digest()}
    assert all(0 < turn["fuel"] < 20_000_000 for turn in record["turns"])
    assert "[turn 2]" in printed


def fuel_seat(folder, move, seconds=0.01, **limits):
    source = POLLING.replace(
        "began, looks = time.time(), 0", f"{move}\n        began, looks = 0, 0"
    )
    path = folder / "ai.py"
    path.write_text(source.replace("< self.time * 0.6", "< -1"), encoding="utf-8")
    return open_seat(setup(path, seconds=seconds), "wasm", Limits(**limits))


@pytest.mark.fuel
def test_a_generator_without_a_seed_repeats_the_game(tmp_path):
    names = (f"ai:{AGENTS / 'draws_without_a_seed.py'}", "random")
    first, again = (play(tmp_path, "--fuel", "1G", "--seed", "7", agents=names) for _ in range(2))
    assert without_times(first[0]) == without_times(again[0])
    assert first[1] == again[1]


@pytest.mark.fuel
def test_a_turn_over_its_budget_is_late_and_the_agent_is_made_anew(tmp_path):
    seat = fuel_seat(tmp_path, "while getattr(self, 'kept', True) and state is not None: pass")
    try:
        late = seat.ask(board(), 0.01)
        assert late.outcome is Outcome.TIMEOUT
        assert late.fuel == budget.fuel_of(0.01)
        assert late.detail == f"no answer within 250M fuel\n{MADE_ANEW}"
    finally:
        seat.close()

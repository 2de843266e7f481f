"""Every hostile or broken agent of the corpus at level `wasm`: what is expected, and what comes."""

import os
import threading
from contextlib import closing
from pathlib import Path

import pytest

from connect4.games.base import Player
from connect4.isolation.seat import MADE_ANEW, open_seat
from connect4.isolation.wasm import package
from connect4.players.base import Outcome
from tests.games import agent_file as written
from tests.hostile import WASM
from tests.seats import board, limits_for, processes, setup

pytestmark = [pytest.mark.fuel]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Open the module's file once, before what is open is compared."""
    package.compiled()


def surroundings() -> tuple[str, list[str], list[int]]:
    return os.getcwd(), sorted(os.listdir("/proc/self/fd")), sorted(processes())


@pytest.mark.slow
@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize("agent", sorted(WASM))
def test_each_agent_comes_to_its_one_outcome(agent: str, player: Player) -> None:
    late = Outcome.TIMEOUT in WASM[agent]
    seconds = 0.01 if late else 0.2
    limits = limits_for(agent)
    before, threads = surroundings(), threading.active_count()
    found = setup(agent, player, seconds)
    with closing(open_seat(found, "wasm", limits)) as seat:
        state = board() if player == 1 else board().skip()
        replies = [seat.ask(state, seconds) for _ in range(3)]
    assert {reply.outcome for reply in replies} <= WASM[agent], [reply.detail for reply in replies]
    assert len(seat.log) <= limits.log_bytes + 100
    assert (surroundings(), threading.active_count()) == (before, threads)


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("open('/etc/passwd')", "note: agents may not open files (a submission is one file)"),
        ("open('note.txt', 'w')", "note: agents may not open files (a submission is one file)"),
        ("import pandas", "pandas is not part of what a submission may import"),
        ("import connect4.search.minimax", "connect4.search is not part of what a"),
        ("[].pop()", "IndexError: pop from empty list"),
        ("x = bytearray(3 << 29)", "MemoryError"),
        ("import os; os._exit(7)", "its Python ended with exit status 7"),
    ],
)
def test_an_author_reads_why_a_turn_was_lost(tmp_path: Path, move: str, reason: str) -> None:
    agent = written(tmp_path, f"{move}\nreturn 0, False").removeprefix("ai:")
    with closing(open_seat(setup(Path(agent)), "wasm")) as seat:
        reply = seat.ask(board(), 0.2)
    assert reply.outcome is Outcome.ERROR
    assert reason in (reply.detail or "")
    assert (MADE_ANEW in (reply.detail or "")) is ("os._exit" in move)

"""Two thousand short games between random pairs of hostile agents: right results, nothing grows."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

from connect4.games.extended import EXTENDED
from connect4.isolation.seat import Level, Limits, choose_level
from connect4.players.base import Outcome, Seat
from connect4.referee import Over, TurnEnded, play
from tests.hostile import EXPECTED
from tests.seats import board, processes, seat

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux"),
]

PARTS = 8
GAMES_OF_A_PART = 250
SECONDS = 0.05
LIMITS = Limits(start_seconds=1.0, reload_seconds=1000.0, memory_bytes=1 << 29)

TOO_MUCH_WORK = {
    "builds_the_kits_own_agent",
    "c_stack_overflow",
    "computes_with_what_it_may",
    "fills_memory",
    "fills_shared_memory",
    "huge_exception",
    "imports_desktop_modules",
    "lazy_imports",
    "leaves_threads",
    "patches_the_kit",
    "prints_two_megabytes",
    "recursion_without_end",
    "thinks_on_opponents_time",
    "wakes_itself_by_a_signal",
    "wakes_itself_by_a_timer",
    "walks_for_the_referee",
    "writes_without_a_line_end",
}
"""What these do, or their own threads beside them, may well take longer than 50 milliseconds."""


def resident() -> int:
    """Return this process's memory in kB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def play_one(names: tuple[str, str], level: Level) -> None:
    state = board("1\n" + "0 0 0 0\n" * 2)
    seats: dict[int, Seat] = {}
    try:
        for player, name in enumerate(names, 1):
            seats[player] = seat(name, level, player, SECONDS, LIMITS)
        limited = {1: SECONDS, 2: SECONDS}
        for event in play(EXTENDED, state, seats, limited, play_unloaded=True):
            if isinstance(event, TurnEnded):
                turn = event.turn
                name = names[turn.player - 1]
                allowed = set(EXPECTED[name])
                waited = turn.starved or turn.cpu_seconds < SECONDS  # so little is soon too much
                if waited or name in TOO_MUCH_WORK:
                    allowed.add(Outcome.TIMEOUT)
                assert turn.outcome in allowed, (names, turn)
                played = turn.outcome is Outcome.PLAYED
                state = state.apply(turn.action) if played else state.skip()
            elif isinstance(event, Over):
                assert event.result.scores == state.scores()
    finally:
        for opened in seats.values():
            opened.close()


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_random_hostile_pairs(part: int) -> None:
    level = choose_level("auto" if part % 2 else "process")[0]
    chance = random.Random(part)
    for _ in range(5):  # whatever is made once is made now
        play_one(("plain", "sleeps"), level)
    before = resident(), len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(GAMES_OF_A_PART):
        names = chance.choice(sorted(EXPECTED)), chance.choice(sorted(EXPECTED))
        play_one(names, level)
    assert not processes()
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before[1:]
    assert resident() < before[0] + 20_000

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
                allowed = EXPECTED[names[turn.player - 1]]
                late = turn.outcome is Outcome.TIMEOUT  # so little time is soon too little
                assert late or turn.outcome in allowed, (names, turn)
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

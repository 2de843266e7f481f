"""Every hostile or broken agent comes to its one expected outcome."""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from connect4.games.base import Player
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.isolation.seat import IsolatedSeat, Level, Limits, choose_level
from connect4.players.base import Outcome, Seat, Turn
from connect4.referee import Over, TurnEnded, play
from grader.doctor import GUARANTEES
from tests.hostile import EXPECTED, WASM, names_of_all, source_of
from tests.seats import board, limits_for, members, processes, seat, sessions

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

IN_TURN = {"dies_when_asked_again": (Outcome.PLAYED, Outcome.ERROR)}
"""Agents whose turns come to these outcomes, one after the other and again."""

PONDERING = next(item.agents for item in GUARANTEES if item.key == "pondering")
"""Agents that need time in the opponent's turn."""

NOTES = ("/tmp/connect4-note", "/dev/shm/connect4-note")

PLAIN: dict[tuple[Level, Player], IsolatedSeat] = {}


@pytest.fixture(scope="module", autouse=True)
def plain_seats() -> Iterator[None]:
    """Keep one plain opponent for each level and side over all games: nothing disturbs it."""
    yield
    while PLAIN:
        PLAIN.popitem()[1].close()
    assert not processes()


def plain(level: Level, player: Player) -> IsolatedSeat:
    if (level, player) not in PLAIN:
        PLAIN[level, player] = seat("plain", level, player)
    return PLAIN[level, player]


def surroundings(folder: Path) -> dict[str, Any]:
    """Return what no agent may change."""
    targets = map(os.path.realpath, Path("/proc/self/fd").iterdir())
    return {
        "files": {
            str(path): (path.stat().st_mode, path.is_file() and path.read_bytes())
            for path in sorted(folder.rglob("*"))
        },
        "notes": [path for path in NOTES if os.path.exists(path)],
        "processes": sorted(processes()),
        "descriptors": sorted(name for name in targets if not name[-1].isdigit()),  # still open
        "threads": threading.active_count(),
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "folder": os.getcwd(),
    }


def classroom(folder: Path, agent: str) -> Path:
    """Lay out what agents would like to get at, open to everybody; return the agent's file."""
    files = {
        "results/results.json": "{}",
        "boards/hidden.txt": "1\n0 0\n",
        "opponent/ai.py": "# a secret opening\n",
    }
    place = f"Path({str(folder / 'student' / 'ai.py')!r})"  # an agent is told its file's name only
    files["student/ai.py"] = source_of(agent).replace("Path(__file__)", place)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o666)
        path.parent.chmod(0o777)
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    return folder / "student" / "ai.py"


def play_out(
    seats: dict[Player, Seat], seconds: dict[Player, float], pause: float = 0.0
) -> list[tuple[ExtendedState, Turn]]:
    """Play a game, and check its result; return each turn with the position before it."""
    state, turns = board(), []
    for event in play(EXTENDED, state, seats, seconds, play_unloaded=True):
        if isinstance(event, TurnEnded):
            turn = event.turn
            turns.append((state, turn))
            state = state.apply(turn.action) if turn.outcome is Outcome.PLAYED else state.skip()
            time.sleep(pause)
        elif isinstance(event, Over):
            assert event.result.scores == state.scores()
    return turns


def assert_one_outcome(agent: str, player: Player, level: Level, folder: Path) -> None:
    path = classroom(folder, agent)
    opponent: Player = 2 if player == 1 else 1
    opposite = plain(level, opponent)
    before = surroundings(folder)
    late = Outcome.TIMEOUT in EXPECTED[agent]
    seconds = 0.1 if late else 5.0
    with closing(seat(path, level, player, seconds, limits_for(agent))) as hostile:
        its_sessions = sessions(set(processes()) - set(before["processes"]))
        pause = 0.3 if agent in PONDERING else 0.0
        seats: dict[Player, Seat] = {player: hostile, opponent: opposite}
        turns = play_out(seats, {player: seconds, opponent: 5.0}, pause)
    own = [turn for _, turn in turns if turn.player == player]
    in_turn = [turn.outcome for turn in own]
    assert in_turn, "the agent was never asked"
    if agent in IN_TURN:
        cycle = IN_TURN[agent]
        assert in_turn == [cycle[number % len(cycle)] for number in range(len(in_turn))]
    assert not late or Outcome.TIMEOUT in in_turn
    assert set(in_turn) <= EXPECTED[agent], [turn.detail for turn in own]
    for state, turn in turns:
        if turn.player == opponent:
            assert turn.outcome is Outcome.PLAYED
            assert turn.action == state.legal_actions()[0]
            assert turn.seconds < 2.0
    assert len(hostile.log) <= Limits().log_bytes + 100
    assert its_sessions
    assert not members(its_sessions)
    was_open = Counter(before.pop("descriptors"))  # an earlier test's may be closed meanwhile
    for _ in range(100):
        after = surroundings(folder)
        opened = [name for name in after.pop("descriptors") if "[eventfd]" not in name]
        left_open = Counter(opened) - was_open  # an event is a library's: the referee has none
        if after == before and not left_open:
            break
        time.sleep(0.02)  # a library's own thread may open a file for a moment
    assert after == before
    assert not left_open


def test_every_agent_has_an_expected_outcome() -> None:
    assert names_of_all() == sorted(EXPECTED) == sorted(WASM)


@pytest.mark.parametrize("agent", sorted(EXPECTED))
@pytest.mark.parametrize(
    ("player", "level"),
    [
        pytest.param(1, "process", marks=pytest.mark.slow),
        pytest.param(2, "process", marks=pytest.mark.slow),
        pytest.param(1, "strong", marks=[pytest.mark.slow, pytest.mark.sandbox]),
        pytest.param(2, "strong", marks=pytest.mark.sandbox),
    ],
)
def test_each_agent_comes_to_its_outcome(
    agent: str, player: Player, level: Level, tmp_path: Path
) -> None:
    assert_one_outcome(agent, player, level, tmp_path)


def resident() -> int:
    """Return this process's memory in kB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])


def play_pair(chance: random.Random, names: list[str], level: Level) -> None:
    """Play two of these agents against each other, with so little time that they may be late."""
    limits = Limits(start_seconds=1.0, reload_seconds=1000.0, memory_bytes=1 << 29)
    pair: tuple[Player, Player] = (1, 2)
    agents = {player: chance.choice(names) for player in pair}
    with ExitStack() as stack:
        seats: dict[Player, Seat] = {}
        for player, name in agents.items():
            seats[player] = stack.enter_context(closing(seat(name, level, player, 0.05, limits)))
        for _, turn in play_out(seats, dict.fromkeys(pair, 0.05)):
            assert turn.outcome in {*EXPECTED[agents[turn.player]], Outcome.TIMEOUT}, turn


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(8))
def test_nothing_grows_in_two_thousand_games_of_random_pairs(part: int) -> None:
    level = choose_level("auto" if part % 2 else "process")[0]
    chance = random.Random(part)
    for _ in range(5):  # whatever is made once is made now
        play_pair(chance, ["plain", "sleeps"], level)
    others = processes()
    before = resident(), len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(250):
        play_pair(chance, sorted(EXPECTED), level)
    assert processes().keys() == others.keys()
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before[1:]
    assert resident() < before[0] + 20_000

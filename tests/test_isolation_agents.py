"""Every hostile or broken agent comes to its one expected outcome."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connect4.games.base import Player
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import IsolatedSeat, Level, Limits
from connect4.players.base import Outcome, Seat
from connect4.referee import Over, Turn, TurnEnded, play
from tests.seats import (
    AGENTS,
    CORPUS,
    agent_file,
    board,
    members,
    processes,
    seat,
    sessions,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

PLAYED = """
    bool_column builds_the_kits_own_agent changes_inode_flags changes_its_affinity changes_modes
    changes_own_file computes_with_what_it_may counts_turns draws_without_a_seed
    fills_shared_memory float_column
    hanging_atexit has_the_kernel_send_signals holds_all_threads imports_desktop_modules
    kills_the_parent lazy_imports leaves_a_note_in_folder leaves_a_note_in_shm
    leaves_a_note_in_tmp leaves_notes_in_lookups leaves_the_session leaves_threads
    limits_the_parent lists_submissions locks_shared_files lowers_the_parents_priority
    mutates_state named_tuple numpy_integers opens_files_in_each_thread opens_tcp
    opens_the_terminal opens_udp patches_the_kit plain popout_as_number popout_as_numpy_bool
    prints_one_huge_buffer prints_two_megabytes raises_its_priority reads_asynchronously
    reads_hidden_boards reads_the_kits_own_agent reads_the_opponent reads_the_page_cache
    reads_the_search renames_results resolves_names runs_on_in_the_kernel
    sends_urgent_data_to_the_log sets_trace signals_its_group stops_everyone
    thinks_on_opponents_time traces_the_parent tries_everything truncates_results unlinks_results
    uses_ipc_of_others uses_its_time wakes_itself_by_a_signal wakes_itself_by_a_timer
    wakes_who_waits_on_a_library walks_for_the_referee watches_files watches_processes
    writes_results
"""
INVALID = """
    forges_a_note returns_array returns_column_off_the_board returns_half_column returns_huge
    returns_int returns_int_lookalike returns_list returns_lying_tuple returns_nan
    returns_negative returns_none returns_popout_of_two returns_reduce returns_text
    returns_text_column returns_three sends_urgent_data_to_the_referee writes_garbage
    writes_without_a_line_end
"""
ERROR = """
    aborts c_stack_overflow closes_descriptors daemon ends_by_a_nameless_signal escape_codes
    fills_memory fork_bomb huge_exception import_error import_exits import_never_ends
    imports_the_search keyboard_interrupt kills_the_parent_carelessly no_class no_method os_exit
    raises raises_recursion_error recursion_without_end segmentation_fault starts_a_program
    syntax_error sys_exit unprintable_exception wrong_init wrong_signature
"""
TIMEOUT = """
    c_loop catches_everything forges_ready forks_and_loops ignores_signals late_with_threads
    prints_without_end sleeps slow_regular_expression stops_itself
"""
IN_TURN = {"dies_when_asked_again": (Outcome.PLAYED, Outcome.ERROR)}
"""Agents whose turns come to these outcomes, one after the other and again."""
EITHER = {
    # on a busy machine its transport now and then takes what it hopes for, and pays it
    "answers_in_the_margin": {Outcome.TIMEOUT, Outcome.PLAYED},
    "forges_answers": {Outcome.PLAYED, Outcome.INVALID},  # what it forges are its own moves
}

EXPECTED = {
    **{name: {Outcome.PLAYED} for name in PLAYED.split()},
    **{name: {Outcome.INVALID} for name in INVALID.split()},
    **{name: {Outcome.ERROR} for name in ERROR.split()},
    **{name: {Outcome.TIMEOUT} for name in TIMEOUT.split()},
    **{name: set(outcomes) for name, outcomes in IN_TURN.items()},
    **EITHER,
}
NOTES = ("/tmp/connect4-note", "/dev/shm/connect4-note")

PLAIN: dict[tuple[Level, Player], IsolatedSeat] = {}


@pytest.fixture(scope="module", autouse=True)
def plain_seats() -> Iterator[None]:
    """Keep one plain opponent for each level and side over all games: nothing disturbs it."""
    yield
    for opponent in PLAIN.values():
        opponent.close()
    PLAIN.clear()
    assert not processes()


def plain(level: Level, player: Player) -> IsolatedSeat:
    if (level, player) not in PLAIN:
        PLAIN[level, player] = seat("plain", level, player)
    return PLAIN[level, player]


def surroundings(folder: Path) -> dict[str, Any]:
    """Return what no agent may change."""
    return {
        "files": {
            str(path): (path.stat().st_mode, path.is_file() and path.read_bytes())
            for path in sorted(folder.rglob("*"))
        },
        "notes": [path for path in NOTES if os.path.exists(path)],
        "processes": sorted(processes()),
        "descriptors": len(os.listdir("/proc/self/fd")),
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
    source = agent_file(agent).read_text(encoding="utf-8")
    files["student/ai.py"] = source.replace("Path(__file__)", place)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o666)
        path.parent.chmod(0o777)
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    return folder / "student" / "ai.py"


def assert_one_outcome(agent: str, player: Player, level: Level, folder: Path) -> None:
    path = classroom(folder, agent)
    opponent: Player = 2 if player == 1 else 1
    opposite = plain(level, opponent)
    before = surroundings(folder)
    late = Outcome.TIMEOUT in EXPECTED[agent]
    seconds = 0.1 if late else 5.0
    limits = Limits(
        start_seconds=0.3 if agent == "import_never_ends" else 10.0,
        reload_seconds=1000.0,  # one outcome on every turn; test_isolation.py has what follows
        memory_bytes=1 << (28 if agent == "fills_memory" else 30),
    )
    hostile = seat(path, level, player, seconds, limits)
    its_sessions = sessions(set(processes()) - set(before["processes"]))
    seats: dict[Player, Seat] = {player: hostile, opponent: opposite}
    turns: list[Turn] = []
    state = board()
    try:
        limited = {player: seconds, opponent: 5.0}
        for event in play(EXTENDED, state, seats, limited, play_unloaded=True):
            if isinstance(event, TurnEnded):
                turns.append(event.turn)
            elif isinstance(event, Over):
                result = event.result
    finally:
        hostile.close()
    in_turn = [turn.outcome for turn in turns if turn.player == player]
    outcomes = set(in_turn)
    assert outcomes, "the agent was never asked"
    if agent in IN_TURN:
        cycle = IN_TURN[agent]
        assert in_turn == [cycle[number % len(cycle)] for number in range(len(in_turn))]
    assert not late or Outcome.TIMEOUT in outcomes
    assert outcomes <= EXPECTED[agent], [turn.detail for turn in turns if turn.player == player]
    for turn in turns:
        if turn.player == opponent:
            assert turn.outcome is Outcome.PLAYED
            assert turn.action == state.legal_actions()[0]
            assert turn.seconds < 2.0
        state = state.apply(turn.action) if turn.outcome is Outcome.PLAYED else state.skip()
    assert result.scores == state.scores()
    assert len(hostile.log) <= Limits().log_bytes + 100
    assert surroundings(folder) == before
    assert its_sessions
    assert not members(its_sessions)


def test_every_agent_has_an_expected_outcome() -> None:
    names = [path.stem for folder in (AGENTS, CORPUS) for path in folder.glob("*.py")]
    assert sorted(names) == sorted(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(EXPECTED))
def test_as_player_1_in_a_process(agent: str, tmp_path: Path) -> None:
    assert_one_outcome(agent, 1, "process", tmp_path)


@pytest.mark.sandbox
@pytest.mark.parametrize("agent", sorted(EXPECTED))
def test_as_player_2_inside_bubblewrap(agent: str, tmp_path: Path) -> None:
    assert_one_outcome(agent, 2, "strong", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(EXPECTED))
@pytest.mark.parametrize(
    ("player", "level"), [(2, "process"), pytest.param(1, "strong", marks=pytest.mark.sandbox)]
)
def test_the_other_way_round(agent: str, player: Player, level: Level, tmp_path: Path) -> None:
    assert_one_outcome(agent, player, level, tmp_path)

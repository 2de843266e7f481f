"""A seat whose agent has a process of its own: what it promises, and what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from connect4 import isolation, protections
from connect4.errors import BadInput, IsolationFailure
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.isolation import InProcessSeat, Level, Limits, choose_level, open_seat
from connect4.players.base import Outcome, PlayerLeft, Setup
from connect4.players.registry import parse_agent
from connect4.players.student import reported_stack
from connect4.processes import Spent
from connect4.record import dumps
from connect4.table import Table, Terms
from tests.command import ROOT, environment
from tests.games import never_seated, without_times
from tests.seats import SEED, board, processes, seat, setup, wait_for_none

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

LEVELS: list[Level] = ["process", "strong"] if choose_level("auto")[0] == "strong" else ["process"]

BODY = """
import time
from connect4.utils import get_valid_actions

class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.time, self.turns = player_number, time, 0

    def get_intelligent_move(self, state):
        self.turns += 1
{move}
        return get_valid_actions(self.player_number, state)[0]
"""


def agent(folder: Path, move: str) -> Path:
    """Write an agent that does `move` before it plays."""
    path = folder / "ai.py"
    lines = "\n".join(f"        {line}" for line in move.splitlines())
    path.write_text(BODY.format(move=lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_lives_for_the_whole_game_and_what_it_prints_is_kept(level: Level) -> None:
    opened = seat("counts_turns", level)
    for _ in range(3):
        assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
    opened.close()
    assert opened.log == "made\nturn 1\nturn 2\nturn 3\n"


@pytest.mark.parametrize("level", LEVELS)
def test_with_lifetime_move_nothing_survives_a_move(level: Level) -> None:
    opened = seat("counts_turns", level, lifetime="move")
    for _ in range(3):
        assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
    opened.close()
    assert opened.log == "made\nturn 1\n" * 3


def test_a_late_agent_is_made_anew_outside_the_clock(tmp_path: Path) -> None:
    path = agent(
        tmp_path, "print('turn', self.turns, flush=True)\nif self.turns == 2: time.sleep(9)"
    )
    opened = seat(path, seconds=0.2)
    replies = [opened.ask(board(), 0.2) for _ in range(3)]
    opened.close()
    assert [reply.outcome for reply in replies] == ["played", "timeout", "played"]
    assert (replies[1].detail or "").startswith("no answer within 0.2 s (stopped 0.")
    assert (replies[1].detail or "").endswith(
        "\nA new AIPlayer is made for the next turn: what this one kept is gone."
    )
    assert 0 < replies[1].overrun < replies[1].seconds
    assert opened.log == "turn 1\nturn 2\nturn 1\n"


def test_an_agent_that_nobody_clocks_may_take_its_time(tmp_path: Path) -> None:
    opened = seat(agent(tmp_path, "time.sleep(0.3)"), seconds=0.1)
    reply = opened.ask(board(), None)
    opened.close()
    assert (reply.outcome, reply.overrun) == (Outcome.PLAYED, 0.0)


def test_an_exception_costs_the_turn_and_not_the_agents_memory(tmp_path: Path) -> None:
    path = agent(
        tmp_path, "print('turn', self.turns)\nif self.turns == 2: raise ValueError('lost')"
    )
    opened = seat(path)
    replies = [opened.ask(board(), 5.0) for _ in range(3)]
    opened.close()
    assert [reply.outcome for reply in replies] == ["played", "error", "played"]
    assert opened.log == "turn 1\nturn 2\nturn 3\n"


def test_an_agent_sees_its_own_source_in_a_traceback_that_names_no_folder(tmp_path: Path) -> None:
    path = agent(tmp_path, "raise ValueError(f'at {object()}')  # the culprit")
    opened = seat(path)
    detail = opened.ask(board(), 5.0).detail or ""
    opened.close()
    assert detail.startswith(
        "Traceback (most recent call last):\n"
        '  File "ai.py", line 11, in get_intelligent_move\n'
        "    raise ValueError(f'at {object()}')  # the culprit\n"
    )
    assert detail.endswith("\nValueError: at <object object at 0x...>")


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("os_exit", "os_exit.py: its process ended with exit status 3"),
        ("segmentation_fault", "segmentation_fault.py: its process was ended by SIGSEGV"),
        (
            "closes_descriptors",
            "closes_descriptors.py: its process was killed, or closed its line to the referee",
        ),
        (
            "import_exits",
            "import_exits.py could not be loaded: its process ended with exit status 0",
        ),
        ("writes_garbage", "what came from the agent's process is no answer"),
        ("returns_column_off_the_board", None),
        ("sys_exit", "SystemExit: good bye"),
        ("escape_codes", "ValueError: \ufffd[2J\ufffd boo"),
    ],
)
def test_what_went_wrong_is_said(name: str, detail: str | None) -> None:
    opened = seat(name)
    said = [opened.ask(board(), 5.0).detail for _ in range(2)]
    opened.close()
    assert said[0] == said[1]
    assert said[0] is None if detail is None else (said[0] or "").splitlines()[-1] == detail


IS_WHERE = "Where its code was, as the agent's own process reported it (most recent call last):"


@pytest.mark.parametrize(
    "line",
    [
        "while True: pass",
        "time.sleep(60)",
        "sum(__import__('itertools').repeat(0))",
        "__import__('re').match('(a+)+$', 'a' * 60 + 'b')",
        "__import__('os').kill(__import__('os').getpid(), 19)",
        "__import__('threading').Thread(target=time.sleep, args=[60]).start(); time.sleep(60)",
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_a_late_agent_is_told_where_its_code_was(level: Level, line: str, tmp_path: Path) -> None:
    path = agent(tmp_path, f"def helper():\n    {line}\nhelper()")
    opened = seat(path, level, seconds=0.2)
    detail = opened.ask(board(), 0.2).detail or ""
    opened.close()
    assert detail.splitlines()[1:-1] == [
        IS_WHERE,
        '  File "ai.py", line 13, in get_intelligent_move',
        "    helper()",
        '  File "ai.py", line 12, in helper',
        f"    {line}",
    ]


def test_an_import_that_never_ends_is_told_where_it_was() -> None:
    opened = seat("import_never_ends", limits=Limits(start_seconds=0.3))
    details = {opened.ask(board(), 5.0).detail for _ in range(2)}
    opened.close()
    assert details == {
        f"import_never_ends.py was not loaded within 0.3 s\n{IS_WHERE}\n"
        '  File "import_never_ends.py", line 6, in <module>\n'
        "    time.sleep(1)"
    }


@pytest.mark.parametrize(
    "move",
    [
        "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})",
        "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_DFL)",
        "import faulthandler, signal\nfaulthandler.unregister(signal.SIGUSR1)",
        "import os\nos.closerange(3, 60)",
    ],
)
def test_an_agent_that_keeps_its_stack_to_itself_is_late_all_the_same(
    move: str, tmp_path: Path
) -> None:
    opened = seat(agent(tmp_path, f"{move}\nwhile True: pass"), seconds=0.2)
    reply = opened.ask(board(), 0.2)
    opened.close()
    assert reply.outcome is (Outcome.ERROR if "closerange" in move else Outcome.TIMEOUT)
    assert IS_WHERE not in (reply.detail or "")


def test_a_stack_that_an_agent_forges_says_nothing_but_lines_of_its_own(tmp_path: Path) -> None:
    forged = (
        "import os, signal, stat\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
        'text = b\'  File "ai.py", line 99999 in \\x1b[2J\\n  File "host.py", line 1 in x\\n\'\n'
        "pipes = [n for n in range(3, 60) if os.path.exists(f'/proc/self/fd/{n}')]\n"
        "pipes = [n for n in pipes if stat.S_ISFIFO(os.fstat(n).st_mode)]\n"
        "print(len(pipes), flush=True)\n"
        "while True: os.write(pipes[0], text)"
    )
    opened = seat(agent(tmp_path, forged), seconds=0.3)
    for _ in range(2):
        reply = opened.ask(board(), 0.3)
        assert reply.outcome is Outcome.TIMEOUT, reply.detail
        assert len((reply.detail or "").splitlines()) == 2  # the verdict and what follows from it
    opened.close()
    assert opened.log == "1\n1\n"


def test_a_reported_stack_is_read_as_what_anybody_may_have_written() -> None:
    source = b"one\n  two()\n" + b"x" * 900
    dump = (
        b'Current thread 0x00007f (most recent call first):\n  File "ai.py", line 2 in deep\n'
        b'  File "/usr/lib/python3.11/re.py", line 1 in match\n  File "ai.py", line 1 in <module>\n'
        b'  File "ai.py", line 4 in beyond\n  File "ai.py", line 0 in before\n'
        b'  File "ai.py", line 1 in \x1b[2J\n  File "ai.py", line 1 in two words\n'
        b'File "ai.py", line 1 in unindented\n'
    )
    assert reported_stack(dump, "ai.py", source) == (
        f'{IS_WHERE}\n  File "ai.py", line 1, in <module>\n    one\n'
        '  File "ai.py", line 2, in deep\n    two()'
    )
    assert len(reported_stack(b'  File "ai.py", line 3 in f\n' * 500, "ai.py", source)) < 6000
    assert reported_stack(dump, "other.py", source) == ""
    assert reported_stack(dump, "ai.py", b"\xff") == ""


def test_what_an_agent_prints_is_kept_up_to_a_limit() -> None:
    opened = seat("prints_two_megabytes", limits=Limits(log_bytes=1000))
    assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
    opened.close()
    assert opened.log == "x" * 1000 + f"\n... ({2048 * 1024 - 1000} bytes more)\n"


def test_agents_get_counters_with_the_games_maximum(tmp_path: Path) -> None:
    path = agent(
        tmp_path, "assert str(state[1]) == '{1: Integer(1, maximum=3), 2: Integer(2, maximum=4)}'"
    )
    state = board("3 4 1\n0 0\n1 2\n")
    later = state
    for action in ((0, True), (1, True), (0, False), (1, False), (0, True), (1, True)):
        later = later.apply(action)
    opened = seat(path)
    reply = opened.ask(later, 5.0)
    opened.close()
    assert later.popouts == (1, 2)
    assert reply.outcome is Outcome.PLAYED, reply.detail


@pytest.mark.parametrize(
    "name", ["thinks_on_opponents_time", "wakes_itself_by_a_signal", "wakes_itself_by_a_timer"]
)
@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_is_stopped_unless_it_is_asked(level: Level, name: str) -> None:
    opened = seat(name, level)
    try:
        time.sleep(0.3)  # before the game's first clock
        for _ in range(2):
            assert opened.ask(board(), 5.0).action != (99, False)
            time.sleep(0.3)
            assert "T" in processes().values()
        assert opened.ask(board(), 5.0).action != (99, False)
    finally:
        opened.close()


def test_the_processor_time_of_all_threads_is_noted(tmp_path: Path) -> None:
    path = agent(tmp_path, "end = time.process_time() + 0.1\nwhile time.process_time() < end: pass")
    opened = seat(path)
    reply = opened.ask(board(), 5.0)
    opened.close()
    assert reply.cpu_seconds >= 0.1


def test_an_agent_cannot_starve_itself_with_threads() -> None:
    """Four threads that share one core for 2 s: the first one runs for 0.5 s, waits for 1.5 s."""
    asked = Spent(10.0, 9.0, 3.0)
    assert Spent(12.0, 9.5, 4.5).waited_since(asked) == 0.0
    assert Spent(10.5, 9.5, 4.5).waited_since(asked) == 1.5  # it waited for somebody else


def test_an_agent_stays_on_the_processor_it_is_given(tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    path = agent(tmp_path, "import os\nprint(os.sched_getaffinity(0))")
    opened = open_seat(setup(path), "process", core=core)
    opened.ask(board(), 5.0)
    opened.close()
    assert opened.log == f"{{{core}}}\n"


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_games_of_deterministic_agents_repeat_to_the_byte(level: Level, tmp_path: Path) -> None:
    path = agent(tmp_path, "if self.turns == 2: raise ValueError(object())")
    other = tmp_path / "other.py"
    other.write_text(BODY.format(move="        if self.turns > 3: return 9, 9"), encoding="utf-8")
    start = board("1\n" + "0 0 0 0\n" * 3)
    pairs = (("random", "ai:nodes=100"), (f"ai:{path}", "random"), (f"ai:{path}", f"ai:{other}"))
    for pair in pairs:
        texts = []
        for seats_level in (level, level, "none"):
            one, two = map(parse_agent, pair)
            terms = Terms(5.0, SEED, seats_level, forced="intelligent")
            with Table(EXTENDED, start, (one, two), terms, never_seated) as table:
                list(table.events())
            texts.append(without_times(dumps(replace(table.record, isolation="-"))))
        assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("level", LEVELS)
def test_chance_is_the_same_in_every_process_of_one_seed(level: Level, tmp_path: Path) -> None:
    path = agent(
        tmp_path,
        "import random, numpy\nprint(random.random(), numpy.random.rand(), hash('x'), {'a', 'b'})",
    )
    logs = []
    for player in (1, 1, 2):
        opened = seat(path, level, player)
        opened.ask(board(), 5.0)
        opened.close()
        logs.append(opened.log)
    assert logs[0] == logs[1] != logs[2]


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_reads_nothing_of_the_referees_environment(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_SECRET", "1234")
    path = agent(tmp_path, "import os, sys\nprint(dict(os.environ), sys.argv, sys.path)")
    opened = seat(path, level)
    assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
    opened.close()
    assert "COURSE_SECRET" not in opened.log
    assert str(tmp_path) not in opened.log


def test_files_beside_an_agent_do_not_hide_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    path = agent(tmp_path, "import random, fractions\nassert random.random() < 1")
    opened = seat(path)
    reply = opened.ask(board(), 5.0)
    opened.close()
    assert reply.outcome is Outcome.PLAYED, reply.detail


def test_loading_an_agent_leaves_no_bytecode_beside_it(tmp_path: Path) -> None:
    opened = seat(agent(tmp_path, ""))
    opened.ask(board(), 5.0)
    opened.close()
    assert os.listdir(tmp_path) == ["ai.py"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_seat_closed_from_another_thread_ends_the_turn_and_leaves_nothing(level: Level) -> None:
    opened = seat("catches_everything", level, seconds=60.0)
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            opened.ask(board(), 60.0)
        except BaseException as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    opened.close()
    asking.join(10)
    assert not asking.is_alive()
    assert [type(error) for error in raised] == [PlayerLeft]
    assert not processes()
    with pytest.raises(PlayerLeft, match="the seat was closed"):
        opened.ask(board(), 1.0)
    opened.close()


def test_seats_do_not_leak_descriptors_or_threads() -> None:
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        opened = seat("os_exit")
        for _ in range(5):
            opened.ask(board(), 5.0)
        opened.close()
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
    assert not processes()


def test_what_breaks_the_isolation_is_not_the_agents_fault() -> None:
    opened = seat("plain")
    for pid in processes():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(IsolationFailure, match="the process that starts agents has ended"):
        opened.ask(board(), 5.0)
    opened.close()


def test_an_interpreter_that_does_not_start_is_not_the_agents_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(IsolationFailure, match="has ended: no reason given"):
        seat("plain")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(IsolationFailure, match=r"no process can be started: .*No such file"):
        seat("plain")


def test_without_fork_each_agent_is_started_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "FORKS", False)
    for name, outcome in (
        ("plain", "played"),
        ("sleeps", "timeout"),
        ("os_exit", "error"),
        ("raises", "error"),
        ("returns_none", "invalid"),
    ):
        opened = seat(name, seconds=0.3)
        replies = [opened.ask(board(), 0.3) for _ in range(2)]
        opened.close()
        assert [reply.outcome for reply in replies] == [outcome] * 2, replies
    assert not processes()


PARENT = """
import signal, sys, time
from tests.seats import board, seat
signal.signal(signal.SIGINT, signal.default_int_handler)
waiting, thinking = seat("leaves_threads", LEVEL), seat("catches_everything", LEVEL, 2, 60.0)
waiting.ask(board(), 5.0)
print("ready", flush=True)
thinking.ask(board(), 60.0)
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_the_referee(level: Level, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("LEVEL", repr(level))],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        assert {"T", "R"} <= set(processes(parent.pid).values())
        os.killpg(parent.pid, number)  # as a terminal does with a Ctrl-C
        parent.wait(20)
        wait_for_none(parent.pid)


def test_the_level_that_was_asked_for_is_had_or_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert choose_level("none") == ("none", ())
    assert choose_level("process")[0] == "process"
    with pytest.raises(BadInput, match="isolation 'weak': expected none, process, strong or auto"):
        choose_level("weak")
    protections.bubblewrap_works.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        BadInput, match=r"isolation strong: .* is not installed; use process or auto"
    ):
        choose_level("strong")
    level, notes = choose_level("auto")
    assert level == "process"
    assert notes[-1] == "isolation is process, not strong: bubblewrap (bwrap) is not installed"
    protections.bubblewrap_works.cache_clear()
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\necho 'no permission' >&2\nexit 1\n", encoding="utf-8"
    )
    (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(BadInput, match=r"bubblewrap does not work here \(no permission\)"):
        choose_level("strong")
    protections.bubblewrap_works.cache_clear()


def test_people_may_be_seated_without_a_process() -> None:
    assert isinstance(open_seat(setup("plain"), "none"), InProcessSeat)


def test_a_game_in_the_referees_process_frees_the_module_of_the_game_before(
    tmp_path: Path,
) -> None:
    path, freed = agent(tmp_path, "pass"), tmp_path / "freed"
    trace = f"""
class Trace:
    def __del__(self, path={str(freed)!r}, open=open):
        open(path, "a").write("freed ")

trace = Trace()
"""
    path.write_text(path.read_text(encoding="utf-8") + trace, encoding="utf-8")
    for _ in range(2):
        searching = Setup(parse_agent("alphabeta:nodes=20"), 2, EXTENDED, 1.0, SEED)
        seats = [open_seat(each, "none") for each in (setup(path), searching)]
        state = board()
        for opened in seats:
            reply = opened.ask(state, None)
            assert reply.action is not None, reply.detail
            state = state.apply(reply.action)
            opened.close()
    assert freed.read_text(encoding="utf-8") == "freed "  # the last one is still loaded


def test_the_two_seeds_of_a_game_do_not_give_each_other_away() -> None:
    seeds = {
        Setup(parse_agent("random"), player, EXTENDED, 1.0, seed).derived_seed()
        for player in (1, 2)
        for seed in range(SEED, SEED + 50)
    }
    assert len(seeds) == 100
    assert min(abs(one - two) for one in seeds for two in seeds if one != two) > 1000


def test_a_position_keeps_the_maximum_of_its_counters() -> None:
    state = ExtendedState(board().board(), (1, 0), 2, (3, 4))
    again = EXTENDED.from_json(state.to_json())
    assert isinstance(again, ExtendedState)
    assert (again.popouts, again.mover, again.maximum) == ((1, 0), 2, (3, 4))
    for wrong in (3, [3], [0, 4], [3, "4"], [True, 4], [3, 4, 5]):
        with pytest.raises(BadInput, match="maximum is a pair of whole numbers"):
            EXTENDED.from_json(state.to_json() | {"maximum": wrong})

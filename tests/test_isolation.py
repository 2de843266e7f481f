"""A seat whose agent has a process of its own: what it promises, and what it leaves behind."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from connect4.errors import InputError, IsolationError, headline
from connect4.games.extended import EXTENDED
from connect4.isolation import machine, process, protocol, spawn
from connect4.isolation.levels import Spent, Timed
from connect4.isolation.seat import (
    MADE_ANEW,
    Level,
    Lifetime,
    Limits,
    choose_level,
    open_seat,
)
from connect4.isolation.spawn import PATIENCE
from connect4.players.base import Outcome, Reply, Setup
from connect4.players.registry import parse_agent
from connect4.referee import TurnEnded, play
from connect4.table import Table, Terms
from tests.command import ROOT, environment
from tests.grading import burners
from tests.seats import SEED, TRACER, board, process_of, processes, seat, setup, wait_for_none

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


def agent(folder: Path, move: str, first: str = "") -> Path:
    """Write an agent that does `first` when it is loaded, and `move` before it plays."""
    path = folder / "ai.py"
    lines = "\n".join(f"        {line}" for line in move.splitlines())
    path.write_text(first + BODY.format(move=lines), encoding="utf-8")
    return path


def asked(
    agent: Path | str,
    level: Level = "process",
    turns: int = 1,
    limit: float | None = 5.0,
    **options: Any,
) -> tuple[list[Reply], str]:
    """Seat an agent for some turns; return its replies and what it printed."""
    opened = seat(agent, level, seconds=limit or 5.0, **options)
    replies = [opened.ask(board(), limit) for _ in range(turns)]
    opened.close()
    return replies, opened.log


def detail_of(agent: Path | str, level: Level = "process", limit: float = 5.0) -> str:
    """Return what is said about an agent's first turn."""
    (reply,), _ = asked(agent, level, limit=limit)
    return reply.detail or ""


def printed(agent: Path | str, level: Level = "process", turns: int = 1, **options: Any) -> str:
    """Return what an agent prints that plays each of its turns."""
    replies, log = asked(agent, level, turns, **options)
    assert {reply.outcome for reply in replies} == {Outcome.PLAYED}, replies
    return log


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_lives_for_the_whole_game_or_for_a_move(level: Level, tmp_path: Path) -> None:
    path = agent(tmp_path, "print('turn', self.turns)", "print('made')\n")
    assert printed(path, level, 3) == "made\nturn 1\nturn 2\nturn 3\n"
    assert printed(path, level, 3, lifetime="move") == "made\nturn 1\n" * 3


def test_a_late_agent_is_made_anew_outside_the_clock(tmp_path: Path) -> None:
    path = agent(
        tmp_path, "print('turn', self.turns, flush=True)\nif self.turns == 2: time.sleep(9)"
    )
    replies, log = asked(path, turns=3, limit=0.2)
    assert [reply.outcome for reply in replies] == ["played", "timeout", "played"]
    assert (replies[1].detail or "").startswith("no answer within 0.2 s (stopped 0.")
    assert (replies[1].detail or "").endswith(f"\n{MADE_ANEW}")
    assert 0 < replies[1].overrun < replies[1].seconds
    assert log == "turn 1\nturn 2\nturn 1\n"


def test_an_agent_that_nobody_clocks_may_take_its_time(tmp_path: Path) -> None:
    (reply,), _ = asked(agent(tmp_path, "time.sleep(0.3)"), limit=None)
    assert (reply.outcome, reply.overrun) == (Outcome.PLAYED, 0.0)


def test_an_exception_costs_the_turn_and_not_the_agents_memory(tmp_path: Path) -> None:
    move = "print('turn', self.turns)\nif self.turns == 2: raise ValueError('lost')"
    replies, log = asked(agent(tmp_path, move), turns=3)
    assert [reply.outcome for reply in replies] == ["played", "error", "played"]
    assert log == "turn 1\nturn 2\nturn 3\n"


def test_a_traceback_shows_the_agents_source_and_names_no_folder(tmp_path: Path) -> None:
    path = agent(tmp_path, "raise ValueError(f'at {object()}')  # the culprit")
    detail = detail_of(path)
    assert detail.startswith(
        "Traceback (most recent call last):\n"
        '  File "ai.py", line 11, in get_intelligent_move\n'
        "    raise ValueError(f'at {object()}')  # the culprit\n"
    )
    assert detail.endswith("\nValueError: at <object object at 0x...>")
    detail = detail_of(agent(tmp_path, "get_valid_actions(1, None)"))
    assert '\n  File "connect4/utils.py", line ' in detail
    assert str(ROOT) not in detail


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        (
            "closes_descriptors",
            "closes_descriptors.py: its process was killed, or closed its line to the referee",
        ),
        (
            "import_exits",
            "import_exits.py could not be loaded: its process ended with exit status 0",
        ),
        ("segmentation_fault", "segmentation_fault.py: its process was ended by SIGSEGV"),
        ("writes_garbage", "what came from the agent's process is not an answer"),
        ("escape_codes", r"ValueError: \x1b[2J\x07 boo"),
    ],
)
def test_what_went_wrong_is_said(name: str, detail: str) -> None:
    first, again = (reply.detail for reply in asked(name, turns=2)[0])
    assert first == again
    lines = (first or "").removesuffix(f"\n{MADE_ANEW}").splitlines()
    assert lines[-1] == detail


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
        "while True: print('a' * 99)",
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_a_late_agent_is_told_where_its_code_was(level: Level, line: str, tmp_path: Path) -> None:
    path = agent(tmp_path, f"def helper():\n    {line}\nhelper()")
    opened = seat(path, level, seconds=0.2)
    replies = (opened.ask(board(), 0.2) for _ in range(30))
    late = next(reply for reply in replies if not reply.starved)  # by other programs
    opened.close()
    assert (late.detail or "").splitlines()[1:-1] == [
        IS_WHERE,
        '  File "ai.py", line 13, in get_intelligent_move',
        "    helper()",
        '  File "ai.py", line 12, in helper',
        f"    {line}",
    ]


@pytest.mark.parametrize("source", [b"", b"\n"])
def test_an_empty_file_is_not_replaced_by_one_in_the_current_folder(
    source: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent(tmp_path, "")  # ai.py
    monkeypatch.chdir(tmp_path)
    handed_in = replace(setup(Path("ai.py")), source=source)
    for level in ("none", *LEVELS):
        opened = open_seat(handed_in, level)
        opened.close()
        assert opened.load_failure == "ai.py: the file is empty", level


def test_an_import_that_never_ends_is_told_where_it_was() -> None:
    replies, _ = asked("import_never_ends", turns=2, limits=Limits(start_seconds=0.3))
    assert {reply.detail for reply in replies} == {
        f"import_never_ends.py was not loaded within 0.3 s\n{IS_WHERE}\n"
        '  File "import_never_ends.py", line 4, in <module>\n'
        "    time.sleep(1)"
    }


def test_a_stack_that_an_agent_forges_says_nothing_but_lines_of_its_own(tmp_path: Path) -> None:
    forged = (
        "import os, signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
        'text = b\'  File "ai.py", line 99999 in \\x1b[2J\\n  File "worker.py", line 1 in x\\n\'\n'
        "while True: os.write(2, text)"
    )
    for reply in asked(agent(tmp_path, forged), turns=2, limit=0.3)[0]:
        assert reply.outcome is Outcome.TIMEOUT, reply.detail
        assert len((reply.detail or "").splitlines()) == 2  # the verdict and what follows from it


def test_prints_carry_their_turn_and_the_last_ones_are_kept(tmp_path: Path) -> None:
    move = "if self.turns != 2: print('turn', self.turns, 'x' * 200, end='')"
    path = agent(tmp_path, move, "print('loaded')\n")
    terms = Terms(5.0, SEED, "process", method="intelligent", limits=Limits(log_bytes=600))
    one, two = parse_agent(f"ai:{path}"), parse_agent("random")
    with Table(EXTENDED, board("0\n" + "0 0 0 0\n" * 4), (one, two), terms) as table:
        list(table.events())
        log = table.log(1)
    long = "x" * 200
    assert log.startswith(f"loaded\n[turn 1]\nturn 1 {long}\n[turn 5]\nturn 3 xxx")
    assert log.endswith(f"x\n[turn 15]\nturn 8 {long}")
    assert re.search(r"\n\.\.\. \([0-9]+ bytes left out\)\nx", log)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("move", "error"),
    [
        ("import numpy\nnumpy.load('w.npy')", "FileNotFoundError: "),
        ("open('/tmp/note', 'w')", r"\w+Error: \[Errno \d+\]"),
        ("import os\nos.fork()", "PermissionError: "),
        ("import subprocess\nsubprocess.run(['ls'])", "PermissionError: "),
        (
            "import urllib.request\nurllib.request.urlopen('http://example.org')",
            "urllib.error.URLError: ",
        ),
    ],
)
def test_what_agents_may_not_do_is_said_below_the_error(
    level: Level, move: str, error: str, tmp_path: Path
) -> None:
    detail = detail_of(agent(tmp_path, move), level)
    lines = detail.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert any(line.strip() == move.splitlines()[-1] for line in lines), "which call is meant"
    assert re.match(error, lines[-2])
    assert lines[-1] == protocol.DENIED
    assert headline(detail) == f"{lines[-2]}; {lines[-1]}"


@pytest.mark.parametrize(
    ("level", "move"),
    [
        ("process", "raise OSError(28, 'no room')"),
        ("process", "raise ValueError('a file')"),
        ("process", "import os\nopen(os.path.dirname(os.__file__) + '/json/no-such-file')"),
        ("process", "try: open('x')\nexcept OSError: raise ValueError from None"),
        ("none", "open('weights.npy')"),
    ],
)
def test_other_errors_have_no_note(level: Level, move: str, tmp_path: Path) -> None:
    opened = open_seat(setup(agent(tmp_path, move)), level)
    detail = opened.ask(board(), 5.0).detail or ""
    opened.close()
    assert "Error" in detail.splitlines()[-1]
    assert "note" not in detail


REFUSED = (
    "ImportError: {} is not part of what a submission may import: "
    "the standard library, numpy, connect4.utils and connect4.config"
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("from connect4.search.mcts import Mcts", "connect4.search"),
        ("from connect4 import search", "connect4.search"),
        ("from connect4.reference import AIPlayer", "connect4.reference"),
        ("import connect4.players.registry", "connect4.players"),
        ("from connect4.games.extended import EXTENDED", "connect4.games"),
        ("import grader", "grader"),
        ("import pytest", "pytest"),
        ("import torch", "torch"),  # whether it is installed or not
        (
            "__import__('importlib').import_module('connect4.isolation.worker')",
            "connect4.isolation",
        ),
    ],
)
def test_what_a_submission_may_not_import_is_refused_with_what_it_may(
    level: Level, line: str, refused: str, tmp_path: Path
) -> None:
    failure = detail_of(agent(tmp_path, "", f"{line}\n"), level)
    assert str(ROOT) not in failure
    assert "protocol.py" not in failure
    first = ["Traceback (most recent call last):", '  File "ai.py", line 1, in <module>']
    assert failure.splitlines()[:3] == [*first, f"    {line}"]
    kind = "" if refused.startswith(("connect4", "grader")) else "ModuleNotFoundError"
    last = REFUSED.format(refused)
    assert failure.splitlines()[-1] == (last.replace("ImportError", kind) if kind else last)


@pytest.mark.parametrize("level", LEVELS)
def test_other_modules_can_be_allowed(level: Level, tmp_path: Path) -> None:
    path = agent(tmp_path, "from connect4.search.mcts import Mcts\nimport pytest, pluggy")
    allowed = ("connect4.search.mcts", "connect4.utils", "pytest", "pluggy")
    opened = open_seat(replace(setup(path), allowed=allowed), level)
    replies = [opened.ask(board(), 5.0) for _ in range(2)]
    opened.close()
    path = agent(tmp_path, "from connect4.config import win_pts")
    narrow = open_seat(replace(setup(path), allowed=("connect4.config",)), level)
    refused = narrow.load_failure or ""
    narrow.close()
    assert [reply.outcome for reply in replies] == ["played"] * 2, replies[0].detail
    assert refused.endswith("import: the standard library, numpy and connect4.config")


DOES_AND_PRINTS = {
    "finds no installed package without the refusal of imports": (
        """\
import json.tool, numpy.polynomial, os, sqlite3, ssl, sys
sys.meta_path[:] = [each for each in sys.meta_path if isinstance(each, type)]
sys.path_importer_cache.clear()
try: import tabulate
except ImportError: print('not found')
os.listdir(os.path.dirname(os.__file__))
for path in ('/usr/lib', '/usr/bin', '/etc'):
    try: print(os.listdir(path))
    except OSError: print('closed')""",
        "not found\n" + 3 * "closed\n",
    ),
    "imports what it may": (
        """\
import connect4, connect4.utils, sysconfig, sys, numpy.random, numpy.testing
from connect4.utils import Integer, get_pts
from connect4.config import win_pts
from connect4 import config, utils
def count(left: Integer) -> int: return left.get_int()
sysconfig.get_config_vars()
del sys.modules['connect4.utils']
import connect4.utils, inspect
assert 'Integer' in inspect.getsource(connect4.utils)
assert exit and quit and help and copyright""",
        "",
    ),
    "finds nothing of the kit in the main module": (
        "import __main__\nprint([n for n in vars(__main__) if n[0] != '_'])",
        "[]\n",
    ),
    "knows no path to itself": (
        """\
import gc, sys
gc.unfreeze()
texts = [t for o in gc.get_objects() if type(o) in (dict, list, tuple)
         for t in (o.values() if type(o) is dict else o) if type(t) is str]
print(__file__, [t for t in texts if 'ELBATNEVNI'[::-1] in t])""",
        "ai.py []\n",
    ),
    "imports the standard library, not a file beside it": (
        "import random, fractions\nprint(random.random() < 1)",
        "True\n",
    ),
    "has one processor": ("import os\nprint(len(os.sched_getaffinity(0)))", "1\n"),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", DOES_AND_PRINTS)
def test_what_an_agent_does_and_prints(level: Level, name: str, tmp_path: Path) -> None:
    move, expected = DOES_AND_PRINTS[name]
    folder = tmp_path / "INVENTABLE"
    folder.mkdir()
    beside = folder / "random.py"
    beside.write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    assert printed(agent(folder, move), level) == expected
    assert sorted(os.listdir(folder)) == ["ai.py", "random.py"], "no bytecode is left"


def test_what_a_submission_can_reach_of_the_kit_is_what_the_documentation_lists(
    tmp_path: Path,
) -> None:
    walk = (
        "import gc, sys, types\n"
        "gc.unfreeze()\n"
        "kinds = types.FunctionType, types.ModuleType, type\n"
        "names = [t.__name__ if isinstance(t, types.ModuleType) else t.__module__\n"
        "         for t in gc.get_objects() if isinstance(t, kinds)]\n"
        "print(*sorted({n for n in map(str, names) if n.startswith(('connect4', 'grader'))}))"
    )
    reached = printed(agent(tmp_path, walk)).split()
    assert "connect4.utils" in reached
    assert not re.search(r"grader|search|reference|registry|players\.a", " ".join(reached))
    text = (Path(ROOT) / "docs" / "isolation.md").read_text(encoding="utf-8")
    for name in reached[1:]:
        assert f"`{name.removeprefix('connect4.')}`" in text


def test_the_processor_time_of_all_threads_is_noted(tmp_path: Path) -> None:
    path = agent(tmp_path, "end = time.process_time() + 0.1\nwhile time.process_time() < end: pass")
    (reply,), _ = asked(path)
    assert reply.cpu_seconds >= 0.1


def test_an_agent_cannot_make_itself_or_the_referee_wait_with_threads() -> None:
    asked = Spent(10.0, 9.0, 3.0)
    # four threads that share one core for 2 s: the first one runs for 0.5 s, waits for 1.5 s
    assert Spent(12.0, 9.5, 4.5).waited_since(asked) == 0.0
    assert Spent(10.5, 9.5, 4.5).waited_since(asked) == 1.5  # it waited for somebody else
    # sixty threads on the referee's core: it waits for them 0.3 s after the answer
    assert Spent(12.0, 9.1, 3.0).waited_since(asked, 0.3) == 0.0
    assert Spent(10.1, 9.1, 3.0).waited_since(asked, 0.3) == 0.3  # somebody else's


@pytest.mark.parametrize(
    "then",
    [
        "time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "time.sleep(1); os._exit(0)",
        "time.sleep(1)",
    ],
)
def test_an_agent_that_idles_past_its_limit_cannot_blame_a_busy_machine(
    tmp_path: Path, then: str
) -> None:
    """It waited for a processor, but for less than it idled."""
    work = "import os, signal, time\nend = time.thread_time() + 0.1\n"
    path = agent(tmp_path, f"{work}while time.thread_time() < end: pass\n{then}")
    opened = seat(path)
    own = process_of(opened)._core
    core = max(os.sched_getaffinity(0)) if own is None else own
    with burners(core, 1):
        reply = opened.ask(board(), 0.5)
        opened.close()
    assert reply.outcome is Outcome.TIMEOUT
    assert not reply.starved
    assert (reply.detail or "").startswith("no answer within 0.5 s (stopped ")


def test_an_agent_that_waits_for_a_processor_at_its_limit_is_not_to_blame(tmp_path: Path) -> None:
    """It gets a moment and then waits: the kernel counts a wait only when it is over."""
    work = "end = time.thread_time() + 0.03\nwhile time.thread_time() < end: pass"
    opened = seat(agent(tmp_path, work))
    own, pid = process_of(opened)._core, process_of(opened).pid
    assert pid is not None
    os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    with contextlib.suppress(OSError):  # where Linux shares a core out by session
        Path(f"/proc/{pid}/autogroup").write_text("19", encoding="ascii")
    with burners(max(os.sched_getaffinity(0)) if own is None else own, 2):
        replies = (opened.ask(board(), 0.3) for _ in range(200))  # they take a moment to start
        late = next(reply for reply in replies if reply.outcome is Outcome.TIMEOUT)
        opened.close()
    assert late.starved
    assert (late.detail or "").startswith("the machine was too busy: it got 0.0")


def test_a_turn_passes_few_functions_of_the_kit(tmp_path: Path) -> None:
    """Of the referee's side: rules, seat, process, channel; the agent answers at once."""
    seats = {1: seat(agent(tmp_path, "pass")), 2: seat("plain")}
    turns = play(EXTENDED, board(), seats, {1: 5.0, 2: 5.0})
    passed = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{ROOT}/connect4/"):
            passed.add((code.co_filename, code.co_qualname))

    next(turns)
    sys.setprofile(note)
    ended = next(turns)
    next(turns)
    sys.setprofile(None)
    for each in seats.values():
        each.close()
    assert isinstance(ended, TurnEnded)
    assert ended.turn.outcome is Outcome.PLAYED
    assert len(passed) <= 41, passed
    assert len({file for file, _ in passed}) <= 11, passed


OVER = "no answer within {} s (it came {}"


@pytest.mark.parametrize(
    ("timed", "limit", "text"),
    [
        (Timed(0.37, busy=0.74), 0.5, "no answer within 0.5 s of one "),  # the larger of both times
        (Timed(0.37, busy=0.74), 0.75, None),
        (Timed(0.37, loading=0.1801), 0.5, OVER.format(0.5, "0.051 s over the limit")),
        (
            Timed(0.5001),
            0.5,
            OVER.format(0.5, "0.001 s over the limit; at most 0.005 s is allowed for sending"),
        ),
        (Timed(2.004, transport=0.0001), 2.0, OVER.format(2, "0.00")),  # only measured transport
        (Timed(2.004, transport=0.0041), 2.0, None),
        (Timed(2.02, transport=0.03), 2.0, OVER.format(2, "0.02")),
        (
            Timed(1.0, busy=0.15, waited=0.85),
            0.5,
            "the machine was too busy: it got 0.15 s of processor in 1.00 s",
        ),
    ],
)
def test_what_counts_as_late_and_what_is_said(timed: Timed, limit: float, text: str | None) -> None:
    assert timed.is_late(limit, 0.005) is (text is not None)
    assert text is None or timed.late_text(limit, True, 0.005).startswith(text)
    assert not Timed(2.02, transport=0.03).is_late(2.0, 0.05)
    assert Timed(0.37, busy=0.38).seconds == 0.37


@pytest.mark.slow
def test_all_loading_again_of_a_game_has_one_limit(tmp_path: Path) -> None:
    first = "import time\nprint('loading')\ntime.sleep(0.3)\n"
    path = agent(tmp_path, "if self.turns == 1: import os; os._exit(3)", first)
    replies, log = asked(path, turns=5, limits=Limits(reload_seconds=0.5))
    details = [reply.detail or "" for reply in replies]
    assert details[1].startswith("ai.py: its process ended with exit status 3\n")  # 0.3 s of 0.5 s
    used_up = "without a player: its loading time of 0.5 s was used up"
    assert details[2].startswith(f"{used_up}\nai.py was not loaded within 0.")
    assert details[3:] == [used_up] * 2
    assert log == "loading\n" * 3


@pytest.mark.slow
def test_with_lifetime_move_long_loading_is_on_the_clock(tmp_path: Path) -> None:
    path = agent(tmp_path, "", "import time\ntime.sleep(1.0)\n")
    opened = seat(path, lifetime="move", seconds=5.0)
    replies = [opened.ask(board(), limit) for limit in (5.0, 5.0, 0.2)]
    opened.close()
    assert [reply.outcome for reply in replies] == ["played", "played", "timeout"]
    assert replies[1].seconds > 0.3 > replies[0].seconds
    said = "s of it was loading time: only 0.5 s for each move is free."
    assert said in (replies[2].detail or "")


NEVER_READS = """
import fcntl, os, stat, termios
files = [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")]
end = next(n for n in files if stat.S_ISSOCK(os.fstat(n).st_mode))
def unread():
    return int.from_bytes(fcntl.ioctl(end, termios.FIONREAD, bytes(4)), "little")
while True:
    before = unread()
    os.write(end, b'{"played": "0"}\\n')
    while unread() == before:
        time.sleep(0.001)
"""


@pytest.mark.slow
def test_an_agent_that_reads_no_request_is_an_error_and_holds_up_nobody(tmp_path: Path) -> None:
    """Once the line to it is full, which a stopped process cannot change."""
    opened = seat(agent(tmp_path, NEVER_READS))
    replies = [opened.ask(board(), 5.0)]
    while replies[-1].outcome is Outcome.PLAYED and len(replies) < 5000:
        replies.append(opened.ask(board(), 5.0))
    opened.close()
    assert {reply.outcome for reply in replies[:-1]} == {Outcome.PLAYED}
    assert replies[-1].outcome is Outcome.ERROR
    assert replies[-1].seconds < PATIENCE / 2


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_no_thread_runs_on_while_the_other_side_thinks(level: Level) -> None:
    """Even if each is in the middle of a long system call when the answer comes."""
    opened = seat("runs_on_in_the_kernel", level)
    for _ in range(3):
        assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
        used = process_of(opened).spent().busy
        time.sleep(0.1)
        assert process_of(opened).spent().busy == used > 0
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_whose_thread_does_not_stop_is_made_anew(
    level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = seat("runs_on_in_the_kernel", level)
    monkeypatch.setattr(process, "STOP_PATIENCE", -1.0)
    reply = opened.ask(board(), 5.0)
    monkeypatch.undo()
    again = opened.ask(board(), 5.0)
    opened.close()
    assert (reply.outcome, again.outcome, again.detail) == (Outcome.PLAYED, Outcome.PLAYED, None)
    assert reply.detail == f"a thread of it ran on for 1 s after the answer. {MADE_ANEW}"


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="root only")
@pytest.mark.parametrize("level", LEVELS)
def test_a_process_that_does_not_die_costs_its_agent_all_turns(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "DEATH_PATIENCE", 0.5)
    path = agent(tmp_path, "if self.turns == 2: time.sleep(60)")
    opened = seat(path, level, seconds=0.2)
    assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
    pid = max(processes())
    with subprocess.Popen(
        [sys.executable, "-c", TRACER, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as tracer:
        assert tracer.stdout is not None
        assert tracer.stdout.readline() == b"held\n"
        first, *others = (opened.ask(board(), 0.2) for _ in range(3))
        opened.close()
        assert pid in processes()
        tracer.communicate()
    assert first.outcome is Outcome.TIMEOUT
    said = f"ai.py: its process {pid} was killed and does not end; the rest of its turns are lost"
    assert [(reply.outcome, reply.detail) for reply in others] == [(Outcome.ERROR, said)] * 2
    wait_for_none(os.getpid())


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_takes_no_threads_from_the_other_one(level: Level, tmp_path: Path) -> None:
    """Also where both are the same user's."""
    hog = (
        "import threading, resource\n"
        "try: resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))\n"
        "except (OSError, ValueError): print('refused')\n"
        "for _ in range(500):\n"
        "    try: threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "    except RuntimeError: break\n"
        "print(threading.active_count() < 80)"
    )
    many = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(16) as pool: list(pool.map(time.sleep, [0.01] * 16))"
    )
    (tmp_path / "hog").mkdir()
    greedy, other = seat(agent(tmp_path / "hog", hog), level), seat(agent(tmp_path, many), level, 2)
    replies = [each.ask(board(), 5.0) for each in (greedy, other, greedy, other)]
    greedy.close()
    other.close()
    assert {reply.outcome for reply in replies} == {Outcome.PLAYED}, replies
    assert greedy.log == "refused\nTrue\n" * 2


@pytest.mark.parametrize("lifetime", ["game", "move"])
@pytest.mark.parametrize("level", LEVELS)
def test_chance_is_the_same_in_every_process_of_one_seed(level: Level, lifetime: Lifetime) -> None:
    logs = []
    for player in (1, 1, 2):
        opened = seat("draws_without_a_seed", level, player, lifetime=lifetime)
        for turn in (1, 2):
            opened.begin_turn(turn)
            assert opened.ask(board(), 5.0).outcome is Outcome.PLAYED
        opened.close()
        logs.append(opened.log.split())
    assert logs[0] == logs[1]
    first = zip(logs[0][:16], logs[2][:16], strict=True)  # "[turn", "1]", 14 values
    same = [one for one, other in first if one == other]
    seeded = ["8000993259118358886", str(random.Random(7).random()), "1014583970"]
    assert same == ["[turn", "1]", *seeded]


@pytest.mark.parametrize("level", LEVELS)
def test_an_agent_reads_nothing_of_the_referees_environment(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_SECRET", "1234")
    monkeypatch.chdir(tmp_path)
    path = agent(
        tmp_path,
        "import os, sys\nprint(*os.environ)\n"
        "print(dict(os.environ), sys.argv, sys.orig_argv, sys.path)",
    )
    log = printed(path, level)
    names, rest = log.splitlines()
    known = {*spawn.KEPT_VARIABLES, *spawn.SET_VARIABLES, "PYTHONPATH", "LC_CTYPE", "PWD"}
    assert set(names.split()) <= known
    assert str(os.getpid()) not in re.findall(r"\d+", rest)
    assert "COURSE_SECRET" not in log
    assert str(tmp_path) not in log


def test_what_breaks_the_isolation_is_not_the_agents_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = seat("plain")
    for pid in processes():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(IsolationError, match="the process that starts agents has ended"):
        opened.ask(board(), 5.0)
    opened.close()
    monkeypatch.setattr(machine, "PYTHON", shutil.which("false"))
    with pytest.raises(IsolationError, match="has ended: no reason given"):
        seat("plain")
    monkeypatch.setattr(machine, "PYTHON", "/no/such/python")
    with pytest.raises(IsolationError, match=r"no process can be started: .*No such file"):
        seat("plain")


PARENT = """
import signal, sys, time
from tests.seats import board, seat
signal.signal(signal.SIGINT, signal.default_int_handler)
waiting, thinking = seat("leaves_threads", LEVEL), seat("catches_everything", LEVEL, 2, 60.0)
waiting.ask(board(), 5.0)
print("ready", flush=True)
thinking.ask(board(), 60.0)
"""


@pytest.mark.slow
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


def run_in(container: list[str], code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a container; skip the test if this machine has none."""
    here = [*container, sys.executable, "-c"]
    if subprocess.run([*here, ""], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    command = [*here, code, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="root only")
def test_a_container_without_other_users_is_said_to_be_one() -> None:
    line = "agents keep the number of your user, who is root: this container knows no other user"
    alone = run_in(["unshare", "--user", "--map-root-user"], FULL_OF_THREADS).stdout
    assert (alone, run_in([], FULL_OF_THREADS).stdout) == (f"{line}\n", "\n")


WITHOUT_FORK = """
import sys
from connect4.isolation import spawn
from tests.seats import board, processes, seat
spawn.FORKS = False
for name in sys.argv[1:]:
    opened = seat(name, seconds=0.3)
    print(name, *(opened.ask(board(), 0.3).outcome for _ in range(2)))
    opened.close()
print(processes())
"""


@pytest.mark.slow
def test_without_fork_each_agent_is_started_from_nothing() -> None:
    """Such an agent has no rules on files, so as root it must be a user that can read Python."""
    expected = {
        "plain": "played",
        "sleeps": "timeout",
        "os_exit": "error",
        "raises": "error",
        "returns_none": "invalid",
    }
    done = run_in([sys.executable, "-m", "tests.denied", "--"], WITHOUT_FORK, *expected)
    lines = [f"{name} {outcome} {outcome}" for name, outcome in expected.items()]
    assert done.stdout.splitlines() == [*lines, "{}"], done.stderr


USUAL_CONTAINER = """
import ctypes, os, sys
(there, here), (back, ready) = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    if ctypes.CDLL(None).unshare(0x10000000):  # CLONE_NEWUSER
        os._exit(77)
    os.write(here, b"x")
    os.read(back, 1)
    os.setgid(0)
    os.setuid(0)
    os.execv(sys.argv[1], sys.argv[1:])
os.close(here)
if os.read(there, 1):
    for table in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{table}", "w") as file:
            file.write("0 0 65536\\n")
os.write(ready, b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Runs a command in a user namespace of 65536 users, as a container without root's rights has."""


FULL_OF_THREADS = """
import sys
from connect4.isolation.machine import shared_user
from connect4.isolation.seat import choose_level
from tests.seats import board, seat
print(*choose_level("process")[1], sep=chr(10))
for level in sys.argv[1:]:
    seats = seat("holds_all_threads", level), seat("computes_with_what_it_may", level, 2)
    print(shared_user(), *(each.ask(board(), 5.0).outcome for each in seats))
    for each in seats:
        each.close()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="root only")
def test_agents_share_no_threads_in_a_container_where_all_are_one_user() -> None:
    done = run_in([sys.executable, "-c", USUAL_CONTAINER], FULL_OF_THREADS, *LEVELS)
    assert done.stdout == "\n" + "65534 played played\n" * len(LEVELS), done.stderr


def test_the_level_that_was_asked_for_is_had_or_refused() -> None:
    assert choose_level("none") == ("none", ())
    assert choose_level("process")[0] == "process"
    expected = "isolation 'weak': expected none, process, strong, wasm or auto"
    with pytest.raises(InputError, match=expected):
        choose_level("weak")


@pytest.mark.parametrize(
    ("says", "why_not"),
    [
        (None, "bubblewrap (bwrap) is not installed"),
        ("no permission", "bubblewrap does not work here (no permission)"),
        (
            "bwrap: setting up uid map: Permission denied",
            "bubblewrap does not work here (bwrap: setting up uid map: Permission denied; AppArmor "
            "of Ubuntu 23.10 and newer stops it: give /usr/bin/bwrap a profile, as "
            "docs/isolation.md shows)",
        ),
    ],
)
def test_where_bubblewrap_does_not_work_the_reason_is_said(
    says: str | None, why_not: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if says is not None:
        program = tmp_path / "bwrap"
        program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
    machine.bubblewrap_works.cache_clear()
    try:
        level, notes = choose_level("auto")
        assert (level, notes[-1]) == ("process", f"isolation is process, not strong: {why_not}")
        with pytest.raises(InputError) as error:
            choose_level("strong")
        assert str(error.value) == f"isolation strong: {why_not}; use process or auto"
    finally:
        machine.bubblewrap_works.cache_clear()


def test_a_game_in_the_referees_process_frees_the_module_of_the_game_before(
    tmp_path: Path,
) -> None:
    freed = tmp_path / "freed"
    trace = f"""
class Trace:
    def __del__(self, path={str(freed)!r}, open=open):
        open(path, "a").write("freed ")

trace = Trace()
"""
    path = agent(tmp_path, "pass", trace)
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

"""Every hostile or broken agent: what it tries, and what its turns come to at each level."""

from pathlib import Path
from typing import Final

from connect4.players.base import Outcome

AGENTS: Final = Path(__file__).parent / "data" / "agents"
CORPUS: Final = Path(__file__).parent.parent / "grader" / "doctor" / "corpus"
"""The hostile agents that `python3 -m grader doctor` runs; the tests use the same files."""

AGENT: Final = '''"""Does or tries one thing."""

import atexit
import os
import re
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number, self.seconds = player_number, time

    def get_intelligent_move(self, state):
        column, is_popout = get_valid_actions(self.player_number, state)[-1]
        {move}
        return column, is_popout
'''
ATTEMPT: Final = """try:
            {}
            return 99, False
        except OSError:
            pass"""

WORKS: Final = """

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return (99, False) if works() else get_valid_actions(self.player_number, state)[0]


def done(one):
    try:
        one()
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def answered(status):
    if status < 0:
        raise OSError(ctypes.get_errno(), "refused")
"""
"""The rest of each agent whose file defines `works`: whether something denied is possible."""

FILES: Final = {
    "import_error": "import a_module_of_my_laptop\n",
    "import_exits": "import os\n\nos._exit(0)\n",
    "import_never_ends": "import time\n\nwhile True:\n    time.sleep(1)\n",
    "no_class": "class MyPlayer:\n    pass\n",
    "no_method": "class AIPlayer:\n    def __init__(self, player_number, time):\n        pass\n",
    "syntax_error": "class AIPlayer\n    pass\n",
    "wrong_init": "class AIPlayer:\n    def __init__(self, player_number):\n        pass\n",
}
"""Files that cannot be loaded or asked."""

MOVES: Final = {
    "aborts": "os.abort()",
    "ends_by_a_nameless_signal": "os.kill(os.getpid(), 40)",
    "escape_codes": r"raise ValueError('\x1b[2J\x07 boo')",
    "hanging_atexit": "atexit.register(time.sleep, 3600)",
    "huge_exception": "raise ValueError('x' * 10_000_000)",
    "imports_desktop_modules": (
        "import asyncio, ctypes, email, http.client, multiprocessing, sqlite3, ssl, tempfile\n"
        "        import urllib.request, webbrowser"
    ),
    "keyboard_interrupt": "raise KeyboardInterrupt",
    "kills_the_parent_carelessly": "os.kill(os.getppid(), signal.SIGKILL)",
    "leaves_threads": "threading.Thread(target=exec, args=['while True: pass']).start()",
    "numpy_integers": "return np.int64(column), is_popout",
    "prints_two_megabytes": "print(('x' * 1023 + '\\n') * 2048, end='')",
    "raises_recursion_error": "raise RecursionError('too deep')",
    "recursion_without_end": "return self.get_intelligent_move(state)",
    "returns_none": "return None",
    "sets_trace": "sys.settrace(lambda *_: None); sys.setprofile(lambda *_: None)",
    "slow_regular_expression": "return len(re.match('(a+)+$', 'a' * 60 + 'b')), False",
    "writes_without_a_line_end": (
        "sockets = [n for n in range(3, 64) if Path(f'/proc/self/fd/{n}').is_socket()]\n"
        "        while True: os.write(sockets[0], b'0' * 4096)"
    ),
    "answers_in_the_margin": "time.sleep(self.seconds + 0.004)",
    "c_stack_overflow": (
        "chain = range(300_000)\n"
        "        for _ in range(300_000): chain = filter(None, chain)\n"
        "        return next(chain), False"
    ),
    "dies_when_asked_again": ("if hasattr(self, 'asked'): os._exit(0)\n        self.asked = True"),
    "holds_all_threads": (
        "try:\n"
        "            while True:\n"
        "                threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "        except RuntimeError: pass"
    ),
    "lazy_imports": (
        "import decimal, fractions, numpy.linalg, numpy.polynomial\n"
        "        assert numpy.linalg.det(np.zeros((2, 2))) == 0 == decimal.Decimal(0)"
    ),
    "prints_one_huge_buffer": (
        "left = memoryview(b'x' * (16 << 20))\n        while left: left = left[os.write(1, left) :]"
    ),
    "raises": "return state[0][99][99], False",
    "sends_urgent_data_to_the_log": (
        "assert __import__('ctypes').CDLL(None).send(1, b'!', 1, socket.MSG_OOB) == 1"
    ),
    "sends_urgent_data_to_the_referee": (
        "libc = __import__('ctypes').CDLL(None)\n"
        "        for number in range(3, 64): libc.send(number, b'!', 1, socket.MSG_OOB)"
    ),
    "stops_itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "sys_exit": "sys.exit('good bye')",
    "unprintable_exception": "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})",
    "wrong_signature": "return self.get_intelligent_move()",
}
"""Agents that do this before they play, or in place of it."""

ATTEMPTS: Final = {
    "changes_its_affinity": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "has_the_kernel_send_signals": "__import__('fcntl').fcntl(3, 10, signal.SIGKILL)",
    "leaves_a_note_in_folder": "Path(Path(__file__).with_name('connect4-note')).write_text('note')",
    "leaves_a_note_in_shm": "Path('/dev/shm/connect4-note').write_text('note')",
    "leaves_a_note_in_tmp": "Path('/tmp/connect4-note').write_text('note')",
    "leaves_the_session": "os.setsid()",
    "opens_tcp": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "opens_the_terminal": "open('/dev/tty', 'w')",
    "opens_udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "raises_its_priority": "os.setpriority(os.PRIO_PROCESS, 0, -10)",
    "resolves_names": "socket.getaddrinfo('example.org', 80)",
    "signals_its_group": "os.killpg(0, signal.SIGTERM)",
    "stops_everyone": "os.kill(-1, signal.SIGSTOP)",
}
"""Agents that try what is denied to them, and answer with column 99 if it works."""

PLAYED, INVALID = {Outcome.PLAYED}, {Outcome.INVALID}
ERROR, TIMEOUT = {Outcome.ERROR}, {Outcome.TIMEOUT}

OUTCOMES: Final = (
    # at levels process and strong, at level wasm
    (
        PLAYED,
        PLAYED,
        """
        builds_the_kits_own_agent changes_modes changes_own_file draws_without_a_seed hanging_atexit
        holds_all_threads lazy_imports leaves_a_note_in_folder leaves_a_note_in_shm
        leaves_a_note_in_tmp lists_submissions numpy_integers opens_tcp
        opens_the_terminal opens_udp patches_the_kit plain prints_one_huge_buffer
        prints_two_megabytes reads_hidden_boards reads_the_kits_own_agent reads_the_opponent
        reads_the_search renames_results sets_trace traces_the_parent tries_everything
        truncates_results unlinks_results uses_its_time writes_results
        """,
    ),
    (
        PLAYED,
        ERROR,  # the functions that they use do not exist there
        """
        changes_inode_flags changes_its_affinity computes_with_what_it_may fills_shared_memory
        has_the_kernel_send_signals imports_desktop_modules kills_the_parent leaves_the_session
        leaves_threads limits_the_parent locks_shared_files lowers_the_parents_priority
        opens_files_in_each_thread raises_its_priority reads_asynchronously reads_the_page_cache
        resolves_names runs_on_in_the_kernel sends_urgent_data_to_the_log signals_its_group
        stops_everyone thinks_on_opponents_time uses_ipc_of_others wakes_itself_by_a_signal
        wakes_itself_by_a_timer wakes_who_waits_on_a_library walks_for_the_referee
        watches_processes
        """,
    ),
    (INVALID, INVALID, "returns_none returns_reduce"),
    (INVALID, ERROR, "sends_urgent_data_to_the_referee writes_without_a_line_end"),
    # there, no descriptor that they try is the agent's line
    (INVALID, PLAYED, "forges_a_note writes_garbage"),
    (
        ERROR,
        ERROR,
        """
        aborts c_stack_overflow daemon ends_by_a_nameless_signal escape_codes fills_memory
        fills_memory_in_many_processes fork_bomb huge_exception import_error import_exits
        import_never_ends imports_the_search keyboard_interrupt kills_the_parent_carelessly
        no_class no_method os_exit raises raises_recursion_error recursion_without_end
        segmentation_fault starts_a_program syntax_error sys_exit unprintable_exception wrong_init
        wrong_signature
        """,
    ),
    (ERROR, PLAYED, "closes_descriptors"),  # closing them has no effect there
    (TIMEOUT, TIMEOUT, "c_loop catches_everything prints_without_end slow_regular_expression"),
    (TIMEOUT, INVALID, "sleeps"),
    (TIMEOUT, ERROR, "forges_ready forks_and_loops ignores_signals late_with_threads stops_itself"),
    (PLAYED | ERROR, PLAYED | ERROR, "dies_when_asked_again"),
    # on a busy machine its transport now and then takes what it hopes for, and pays it
    (TIMEOUT | PLAYED, TIMEOUT | PLAYED, "answers_in_the_margin"),
    (PLAYED | INVALID, PLAYED | INVALID, "forges_answers"),  # what it forges are its own moves
)

EXPECTED: Final = {agent: found for found, _, names in OUTCOMES for agent in names.split()}
"""The outcomes of the turns of each agent."""

WASM: Final = {agent: found for _, found, names in OUTCOMES for agent in names.split()}


def source_of(name: str) -> str:
    """Return the text of a hostile or broken agent."""
    if name in FILES:
        return FILES[name]
    if name in MOVES or name in ATTEMPTS:
        return AGENT.format(move=MOVES.get(name) or ATTEMPT.format(ATTEMPTS[name]))
    paths = (folder / f"{name}.py" for folder in (AGENTS, CORPUS))
    text = next(path for path in paths if path.is_file()).read_text(encoding="utf-8")
    return text + WORKS if "def works()" in text else text


def names_of_all() -> list[str]:
    """Return the name of each agent, in the order of the alphabet."""
    files = [path.stem for folder in (AGENTS, CORPUS) for path in folder.glob("*.py")]
    return sorted([*files, *FILES, *MOVES, *ATTEMPTS])

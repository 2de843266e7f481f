"""The agents of the corpus: what they aim at, and what each of them achieved at one level."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from connect4.errors import IsolationError, headline
from connect4.games.extended import EXTENDED, ExtendedState, read
from connect4.isolation.limits import Limits
from connect4.isolation.seat import LEVELS, IsolatedSeat, Level, open_seat
from connect4.players.base import Outcome, Reply, Setup
from connect4.players.names import AgentName
from grader.doctor.guarantees import GUARANTEES, SECRETS, Guarantee, Proof

CORPUS: Final = Path(__file__).with_name("corpus")
PROBE: Final = "tries_everything"
HONEST: Final = "plain"

SECONDS: Final = 5.0
SHORT: Final = 0.1
"""The limit of agents that do not answer in time."""

PAUSE: Final = 0.3
"""Seconds for which an agent is stopped between two turns."""

HONEST_TURNS: Final = 20
DEATH: Final = 2.0
"""An agent that does not answer must be ended within these seconds after its limit."""

MEMORY: Final = 1 << 28


def board() -> ExtendedState:
    """Return the smallest board on which an agent has several turns."""
    return read("1\n0 0\n0 0\n", "doctor")


def prove(level: Level, targets: Targets, say: Callable[[str], None]) -> Proof:
    """Run the corpus at a level; call `say` with the current step."""
    proof = Proof(level)
    with Bench(level, targets, proof) as bench:
        say(f"{level}: {PROBE}")
        bench.probe()
        for guarantee in GUARANTEES:
            for agent, expected in guarantee.expected(level).items():
                if guarantee.careful and not proof.holds(guarantee.key):
                    continue  # an attempt has already succeeded, and this agent would do harm
                say(f"{level}: {agent}")
                bench.run(guarantee, agent, expected)
    return proof


class Bench(contextlib.ExitStack):
    """Runs one agent after the other beside an honest one; a context manager."""

    def __init__(self, level: Level, targets: Targets, proof: Proof) -> None:
        """Load the honest agent; raises `IsolationError`."""
        super().__init__()
        self._level = level
        self._exact = LEVELS[level].exact
        self._targets = targets
        self._proof = proof
        self._honest = self._seat(HONEST, SECONDS)
        self.callback(self._honest.close)

    def _seat(self, agent: str, seconds: float, memory: int = 1 << 30) -> IsolatedSeat:
        """Return a seat for a file of the corpus, as if a student had handed it in."""
        source = (CORPUS / f"{agent}.py").read_text(encoding="utf-8")
        if agent == PROBE:
            source = self._targets.as_literal(source)
        path = self._targets.folder / "student" / "ai.py"
        source = source.replace(
            "Path(__file__)", f"Path({str(path)!r})"
        )  # the agent learns only its name
        name = AgentName(f"ai:{path}", "ai", str(path))
        setup = Setup(name, 1, EXTENDED, seconds, 0, "intelligent", source.encode())
        seat = open_seat(setup, self._level, Limits(memory_bytes=memory))
        assert isinstance(seat, IsolatedSeat)
        return seat

    def probe(self) -> None:
        """Run `tries_everything`; judge it by what it printed and by the attempts that arrived."""
        before = own_processes()
        with closing(self._seat(PROBE, 60.0)) as seat:
            seat.ask(board(), 60.0)
            log = seat.log
        reached = self._targets.reached()
        keys = {what: item.key for item in GUARANTEES for what in item.attempts}
        for attempt in attempts_in(log):
            what = attempt["what"]
            if what not in keys:
                continue
            worked = attempt["done"]
            if keys[what] in ("files", SECRETS) and what != "list a folder":
                worked = self._targets.token in attempt["text"]
            elif keys[what] == "network" or what == "signal a process":
                worked = worked and what in reached
            elif keys[what] == "writing":
                worked = False  # the changed files decide, whatever the agent printed
            self._proof.note(keys[what], worked, f"{what} (from its {attempt['from']})")
        self._look_around(PROBE, before)

    def run(self, guarantee: Guarantee, agent: str, expected: Outcome) -> None:
        """Run an agent of the corpus for two turns, and judge it by its outcomes."""
        before = own_processes()
        try:
            outcomes = list(self._turns(guarantee.key, agent, expected))
        except IsolationError as error:
            outcomes = [f"the grader failed: {headline(str(error))}"]
        wrong = [text for text in outcomes if text]
        text = f"{agent}: {''.join(wrong[:1])}"
        if guarantee.key == "honest":
            text = f"{len(wrong)} of {len(outcomes)} turns that take 90 % of their time were late"
        self._proof.note(guarantee.key, bool(wrong), text)
        self._look_around(agent, before)

    def _turns(self, key: str, agent: str, expected: Outcome) -> Iterator[str]:
        """Yield for each turn what the agent did against its guarantee; empty if nothing."""
        seconds, count = SECONDS, 2
        if expected is Outcome.TIMEOUT:
            seconds, count = SHORT, 1
        elif key == "honest":
            seconds, count = SHORT, 2 if self._exact else HONEST_TURNS
        elif key == "memory":
            count = 1
        with closing(self._seat(agent, seconds, MEMORY if key == "memory" else 1 << 30)) as seat:
            if seat.load_failure is not None:
                yield "" if expected in (Outcome.ERROR, Outcome.TIMEOUT) else seat.load_failure
                return
            for turn in range(count):
                if turn and key == "pondering":
                    time.sleep(PAUSE)
                began = time.monotonic()
                reply = seat.ask(board(), seconds)
                if expected is Outcome.TIMEOUT and not self._exact:
                    late = time.monotonic() - began - seconds
                    self._proof.late = max(self._proof.late, late)
                    if late > DEATH and not reply.starved:
                        yield f"kept running for {late:.2f} s after its limit"
                if key == "writing" and self._exact:
                    continue  # `chmod` changes nothing there and reports no error
                yield unexpected(reply, expected)

    def _look_around(self, agent: str, before: set[int]) -> None:
        """Note what the agent changed or left behind, and whether the honest agent still plays."""
        changed = self._targets.changed_files()
        files = ", ".join(Path(name).name.split("-")[0] for name in changed[:3])
        self._proof.note("writing", bool(changed), f"{agent}: changed {files}")
        left = own_processes() - before
        self._proof.note("leftovers", bool(left), f"{agent}: {len(left)} processes")
        try:
            reply = self._honest.ask(board(), SECONDS)
            problem = unexpected(reply, Outcome.PLAYED)
        except IsolationError as error:
            problem = headline(str(error))
            self._honest.close()
            self._honest = self._seat(HONEST, SECONDS)
            self.callback(self._honest.close)
        self._proof.note("opponent", bool(problem), f"{agent}: the opponent lost a turn: {problem}")


def unexpected(reply: Reply, expected: Outcome) -> str:
    """Return how a reply differs from the expected outcome; empty if it does not."""
    legal = reply.outcome is not Outcome.PLAYED or reply.action in board().legal_actions()
    if reply.outcome is expected and legal:
        return ""
    if not legal:
        return "did something forbidden"
    detail = f" ({headline(reply.detail)})" if reply.detail else ""
    return f"{reply.outcome}, not {expected}{detail}"


def own_processes() -> set[int]:
    """Return the processes of agents of this grader (Linux)."""
    label = f"connect4 agent of {os.getpid()}\0".encode()
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if label in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


PROCESS: Final = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"!"))
os.write(1, b"ready")
while True:
    signal.pause()
"""
"""The program writes a byte for each signal that it receives."""

CLASSROOM: Final = {
    "results/results.json": "{}",
    "boards/hidden.txt": "1\n0 0\n",
    "opponent/ai.py": "# a secret opening\n",
    "student/ai.py": "",
}
"""Other files that the agents of the corpus expect beside their own."""

CLOSED: Final = {"rubric.toml": '[match]\nseed = "{}"\n', "solution.py": "# {}\n"}
"""Files that only this user may read, with a place for the token that an agent must not find."""

SHARED: Final = ("/tmp", "/dev/shm")
"""Folders in which every user may create files."""


class Targets(contextlib.ExitStack):
    """A folder, sockets and a process of this machine; a context manager.

    Every user may read and write all files and folders, as after a teacher's mistake, but for a
    rubric with a secret seed and a solution, which are closed as in Gradescope's autograder.
    """

    def __init__(self) -> None:
        """Create the files, the sockets and the process."""
        super().__init__()
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="doctor-")))
        self.token = secrets.token_hex(16)
        self.callback(self._remove_traces)
        self._make_files()
        self._ends: dict[str, list[Any]] = {}
        """What becomes readable if an attempt succeeds."""
        self._listen()
        self._process = self._counting_process()
        self._before = self._seen()

    def _make_files(self) -> None:
        files = {**CLASSROOM, "public.txt": self.token, "writable.txt": "as it was\n"}
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o666)
            path.parent.chmod(0o777)
        for name, text in CLOSED.items():
            path = self.folder / name
            path.write_text(text.format(self.token), encoding="utf-8")
            path.chmod(0o600)
        self.folder.chmod(0o777)

    def _listen(self) -> None:
        tcp = self.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port: int = tcp.getsockname()[1]
        udp = self.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with contextlib.suppress(OSError):  # another program has that port
            udp.bind(("127.0.0.1", self.port))
        self._ends |= {"connect by TCP": [tcp], "send by UDP": [udp]}
        self._unix = [str(self.folder / "socket")]
        if sys.platform == "linux":
            self._unix.append(f"\0doctor-{self.token}")
        for name in self._unix:
            local = self.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            local.bind(name)
            local.listen(64)
            self._ends.setdefault("connect to a local program", []).append(local)
        os.chmod(self._unix[0], 0o777)

    def _counting_process(self) -> int:
        """Start a process that writes whenever it receives a signal; return its number."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", PROCESS],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        self.enter_context(process)
        self.callback(process.kill)
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 5)
        self._ends["signal a process"] = [process.stdout]
        return process.pid

    def as_literal(self, source: str) -> str:
        """Return the source of `tries_everything` with these targets in it."""
        note = f"connect4-note-{self.token}"
        places = [str(self.folder / "student" / note)]
        places += [f"{folder}/{note}" for folder in SHARED if os.path.isdir(folder)]
        targets: dict[str, Any] = {
            "public": str(self.folder / "public.txt"),
            **{Path(name).stem: str(self.folder / name) for name in CLOSED},
            "folder": str(self.folder),
            "writable": str(self.folder / "writable.txt"),
            "places": places,
            "port": self.port,
            "unix": self._unix,
            "process": self._process,
            "source": source,
        }
        return source.replace("TARGETS = {}", f"TARGETS = {targets!r}", 1)

    def _traces(self) -> Iterator[Path]:
        for folder in SHARED:
            with contextlib.suppress(OSError):
                yield from Path(folder).glob(f"connect4-note-{self.token}*")

    def _remove_traces(self) -> None:
        """Remove the files that agents left outside the folder."""
        for path in self._traces():
            with contextlib.suppress(OSError):
                path.unlink()

    def _seen(self) -> dict[str, tuple[int, bytes]]:
        """Return what no agent may change."""
        found = {}
        for path in (*sorted(self.folder.rglob("*")), *self._traces()):
            with contextlib.suppress(OSError):
                content = path.read_bytes() if path.is_file() else b""
                found[str(path)] = (path.stat().st_mode, content)
        return found

    def changed_files(self) -> list[str]:
        """Return the files that have changed since the last call."""
        now, before = self._seen(), self._before
        self._before = now
        return sorted(name for name in {*now, *before} if now.get(name) != before.get(name))

    def reached(self) -> list[str]:
        """Return the attempts that reached a socket or the process."""
        return [what for what, ends in self._ends.items() if select.select(ends, [], [], 0)[0]]


def attempts_in(log: str) -> list[dict[str, Any]]:
    """Return the attempts that `tries_everything` printed."""
    found = []
    for line in log.splitlines():
        if line.startswith("tried {"):
            with contextlib.suppress(json.JSONDecodeError):
                found.append(json.loads(line.removeprefix("tried ")))
    return found

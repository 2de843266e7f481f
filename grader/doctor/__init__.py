"""The command `doctor`: tests what this machine guarantees when agents run on it.

A guarantee (`guarantees.toml`) holds if the machine has a protection for it and no agent got around
that: agents of the corpus play at each level beside an honest one, and try to reach targets.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from connect4.errors import IsolationError, headline
from connect4.games.extended import EXTENDED, read
from connect4.isolation import sandbox, seccomp
from connect4.isolation.seat import GRADED, LEVELS, Level, open_seat
from connect4.players.base import AgentName, Outcome, Seat, Setup
from grader.output.tables import text_table

HERE: Final = Path(__file__).parent
LISTS: Final = tomllib.loads((HERE / "guarantees.toml").read_text(encoding="utf-8"))


class Guarantee(NamedTuple):
    """One line of the table, and its probes; `guarantees.toml` says what the fields mean."""

    key: str
    text: str
    by: Collection[str] = ()
    attempts: Collection[str] = ()
    agents: Collection[str] = ()


class Remedy(NamedTuple):
    """Why a guarantee does not hold, and how to get it."""

    why: str
    how: str

    def __str__(self) -> str:
        return f"  why: {self.why}\n  how to get it: {self.how}"


GUARANTEES: Final = tuple(Guarantee(**item) for item in LISTS["guarantees"])
PROTECTIONS: Final = {name: Remedy(**item) for name, item in LISTS["protections"].items()}
OFFERED: Final[dict[Level, str]] = LISTS["levels"]
"""How to get each isolation level where it is not available."""


def missing() -> set[str]:
    """Return the names in `PROTECTIONS` of what this machine lacks at level process."""
    lacks = {
        "landlock": sandbox.landlock_abi() <= 0,
        "seccomp": not seccomp.available(),
        "own user": os.geteuid() != 0 or sandbox.identity(confined=True).why is not None,
        "bubblewrap": True,
    }
    return {name for name, is_missing in lacks.items() if is_missing}


def unavailable() -> dict[Level, str]:
    """Return why levels are not available on this machine; those that are have no entry."""
    reasons = {level: LEVELS[level].why_not() for level in GRADED}
    return {level: why for level, why in reasons.items() if why is not None}


@dataclass
class Proof:
    """What agents tried and achieved at one level of a machine without some protections."""

    level: Level
    lacks: Set[str]
    """What `missing` returned."""
    tried: Counter[str] = field(default_factory=Counter)
    """The number of attempts, by guarantee."""
    breaches: dict[str, list[str]] = field(default_factory=dict)
    late: float = 0.0
    """The longest time that an agent ran after its limit, in seconds."""

    def note(self, key: str, worked: bool, text: str) -> None:
        """Count one attempt; `text` is what the agent achieved if it succeeded."""
        self.tried[key] += 1
        if worked and text not in self.breaches.setdefault(key, []):
            self.breaches[key].append(text)

    def lost(self, item: Guarantee) -> list[str]:
        """Return the protections that a guarantee requires here if it has none of them."""
        required = [] if LEVELS[self.level].exact else list(item.by)
        lacks = self.lacks - {"bubblewrap"} if self.level == "strong" else self.lacks
        return required if lacks >= set(required) else []

    def holds(self, item: Guarantee) -> bool:
        """Return whether the machine has a protection and no agent got around it."""
        return not self.lost(item) and not self.breaches.get(item.key)

    def explained(self, item: Guarantee) -> str:
        """Return what happened, why a guarantee does not hold, and how to get it."""
        remedies = [PROTECTIONS[name] for name in self.lost(item)]
        remedies = remedies or [PROTECTIONS["processor" if item.key == "honest" else "present"]]
        lines = [f"level {self.level}: {item.text}"]
        breaches = self.breaches.get(item.key, [])
        if breaches:
            more = f" and {len(breaches) - 3} more" if len(breaches) > 3 else ""
            lines.append(f"  what happened: {'; '.join(breaches[:3])}{more}")
        whys, hows = zip(*remedies, strict=True)
        return "\n".join([*lines, str(Remedy("; ".join(whys), ", or ".join(hows)))])


def table(
    proofs: Mapping[Level, Proof], absent: Mapping[Level, str], machine: Iterable[str]
) -> str:
    """Return the table, the missing guarantees with their remedies, and the machine."""
    rows = []
    for item in GUARANTEES:
        held = {level: "yes" if proof.holds(item) else "no" for level, proof in proofs.items()}
        tried = sum(proof.tried[item.key] for proof in proofs.values())
        cells = [held.get(level, "absent") for level in OFFERED]
        rows.append([item.text, *cells, str(tried or "by design")])
    lost = [
        proof.explained(item)
        for proof in proofs.values()
        for item in GUARANTEES
        if not proof.holds(item)
    ]
    why_absent = [f"level {level}\n{Remedy(why, OFFERED[level])}" for level, why in absent.items()]
    late = max((proof.late for proof in proofs.values()), default=0.0)
    ended = f"an agent that does not answer was ended at most {1e3 * late:.0f} ms after its limit"
    parts = [text_table(rows, ("an agent", *OFFERED, "attempts"))]
    for title, items in (
        ("Not guaranteed here", lost),
        ("Not available here", why_absent),
        ("The machine", [*machine, ended]),
    ):
        if items:
            parts += ["", title, *(f"- {text}" for text in items)]
    return "\n".join(parts)


def lacking(proof: Proof, required: str | None) -> list[str]:
    """Return which guarantees of the level that a rubric requires do not hold.

    Level process promises the secrets, and what needs no protection.
    """
    strong = required not in (None, "process")
    return [
        item.text
        for item in GUARANTEES
        if item.key != "honest"
        and (strong or not item.by or item.key == "secrets")
        and not proof.holds(item)
    ]


def to_json(at: str, host: str, proofs: Mapping[Level, Proof]) -> dict[str, Any]:
    """Return what the pages of the marks show, as JSON values for the results file."""
    return {
        "format": "connect4-doctor/1",
        "at": at,
        "machine": {"host": host},
        "levels": list(proofs),
        "guarantees": [
            {"text": item.text, **{level: proof.holds(item) for level, proof in proofs.items()}}
            for item in GUARANTEES
        ],
    }


CORPUS: Final = HERE / "corpus"
PROBE: Final = "tries_everything"
HONEST: Final = "plain"

BOARD: Final = read("1\n0 0\n0 0\n", "doctor")
"""The smallest board on which an agent has several turns."""

SECONDS: Final = 5.0
SHORT: Final = 0.1
"""The limit of agents that do not answer in time, and of the one that uses its time."""

DEATH: Final = 2.0
"""An agent that does not answer must be ended within these seconds after its limit."""

OPEN: Final = {
    "results/results.json": "{}",
    "boards/hidden.txt": "1\n0 0\n",
    "opponent/ai.py": "# a secret opening\n",
    "student/ai.py": "",
    "public.txt": "a note\n",
    "writable.txt": "as it was\n",
}
"""Files that every user may read and write, as after a teacher's mistake."""

CLOSED: Final = {"rubric.toml": "[match]\nseed = 471147114711\n", "solution.py": "# the answer\n"}
"""Files that only this user may read, as in Gradescope's autograder."""


class Trial(contextlib.ExitStack):
    """Runs agents at one level beside an honest one, among files, sockets and a process."""

    def __init__(self, proof: Proof) -> None:
        """Make what no agent may reach; the honest agent comes with `probe`."""
        super().__init__()
        self._proof = proof
        self._folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="doctor-")))
        for name, text in {**OPEN, **CLOSED}.items():
            path = self._folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o666 if name in OPEN else 0o600)
            path.parent.chmod(0o777)
        tcp = self.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = self.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with contextlib.suppress(OSError):  # another program has that port
            udp.bind(tcp.getsockname())
        named, nameless = (self.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        named.bind(str(self._folder / "socket"))
        named.listen()
        os.chmod(named.getsockname(), 0o777)
        nameless.bind(f"\0{self._folder}")
        nameless.listen()
        process = subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE)
        self.enter_context(process)
        self.callback(process.kill)
        self._ends: dict[str, list[Any]] = {
            "connect by TCP": [tcp],
            "send by UDP": [udp],
            "connect to a local program": [named, nameless],
            "signal a process": [process.stdout],  # which ends with it
        }
        """What becomes readable if an attempt succeeds."""
        self._before = self._seen()
        self._targets = {
            "public": str(self._folder / "public.txt"),
            "rubric": str(self._folder / "rubric.toml"),
            "solution": str(self._folder / "solution.py"),
            "folder": str(self._folder),
            "writable": str(self._folder / "writable.txt"),
            "places": [str(self._folder / "student" / "note")],
            "port": tcp.getsockname()[1],
            "unix": [named.getsockname(), f"\0{self._folder}"],
            "process": process.pid,
        }

    def _seat(self, agent: str, seconds: float = SECONDS, memory: int = 1 << 30) -> Seat:
        """Return a seat for a file of the corpus, as if a student had handed it in."""
        path = self._folder / "student" / "ai.py"
        source = (CORPUS / f"{agent}.py").read_text(encoding="utf-8")
        if agent == PROBE:
            targets = {**self._targets, "source": source}
            source = source.replace("TARGETS = {}", f"TARGETS = {targets!r}", 1)
        # the agent learns only its name
        source = source.replace("Path(__file__)", f"Path({str(path)!r})")
        name = AgentName(f"ai:{path}", "ai", str(path))
        setup = Setup(name, 1, EXTENDED, seconds, 0, "intelligent", source.encode())
        return open_seat(setup, self._proof.level, sandbox.Limits(memory_bytes=memory))

    def probe(self) -> None:
        """Run `tries_everything`; judge it by what it printed and by what arrived."""
        self._honest = self.enter_context(closing(self._seat(HONEST)))
        before = own_processes()
        with closing(self._seat(PROBE, 60.0)) as seat:
            seat.ask(BOARD, 60.0)
            log = seat.log
        reached = [what for what, ends in self._ends.items() if select.select(ends, [], [], 0)[0]]
        keys = {what: item.key for item in GUARANTEES for what in item.attempts}
        told = [line.removeprefix("tried ") for line in log.splitlines() if line[:7] == "tried {"]
        for attempt in map(json.loads, told):
            what = attempt["what"]
            worked = attempt["done"] and (what in reached or what not in self._ends)
            if what in keys:  # only the changed files show whether writing worked
                worked = worked and keys[what] != "writing"
                self._proof.note(keys[what], worked, f"{what} (from its {attempt['from']})")
        for key in set(keys.values()) - self._proof.tried.keys():
            self._proof.note(key, True, f"{PROBE} did not try it")
        self._look_around(PROBE, before)

    def run(self, key: str, agent: str) -> None:
        """Let an agent play some turns, and note what it achieved against a guarantee."""
        before = own_processes()
        seconds = SHORT if key in ("deadline", "honest") else SECONDS
        memory = 1 << 28 if key == "memory" else 1 << 30
        found = []
        try:
            with closing(self._seat(agent, seconds, memory)) as seat:
                for _ in range(20 if key == "honest" else 2):
                    found.append(self._problem(seat, seconds, key == "honest"))
                    time.sleep(0.3 if key == "pondering" else 0)
        except IsolationError as error:
            found.append(f"the grader failed: {headline(str(error))}")
        wrong = [text for text in found if text]
        text = f"{agent}: in {len(wrong)} of {len(found)} turns {''.join(wrong[:1])}"
        self._proof.note(key, bool(wrong) and key != "writing", text)
        self._look_around(agent, before)

    def _problem(self, seat: Seat, seconds: float, is_honest: bool) -> str:
        """Ask for a move; return what the agent did against a guarantee, empty if nothing.

        An agent whose attack works answers with a column that is not there.
        """
        began = time.monotonic()
        reply = seat.ask(BOARD, seconds)
        late = time.monotonic() - began - seconds
        if not LEVELS[self._proof.level].exact:  # whose seconds are virtual
            self._proof.late = max(self._proof.late, late)
            if late > DEATH and not reply.starved:
                return f"kept running for {late:.2f} s after its limit"
        if reply.outcome is not Outcome.PLAYED:
            return f"{reply.outcome}: {headline(reply.detail or '')}" if is_honest else ""
        return "" if reply.action in BOARD.legal_actions() else "did something forbidden"

    def _look_around(self, agent: str, before: set[int]) -> None:
        """Note what the agent changed or left behind, and whether the honest agent still plays."""
        seen, left = self._seen(), own_processes() - before
        names = {*seen, *self._before}
        changed = sorted(name for name in names if seen.get(name) != self._before.get(name))
        self._before = seen
        self._proof.note("writing", bool(changed), f"{agent}: changed {', '.join(changed[:3])}")
        self._proof.note("leftovers", bool(left), f"{agent}: {len(left)} processes")
        try:
            problem = self._problem(self._honest, SECONDS, is_honest=True)
        except IsolationError as error:
            problem = headline(str(error))
        self._proof.note("opponent", bool(problem), f"{agent}: the opponent lost a turn: {problem}")

    def _seen(self) -> dict[str, tuple[int, bytes]]:
        """Return what no agent may change."""
        return {
            str(path.relative_to(self._folder)): (
                path.lstat().st_mode,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in self._folder.rglob("*")
        }


def own_processes() -> set[int]:
    """Return the processes of agents of this grader."""
    label = f"connect4 agent of {os.getpid()}\0".encode()
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if label in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def prove(level: Level, lacks: Set[str], say: Callable[[str], None]) -> Proof:
    """Run the corpus at a level; call `say` with the current step."""
    proof = Proof(level, lacks)
    with Trial(proof) as trial:
        say(f"{level}: {PROBE}")
        trial.probe()
        for item in GUARANTEES:
            for agent in () if proof.breaches.get(item.key) else item.agents:
                say(f"{level}: {agent}")
                trial.run(item.key, agent)
    return proof

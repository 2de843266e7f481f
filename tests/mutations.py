"""Hand-ins as damaged and hostile as a seeded generator makes them: mutated zips, odd trees."""

import contextlib
import io
import os
import random
import shutil
import socket
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

from grader.handin import Submission
from grader.handin.find import find
from grader.rubric.model import SubmissionRules

NAMES = [
    *("ai.py", "AI.PY", "report.txt", "old.py", "hw1/ai.py", "inner.zip", "notes.txt", "work.rar"),
    *("", "/", ".", "..", "/etc/ai.py", "../ai.py", "a/../../ai.py", "C:\\ai.py", "hw\\ai.py"),
    *("con.py", "jose\u0301.py", "jos\xe9.py", "\u202eyp.ia", "two\nlines.py", "x" * 300 + ".py"),
    *("\x1b[31m.py", "\U0001f600/ai.py", "__MACOSX/ai.py", ".hidden/ai.py", "ai.py/ai.py"),
    *("a/" * 900 + "ai.py", "x" * 5000, "nul\0name.py", "\\\\share\\ai.py", "ai.py/", " "),
]
DISK_NAMES = [name for name in NAMES[:8] + NAMES[17:] if name.count("/") < 100]  # deep is slow
CONTENTS = [b"", b"x = 1\n", b"\xff\xfe\0", b"\0" * 100, b"#" * 300_000, b"PK\x05\x06" + b"\0" * 18]


def mutated_zip(rng: random.Random) -> bytes:
    """Return a zip of odd names with some of its bytes changed, most of them in its headers."""
    packed = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w") as archive:
        for _ in range(rng.randrange(4)):
            info = zipfile.ZipInfo(rng.choice(NAMES))
            info.compress_type = rng.choice((0, 0, 8, 8, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
            info.external_attr = rng.choice((0, 0o120777, 0o100644, 0o10644, 0o40755)) << 16
            archive.writestr(info, rng.choice(CONTENTS))
        archive.writestr("ai.py", "x = 1\n")
    data = bytearray(packed.getvalue())
    headers = [place for place in range(len(data) - 1) if data[place : place + 2] == b"PK"]
    for _ in range(rng.randrange(6)):
        place = (
            rng.choice(headers) + rng.randrange(46)
            if rng.random() < 0.8
            else rng.randrange(1 << 30)
        )
        place %= len(data)
        kind = rng.randrange(4)
        if kind == 0:
            data[place] = rng.randrange(256)
        elif kind == 1:
            data[place : place + 4] = struct.pack("<I", rng.choice((0, 1, 0xFFFF, 0xFFFFFFFF)))
        elif kind == 2:
            data[place : place + 1] = rng.randbytes(rng.randrange(8))
        else:
            data[place:] = b"" if rng.random() < 0.1 else data[place:]
        data = data or bytearray(b"P")
    return bytes(data)


def odd_tree(rng: random.Random, folder: Path) -> None:
    """Fill a student's folder with files, links, pipes, sockets, locked and nested folders.

    Nothing is written through a link or over what is there, and no link leads out of the class.
    """
    folder.mkdir()
    for _ in range(rng.randrange(1, 6)):
        with contextlib.suppress(OSError, ValueError):  # names that a disk refuses
            path = folder / rng.choice(DISK_NAMES).strip("/")
            above = [place for place in path.parents if place.is_relative_to(folder)]
            if not any(map(os.path.islink, above)) and not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                rng.choice(ODD)(path, rng)
    if rng.random() < 0.2:
        folder.chmod(rng.choice((0o444, 0o111, 0, 0o755)))


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:  # never over a file, a link or a pipe
        file.write(content)


def _locked(path: Path, rng: random.Random) -> None:
    with path.open("xb") as file:
        os.fchmod(file.fileno(), 0)


def _socket(path: Path, rng: random.Random) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


def _sparse(path: Path, rng: random.Random) -> None:
    with path.open("xb") as file:
        file.truncate(1 << 40)


def _raw(path: Path, rng: random.Random) -> None:
    name = os.path.join(os.fsencode(path.parent), rng.choice((b"\xff.py", b"\xe9", b"\x80.zip")))
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


ODD: list[Callable[[Path, random.Random], None]] = [
    *2 * [lambda path, rng: _write(path, rng.choice(CONTENTS))],
    _locked,
    lambda path, rng: _write(path.with_suffix(".zip"), mutated_zip(rng)),
    *(_socket, _sparse),
    lambda path, rng: path.joinpath(*["d"] * rng.choice((2, 30))).mkdir(parents=True),
    _raw,
    lambda path, rng: path.symlink_to(rng.choice(("nowhere", path.name, "..", "../ann.py"))),
    lambda path, rng: os.mkfifo(path),
    lambda path, rng: path.mkdir(),
]


def clear(folder: Path) -> None:
    """Delete a folder whatever its modes are."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(folder)


def try_all(folder: Path, rules: SubmissionRules, numbers: range) -> str | None:
    """Hand in a good file beside each mutation; return the first fault in words, None for none."""
    for number in numbers:
        rng = random.Random(number)
        place = folder / "class"
        place.mkdir()
        (place / "ann.py").write_text("a", encoding="utf-8")
        form = rng.randrange(4)
        if form == 0:
            (place / "eve.zip").write_bytes(mutated_zip(rng))
        elif form < 3:
            odd_tree(rng, place / "eve")
        else:
            (place / "class.zip").write_bytes(mutated_zip(rng))
        paths = [place / "class.zip", place / "ann.py"] if form == 3 else [place]
        try:
            fault = _fault(find(paths, rules), alone=form == 3)
        except Exception as error:  # whatever it is, it stopped the others
            fault = f"{type(error).__name__}: {error}"
        clear(place)
        if fault:
            return f"mutation {number}: {fault}"
    return None


def _fault(found: list[Submission], alone: bool) -> str | None:
    """Return what is wrong about the submissions that were found."""
    good = [item for item in found if item.name == "ann" and item.source == b"a"]
    if len(good) != 1 or good[0].problem:
        return f"ann is not graded: {found}"
    if len(found) < 2 and not alone:
        return "eve is forgotten"
    for item in found:
        if (item.problem is None) == (item.source is None):
            return f"neither a source nor a problem: {item}"
        for text in (item.problem or "", item.name):
            if not text.isprintable() or len(text) > 400:
                return f"no clear line: {text!r}"
    return None

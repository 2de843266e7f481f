"""The targets of hostile agents: files, sockets and a process, and what the agents did to them."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

PROCESS: Final = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"!"))
os.write(1, b"ready")
while True:
    signal.pause()
"""
"""The program counts the signals that it receives."""

CLASSROOM: Final = {
    "results/results.json": "{}",
    "boards/hidden.txt": "1\n0 0\n",
    "opponent/ai.py": "# a secret opening\n",
    "student/ai.py": "",
}
"""Other files that the agents of the corpus expect beside their own."""

SHARED: Final = ("/tmp", "/dev/shm")
"""Folders in which every user may create files."""


class Targets:
    """A folder, sockets and a process of this machine; a context manager.

    Every user may read and write all files and folders but one, as after a teacher's mistake.
    """

    def __init__(self) -> None:
        """Create the files, the sockets and the process."""
        with contextlib.ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doctor-")))
            self.token = secrets.token_hex(16)
            self._make_files()
            self._listen(stack)
            self._process = stack.enter_context(_started())
            self._stack = stack.pop_all()
        self._before = self._seen()

    def __enter__(self) -> Targets:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        self.remove_traces()
        self._stack.close()

    def _make_files(self) -> None:
        files = {**CLASSROOM, "public.txt": self.token, "writable.txt": "as it was\n"}
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o666)
            path.parent.chmod(0o777)
        private = self.folder / "private.txt"
        private.write_text(self.token, encoding="utf-8")
        private.chmod(0o600)
        self.folder.chmod(0o777)

    def _listen(self, stack: contextlib.ExitStack) -> None:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port: int = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with contextlib.suppress(OSError):  # another program has that port
            udp.bind(("127.0.0.1", self.port))
        self._sockets = {"connect by TCP": [tcp], "send by UDP": [udp]}
        names = [str(self.folder / "socket")]
        if sys.platform == "linux":
            names.append(f"\0doctor-{self.token}")
        self._sockets["connect to a local program"] = []
        for name in names:
            local = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            local.bind(name)
            local.listen(64)
            self._sockets["connect to a local program"].append(local)
        os.chmod(names[0], 0o777)
        self._unix = names

    def as_literal(self, source: str) -> str:
        """Return the source of `tries_everything` with these targets in it."""
        note = f"connect4-note-{self.token}"
        places = [str(self.folder / "student" / note)]
        places += [f"{folder}/{note}" for folder in SHARED if os.path.isdir(folder)]
        targets: dict[str, Any] = {
            "public": str(self.folder / "public.txt"),
            "private": str(self.folder / "private.txt"),
            "folder": str(self.folder),
            "writable": str(self.folder / "writable.txt"),
            "places": places,
            "port": self.port,
            "unix": self._unix,
            "process": self._process.pid,
            "source": source,
        }
        return source.replace("TARGETS = {}", f"TARGETS = {targets!r}", 1)

    def _traces(self) -> Iterator[Path]:
        for folder in SHARED:
            with contextlib.suppress(OSError):
                yield from Path(folder).glob(f"connect4-note-{self.token}*")

    def remove_traces(self) -> None:
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
        found = []
        for what, sockets in self._sockets.items():
            if any(_has_heard(one) for one in sockets):
                found.append(what)
        out = self._process.stdout
        assert out is not None
        if select.select([out], [], [], 0)[0] and os.read(out.fileno(), 1000):
            found.append("signal a process")
        return found


def _has_heard(one: socket.socket) -> bool:
    """Return whether somebody connected to a socket or sent to it."""
    heard = False
    while select.select([one], [], [], 0)[0]:
        heard = True
        if one.type == socket.SOCK_DGRAM:
            one.recv(100)
        else:
            one.accept()[0].close()
    return heard


@contextlib.contextmanager
def _started() -> Iterator[subprocess.Popen[bytes]]:
    """Run the process that counts signals."""
    command = [sys.executable, "-I", "-S", "-c", PROCESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        out: IO[bytes] | None = process.stdout
        assert out is not None
        os.read(out.fileno(), 5)
        try:
            yield process
        finally:
            process.kill()


def attempts_in(log: str) -> list[dict[str, Any]]:
    """Return the attempts that `tries_everything` printed."""
    found = []
    for line in log.splitlines():
        if line.startswith("tried {"):
            with contextlib.suppress(json.JSONDecodeError):
                found.append(json.loads(line.removeprefix("tried ")))
    return found

"""Runs a command as a bare machine meets it: `python3 tests/bare.py COMMAND [ARGUMENT ...]`.

Hidden are the programs that the kit and its tests use where they are there, and the display. All
other programs are found as before, so a command that sets up a virtual environment works.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HIDDEN = {
    "bwrap", "chromedriver", "chromium", "chromium-browser", "google-chrome", "nc", "nc.openbsd",
    "nc.traditional", "ncat", "netcat", "node", "nodejs",
}  # fmt: skip
"""Programs that a newcomer's machine lacks."""

FORGOTTEN = {
    "CONNECT4_CI", "CONNECT4_CI_WITHOUT", "CONNECT4_VIEW", "DISPLAY", "WAYLAND_DISPLAY",
}  # fmt: skip
"""Variables that a newcomer's shell does not have."""


def mirror(folder: Path, private: Path) -> None:
    """Fill `private` with everything of a folder of programs but what is hidden.

    A Python finds its libraries by the place that it was started from, so one is started there.
    """
    private.mkdir()
    for program in folder.iterdir():
        place = private / program.name
        if program.name in HIDDEN:
            continue
        if program.name.startswith("python"):
            place.write_text(
                f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n', encoding="utf-8"
            )
            place.chmod(0o755)
        else:
            place.symlink_to(program)


def bare_path(path: str, scratch: Path) -> str:
    """Return a PATH without the hidden programs; only folders that hold one are replaced."""
    folders: dict[Path, Path] = {}
    for text in filter(None, path.split(os.pathsep)):
        folder = Path(text).absolute()
        if folder in folders or not folder.is_dir():
            continue
        folders[folder] = folder
        if any((folder / name).exists() for name in HIDDEN):
            folders[folder] = scratch / f"programs{len(folders)}"
            mirror(folder, folders[folder])
    return os.pathsep.join(map(str, folders.values()))


def bare_environment(scratch: Path) -> dict[str, str]:
    """Return the present environment as a bare machine has it."""
    kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    return {**kept, "PATH": bare_path(kept.get("PATH", os.defpath), scratch)}


def main(command: list[str]) -> int:
    """Run the command; return its exit status."""
    if not command:
        print("error: a command is needed, such as: python3 tests/bare.py bash", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="bare-") as folder:
        environment = bare_environment(Path(folder))
        program = shutil.which(command[0], path=environment["PATH"])
        if program is None:
            print(f"error: {command[0]}: no such program on a bare machine", file=sys.stderr)
            return 127
        status = subprocess.run([program, *command[1:]], env=environment, check=False).returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs a command as a bare machine meets it: `python3 tests/bare.py COMMAND [ARGUMENT ...]`.

Hidden are the programs that the kit and its tests use where they are there, and the display. All
other programs are found as before, so a command that sets up a virtual environment works.
"""

import os
import shlex
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


def mirror(folder: Path, private: Path) -> Path:
    """Return a folder with everything of a folder of programs but what is hidden.

    A Python finds its libraries by the place that it was started from, so one is started there.
    """
    private.mkdir()
    for program in folder.iterdir():
        place = private / program.name
        if program.name.startswith("python"):
            place.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n')
            place.chmod(0o755)
        elif program.name not in HIDDEN:
            place.symlink_to(program)
    return private


def bare_environment(scratch: Path) -> dict[str, str]:
    """Return the present environment as a bare machine has it."""
    kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    folders = dict.fromkeys(map(os.path.abspath, kept["PATH"].split(os.pathsep)))
    path = [
        mirror(Path(folder), scratch / str(number)) if HIDDEN & {*os.listdir(folder)} else folder
        for number, folder in enumerate(folders)
        if os.path.isdir(folder)
    ]
    return {**kept, "PATH": os.pathsep.join(map(str, path))}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bare-") as own:
        status = subprocess.run(sys.argv[1:], env=bare_environment(Path(own)), check=False)
    sys.exit(status.returncode if status.returncode >= 0 else 128 - status.returncode)

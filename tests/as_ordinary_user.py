"""Run tests as an ordinary user: `python3 -m tests.as_ordinary_user [ARGUMENT OF PYTEST ...]`.

For root, on Linux, with `unshare` and `setpriv` (util-linux). Without an argument: the table of
hostile agents. The tests run as user 65534 in a mount namespace of their own, in which Python and
this checkout can be read by everybody, also where they are below a folder that root alone may
enter; nothing outside the namespace is changed.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

NOBODY: Final = "65534"
CHECKOUT: Final = Path(__file__).resolve().parent.parent
USUAL: Final = ("tests/test_isolation_agents.py",)
INSIDE: Final = "--inside"


def closed_folder(path: Path) -> Path | None:
    """Return the topmost folder above a path that others may not enter."""
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            return parent
    return None


def bind(source: Path, target: Path) -> None:
    """Show a folder at another place too, there for reading alone."""
    subprocess.run(["mount", "-o", "bind,ro", source, target], check=True)


def open_the_way(paths: list[Path], spare: Path) -> None:
    """Lay an open folder over each closed one, with nothing in it but what is wanted."""
    subprocess.run(["mount", "-t", "tmpfs", "tests", spare], check=True)
    hidden = {path: closed_folder(path) for path in paths}
    for place, path in enumerate(paths):
        (spare / str(place)).mkdir()
        bind(path, spare / str(place))
    for folder in set(hidden.values()) - {None}:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tests", str(folder)], check=True)
    for place, path in enumerate(paths):
        if hidden[path] is not None:
            path.mkdir(parents=True, exist_ok=True)
            bind(spare / str(place), path)


def make_python_readable(spare: Path) -> None:
    """Let every user read this Python and this checkout, in this process's mount namespace."""
    wanted = {CHECKOUT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    if any(map(closed_folder, wanted)):
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        open_the_way(sorted(wanted), spare)


def run_inside(spare: str, scratch: str, arguments: list[str]) -> None:
    """Become pytest as user 65534; this process is root's, in a mount namespace of its own.

    Nothing is tidied up here: the mounts end with the namespace, and whoever removed `spare`
    before that would remove what is bound there.
    """
    make_python_readable(Path(spare))
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    command += ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]
    command += [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    command += [f"--basetemp={scratch}/tests", *(arguments or USUAL)]
    environment = {**os.environ, "HOME": scratch, "TMPDIR": scratch, "LOGNAME": "nobody"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "USER": "nobody"}
    os.chdir(CHECKOUT)
    os.execvpe(command[0], command, environment)


def main(arguments: list[str]) -> int:
    """Run the command; return its exit status."""
    if arguments[:1] == [INSIDE]:
        run_inside(arguments[1], arguments[2], arguments[3:])
    if os.geteuid() != 0:
        print("you are an ordinary user already: python3 -m pytest is enough", file=sys.stderr)
        return 2
    spare = tempfile.mkdtemp()
    with tempfile.TemporaryDirectory() as scratch:
        os.chown(scratch, int(NOBODY), int(NOBODY))
        command = ["unshare", "--mount", "--propagation", "private", sys.executable]
        command += ["-m", "tests.as_ordinary_user", INSIDE, spare, scratch, *arguments]
        done = subprocess.run(command, cwd=CHECKOUT, check=False)
    os.rmdir(spare)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

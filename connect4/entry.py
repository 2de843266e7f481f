"""Imported first by the commands: speaks for them while the rest of their imports runs.

That takes up to a second, in which a Ctrl-C would show a traceback from the middle of numpy, and
it fails in as many lines where the kit's environment is not active.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections.abc import Sequence
from typing import Final

COMMANDS: Final = ("connect4.ConnectFour", "connect4.__main__", "grader.__main__")

NEEDED: Final = ("numpy", "tabulate")


def missing(modules: Sequence[str] = NEEDED) -> str | None:
    """Return the line that says which module is not there and what to do; None where all are."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            return (
                f"error: {sys.executable} has no {name}: activate the kit's environment first "
                "(source .venv/bin/activate), or install the kit as README.md says"
            )
    return None


def begin() -> None:
    """Let a Ctrl-C end the process without a word, and end it here where a module is missing."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    line = missing()
    if line is not None:
        print(line, file=sys.stderr)
        raise SystemExit(2)


def ready() -> None:
    """The imports are done: a Ctrl-C is the command's own `KeyboardInterrupt` from here on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


specification = getattr(sys.modules["__main__"], "__spec__", None)
if specification is not None and specification.name in COMMANDS:
    begin()

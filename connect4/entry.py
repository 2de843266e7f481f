"""Handle interrupts and missing packages while a command loads; the commands import this first.

Loading takes up to a second. Without this module, a Ctrl-C during that time would show a traceback
from inside numpy. So would a missing numpy, when the kit's environment is not active.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from pathlib import Path
from typing import Final

NEEDED: Final = ("numpy", "tabulate")


def begin() -> None:
    """Let Ctrl-C end the process silently; exit if a module is missing."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            print(
                f"error: {sys.executable} has no {name}: activate the kit's environment first "
                "(source .venv/bin/activate), or install the kit as in README.md",
                file=sys.stderr,
            )
            raise SystemExit(2)


def ready() -> None:
    """Restore Ctrl-C once the imports are done: from now on it raises `KeyboardInterrupt`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


specification = getattr(sys.modules["__main__"], "__spec__", None)
command = Path(sys.argv[0]).stem if specification is None else specification.name.split(".")[0]
if command in ("connect4", "connect4-grader", "grader"):
    begin()

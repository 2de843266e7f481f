"""Handle interrupts and failed imports while a command loads; the commands import this first.

Loading takes up to a second. Without this module, a Ctrl-C during that time would show a traceback
from inside numpy. So would a failed import, when the kit's environment is not active or a file in
the current folder has the name of a required module.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Final

NEEDED: Final = ("numpy", "tabulate")


def hiding(trace: TracebackType | None) -> str | None:
    """Return the file in the current folder that Python loaded in place of a required module.

    It is that module now or, if it failed to load, one of the files of `trace`.
    """
    names = {*sys.stdlib_module_names, *NEEDED}
    loaded: list[str | None] = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    run = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(trace)]
    for file in filter(None, (*loaded, *run)):
        folder, name = os.path.split(os.path.abspath(file))
        if folder == os.getcwd() and name.removesuffix(".py") in names:
            return os.path.join(folder, name)
    return None


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report in one line which file breaks the imports, else show the traceback."""
    file = hiding(trace)
    if file is None:
        sys.__excepthook__(kind, error, trace)
        return
    module = os.path.basename(file).removesuffix(".py")
    line = f"error: Python takes {file} for its own module {module}: rename that file"
    print(f"{line}, or run the command in another folder", file=sys.stderr)


def begin() -> None:
    """Let Ctrl-C end the process silently; exit if a module is missing."""
    sys.excepthook = explain
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
    sys.excepthook = sys.__excepthook__
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


specification = getattr(sys.modules["__main__"], "__spec__", None)
command = Path(sys.argv[0]).stem if specification is None else specification.name.split(".")[0]
if command in ("connect4", "connect4-grader", "grader"):
    begin()

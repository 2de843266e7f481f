"""Make the search tree of a position in a separate process and open it in the browser."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tkinter as tk
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from connect4.games.base import Seconds, State

PACKAGE: Final = Path(__file__).resolve().parents[3]

POLL: Final = 100
"""Milliseconds."""


class TreeJob:
    """Runs `python3 -m connect4.views.tree`, so that the agent's code stays out of the window."""

    def __init__(
        self,
        root: tk.Misc,
        state: State,
        options: dict[str, str],
        seconds: Seconds,
        say: Callable[[str], None],
    ) -> None:
        """`options` are those of the command: game, agent, seed. `say` receives status messages."""
        self._root = root
        self._say = say
        self._folder = Path(tempfile.mkdtemp(prefix="connect4-tree-"))
        self.page = self._folder / "tree.html"
        start = self._folder / "position.txt"
        start.write_text(state.to_text(), encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "connect4.views.tree", str(start), *words,
             "--time", f"{seconds:g}", "-o", str(self.page)],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=(self._folder / "errors.txt").open("wb"),
        )  # fmt: skip
        say("The agent searches once more, for its tree...")
        self._timer = root.after(POLL, self._look)

    def stop(self) -> None:
        """Kill the process if it is still running."""
        self._root.after_cancel(self._timer)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _look(self) -> None:
        """Open the page if the process has ended."""
        status = self._process.poll()
        if status is None:
            self._timer = self._root.after(POLL, self._look)
        elif status == 0:
            opened = webbrowser.open(self.page.as_uri())
            where = "open in the browser" if opened else f"in {self.page}"
            self._say(f"The search tree is {where}.")
        else:
            errors = (self._folder / "errors.txt").read_text(encoding="utf-8", errors="replace")
            last = (errors.strip().splitlines() or ["it ended without a word"])[-1]
            self._say(f"No search tree: {last.removeprefix('error: ')}")

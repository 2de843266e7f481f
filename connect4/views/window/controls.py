"""The row of buttons that pause a game, step through it and set its speed, live or replayed."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import dataclass
from tkinter import ttk
from typing import Final

from connect4.games.base import Seconds

PACES: Final[dict[str, Seconds]] = {"slow": 1.5, "normal": 0.6, "fast": 0.2, "full speed": 0.0}
"""The least seconds from one turn to the next."""

USUAL_PACE: Final = "normal"


@dataclass(frozen=True, slots=True)
class Commands:
    """What the buttons do; `pause` gets whether the game is to be held."""

    pause: Callable[[bool], None]
    step: Callable[[], None]
    pace: Callable[[Seconds], None]
    go_to: Callable[[int], None]


class Controls(ttk.Frame):
    """Pause, step, a slider over the turns, and the speed.

    The slider is for games that have ended: `review` turns it on.
    """

    def __init__(self, parent: tk.Misc, commands: Commands, pace: str) -> None:
        super().__init__(parent)
        self._commands = commands
        self._running = True
        self._reviewing = False
        self._moving = False
        self._position = 0
        self._count = 0
        self._run = ttk.Button(self, text="Pause", width=8, command=self.toggle)
        self._run.pack(side="left")
        self._step = ttk.Button(self, text="Step", width=6, command=self._stepped)
        self._step.pack(side="left", padx=(6, 0))
        self._slider = ttk.Scale(self, from_=0, to=1, command=self._slid)
        self._turn = ttk.Label(self, text="", style="Muted.TLabel", width=14, anchor="center")
        self._speed = tk.StringVar(self, pace)
        speeds = ttk.Frame(self)
        for name in PACES:
            ttk.Radiobutton(
                speeds, text=name, value=name, variable=self._speed, style="Choice.Toolbutton",
                command=lambda: commands.pace(self.pace),
            ).pack(side="left")  # fmt: skip
        speeds.pack(side="right")
        ttk.Label(self, text="Speed", style="Muted.TLabel").pack(side="right", padx=(12, 6))
        self._turn.pack(side="right")
        self._slider.pack(side="left", fill="x", expand=True, padx=(12, 0))
        self._slider.state(["disabled"])

    @property
    def pace(self) -> Seconds:
        """Return the chosen pace."""
        return PACES[self._speed.get()]

    @property
    def pace_name(self) -> str:
        """Return the chosen pace's name, for the next game."""
        return self._speed.get()

    @property
    def reviewing(self) -> bool:
        """Return whether the game has ended and is looked through."""
        return self._reviewing

    def review(self) -> None:
        """Turn from a live game to looking through a finished one."""
        self._reviewing = True
        self._slider.state(["!disabled"])
        self.show_running(False)
        self.show_turn(self._position, self._count)

    def without_pause(self) -> None:
        """Take the pause away from a game in which no agent plays."""
        for button in (self._run, self._step):
            button.state(["disabled"])

    def show_turn(self, position: int, count: int) -> None:
        """Show which turn of how many is on the board."""
        self._position, self._count = position, count
        self._moving = True
        self._slider.configure(to=max(1, count), value=position)
        self._moving = False
        self._turn.configure(text=f"turn {position} of {count}" if count else "")
        if self._reviewing:
            self._run.state(["!disabled"])
            self._step.state(["disabled" if position >= count else "!disabled"])

    def show_running(self, running: bool) -> None:
        """Show whether the game runs by itself."""
        self._running = running
        self._run.configure(text="Pause" if running else "Play")

    def toggle(self) -> None:
        """Pause, or go on."""
        if self._run.instate(["!disabled"]):
            self.show_running(not self._running)
            self._commands.pause(not self._running)

    def _stepped(self) -> None:
        if self._running:
            self.toggle()
        self._commands.step()

    def _slid(self, value: str) -> None:
        position = round(float(value))
        if not self._moving and position != self._position:
            self._commands.go_to(position)

"""One player's card in the window: name, points, pop-outs left, the clock."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable
from tkinter import ttk
from typing import Final

from connect4.games.base import Player, Seconds, State
from connect4.views.window import theme

TOKEN: Final = 30
"""Pixels of the token beside the name."""


class PlayerCard(ttk.Frame):
    """Shows one player; `begin_turn` starts the clock, `tick` moves it, `end_turn` stops it.

    A press on the points goes to `on_points`.
    """

    def __init__(
        self, parent: tk.Misc, player: Player, name: str, on_points: Callable[[], None]
    ) -> None:
        super().__init__(parent, style="Card.TFrame", padding=(12, 6))
        self._player = player
        self._person = name == "human"
        self._began: float | None = None
        self._limit: Seconds | None = None
        self._token = theme.token_picture(self, TOKEN, player)
        ttk.Label(self, image=self._token, style="Card.TLabel").grid(row=0, column=0, rowspan=2)
        shown = name if len(name) <= 34 else "..." + name[-31:]
        ttk.Label(self, text=f"Player {player}: {shown}", style="Strong.Card.TLabel").grid(
            row=0, column=1, sticky="w", padx=(10, 0)
        )
        self._state = ttk.Label(self, style="Muted.Card.TLabel")
        self._state.grid(row=1, column=1, sticky="w", padx=(10, 0))
        self._points = ttk.Button(
            self, text="0", style="Score.TButton", width=4, takefocus=False, command=on_points
        )
        self._points.grid(row=0, column=2, rowspan=2, padx=(12, 0))
        trough = tk.Frame(self, background=theme.LINE, height=4)
        trough.grid(row=2, column=0, columnspan=3, sticky="ew", pady=(6, 0))
        self._bar = tk.Frame(trough, background=theme.ACCENT)
        self.columnconfigure(1, weight=1)
        self._popouts = ""
        self._say("")

    @property
    def running(self) -> bool:
        """Return whether the clock runs."""
        return self._began is not None

    def show(self, state: State, runs_shown: bool = False) -> None:
        """Show points and pop-outs left; `runs_shown`: the board shows this side's runs."""
        if state.counts_points:
            self._points.configure(text=str(state.scores()[self._player - 1]))
            self._points.state(["pressed" if runs_shown else "!pressed"])
        else:
            self._points.grid_remove()
        if state.pop_outs_left is not None:
            self._popouts = f"{state.pop_outs_left[self._player - 1]} pop-outs left"
        self.tick()

    def begin_turn(self, limit: Seconds | None) -> None:
        """Start the clock; `limit` None runs without an end."""
        self._began, self._limit = time.monotonic(), limit
        self.configure(style="Turn.Card.TFrame")
        self.tick()

    def end_turn(self) -> None:
        """Stop the clock."""
        self._began = None
        self.configure(style="Card.TFrame")
        self.tick()

    def mark(self, to_move: bool) -> None:
        """Say whose turn it is without a clock, as in a replay."""
        self.end_turn()
        if to_move:
            self.configure(style="Turn.Card.TFrame")
            self._say("to move")

    def tick(self) -> None:
        """Show the time that has passed."""
        if self._began is None:
            self._bar.place_forget()
            self._say("")
            return
        seconds = time.monotonic() - self._began
        limit = f" of {self._limit:g} s" if self._limit is not None else " s"
        if self._limit:
            self._bar.place(relheight=1, relwidth=min(1.0, seconds / self._limit))
        self._say(f"{'to move' if self._person else 'thinks'}: {seconds:.1f}{limit}")

    def _say(self, status: str) -> None:
        parts = (self._popouts, status)
        self._state.configure(text="  ·  ".join(part for part in parts if part))

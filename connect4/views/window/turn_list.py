"""The turns of a game as a list; below it, the reason for a lost turn."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk
from typing import Final, Literal

from connect4.referee import Turn
from connect4.views.window import theme

COLUMNS: Final[tuple[tuple[str, int, Literal["w", "center", "e"]], ...]] = (
    ("Turn", 44, "e"),
    ("Player", 52, "center"),
    ("Move", 84, "w"),
    ("Points", 76, "center"),
    ("Seconds", 70, "e"),
)
"""Title, width in pixels, alignment."""


class TurnList(ttk.Frame):
    """Lists turns; the number of one that is selected goes to `on_select`."""

    def __init__(self, parent: tk.Misc, on_select: Callable[[int], None]) -> None:
        super().__init__(parent)
        self._on_select = on_select
        self._count = 0
        self._rows = ttk.Treeview(self, show="headings", selectmode="browse", height=8)
        self._rows.configure(columns=[title for title, _, _ in COLUMNS])
        for title, width, anchor in COLUMNS:
            self._rows.heading(title, text=title, anchor=anchor)
            self._rows.column(title, width=width, anchor=anchor, stretch=title == "Move")
        self._rows.tag_configure("fault", foreground=theme.FAULT)
        scroll = ttk.Scrollbar(self, command=self._rows.yview)
        self._rows.configure(yscrollcommand=scroll.set)
        self._rows.grid(row=0, column=0, sticky="nsew")
        scroll.grid(row=0, column=1, sticky="ns")
        self.rowconfigure(0, weight=1)
        self._rows.bind("<<TreeviewSelect>>", lambda _: self._selected())
        self._idle: str | None = None
        self._rows.bind("<Configure>", lambda _: self._resized())
        self._rows.bind("<Destroy>", lambda _: self._forget_idle())
        self._detail = tk.Text(
            self, height=7, width=42, wrap="word", font="TkFixedFont", foreground=theme.FAULT,
            background=theme.CARD, relief="flat", highlightthickness=1,
            highlightbackground=theme.LINE, state="disabled", takefocus=False, padx=6, pady=4,
        )  # fmt: skip

    def hide_points(self) -> None:
        """Take the column of points away, in a game that has none."""
        self._rows.configure(displaycolumns=[name for name, _, _ in COLUMNS if name != "Points"])

    def append(self, turn: Turn, scores: tuple[int, int] | None) -> None:
        """Add the next turn, and the scores after it; None where the game has no points."""
        self._count += 1
        move = f"✗ {turn.outcome}" if turn.is_lost else turn.text or turn.outcome.value
        points = " : ".join(map(str, scores or ()))
        self._rows.insert(
            "", "end", iid=str(self._count), tags=("fault",) if turn.is_lost else (),
            values=(turn.number, turn.player, move, points, f"{turn.seconds:.2f}"),
        )  # fmt: skip

    def select(self, number: int) -> None:
        """Select a turn; 0 selects none."""
        self._rows.selection_set((str(number),) if number else ())
        self._keep_in_sight()

    def show_detail(self, text: str) -> None:
        """Show why a turn was lost; an empty text takes the field away."""
        if not text:
            self._detail.grid_forget()
            return
        self._detail.grid(row=1, column=0, columnspan=2, sticky="ew", pady=(8, 0))
        self._detail.configure(state="normal")
        self._detail.replace("1.0", "end", text)
        self._detail.configure(state="disabled")

    def _resized(self) -> None:
        """Keep the selected turn in sight, once the list knows how many rows it shows."""
        self._forget_idle()
        self._idle = self.after_idle(self._keep_in_sight)

    def _forget_idle(self) -> None:
        if self._idle is not None:
            self.after_cancel(self._idle)
            self._idle = None

    def _keep_in_sight(self) -> None:
        self._idle = None
        for row in self._rows.selection():
            self._rows.see(row)

    def _selected(self) -> None:
        for row in self._rows.selection():
            self._on_select(int(row))

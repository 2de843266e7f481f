"""Both players' points over the turns of a game, as two lines."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from typing import Final

from connect4.views.window import theme

HEIGHT: Final = 96
LEFT: Final = 38
RIGHT: Final = 56
TOP: Final = 10
BOTTOM: Final = 14


class ScoreCurve(tk.Canvas):
    """Draws `scores` after each turn; a click goes to `on_turn` as the number of the turn."""

    def __init__(self, parent: tk.Misc, on_turn: Callable[[int], None]) -> None:
        super().__init__(
            parent, height=HEIGHT, background=theme.CARD, highlightthickness=1,
            highlightbackground=theme.LINE,
        )  # fmt: skip
        self._on_turn = on_turn
        self._scores: Sequence[tuple[int, int]] = [(0, 0)]
        self._faults: Sequence[int] = []
        self._position = 0
        self.bind("<Configure>", lambda _: self._draw())
        self.bind("<Button-1>", self._clicked)
        self.bind("<B1-Motion>", self._clicked)

    def show(self, scores: Sequence[tuple[int, int]], faults: Sequence[int], position: int) -> None:
        """Show the scores before turn 1 and after each turn, and the turns that were lost."""
        self._scores, self._faults, self._position = scores, faults, position
        self._draw()

    def _step(self) -> float:
        """Return the pixels from one turn to the next."""
        return (self.winfo_width() - LEFT - RIGHT) / max(10, len(self._scores) - 1)

    def _clicked(self, event: tk.Event[tk.Misc]) -> None:
        turn = round((event.x - LEFT) / max(0.1, self._step()))
        self._on_turn(max(0, min(len(self._scores) - 1, turn)))

    def _draw(self) -> None:
        self.delete("all")
        bottom = self.winfo_height() - BOTTOM
        top = max(1, *map(max, self._scores))
        scale = (bottom - TOP) / top
        step = self._step()

        def line(values: list[int], colour: str, dash: tuple[int, ...]) -> None:
            points = [
                part
                for turn, value in enumerate(values)
                for part in (LEFT + turn * step, bottom - value * scale)
            ]
            self.create_line(points * (1 + (len(values) == 1)), fill=colour, dash=dash, width=2)

        for value in (0, top):
            y = bottom - value * scale
            self.create_line(LEFT, y, self.winfo_width() - RIGHT, y, fill=theme.LINE)
            self.create_text(
                LEFT - 6, y, text=str(value), anchor="e", fill=theme.MUTED, font="Small"
            )
        x = LEFT + step * self._position
        self.create_line(x, TOP - 4, x, bottom + 4, fill=theme.MUTED, dash=(2, 3))
        line([two for _, two in self._scores], theme.PLAYERS[1], (6, 3))
        line([one for one, _ in self._scores], theme.PLAYERS[0], ())
        for turn in self._faults:
            self.create_text(
                LEFT + step * turn, bottom + 6, text="×", fill=theme.FAULT, font="Strong"
            )
        self._draw_ends(bottom, scale, LEFT + step * (len(self._scores) - 1))

    def _draw_ends(self, bottom: float, scale: float, end: float) -> None:
        """Write the last scores beside the ends of the lines, never over each other."""
        one, two = self._scores[-1]
        heights = [bottom - one * scale, bottom - two * scale]
        if abs(heights[0] - heights[1]) < 14:
            upper = 0 if one >= two else 1
            middle = min(max(sum(heights) / 2, TOP + 7), bottom - 7)
            heights[upper], heights[1 - upper] = middle - 7, middle + 7
        for mark, points, y, colour in zip("●○", (one, two), heights, theme.PLAYERS, strict=True):
            text = f"{mark} {points}"
            self.create_text(end + 6, y, text=text, anchor="w", fill=colour, font="Small")

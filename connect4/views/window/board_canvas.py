"""The board in the window: drawn at any size, animated, with marks on it."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Sequence
from typing import Final

from connect4.games.base import Game, Player, Seconds, State
from connect4.views.motion import Cell, Drop, Motion, PopOut, Slide, motion_of
from connect4.views.run_marks import RunMark, label_place
from connect4.views.window import theme

FRAME: Final = 15
"""Milliseconds between two pictures of an animation."""

SETTLE: Final = 60
"""Milliseconds that a resize waits for the next before the pictures are made again."""

MARGIN: Final = 10
"""Pixels of the plate around its cells."""

LARGEST: Final = 96
"""Pixels of a cell; small boards leave some of a large window free."""


class BoardCanvas(tk.Canvas):
    """Shows positions of `game`; `overlay` draws what else lies over them.

    Places are cells `(row, column)`; row -1 is above the board, the row below it its base.
    """

    def __init__(self, parent: tk.Misc, game: Game) -> None:
        super().__init__(
            parent, background=theme.BACKGROUND, highlightthickness=0, takefocus=True,
            width=520, height=460,
        )  # fmt: skip
        self._game = game
        self.slides = game.start(None, None).slides
        """Whether the game's tokens slide: on squares, with labels beside the rows too."""
        self.mark_colour = theme.TEXT if self.slides else theme.CARD
        """Of what is drawn over the board in no player's colour."""
        self.overlay: Callable[[], None] = lambda: None
        self._runs: Sequence[RunMark] = ()
        self._state: State | None = None
        self._last: Motion | None = None
        self._tokens: dict[Cell, int] = {}
        self._flying: list[tuple[int, float, float, float, float]] = []
        self._flight: tuple[float, Seconds] = (0.0, 0.0)
        self._timer: str | None = None
        self._resize_timer: str | None = None
        self._size = 0
        self._left = self._top = 0.0
        self._pictures: list[tk.PhotoImage] = []
        self._plate: tk.PhotoImage | None = None
        self.bind("<Configure>", self._resized)
        self.bind("<Destroy>", lambda _: self._forget_timers())

    def show(
        self,
        state: State,
        last: Motion | None = None,
        seconds: Seconds = 0.0,
        runs: Sequence[RunMark] = (),
    ) -> None:
        """Show `state`, reached by `last`, and `runs`; the move takes `seconds` to be seen."""
        self._settle()
        self._runs = runs
        before = self._state
        self._state, self._last = state, last
        if self._size == 0 and self.winfo_width() <= 1:
            return  # not on the screen yet
        if self._size == 0 or before is None or before.board().shape != state.board().shape:
            self._rebuild()
            return
        changed = motion_of(self._game, before, state)
        self._place_tokens()
        if seconds > 0 and changed is not None and changed == last:
            self._fly(changed, before, seconds)
        else:
            self.draw_marks()

    def cell_at(self, cell: Cell) -> tuple[int, int]:
        """Return the pixel in the middle of a cell."""
        x, y = self._middle(*cell)
        return round(x), round(y)

    # --- places ---------------------------------------------------------------------------

    def board_shape(self) -> tuple[int, int]:
        """Return `(rows, columns)` of the position that is shown."""
        assert self._state is not None
        rows, columns = self._state.board().shape
        return rows, columns

    def _middle(self, row: float, column: float) -> tuple[float, float]:
        rows, _ = self.board_shape()
        base = MARGIN if row >= rows else 0
        return (
            self._left + (column + 0.5) * self._size,
            self._top + (row + 0.5) * self._size + base,
        )

    def cell_under(self, x: float, y: float) -> Cell | None:
        """Return the cell at a pixel; None beside the board."""
        if self._state is None or not self._size:
            return None
        rows, columns = self.board_shape()
        column = int((x - self._left) // self._size)
        row = int((y - self._top) // self._size)
        if y > self._top + rows * self._size + MARGIN / 2:
            row = rows
        inside = 0 <= column < columns and -1 <= row <= rows
        return (row, column) if inside else None

    # --- drawing --------------------------------------------------------------------------

    def _resized(self, _: object) -> None:
        if self._resize_timer is not None:
            self.after_cancel(self._resize_timer)
        self._resize_timer = self.after(SETTLE if self._size else 1, self._resize)

    def _resize(self) -> None:
        self._resize_timer = None
        if self._state is not None:
            self._settle()
            self._rebuild()

    def _rebuild(self) -> None:
        """Make pictures and items for the size that the canvas has now."""
        rows, columns = self.board_shape()
        width, height = self.winfo_width(), self.winfo_height()
        labels = 0.7 if self.slides else 0.0
        size = min(
            (width - 2 * MARGIN - 8) / (columns + 2 * labels),
            (height - 2 * MARGIN - 8) / (rows + 1.55),
        )
        self._size = max(12, min(LARGEST, int(size)))
        self._left = round((width - columns * self._size) / 2)
        self._top = round((height - (rows + 1.55) * self._size) / 2 + 0.9 * self._size)
        self._pictures = [theme.token_picture(self, self._size, player) for player in (1, 2)]
        draw = theme.field_picture if self.slides else theme.plate_picture
        self._plate = draw(self, rows, columns, self._size, MARGIN)
        self.delete("all")
        self._tokens = {}
        self.create_image(
            self._left - MARGIN, self._top - MARGIN, image=self._plate, anchor="nw", tags="plate"
        )
        self._draw_labels()
        self._place_tokens()
        self.draw_marks()

    def _draw_labels(self) -> None:
        rows, columns = self.board_shape()
        size = -max(9, min(16, self._size // 3))
        state = self._state
        assert state is not None
        owners = state.column_owners
        for column in range(columns):
            x, y = self._middle(rows, column)
            y -= 0.2 * self._size
            label = str(column + state.first_number)
            colour = theme.PLAYERS[owners[column] - 1] if owners else theme.MUTED
            if owners:
                half = 0.38 * self._size
                self.create_rectangle(
                    x - half, y - 0.24 * self._size, x + half, y + 0.24 * self._size,
                    fill=theme.CARD, outline=colour, tags=("base", f"base{column}"),
                )  # fmt: skip
                label += " ▾"
            self.create_text(x, y, text=label, fill=colour, font=("", size, "bold"), tags="base")
        for row in range(rows if self.slides else 0):
            x, y = self._middle(row, 0)
            x -= 0.85 * self._size + MARGIN
            label = str(row + state.first_number)
            self.create_text(x, y, text=label, fill=theme.MUTED, font=("", size, "bold"))

    def _place_tokens(self) -> None:
        """Make the tokens on the canvas those of the position, touching only what differs."""
        assert self._state is not None
        for row, values in enumerate(self._state.board().tolist()):
            for column, value in enumerate(values):
                cell = row, column
                item = self._tokens.get(cell)
                if value and item is None:
                    self._tokens[cell] = self._draw_token(row, column, value)
                elif value and item is not None:
                    self.itemconfigure(item, image=self._pictures[value - 1])
                elif item is not None:
                    self.delete(item)
                    del self._tokens[cell]

    def _draw_token(self, row: float, column: float, player: int) -> int:
        x, y = self._middle(row, column)
        item = self.create_image(x, y, image=self._pictures[player - 1])
        if self.slides:
            self.tag_raise(item, "plate")
        else:
            self.tag_lower(item, "plate")  # behind the holes
        return item

    # --- animation ------------------------------------------------------------------------

    def _fly(self, motion: Motion, before: State, seconds: Seconds) -> None:
        """Start the tokens of a move where they come from."""
        rows, _ = self.board_shape()
        if isinstance(motion, Drop):
            (row, column) = motion.cell
            self._start(self._tokens[motion.cell], (-1, column), (row, column))
            seconds *= 0.4 + 0.6 * (row + 1) / rows
        elif isinstance(motion, Slide):
            self._start(self._tokens[motion.target], motion.origin, motion.target)
        else:
            column = motion.column
            for row in range(rows):
                if (row, column) in self._tokens:
                    self._start(self._tokens[row, column], (row - 1, column), (row, column))
            popped = self._draw_token(rows - 1, column, int(before.board()[-1, column]))
            self.addtag_withtag("popped", popped)
            self._start(popped, (rows - 1, column), (rows + 0.7, column))
        self._flight = time.monotonic(), seconds
        self.draw_marks()
        self._frame()

    def _start(self, item: int, origin: tuple[float, float], target: tuple[float, float]) -> None:
        from_x, from_y = self._middle(*origin)
        to_x, to_y = self._middle(*target)
        self.coords(item, from_x, from_y)
        self._flying.append((item, from_x, from_y, to_x, to_y))

    def _frame(self) -> None:
        """Draw one picture of the animation and ask for the next."""
        began, seconds = self._flight
        part = min(1.0, (time.monotonic() - began) / seconds)
        self.draw_flight(part)
        if part < 1:
            self._timer = self.after(FRAME, self._frame)
        else:
            self._settle()

    def _forget_timers(self) -> None:
        for timer in (self._timer, self._resize_timer):
            if timer is not None:
                self.after_cancel(timer)

    def draw_flight(self, part: float) -> None:
        """Draw the tokens that move at a `part`, 0..1, of their time."""
        way = part * part if isinstance(self._last, Drop) else part * part * (3 - 2 * part)
        for item, from_x, from_y, to_x, to_y in self._flying:
            self.coords(item, from_x + way * (to_x - from_x), from_y + way * (to_y - from_y))

    def _settle(self) -> None:
        """End an animation: everything stands where it belongs."""
        if self._timer is not None:
            self.after_cancel(self._timer)
            self._timer = None
        if self._flying:
            for item, _, _, x, y in self._flying:
                self.coords(item, x, y)
            self._flying = []
            self.delete("popped")
            self.draw_marks()

    # --- marks over the board -------------------------------------------------------------

    def draw_marks(self) -> None:
        """Draw what lies over the board anew."""
        self.delete("mark")
        if self._state is None or not self._size:
            return
        if not self._flying:
            self._mark_last()
            self._mark_runs()
        self.overlay()

    def ring(self, cell: Cell, colour: str, dashed: bool = False, width: int = 3) -> None:
        """Draw a ring around a cell until the marks are drawn again."""
        x, y = self._middle(*cell)
        radius = 0.43 * self._size
        self.create_oval(
            x - radius, y - radius, x + radius, y + radius, outline=colour, width=width,
            dash=(4, 4) if dashed else (), tags="mark",
        )  # fmt: skip

    def mark_base(self, column: int, colour: str) -> None:
        """Draw a frame around the base of a column that tokens pop out of."""
        left, top, right, bottom = self.coords(f"base{column}")
        self.create_rectangle(left, top, right, bottom, outline=colour, width=3, tags="mark")

    def mark_above(self, column: int, player: Player) -> None:
        """Draw a token of `player` over a column."""
        x, _ = self._middle(0, column)
        y = self._top - MARGIN - 0.42 * self._size
        item = self.create_image(x, y, image=self._pictures[player - 1], tags="mark")
        self.tag_lower(item, "plate")

    def _mark_runs(self) -> None:
        """Draw the runs as lines, and their points where there is room for them."""
        thick = max(2, self._size // 8)
        for run in self._runs:
            ends = (*self._middle(*run.first), *self._middle(*run.last))
            colour = theme.MADE if run.kind == "made" else theme.PLATE_MARK
            width = max(2, thick // 2) if run.kind == "standing" else thick
            dash = (4, 4) if run.kind == "broken" else ()
            for fill, size, dashes in ((theme.PLATE, width + 4, ()), (colour, width, dash)):
                self.create_line(
                    *ends, fill=fill, width=size, dash=dashes, capstyle="round", tags="mark"
                )
        taken: list[tuple[float, float]] = []
        for run in self._runs:
            if run.label:
                self._mark_points(run, taken)

    def _mark_points(self, run: RunMark, taken: list[tuple[float, float]]) -> None:
        """Write the points of a run on its line, off the places that are taken."""
        ends = self._middle(*run.first), self._middle(*run.last)
        height = max(9, self._size // 5)
        width = (0.5 + 0.35 * len(run.label)) * height
        needed = run.kind != "standing"  # the line below the board has the sum of those
        place = label_place(ends, (2 * width, 1.5 * height), taken, needed)
        if place is None:
            return
        x, y = place
        taken.append(place)
        self.create_rectangle(
            x - width, y - 0.75 * height, x + width, y + 0.75 * height, outline=theme.PLATE,
            fill=theme.MADE if run.kind == "made" else theme.PLATE_MARK, tags="mark",
        )  # fmt: skip
        self.create_text(
            x, y, text=run.label, font=("", -height, "bold"), tags=("mark", "points"),
            fill=theme.MARK_FAULT if run.kind == "broken" else theme.MARK_INK,
        )  # fmt: skip

    def _mark_last(self) -> None:
        rows, _ = self.board_shape()
        if isinstance(self._last, Drop):
            self.ring(self._last.cell, self.mark_colour)
        elif isinstance(self._last, Slide):
            self.ring(self._last.origin, self.mark_colour, dashed=True, width=2)
            self.ring(self._last.target, self.mark_colour)
        elif isinstance(self._last, PopOut):
            x, y = self._middle(rows - 1, self._last.column)
            half = self._size / 2
            self.create_line(
                x - half + 3, y + half + MARGIN / 2, x + half - 3, y + half + MARGIN / 2,
                fill=theme.CARD, width=4, tags="mark",
            )  # fmt: skip
            self.create_text(
                x, y + half + MARGIN / 2, text="▼", fill=theme.CARD,
                font=("", -max(10, self._size // 4), "bold"), tags="mark",
            )  # fmt: skip

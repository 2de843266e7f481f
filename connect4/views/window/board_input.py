"""Read a person's moves on the board, by mouse and keyboard."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from typing import Final

from connect4.games.base import Game, Player, State
from connect4.views.motion import Cell, Drop, Motion, PopOut, Slide, moves_of
from connect4.views.window import theme
from connect4.views.window.board_canvas import BoardCanvas

PICK: Final = "click one of your pieces that can move, then the square it goes to"


class BoardInput:
    """Plays on `board`: `on_move` gets moves as text, `on_hint` why a click is not a move.

    Besides the mouse: arrow keys choose a column or a cell, Return drops or picks, P pops out,
    Escape lets go.
    """

    def __init__(
        self,
        board: BoardCanvas,
        game: Game,
        on_move: Callable[[str], None],
        on_hint: Callable[[str], None],
    ) -> None:
        self._board = board
        self._game = game
        self._on_move = on_move
        self._on_hint = on_hint
        self._moves: dict[Motion, str] = {}
        self._mover: Player = 1
        self._cursor: Cell | None = None
        self._picked: Cell | None = None
        board.overlay = self._draw
        board.bind("<Motion>", lambda event: self._point(event.x, event.y))
        board.bind("<Leave>", lambda _: self._set_cursor(None))
        board.bind("<Button-1>", self._clicked)
        board.bind("<Left>", lambda _: self._move_cursor(0, -1))
        board.bind("<Right>", lambda _: self._move_cursor(0, 1))
        board.bind("<Up>", lambda _: self._move_cursor(-1, 0))
        board.bind("<Down>", lambda _: self._move_cursor(1, 0))
        board.bind("<Return>", lambda _: self._choose(base=False))
        board.bind("<Key-p>", lambda _: self._choose(base=True))
        board.bind("<Escape>", lambda _: self._pick(None))

    def ask(self, state: State) -> None:
        """Let the mover of `state` play."""
        self._moves = {
            motion: self._game.format_action(action)
            for motion, action in moves_of(self._game, state).items()
        }
        self._mover = state.mover
        self._board.draw_marks()

    def rest(self) -> None:
        """Take no more moves for now."""
        self._moves = {}
        self._picked = None
        self._board.draw_marks()

    def _draw(self) -> None:
        """Show what a click would do."""
        colour = theme.PLAYERS[self._mover - 1]
        for motion in self._moves:
            if isinstance(motion, Slide) and motion.origin == self._picked:
                self._board.ring(motion.target, colour, dashed=True)
        if self._picked is not None:
            self._board.ring(self._picked, self._board.mark_colour)
        if self._cursor is None or not self._moves:
            return
        rows, _ = self._board.board_shape()
        row, column = self._cursor
        drop = self._drop(column)
        if self._board.slides:
            if 0 <= row < rows:
                self._board.ring(self._cursor, self._board.mark_colour, width=2)
        elif row >= rows:
            if PopOut(column) in self._moves:
                self._board.mark_base(column, colour)
        elif drop is not None:
            self._board.ring(drop.cell, colour, dashed=True)
            self._board.mark_above(column, self._mover)

    def _drop(self, column: int) -> Drop | None:
        """Return the drop into a column that is open to the mover."""
        for motion in self._moves:
            if isinstance(motion, Drop) and motion.cell[1] == column:
                return motion
        return None

    def _point(self, x: float, y: float) -> None:
        self._set_cursor(self._board.cell_under(x, y))

    def _set_cursor(self, cell: Cell | None) -> None:
        if cell != self._cursor:
            self._cursor = cell
            if self._moves:
                self._board.draw_marks()

    def _clicked(self, event: tk.Event[tk.Misc]) -> None:
        self._board.focus_set()
        self._point(event.x, event.y)
        if self._cursor is not None:
            self._choose(base=self._cursor[0] >= self._board.board_shape()[0])

    def _move_cursor(self, down: int, right: int) -> None:
        if not self._moves:
            return
        rows, columns = self._board.board_shape()
        row, column = self._cursor or (0, -1 if right > 0 else columns // 2 - right)
        first, last = (0, rows - 1) if self._board.slides else (-1, rows)
        row = max(first, min(last, row + down))
        self._set_cursor((row, max(0, min(columns - 1, column + right))))

    def _choose(self, base: bool) -> None:
        """Play what the cursor is on, or say why there is nothing to play."""
        if not self._moves or self._cursor is None:
            return
        _, column = self._cursor
        if self._board.slides:
            self._choose_cell(self._cursor)
            return
        motion: Motion | None = PopOut(column) if base else self._drop(column)
        if motion in self._moves:
            self._play(self._moves[motion])
        elif base:
            self._on_hint(f"player {self._mover} cannot pop out of column {column} now")
        else:
            self._on_hint(f"column {column} is full")

    def _choose_cell(self, cell: Cell) -> None:
        if self._picked is not None and Slide(self._picked, cell) in self._moves:
            self._play(self._moves[Slide(self._picked, cell)])
            return
        movable = any(isinstance(move, Slide) and move.origin == cell for move in self._moves)
        self._pick(cell if movable else None)
        if not movable:
            self._on_hint(PICK)

    def _pick(self, cell: Cell | None) -> None:
        self._picked = cell
        self._board.draw_marks()

    def _play(self, text: str) -> None:
        self.rest()
        self._on_move(text)

"""One game in the window: the board, both players, the turns, the score curve, the controls."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from tkinter import ttk
from typing import Final

from connect4 import record as records
from connect4.games.base import SIDES, Ending, Game, Player, Seconds, State
from connect4.games.runs import RunChange, run_changes
from connect4.record import Record
from connect4.referee import Event, Result, Started, Turn, TurnBegun, TurnEnded, abandoned
from connect4.views.motion import motion_of
from connect4.views.run_marks import (
    RunMark,
    change_marks,
    standing_marks,
    sum_text,
    why_text,
    won_marks,
)
from connect4.views.window.board_canvas import BoardCanvas
from connect4.views.window.board_input import BoardInput
from connect4.views.window.controls import Commands, Controls
from connect4.views.window.player_card import PlayerCard
from connect4.views.window.score_curve import ScoreCurve
from connect4.views.window.turn_list import TurnList
from connect4.views.words import (
    ENDINGS,
    fault_report,
    move_text,
    not_loaded_report,
    repeat_command,
    why_lost,
)

FLIGHT: Final = 0.45
"""Seconds that a move is seen moving at most; at higher speeds it is a part of the pace."""

TICK: Final = 100
"""Milliseconds between two drawings of the clock."""

STATUS: Final = 46
"""Pixels for two lines of text, so that the board keeps its size when the second comes and goes."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the page shows of a game before its first turn.

    `record_name` is the file in which the record will be, empty where that is not known.
    """

    game: Game
    title: str
    names: tuple[str, str]
    record_name: str = ""


@dataclass(frozen=True, slots=True)
class Buttons:
    """What the page cannot do by itself; `answer` gets a person's move as text.

    `pause`, `step` and `pace` are for the live game.
    """

    new_game: Callable[[], None]
    open_record: Callable[[], None]
    save_record: Callable[[], None]
    show_tree: Callable[[], None]
    answer: Callable[[str], None]
    pause: Callable[[bool], None]
    step: Callable[[], None]
    pace: Callable[[Seconds], None]


class GamePage(ttk.Frame):
    """Follows a live game by the referee's events, then (or at once) looks through it."""

    def __init__(self, parent: tk.Misc, heading: Heading, buttons: Buttons, pace: str) -> None:
        super().__init__(parent, padding=12)
        self._heading = heading
        self._buttons = buttons
        self._states: list[State] = []
        self._turns: list[Turn] = []
        self._scores: list[tuple[int, int]] = []
        self._position = 0
        self._side: Player | None = None
        """Whose runs the board shows; None: those that the last turn made or broke."""
        self._timer: str | None = None
        self._ticker: str | None = None
        self.asked = False
        self._greeted: set[Player] = set()
        self._build_top()
        self.cards = {
            player: PlayerCard(
                self, player, heading.names[player - 1], partial(self.toggle_runs, player)
            )
            for player in SIDES
        }
        self.cards[1].grid(row=1, column=0, sticky="ew")
        self.cards[2].grid(row=1, column=1, sticky="ew", padx=(10, 0))
        self._build_middle()
        self.controls = Controls(
            self, Commands(self._pause, self._step, buttons.pace, self.go_to), pace
        )
        self.controls.grid(row=3, column=0, columnspan=2, sticky="ew", pady=(8, 8))
        self._curve = ScoreCurve(self, self.go_to)
        self._curve.grid(row=4, column=0, columnspan=2, sticky="ew")
        self.columnconfigure((0, 1), weight=1, uniform="cards")
        self.rowconfigure(2, weight=1)
        self.bind("<Destroy>", lambda event: self._forget_timers(event.widget))
        self._tick()

    # --- construction ---------------------------------------------------------------------

    def _build_top(self) -> None:
        top = ttk.Frame(self)
        wanted = [
            ("New game", self._buttons.new_game),
            ("Open record", self._buttons.open_record),
            ("Save record", self._buttons.save_record),
            ("Search tree", self._buttons.show_tree),
        ]
        for text, command in reversed(wanted):
            ttk.Button(top, text=text, command=command).pack(side="right", padx=(6, 0))
        title = ttk.Label(top, text=self._heading.title, style="Title.TLabel")
        title.pack(side="left")  # last: a long one is cut, not the buttons
        top.grid(row=0, column=0, columnspan=2, sticky="ew", pady=(0, 10))

    def _build_middle(self) -> None:
        middle = ttk.Frame(self)
        middle.grid(row=2, column=0, columnspan=2, sticky="nsew", pady=(10, 0))
        middle.columnconfigure(0, weight=1)
        middle.rowconfigure(0, weight=1)
        middle.rowconfigure(1, minsize=STATUS)
        self.board = BoardCanvas(middle, self._heading.game)
        self._input = BoardInput(self.board, self._heading.game, self._played, self.say)
        self.board.grid(row=0, column=0, sticky="nsew")
        self._list = TurnList(middle, self._selected)
        self._list.grid(row=0, column=1, rowspan=2, sticky="ns", padx=(10, 0))
        line = ttk.Frame(middle)
        line.grid(row=1, column=0, sticky="ew", pady=(4, 0))
        self._status = ttk.Label(line, text="", wraplength=460, justify="left")
        self._status.pack(side="left", fill="x", expand=True)
        self.typed = ttk.Entry(line, width=8, font="Strong")
        self.typed.bind("<Return>", lambda _: self._submit())
        self._submit_button = ttk.Button(line, text="Move", width=6, command=self._submit)
        self._entry_parts = (self._submit_button, self.typed)
        self.board.bind("<Key>", self._key_on_board)

    @property
    def title(self) -> str:
        """Return what the game is called."""
        return self._heading.title

    @property
    def shortcuts(self) -> dict[str, Callable[[tk.Event[tk.Misc]], None]]:
        """Return what keys do on this page; keys of a field that has the focus are its own."""

        def unless_typing(act: Callable[[], None]) -> Callable[[tk.Event[tk.Misc]], None]:
            def pressed(event: tk.Event[tk.Misc]) -> None:
                if not isinstance(event.widget, ttk.Widget) or event.widget is self:
                    act()

            return pressed

        return {
            "<Control-n>": lambda _: self._buttons.new_game(),
            "<Control-o>": lambda _: self._buttons.open_record(),
            "<Control-s>": lambda _: self._buttons.save_record(),
            "<Control-t>": lambda _: self._buttons.show_tree(),
            "<space>": unless_typing(self.controls.toggle),
            "<Left>": unless_typing(lambda: self.go_to(self._position - 1)),
            "<Right>": unless_typing(lambda: self.go_to(self._position + 1)),
            "<Home>": unless_typing(lambda: self.go_to(0)),
            "<End>": unless_typing(lambda: self.go_to(len(self._turns))),
            "<Key-1>": unless_typing(lambda: self._digit(1)),
            "<Key-2>": unless_typing(lambda: self._digit(2)),
        }

    # --- a live game ----------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Show one event of the referee."""
        if isinstance(event, Started):
            self._begin(event.state)
            self.say("")
        elif isinstance(event, TurnBegun):
            mover = event.state.mover
            self.cards[mover].begin_turn(event.limit)
            name = self._heading.names[mover - 1]
            self.say("" if name == "human" else f"Turn {event.number}: player {mover} thinks.")
        elif isinstance(event, TurnEnded):
            self._turn_ended(event)
        else:
            self.rest()
            self.say(f"The game is over: {ENDINGS[event.result.ending]}.")
            self._show_failure(event.result)
            self.controls.review()

    def _begin(self, state: State) -> None:
        self._states, self._turns, self._scores = [state], [], [state.scores()]
        if not state.counts_points:
            self._curve.grid_remove()
            self._list.hide_points()
        self._show(0, animated=False)

    def _turn_ended(self, event: TurnEnded) -> None:
        self.cards[event.turn.player].end_turn()
        self._append(event.turn, event.state)
        self._show(len(self._turns), animated=True)
        if event.turn.is_lost:
            self._list.show_detail(self._fault_text(event.turn))
        self.say(self._turn_text(len(self._turns)))

    def ask(self, player: Player) -> None:
        """Let the person who plays `player` move."""
        self.asked = True
        for part in self._entry_parts:
            part.pack(side="right", padx=(6, 0))
        self._input.ask(self._states[-1])
        if player not in self._greeted:
            self._greeted.add(player)
            how = f"click the board, or type {self._heading.game.action_help}"
            self.say(f"Player {player}, your move: {how}.")
        elif not self._status.cget("text"):
            self.say(f"Player {player}, your move.")
        if self.focus_get() is None or self.focus_get() is self.winfo_toplevel():
            self.board.focus_set()

    @property
    def status(self) -> str:
        """Return the line that is shown to the person."""
        return str(self._status.cget("text"))

    def say(self, line: str) -> None:
        """Show a line to the person."""
        self._status.configure(text=line)

    def rest(self) -> None:
        """Stop the clocks and take no more moves."""
        self.asked = False
        self._input.rest()
        for part in self._entry_parts:
            part.pack_forget()
        for card in self.cards.values():
            card.end_turn()

    def searched(self) -> tuple[State, Turn] | None:
        """Return the shown turn of an agent, or the last before it, and the position it was in."""
        for turn in reversed(self._turns[: self._position]):
            if self._heading.names[turn.player - 1] != "human":
                return self._states[turn.number - 1], turn
        return None

    def record_of(self, record: Record) -> Record:
        """Return `record` as far as it has been shown, with a result."""
        turns = self._turns
        if record.result is not None and len(record.turns) == len(turns):
            return record
        result = abandoned(self._states[-1], Ending.LEFT)
        return replace(record, turns=list(turns), result=result)

    def _submit(self) -> None:
        text = self.typed.get().strip()
        if text and self.asked:
            self.typed.delete(0, "end")
            self._played(text)

    def _played(self, text: str) -> None:
        self.asked = False
        self.say("")
        self._input.rest()
        self._buttons.answer(text)

    def _key_on_board(self, event: tk.Event[tk.Misc]) -> None:
        if self.asked and event.char.isdigit():
            self.typed.focus_set()
            self.typed.insert("end", event.char)

    # --- the history ----------------------------------------------------------------------

    def load(self, record: Record) -> None:
        """Show a finished game from its first position."""
        states = list(records.replay(record))
        self._begin(states[0])
        for turn, state in zip(record.turns, states[1:], strict=True):
            self._append(turn, state)
        self._show(0, animated=False)
        self.controls.review()
        assert record.result is not None
        one, two = record.result.scores
        score = f", {one}:{two} at its end" if states[0].counts_points else ""
        self.say(f"A recorded game{score}: {ENDINGS[record.result.ending]}.")
        self._show_failure(record.result)

    def _show_failure(self, result: Result) -> None:
        """Show why a game never began."""
        if result.detail is not None:
            self._list.show_detail(not_loaded_report(result, self._heading.names))

    def _append(self, turn: Turn, state: State) -> None:
        self._turns.append(turn)
        self._states.append(state)
        self._scores.append(state.scores())
        self._list.append(turn, self._scores[-1] if state.counts_points else None)

    def go_to(self, position: int) -> None:
        """Show the position after N turns of a finished game."""
        if not self.controls.reviewing or not self._states:
            return
        position = max(0, min(len(self._turns), position))
        before = self._position
        if position != before:
            self._show(position, animated=position == before + 1)
            self.say(self._turn_text(position) if position else "The first position.")

    def _turn_text(self, position: int) -> str:
        """Say what was played, and why it changed the points."""
        why = why_text(self._changes(position))
        turn = self._turns[position - 1]
        return f"Turn {turn.number}: {move_text(turn)}{f'; {why}' if why else ''}."

    def _changes(self, position: int) -> tuple[RunChange, ...]:
        """Return what a turn made and broke; nothing in a game without points."""
        if not position or not self._states[position].counts_points:
            return ()
        before, after = self._states[position - 1 : position + 1]
        return run_changes(before.runs(), after.runs())

    def _run_marks(self, position: int) -> Sequence[RunMark]:
        state = self._states[position]
        if not state.counts_points:
            return won_marks(state.runs())
        if self._side is not None:
            return standing_marks(state.runs(), self._side)
        return change_marks(self._changes(position))

    def _digit(self, player: Player) -> None:
        """Show a player's runs, unless the digit begins a person's move."""
        if not self.asked:
            self.toggle_runs(player)

    def toggle_runs(self, player: Player) -> None:
        """Show all runs of a player and how they add up, or what the last turn changed again."""
        if not self._states or not self._states[self._position].counts_points:
            return
        self._side = None if self._side == player else player
        self._show(self._position, animated=False)
        if self._side is not None:
            runs = self._states[self._position].runs()
            self.say(f"Player {player}'s runs: {sum_text(runs, player)} points.")
        elif self._position:
            self.say(self._turn_text(self._position))

    def _show(self, position: int, animated: bool) -> None:
        self._position = position
        state = self._states[position]
        last = None
        if position:
            last = motion_of(self._heading.game, self._states[position - 1], state)
        seconds = min(FLIGHT, 0.75 * self.controls.pace) if animated else 0.0
        self.board.show(state, last, seconds, self._run_marks(position))
        for player, card in self.cards.items():
            card.show(state, runs_shown=self._side == player)
            if self.controls.reviewing:
                card.mark(state.mover == player and position < len(self._turns))
        faults = [number for number, turn in enumerate(self._turns, 1) if turn.is_lost]
        self._curve.show(self._scores, faults, position)
        self.controls.show_turn(position, len(self._turns))
        self._list.select(position)

    def _selected(self, position: int) -> None:
        """Show a turn that was chosen in the list; of a live game the last lost one stays."""
        turn = self._turns[position - 1]
        if turn.is_lost:
            self._list.show_detail(self._fault_text(turn))
        elif self.controls.reviewing or position < len(self._turns):
            self._list.show_detail("")
        self.go_to(position)

    def _fault_text(self, turn: Turn) -> str:
        place = self._heading.record_name
        agent = self._heading.names[turn.player - 1]
        if agent == "human" or not place:
            said = f"Turn {turn.number}: {move_text(turn)}"
            return f"{said}\n\n{why_lost(turn)}" if "\n" in (turn.detail or "") else said
        repeat = repeat_command(place, turn)
        return fault_report(turn, self._states[turn.number - 1], agent, repeat)

    # --- controls and clocks --------------------------------------------------------------

    def _pause(self, paused: bool) -> None:
        if not self.controls.reviewing:
            self._buttons.pause(paused)
            return
        if self._timer is not None:
            self.after_cancel(self._timer)
            self._timer = None
        if not paused:
            if self._position == len(self._turns):
                self.go_to(0)
            self._play_on()

    def _play_on(self) -> None:
        """Show the next turn of a finished game, and ask for the one after it."""
        self._timer = None
        self.go_to(self._position + 1)
        if self._position < len(self._turns):
            self._timer = self.after(max(30, round(1000 * self.controls.pace)), self._play_on)
        else:
            self.controls.show_running(False)

    def _step(self) -> None:
        if self.controls.reviewing:
            self.go_to(self._position + 1)
        else:
            self._buttons.step()

    def _tick(self) -> None:
        for card in self.cards.values():
            if card.running:
                card.tick()
        self._ticker = self.after(TICK, self._tick)

    def _forget_timers(self, widget: tk.Misc) -> None:
        if widget is self:
            for timer in (self._timer, self._ticker):
                if timer is not None:
                    self.after_cancel(timer)

"""The start page: the game, the board, the players and the time for a move."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import filedialog, ttk
from typing import Final

from connect4.errors import InputError
from connect4.games import GAMES, own_starts
from connect4.views.window.agent_form import AgentForm
from connect4.views.window.choices import MODES, Choices
from connect4.views.window.session import TablePlan

FORM_WIDTH: Final = 760
FORM_HEIGHT: Final = 700
"""Pixels, the height that of the longest form; the shorter ones begin at the same place."""


class StartPage(ttk.Frame):
    """The form; `play` gets the choices and the game they make, once they are right."""

    def __init__(
        self,
        parent: tk.Misc,
        choices: Choices,
        play: Callable[[Choices, TablePlan], None],
        open_record: Callable[[], None],
    ) -> None:
        super().__init__(parent)
        self._play = play
        self._open_record = open_record
        self._game = choices.game if choices.game in GAMES else "extended"
        self._ready = False
        self._mode = tk.StringVar(self, choices.mode)
        self._game_title = tk.StringVar(self, GAMES[self._game].title)
        self._board = tk.StringVar(self, choices.board)
        self._file = tk.StringVar(self, choices.file)
        self._rows = tk.StringVar(self, choices.rows)
        self._columns = tk.StringVar(self, choices.columns)
        self._begins = tk.StringVar(self, choices.begins)
        self._seconds = tk.StringVar(self, choices.seconds)
        self._clocked = tk.BooleanVar(self, choices.clocked)
        self._form = ttk.Frame(self)
        self._form.place(relx=0.5, rely=0.5, y=-FORM_HEIGHT // 2, anchor="n", width=FORM_WIDTH)
        ttk.Label(self._form, text="Connect-4", style="Title.TLabel").pack(anchor="w")
        ttk.Label(self._form, text="What would you like to do?", style="Muted.TLabel").pack(
            anchor="w", pady=(2, 12)
        )
        self._build_modes()
        self._build_settings(choices)
        self._build_bottom()
        for variable in (
            self._mode, self._board, self._file, self._rows, self._columns, self._begins,
            self._seconds, self._clocked,
        ):  # fmt: skip
            variable.trace_add("write", lambda *_: self._changed())
        self._ready = True
        self._changed()

    @property
    def choices(self) -> Choices:
        """Return what is filled in."""
        return Choices(
            mode=self._mode.get(),
            game=self._game,
            board=self._board.get(),
            file=self._file.get(),
            rows=self._rows.get(),
            columns=self._columns.get(),
            opponent=self._opponent.text,
            first=self._first.text,
            second=self._second.text,
            begins=self._begins.get(),
            seconds=self._seconds.get(),
            clocked=self._clocked.get(),
        )

    @property
    def shortcuts(self) -> dict[str, Callable[[tk.Event[tk.Misc]], None]]:
        """Return what keys do on this page, whichever field has the focus."""
        return {"<Return>": self._return_pressed, "<Control-o>": lambda _: self._open_record()}

    def say(self, line: str) -> None:
        """Show what is wrong."""
        self._message.configure(text=line)

    # --- construction ---------------------------------------------------------------------

    def _build_modes(self) -> None:
        box = ttk.Frame(self._form)
        box.pack(fill="x")
        for value, text in MODES.items():
            ttk.Radiobutton(
                box, text=text, value=value, variable=self._mode, style="Choice.Toolbutton"
            ).pack(side="left", padx=(0, 8), ipady=4, fill="x", expand=True)
        ttk.Button(box, text="Open a record...", command=self._open_record).pack(
            side="left", ipady=4, fill="x", expand=True
        )

    def _build_settings(self, choices: Choices) -> None:
        card = ttk.Frame(self._form, style="Card.TFrame", padding=18)
        card.pack(fill="both", expand=True, pady=14)
        self._agents = ttk.Frame(card, style="Plain.Card.TFrame")
        self._opponent = AgentForm(self._agents, "Opponent", self._changed)
        self._first = AgentForm(self._agents, "First agent", self._changed)
        self._second = AgentForm(self._agents, "Second agent", self._changed)
        for form, text in (
            (self._opponent, choices.opponent),
            (self._first, choices.first),
            (self._second, choices.second),
        ):
            form.show(text, self._game)
        self._build_game(card)
        self._agents.pack(anchor="w", fill="x")
        self._begin_line = self._line(card, "First move")
        self._begin_choices = [
            ttk.Radiobutton(
                self._begin_line, value=value, variable=self._begins, style="Card.TRadiobutton"
            )
            for value in ("1", "2")
        ]
        for button in self._begin_choices:
            button.pack(side="left", padx=(0, 14))
        line = self._line(card, "Time")
        ttk.Spinbox(
            line, textvariable=self._seconds, from_=1, to=600, increment=1, width=7
        ).pack(side="left")  # fmt: skip
        ttk.Label(line, text="seconds per move", style="Muted.Card.TLabel").pack(
            side="left", padx=6
        )
        self._clock_box = ttk.Checkbutton(
            line, text="also limits people", variable=self._clocked, style="Card.TCheckbutton"
        )

    def _line(self, parent: tk.Misc, title: str) -> ttk.Frame:
        """Return a line of the form; a line without a title goes on under the one before."""
        line = ttk.Frame(parent, style="Plain.Card.TFrame")
        line.pack(anchor="w", fill="x", pady=4)
        ttk.Label(line, text=title, style="Card.TLabel", width=11).pack(side="left")
        return line

    def _build_game(self, card: ttk.Frame) -> None:
        line = self._line(card, "Game")
        titles = [game.title for game in GAMES.values()]
        box = ttk.Combobox(
            line, textvariable=self._game_title, values=titles, state="readonly", width=34
        )
        box.pack(side="left")
        box.bind("<<ComboboxSelected>>", lambda _: self._game_chosen(box.current()))
        line = self._line(card, "Board")
        self._radio(line, "the usual start", "usual")
        line = self._line(card, "")
        self._radio(line, "from a file", "file")
        self._files = ttk.Combobox(line, textvariable=self._file, width=24)
        self._files.pack(side="left")
        ttk.Button(line, text="Browse", command=self._browse).pack(side="left", padx=6)
        line = self._line(card, "")
        self._radio(line, "another size", "size")
        for variable, text in ((self._rows, "rows by"), (self._columns, "columns")):
            ttk.Spinbox(line, textvariable=variable, from_=1, to=12, width=4).pack(side="left")
            ttk.Label(line, text=text, style="Muted.Card.TLabel").pack(side="left", padx=6)
        self._list_files()

    def _radio(self, line: ttk.Frame, text: str, value: str) -> None:
        ttk.Radiobutton(
            line, text=text, value=value, variable=self._board, style="Card.TRadiobutton", width=14
        ).pack(side="left")

    def _build_bottom(self) -> None:
        self._message = ttk.Label(self._form, style="Fault.TLabel", wraplength=FORM_WIDTH)
        self._message.pack(anchor="w")
        bottom = ttk.Frame(self._form)
        bottom.pack(fill="x", pady=(6, 0))
        ttk.Button(bottom, text="Play", style="Go.TButton", width=12, command=self.submit).pack(
            side="right", ipady=3
        )
        words = ttk.Frame(bottom)
        words.pack(side="left", fill="x", expand=True)
        ttk.Label(words, text="The same in a terminal:", style="Muted.TLabel").pack(anchor="w")
        self._command = tk.StringVar(self)
        ttk.Entry(
            words, textvariable=self._command, state="readonly", font="TkFixedFont", takefocus=False
        ).pack(fill="x", padx=(0, 12))

    # --- what happens ---------------------------------------------------------------------

    def _changed(self) -> None:
        """Show the fields that the choices call for."""
        if not self._ready:
            return
        mode = self._mode.get()
        for form in (self._opponent, self._first, self._second):
            form.pack_forget()
            if mode == ("against" if form is self._opponent else "watch"):
                form.pack(anchor="w", pady=4)
        who = ("the first agent", "the second agent") if mode == "watch" else ("me", "the agent")
        for button, text in zip(self._begin_choices, who, strict=True):
            button.configure(text=text)
            button.state(["disabled" if mode == "persons" else "!disabled"])
        if mode == "watch":
            self._clock_box.pack_forget()
        else:
            self._clock_box.pack(side="left", padx=(14, 0))
        self._command.set(self.choices.command())
        self.say("")

    def _game_chosen(self, number: int) -> None:
        self._game = list(GAMES)[number]
        for form in (self._opponent, self._first, self._second):
            form.show(form.text, self._game)
        self._board.set("usual")
        names = self._list_files()
        self._file.set(names[0] if names else "")
        self._changed()

    def _list_files(self) -> list[str]:
        """Offer the kit's own state files of the game, and return their names."""
        names = [path.stem for path in own_starts(GAMES[self._game])]
        self._files.configure(values=names)
        return names

    def _browse(self) -> None:
        name = filedialog.askopenfilename(
            parent=self, title="A state file", filetypes=[("State files", "*.txt"), ("All", "*")]
        )
        if name:
            self._board.set("file")
            self._file.set(name)

    def _return_pressed(self, event: tk.Event[tk.Misc]) -> None:
        if not isinstance(event.widget, ttk.Button | ttk.Radiobutton | ttk.Combobox):
            self.submit()

    def submit(self) -> None:
        """Check the choices and play."""
        choices = self.choices
        try:
            planned = choices.planned()
        except InputError as error:
            self.say(f"{error}")
            return
        self._play(choices, planned)

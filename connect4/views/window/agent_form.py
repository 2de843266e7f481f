"""The form fields that name an agent: its kind, its file, its options."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import filedialog, ttk
from typing import Final

from connect4.errors import InputError
from connect4.players.checks import words_for
from connect4.players.names import split_name
from connect4.players.registry import PLAYERS

WAITING: Final = frozenset({"human", "remote", "env"})
"""Kinds that are not offered: a person, a game that a server plays, a function of some module."""


def kinds_for(game: str) -> list[str]:
    """Return the kinds of agents that play `game`."""
    return [
        name
        for name, kind in PLAYERS.items()
        if name not in WAITING and (kind.games is None or game in kind.games)
    ]


class AgentForm(ttk.Frame):
    """Reads and shows an agent's name; `changed` is called after every change."""

    def __init__(self, parent: tk.Misc, title: str, changed: Callable[[], None]) -> None:
        super().__init__(parent, style="Plain.Card.TFrame")
        self._changed = changed
        self._game = "extended"
        self._kind = tk.StringVar(self)
        self._rest = tk.StringVar(self)
        self._values: dict[str, tk.StringVar] = {}
        ttk.Label(self, text=title, style="Card.TLabel", width=11).grid(row=0, column=0, sticky="w")
        self._kinds = ttk.Combobox(self, textvariable=self._kind, state="readonly", width=14)
        self._kinds.grid(row=0, column=1, sticky="w")
        self._kinds.bind("<<ComboboxSelected>>", lambda _: self._choose(self._kind.get()))
        self._hint = ttk.Label(self, style="Muted.Card.TLabel")
        self._hint.grid(row=0, column=2, sticky="w", padx=(12, 0))
        self._fields = ttk.Frame(self, style="Plain.Card.TFrame")
        self.columnconfigure(2, weight=1)
        self._fields.grid(row=1, column=1, columnspan=2, sticky="w")
        self._rest.trace_add("write", lambda *_: self._changed())

    @property
    def text(self) -> str:
        """Return the agent's name as it is written on a command line; not checked."""
        rest = self._rest.get().strip()
        options = [
            f"{key}={value.get().strip()}"
            for key, value in self._values.items()
            if value.get().strip()
        ]
        parts = ",".join([rest, *options] if rest else options)
        return f"{self._kind.get()}:{parts}" if parts else self._kind.get()

    def show(self, text: str, game: str) -> None:
        """Show the agent `text` where there is such a one for `game`, else the first there is."""
        self._game = game
        kinds = kinds_for(game)
        self._kinds.configure(values=kinds)
        try:
            name = split_name(text)
        except InputError:
            name = split_name(kinds[0])
        if name.kind not in kinds:
            name = split_name(kinds[0])
        self._choose(name.kind, name.rest, name.options)

    def _choose(self, kind: str, rest: str = "", options: dict[str, str] | None = None) -> None:
        """Show the fields of a kind."""
        self._kind.set(kind)
        for widget in self._fields.winfo_children():
            widget.destroy()
        self._values = {}
        hint = "an empty field has its usual value" if PLAYERS[kind].options else ""
        self._hint.configure(text=hint)
        if PLAYERS[kind].takes_rest:
            self._build_file()
        chosen = [key for key in PLAYERS[kind].options if words_for(key, self._game)]
        typed = [key for key in PLAYERS[kind].options if key not in chosen]
        for keys in filter(None, (typed, chosen)):
            line = ttk.Frame(self._fields, style="Plain.Card.TFrame")
            line.pack(anchor="w", pady=3)
            for key in keys:
                self._values[key] = tk.StringVar(self, (options or {}).get(key, ""))
                self._build_option(line, key, self._values[key])
        self._rest.set(rest)

    def _build_option(self, line: ttk.Frame, key: str, value: tk.StringVar) -> None:
        """Build the field of an option; empty stands for the agent's usual value."""
        value.trace_add("write", lambda *_: self._changed())
        ttk.Label(line, text=key, style="Muted.Card.TLabel").pack(side="left", padx=(0, 5))
        words = ["", *words_for(key, self._game)]
        if len(words) > 1:
            field: ttk.Entry = ttk.Combobox(
                line, textvariable=value, values=words, state="readonly",
                width=max(map(len, words)),
            )  # fmt: skip
        else:
            field = ttk.Entry(line, textvariable=value, width=8)
        field.pack(side="left", padx=(0, 12))

    def _build_file(self) -> None:
        line = ttk.Frame(self._fields, style="Plain.Card.TFrame")
        line.pack(anchor="w", pady=3)
        ttk.Label(line, text="file", style="Muted.Card.TLabel").pack(side="left", padx=(0, 5))
        ttk.Entry(line, textvariable=self._rest, width=34).pack(side="left")
        ttk.Button(line, text="Browse", command=self._browse).pack(side="left", padx=(6, 0))

    def _browse(self) -> None:
        name = filedialog.askopenfilename(
            parent=self, title="An agent's file", filetypes=[("Python files", "*.py")]
        )
        if name:
            self._rest.set(name)

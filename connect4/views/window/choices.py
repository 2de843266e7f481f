"""The settings of the start page: check them, create a game from them, save them."""

from __future__ import annotations

import json
import os
import random
import shlex
import sys
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Final

from connect4.config import DEFAULT_SECONDS
from connect4.errors import InputError
from connect4.games import find_game, load_start
from connect4.isolation.seat import choose_level
from connect4.players.registry import parse_agent
from connect4.table import Terms
from connect4.views.window.session import TablePlan

MODES: Final = {
    "against": "Play against an agent",
    "persons": "Two players",
    "watch": "Watch two agents",
}

BOARDS: Final = ("usual", "file", "size")

FOLDER: Final = "connect4-course-kit"


@dataclass(frozen=True, slots=True)
class Choices:
    """The start page's fields as they were filled in; nothing is checked yet.

    `opponent` plays against a person, `first` and `second` against each other; `begins` is 1 where
    the person, or `first`, is player 1.
    """

    mode: str = "against"
    game: str = "extended"
    board: str = "usual"
    file: str = "case1"
    rows: str = "6"
    columns: str = "8"
    opponent: str = "ai"
    first: str = "ai"
    second: str = "random"
    begins: str = "1"
    seconds: str = f"{DEFAULT_SECONDS:g}"
    clocked: bool = False

    def names(self) -> tuple[str, str]:
        """Return the agents' names as player 1 and 2."""
        if self.mode == "persons":
            return "human", "human"
        one, two = (self.first, self.second) if self.mode == "watch" else ("human", self.opponent)
        return (one, two) if self.begins == "1" else (two, one)

    def start(self) -> tuple[list[str], str]:
        """Return the start as options of the command line, and in words."""
        if self.board == "file":
            return [self.file.strip()], Path(self.file.strip()).name
        if self.board == "size":
            rows, columns = self.rows.strip(), self.columns.strip()
            return ["--rows", rows, "--columns", columns], f"{rows} rows by {columns} columns"
        return [], "the usual start"

    def command(self) -> str:
        """Return the terminal command that plays the same."""
        words = ["python3", "-m", "connect4.ConnectFour", *self.names(), *self.start()[0]]
        if self.game != "extended":
            words += ["--game", self.game]
        if self.seconds != f"{DEFAULT_SECONDS:g}":
            words += ["--time", self.seconds]
        if self.clocked and self.mode != "watch":
            words.append("--human-clock")
        return shlex.join(words)

    def planned(self) -> TablePlan:
        """Return the game that was chosen; raises `InputError`."""
        game = find_game(self.game)
        one, two = (parse_agent(name, game.name) for name in self.names())
        if self.board == "file":
            if not self.file.strip():
                raise InputError("Board: no file is named")
            start = load_start(game, self.file.strip())
        elif self.board == "size":
            start = game.start(side("Rows", self.rows), side("Columns", self.columns))
        else:
            start = game.start(None, None)
        terms = Terms(
            time_per_move(self.seconds),
            random.SystemRandom().randrange(2**31),
            level=choose_level("auto")[0],
            human_clock=self.clocked,
        )
        return TablePlan(game, start, (one, two), terms, f"{game.title}, {self.start()[1]}")


def side(name: str, text: str) -> int:
    """Read a side of the board; raises `InputError`."""
    if not (text.strip().isascii() and text.strip().isdigit() and 1 <= len(text.strip()) <= 3):
        raise InputError(f"{name}: {text.strip()!r} is no number of {name.lower()}")
    return int(text)


def time_per_move(text: str) -> float:
    """Read the seconds per move; raises `InputError`."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e6:
        raise InputError(f"Time: {text.strip()!r} is not a time limit; expected seconds above 0")
    return seconds


def choices_file() -> Path:
    """Return where the last choices are kept."""
    if sys.platform == "win32":
        folder = os.environ.get("APPDATA")
    else:
        folder = os.environ.get("XDG_CONFIG_HOME")
    home = Path(folder) if folder else Path.home() / ".config"
    return home / FOLDER / "start-page.json"


def load_choices() -> Choices:
    """Return the last choices; a field that is missing or damaged is as at the first time."""
    try:
        found = json.loads(choices_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError, RecursionError):
        return Choices()
    usual = Choices()
    if not isinstance(found, dict):
        return usual
    kept = {
        field.name: found[field.name]
        for field in fields(Choices)
        if type(found.get(field.name)) is type(getattr(usual, field.name))
    }
    for name, allowed in (("mode", MODES), ("board", BOARDS), ("begins", ("1", "2"))):
        if kept.get(name) not in allowed:
            kept.pop(name, None)
    return replace(usual, **kept)


def save_choices(choices: Choices) -> None:
    """Keep the choices for the next time, where there is a place for them."""
    path = choices_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(choices), indent=2) + "\n", encoding="utf-8")
    except OSError:
        pass  # a machine without a home: the next time begins as the first

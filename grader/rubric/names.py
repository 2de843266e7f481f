"""Finds the boards and the agents that a rubric names."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from connect4.errors import InputError
from connect4.games import STARTS, load_start, nearest
from connect4.games.base import Game
from connect4.games.extended import EXTENDED
from connect4.players.names import split_name
from connect4.players.registry import file_hash, parse_agent
from grader.rubric.model import Board, KitAgent, Values, make_board
from grader.rubric.toml_table import TomlTable


@dataclass(frozen=True, slots=True)
class Names:
    """Turns names into boards and agents; every error contains file and key.

    Files lie below `folder`; `stored_boards` and `stored_agents` require no files.
    """

    game: Game
    folder: Path | None
    hidden: tuple[str, ...]
    stored_boards: dict[str, Values]
    stored_agents: dict[str, Values]

    def boards(self, table: TomlTable) -> tuple[Board, ...]:
        """Return the boards of a table."""
        found = table.list("boards", lambda item: table.text_value("boards", item))
        if not found:
            raise table.wrong("boards", "no board; name at least one")
        places = {name: place for place, name in enumerate(self.hidden, 1)}
        return tuple(
            replace(self._board(name, table), hidden=places.get(name, 0)) for name in found
        )

    def agent(self, table: TomlTable, key: str) -> KitAgent:
        """Return the agent at a key; `name` beside it is its name in tables and pages."""
        found = self.listed_agent(table, key, table.text(key))
        return replace(found, name=table.text("name")) if table.has("name") else found

    def listed_agent(self, table: TomlTable, key: str, item: object) -> KitAgent:
        """Return the agent of a name, which is the value at a key or an item of the list there."""
        written = table.text_value(key, item)
        name = _shown_name(written)
        if written in self.stored_agents:
            stored = self.stored_agents[written]
            return KitAgent(written, stored["agent"], stored["sha256"], name)
        full = written
        try:
            split = split_name(written)
            if split.kind == "ai" and split.rest and self.folder is not None:
                file = Path(self.folder, os.path.expanduser(split.rest)).resolve()
                full = f"ai:{file}" + "".join(f",{k}={v}" for k, v in split.options.items())
            parsed = parse_agent(full, self.game.name)
        except InputError as error:
            raise table.wrong(key, str(error)) from None
        if parsed.kind in ("human", "remote"):
            raise table.wrong(key, f"{written!r} cannot be a baseline")
        return KitAgent(written, full, file_hash(parsed), name)

    def _board(self, name: str, table: TomlTable) -> Board:
        """Return a board: a state file, or the game's usual start by the game's name."""
        game = self.game
        if name in self.stored_boards:
            return make_board(name, self.stored_boards[name], game.name)
        beside = None if self.folder is None else self.folder / name
        try:
            if beside is not None and beside.is_file():
                state = load_start(game, str(beside))
            elif name == game.name and game is not EXTENDED:
                state = game.start(None, None)
            else:
                self._suggest_beside(name)
                state = load_start(game, name)
        except InputError as error:
            raise table.wrong("boards", str(error)) from None
        return make_board(name, state.to_json(), game.name)

    def _suggest_beside(self, name: str) -> None:
        """Raise `InputError` for a wrong name that resembles a file beside the rubric most."""
        kit = [path.name for path in (STARTS / self.game.folder).glob("*.txt")]
        if self.folder is None or Path(name).is_file() or {name, f"{name}.txt"} & set(kit):
            return
        beside = [path.name for path in self.folder.glob("*.txt")]
        hint = nearest(name, [*kit, *beside])
        if any(repr(other) in hint for other in beside):
            raise InputError(f"{name}: no such file beside the rubric{hint}")


def _shown_name(written: str) -> str:
    """Return an agent's name as in the rubric, without the folders of its file."""
    kind, colon, rest = written.partition(":")
    return f"{kind}{colon}{PurePath(rest).name}" if kind == "ai" else written

"""The start page: choose a game, play it on a page of its own, open a record."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from connect4 import record as records
from connect4.config import DEFAULT_SECONDS
from connect4.errors import InputError
from connect4.games import GAMES, own_starts
from connect4.games.base import Game
from connect4.players.registry import PLAYERS, words_for
from connect4.record import Record
from connect4.table import TablePlan
from connect4.views.document import Page
from connect4.views.web.play import GamePage
from connect4.views.web.server import Content, Events, RefusedError, Server

KIT: Final = Path(__file__).resolve().parents[3]

EMPTY: Final = float(os.environ.get("CONNECT4_PAGE_SECONDS", "60"))
"""Seconds after which the server ends when its last page has gone; the tests wait less."""

FIRST_PAGE: Final = 600.0
"""Seconds that it waits for its first page: over SSH, people must first forward a port."""

PORT: Final = 4404
"""The default port: a browser remembers the last choices by port."""

NOT_OFFERED: Final = frozenset({"human", "remote", "env", "kaggle"})
"""Kinds of players that the form does not list: they need a place beside this machine."""

PARTS: Final = ("base", "theme", "start")

Planned: TypeAlias = Callable[[list[str]], list[TablePlan]]
"""Returns the games of a command line, without the command; raises `InputError`."""


class StartServer:
    """The start page with the pages of its games and records."""

    def __init__(self, port: int | None, planned: Planned) -> None:
        """Begin to serve at a port (see `listen`); raises `InputError`."""
        self.server = listen(port)
        self._planned = planned
        self._temporary = tempfile.TemporaryDirectory(prefix="connect4-")  # gone with the command
        self._folder = Path(self._temporary.name)
        self._lock = threading.Lock()
        offer = {"games": [offered(game) for game in GAMES.values()], "seconds": DEFAULT_SECONDS}
        self.server.add_page("", Page("Connect 4", PARTS, data=offer))
        self.server.streams["here"] = events = Events()
        self._pages = [events]
        self.server.posts["play"] = self._play
        self.server.posts["open"] = self._open

    def serve(self, patience: float = EMPTY) -> None:
        """Serve until no page has been open for a while, or until Ctrl-C."""
        self._pages[0].wait_for_page(FIRST_PAGE)
        while min(events.empty_for for events in self._pages) < patience:
            time.sleep(0.2)

    def open_record(self, record: Record) -> str:
        """Return the path of a page that shows a record."""
        path, page = self._game_page()
        page.show(record)
        return path

    def _game_page(self) -> tuple[str, GamePage]:
        with self._lock:
            path = f"game{len(self._pages)}/"
            page = GamePage(self.server, path)
            self._pages.append(page.events)
        self.server.posts[f"{path}make"] = lambda asked: self._make(path, page, asked)
        return path, page

    def _play(self, asked: dict[str, Any]) -> dict[str, str]:
        """Begin the game of a command line; `file` is a state file that was dropped."""
        words = [str(word) for word in asked["words"]]
        try:
            if asked.get("file"):
                name, text = Path(str(asked["file"]["name"])).name, str(asked["file"]["text"])
                place = self._folder / name
                place.write_text(text, encoding="utf-8")
                words = [str(place) if word == asked["file"]["name"] else word for word in words]
            plans = self._planned(words)
            rows, columns = plans[0].start.board().shape
            if max(rows, columns) > 12:
                size = f"this board has {rows} rows and {columns} columns"
                raise InputError(f"{size}; the page plays boards of up to 12 rows and 12 columns")
        except (InputError, OSError) as error:
            raise RefusedError(str(error).replace(f"{self._folder}{os.sep}", "")) from None
        path, page = self._game_page()
        threading.Thread(target=page.play_all, args=(plans,), daemon=True).start()
        return {"path": path}

    def _open(self, asked: dict[str, Any]) -> dict[str, str]:
        """Show a record that was dropped."""
        try:
            return {"path": self.open_record(records.loads(str(asked["text"])))}
        except InputError as error:
            raise RefusedError(str(error)) from None

    def _make(self, path: str, page: GamePage, asked: dict[str, Any]) -> None:
        """Make the search tree of a turn, or the analysis of a game, in another process."""
        game, turn = int(asked["game"]), int(asked["turn"])
        made = self._folder / f"made-{len(os.listdir(self._folder))}.json"
        records.write(page.games[game], made)
        if asked["what"] == "tree":
            module, out = "connect4.views.tree", made.with_suffix(".html")
            words = [f"{made}:{turn}", "-o", str(out)]
        else:
            module, out, words = "connect4.analysis", made, [str(made)]
        path_before = os.environ.get("PYTHONPATH")
        python_path = os.pathsep.join(filter(None, [str(KIT), path_before]))
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env={**os.environ, "PYTHONPATH": python_path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

        def wait() -> None:
            said = ""
            assert process.stderr is not None
            for line in process.stderr:
                said = line.strip().removeprefix("error: ")
                page.events.add("making", said)
            if process.wait():
                page.events.add("making", said or "it ended without a word")
            elif out == made:
                page.events.add("made", self.open_record(records.read(made)))
            else:
                text = out.read_text(encoding="utf-8")
                self.server.gets[f"{out.stem}/"] = lambda: Content("text/html", text, "")
                page.events.add("made", f"{out.stem}/")

        threading.Thread(target=wait, daemon=True).start()


def listen(port: int | None) -> Server:
    """Begin to serve; None is `PORT` if it is free, else any port. Raises `InputError`."""
    with suppress(InputError):
        return Server(PORT if port is None else port)
    return Server(port or 0)


def offered(game: Game) -> dict[str, Any]:
    """Return what the form offers for a game."""
    rows, columns = game.start(None, None).board().shape
    return {
        "name": game.name,
        "title": game.title,
        "size": [rows, columns] if game.resizable else None,
        "starts": [path.stem for path in own_starts(game)],
        "agents": [
            {
                "kind": name,
                "file": bool(kind.rest),
                "options": {option: words_for(option, game.name) for option in kind.options},
            }
            for name, kind in PLAYERS.items()
            if name not in NOT_OFFERED and (kind.games is None or game.name in kind.games)
        ],
        "options": [
            {"name": option.name, "help": option.help, "switch": option.kind is bool}
            for option in game.options
        ],
    }

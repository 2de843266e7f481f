"""Shows the site on this machine during play, beside the game that was played last."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from connect4.views import document
from connect4.views.page.page import PARTS
from connect4.views.web.server import POLICY, Content, Server
from grader.ladder.book import Book
from grader.output.replays import made_public, replay

KINDS: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
}
"""The media types of the files of a site."""

NO_GAME: Final = "<main><p>No game has ended yet.</p></main>"


def _waiting() -> str:
    return document.whole("No game yet", document.style_sheet(("base",)), NO_GAME)


@dataclass
class Live:
    """The state that the page polls: numbers that increase when the site or the game changes."""

    site: int = 0
    game: int = 0
    text: str = "no game yet"
    latest: str = field(default_factory=_waiting)

    @property
    def state(self) -> dict[str, int | str]:
        """Return what the page asks for each second."""
        return {"site": self.site, "game": self.game, "text": self.text}

    def show(self, book: Book, key: str, names: tuple[str, str]) -> None:
        """Show a game that has just been played."""
        data = replay(book, key, names)
        if data is None:
            return
        one, two = data["scores_end"]
        title = f"{names[0]} {one}, {names[1]} {two}"
        self.latest = document.build(title, PARTS, {"games": [made_public(data)]})
        self.text = f"just played: {title}"
        self.game += 1


def site_file(site: Path, path: str) -> Content | None:
    """Return a file of the site, None if there is none of that name."""
    files = {file.relative_to(site).as_posix(): file for file in site.rglob("*") if file.is_file()}
    found = files.get(unquote(path.removeprefix("site/"))) if path.startswith("site/") else None
    kind = None if found is None else KINDS.get(found.suffix)
    if found is None or kind is None:
        return None
    return Content(kind, found.read_text(encoding="utf-8"), "")


@contextlib.contextmanager
def serving(site: Path, port: int, live: Live) -> Iterator[str]:
    """Serve the site on this machine only; yield the address. Port 0 takes any free one."""
    page = document.served("Ladder", document.assets(("live",), "html"))
    style, script = document.style_sheet(("base", "live")), document.assets(("theme", "live"), "js")
    with Server(port, with_token=False) as server:
        server.gets = {
            "": lambda: Content("text/html", page, f"{POLICY}; frame-src 'self'"),
            "page.css": lambda: Content("text/css", style),
            "page.js": lambda: Content("text/javascript", script),
            "live.json": lambda: Content("application/json", json.dumps(live.state)),
            "latest.html": lambda: Content("text/html", live.latest, ""),
        }
        server.find = lambda path: site_file(site, path)
        yield server.address

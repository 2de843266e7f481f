"""Shows the site on this machine during play, beside the game that was played last."""

from __future__ import annotations

import contextlib
import html
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from connect4.errors import InputError
from connect4.views import document
from connect4.views.page.page import PARTS
from grader.ladder.book import Book
from grader.ladder.pages import made_public, replay

HOST: Final = "127.0.0.1"

POLICY: Final = (
    "default-src 'self'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)

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


def projector_page() -> str:
    """Return the page that shows the site beside the game that was played last."""
    style = document.style_sheet(("base", "live"))
    body = document.assets(("live",), "html")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{html.escape('Ladder')}</title><style>{style}</style></head>\n"
        f'<body>{body}<script src="/live.js"></script></body></html>\n'
    )


class Handler(SimpleHTTPRequestHandler):
    """Serves the projector's page, the state, the latest game, and the files of the site."""

    def __init__(self, *arguments: Any, live: Live, **options: Any) -> None:
        self.live = live
        super().__init__(*arguments, **options)

    def parse_request(self) -> bool:
        """Refuse requests of pages elsewhere whose name was made to lead here, and odd paths."""
        if not super().parse_request():
            return False
        host = self.headers.get("Host", "")
        if not re.fullmatch(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", host):
            self.send_error(403, "This address is not the one that the ladder printed")
            return False
        if "\0" in unquote(self.path):
            self.send_error(400)
            return False
        return True

    def translate_path(self, path: str) -> str:
        """Return the file of the site; other paths lead to none."""
        if not path.startswith("/site/"):
            return ""
        return super().translate_path(path.removeprefix("/site"))

    def do_GET(self) -> None:
        """Answer a request."""
        place = self.path.partition("?")[0]
        state = {"site": self.live.site, "game": self.live.game, "text": self.live.text}
        if place == "/":
            self._answer("text/html", projector_page(), POLICY)
        elif place == "/live.js":
            self._answer("text/javascript", document.assets(("theme", "live"), "js"))
        elif place == "/live.json":
            self._answer("application/json", json.dumps(state))
        elif place == "/latest.html":
            self._answer("text/html", self.live.latest)
        elif place.startswith("/site/"):
            super().do_GET()
        else:
            self.send_error(404)

    def _answer(self, kind: str, text: str, policy: str = "") -> None:
        data = text.encode(errors="backslashreplace")
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(data)

    def end_headers(self) -> None:
        """Keep browsers from caching a page of the site."""
        if self.path.endswith(".html"):
            self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        """List no folder: the addresses of students' own pages are private."""
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for a request."""


@contextlib.contextmanager
def serving(site: Path, port: int, live: Live) -> Iterator[str]:
    """Serve the site on this machine only; yield the address. Port 0 takes any free one."""
    handler = partial(Handler, directory=str(site), live=live)
    try:
        server = ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise InputError(f"--serve {port}: {error.strerror}; name another port") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

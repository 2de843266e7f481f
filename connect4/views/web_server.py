"""A small web server for pages on this machine; only people who have the address get in.

It listens on the loopback address. The first part of each path is a secret token, because cookies
are shared between ports. A request must name this machine (`Host`) and come from its own page
(`Origin`). Paths lead to functions, never to files.
"""

import contextlib
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self, cast
from urllib.parse import unquote

from connect4.errors import InputError
from connect4.views.document import Page

HOST: Final = "127.0.0.1"

MAX_BODY: Final = 64_000
"""Bytes of a request's body."""

PATIENCE: Final = 10.0
"""Seconds that a connection may be silent before its request is complete."""

LAST_ANSWERS: Final = 1.0
"""Seconds that the server waits, when it ends, for the answers that it is sending."""

HEARTBEAT: Final = 2.0
"""Seconds between two signs of life of a stream: they find pages that have gone."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)

KINDS: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
}
"""The media types of files."""

NO_REQUEST: Final = (
    *(ValueError, TypeError, AttributeError, LookupError),
    *(OverflowError, RecursionError),  # 1e999 as a turn; thousands of brackets
)
"""What reading a request raises that has the wrong form."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a path contains; `kind` is its media type."""

    kind: str
    text: str
    policy: str = POLICY


class RefusedError(Exception):
    """A POST that cannot be done; the answer is `{"wrong": text}`."""


class Events:
    """The events of one page since the first; a page that connects late receives all of them."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._changed = threading.Condition()
        self._pages = 0
        self._empty_since = time.monotonic()
        self._closed = False

    def add(self, name: str, data: Any) -> None:
        text = json.dumps(data, separators=(",", ":"))
        with self._changed:
            self._sent.append(f"id: {len(self._sent)}\nevent: {name}\ndata: {text}\n\n")
            self._changed.notify_all()

    def close(self) -> None:
        """Let the streams end after the last event."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def after(self, number: int) -> tuple[list[str], bool]:
        """Return the events from `number` on, and whether more can follow; waits for the first."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._sent) > number or self._closed, HEARTBEAT)
            return self._sent[number:], not self._closed

    def wait_for_page(self, seconds: float) -> bool:
        """Wait for a page to connect; return whether one is there."""
        with self._changed:
            return self._changed.wait_for(lambda: self._pages > 0, seconds)

    @property
    def empty_for(self) -> float:
        """Return for how many seconds no page has been connected."""
        with self._changed:
            return 0.0 if self._pages else time.monotonic() - self._empty_since

    @contextlib.contextmanager
    def page(self) -> Iterator[None]:
        """Count a page while it is connected."""
        with self._changed:
            self._pages += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._pages -= 1
                self._empty_since = time.monotonic()


class Server:
    """Serves what stands in its three tables, by path without the token.

    `gets` has functions that return a page, `posts` functions that receive the JSON of a request
    and return the JSON of the answer or raise `RefusedError`, `streams` the events of a page.
    """

    def __init__(self, port: int = 0) -> None:
        """Start to listen; port 0 is any free port. Raises `InputError` if that is impossible."""
        self.token = secrets.token_hex(16)
        self.gets: dict[str, Callable[[], Content]] = {}
        self.posts: dict[str, Callable[[Any], Any]] = {}
        self.streams: dict[str, Events] = {}
        try:
            self._http = _Http((HOST, port), _Handler)
        except OSError as error:
            raise InputError(f"port {port}: {error.strerror}; name another one") from None
        self._http.site = self
        self.port = self._http.server_port
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def add_page(self, path: str, page: Page) -> None:
        """Serve a page at a path that is empty or ends with a slash."""
        for name, text in page.served().items():
            kind = KINDS[Path(name).suffix or ".html"]
            self.gets[f"{path}{name}"] = partial(Content, kind, text)

    def close(self) -> None:
        """End all streams, and stop to listen."""
        for events in self.streams.values():
            events.close()
        self._http.shutdown()
        self._http.wait_for_answers()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_own(self, host: str) -> bool:
        """Return whether a host, as in `Host` and `Origin`, is this server's.

        Any port is right: `ssh -L` changes it. In a Codespace the host is that of its port.
        """
        if re.fullmatch(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", host):
            return True
        name, domain = map(
            os.environ.get, ("CODESPACE_NAME", "GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN")
        )
        return bool(name and domain) and host == f"{name}-{self.port}.{domain}"

    def inside(self, path: str) -> str | None:
        """Return a path without the token, None if the token is wrong."""
        begin = f"/{self.token}/"
        given = path[: len(begin)].encode(errors="replace")
        if not secrets.compare_digest(given, begin.encode()):
            return None
        return path[len(begin) :]


class _Http(ThreadingHTTPServer):
    """Counts the requests that are being answered, so that none is lost when the server ends."""

    daemon_threads = True
    request_queue_size = 128
    site: Server

    def __init__(self, *arguments: Any) -> None:
        self._answering = 0
        self._answered = threading.Condition()
        super().__init__(*arguments)

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        with self._answered:
            self._answering += 1
        try:
            yield
        finally:
            with self._answered:
                self._answering -= 1
                self._answered.notify_all()

    def wait_for_answers(self) -> None:
        with self._answered:
            self._answered.wait_for(lambda: not self._answering, LAST_ANSWERS)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: it is no error if a page closes during an answer."""


class _NotPermittedError(Exception):
    """A request that is refused with a status and a text."""


class _Handler(BaseHTTPRequestHandler):
    """One request; each connection has one."""

    timeout = PATIENCE
    server_version = "connect4"
    sys_version = ""

    @property
    def site(self) -> Server:
        return cast(_Http, self.server).site

    def do_GET(self) -> None:
        """Answer with a page or a stream; pass the JSON of a POST on."""
        with cast(_Http, self.server).answering():
            try:
                path = self._permitted()
                if self.command == "POST":
                    self._answer(200, Content("application/json", json.dumps(self._posted(path))))
                elif path in self.site.streams:
                    self._stream(self.site.streams[path])
                else:
                    self._answer(200, self._page(path))
            except _NotPermittedError as refused:
                self.close_connection = True
                status, why = refused.args
                self._answer(status, Content("text/plain", why))

    do_POST = do_GET

    def _permitted(self) -> str:
        """Return the path of a request without the token; raises `_NotPermittedError`."""
        origin = self.headers.get("Origin")
        if not self.site.is_own(self.headers.get("Host", "")):
            raise _NotPermittedError(403, "this is not the address that the command printed")
        if origin is not None and not self.site.is_own(origin.partition("://")[2]):
            raise _NotPermittedError(403, "another page may not ask here")
        path = self.site.inside(self.path.partition("?")[0])
        if path is None or "\0" in unquote(path):
            raise _NotPermittedError(404, "nothing here")
        return path

    def _page(self, path: str) -> Content:
        if path not in self.site.gets:
            raise _NotPermittedError(404, "nothing here")
        return self.site.gets[path]()

    def _posted(self, path: str) -> Any:
        """Return the answer to a POST; raises `_NotPermittedError`."""
        act = self.site.posts.get(path)
        length = self.headers.get("Content-Length", "")
        if act is None:
            raise _NotPermittedError(404, "nothing here")
        if not re.fullmatch(r"\d{1,9}", length) or int(length) > MAX_BODY:
            raise _NotPermittedError(413, f"at most {MAX_BODY} bytes")
        if not self.headers.get("Content-Type", "").startswith("application/json"):
            raise _NotPermittedError(415, "JSON is expected")
        try:
            return act(json.loads(self.rfile.read(int(length)))) or {}
        except NO_REQUEST:
            raise _NotPermittedError(400, "no such request") from None
        except RefusedError as error:
            return {"wrong": str(error)}

    def _stream(self, events: Events) -> None:
        """Send every event that the page does not have yet."""
        last = self.headers.get("Last-Event-ID", "")
        number = int(last) + 1 if re.fullmatch(r"\d{1,9}", last) else 0
        self.send_response(200)
        self._send_headers("text/event-stream", POLICY)
        self.end_headers()
        going = True
        with events.page(), contextlib.suppress(OSError):
            while going:
                found, going = events.after(number)
                number += len(found)
                self.wfile.write("".join(found or [":\n\n"]).encode())
                self.wfile.flush()

    def _answer(self, status: int, content: Content) -> None:
        data = content.text.encode(errors="backslashreplace")
        self.send_response(status)
        self._send_headers(content.kind, content.policy)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)

    def _send_headers(self, kind: str, policy: str) -> None:
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for a request."""

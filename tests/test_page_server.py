"""The server behind the page: who gets in, and what it answers."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from connect4.views import web_pages
from connect4.views.web_server import Content, Events, RefusedError, Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as site:
        site.gets[""] = lambda: Content("text/html", "the page")
        site.posts["move"] = refuse_nine
        site.streams["events"] = Events()
        yield site


def refuse_nine(asked: dict[str, Any]) -> None:
    """Do nothing with a move."""
    if asked["text"] == "9":
        raise RefusedError("column 9 is outside 0..7")
    int(asked.get("turn", 0))


def ask(site: Server, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
    """Return the status and the text of an answer; None as a header leaves it out."""
    given = {"Host": f"127.0.0.1:{site.port}", "Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    with contextlib.closing(connection):
        connection.putrequest("GET" if body is None else "POST", path, skip_host=True)
        for name, value in given.items():
            connection.putheader(name, value)
        if body is not None and "Content_Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_only_its_own_page_gets_in(server: Server) -> None:
    home, move = f"/{server.token}/", f"/{server.token}/move"
    assert ask(server, home) == (200, "the page")
    assert ask(server, home, Host="localhost:9") == (200, "the page"), "ssh -L changes the port"
    assert ask(server, home, Host="evil.example")[0] == 403
    assert ask(server, home, Origin="http://evil.example")[0] == 403
    assert ask(server, move, b'{"text": "3"}', Origin=f"http://localhost:{server.port}")[0] == 200
    for path in ("/", "/move", f"/{'0' * 32}/", f"/{server.token}", f"{home}../{server.token}/"):
        assert ask(server, path)[0] == 404, path
    for path in ("%00", "..%2f..%2fetc/passwd", "/etc/passwd", "page.py"):
        assert ask(server, home + path)[0] == 404, path


def test_a_request_that_is_none_gets_one_line(server: Server) -> None:
    move = f"/{server.token}/move"
    assert json.loads(ask(server, move, b'{"text": "9"}')[1]) == {
        "wrong": "column 9 is outside 0..7"
    }
    assert ask(server, move, b"{", Content_Length="1000001")[0] == 413
    assert ask(server, move, b"x" * 64_001) == (413, "at most 64000 bytes")
    wrong = (b'{"text": "3", "turn": 1e999}', b"[" * 60_000)
    for body in (b"", b"[", b"[]", b"{}", b"null", b"\xff", *wrong):
        assert ask(server, move, body) == (400, "no such request"), body
    assert ask(server, move, b'{"text": "3"}', Content_Type="text/plain")[0] == 415


def test_a_late_page_gets_all_events_and_a_page_that_returns_the_rest(server: Server) -> None:
    events, path = server.streams["events"], f"/{server.token}/events"
    for number in range(3):
        events.add("turn", number)
    events.close()
    whole = "".join(f"id: {n}\nevent: turn\ndata: {n}\n\n" for n in range(3))
    assert ask(server, path) == (200, whole)
    assert ask(server, path, Last_Event_ID="1") == (200, "id: 2\nevent: turn\ndata: 2\n\n")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "there is no display"),
        ({"BROWSER": "/usr/bin/w3m %s"}, "the browser is one for text"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1 2 3 4"}, "this is a session over SSH"),
        ({"BROWSER": "firefox", "SSH_CONNECTION": "1 2 3 4"}, None),
    ],
)
def test_a_browser_is_looked_for_where_one_can_show_a_page(
    variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BROWSER", "CI", "SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert web_pages.no_browser() == expected

"""A client of the game server: splits its bytes into lines, sends lines to it, rejects bad ones.

`docs/protocol.md` describes the lines.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections import deque
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from connect4.server.relay import RelayedGame, Server

MAX_LINE: Final = 1024
"""The maximum length of a line in bytes, without its end."""

MAX_KEPT: Final = 256
"""The maximum number of lines stored for a client until its turn."""

MAX_UNSENT: Final = 65536
"""The maximum number of unread bytes; beyond it, the connection is closed."""

LINGER: Final = 5.0
"""Seconds that a client has to receive the last lines before its connection is closed."""

CONTROL: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


class Connection(asyncio.Protocol):
    """One client: receives its lines and sends lines to it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._partial = b""
        self._transport: asyncio.Transport | None = None
        self.lines: deque[str] = deque()
        self.ended = False
        """Whether the client has closed its sending side."""
        self.game: RelayedGame | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a new client."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=MAX_UNSENT)
        client = self._transport.get_extra_info("socket")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_UNSENT)
        # asyncio sets TCP_NODELAY. Without it two lines rarely arrive together, and some
        # clients take the result of one `recv` for one line (docs/protocol.md).
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        self._server.arrived(self)

    def data_received(self, data: bytes) -> None:
        """Split the data into lines; an invalid line, or far too many, ends the connection."""
        if len(self.lines) + data.count(b"\n") > MAX_KEPT:
            self.close()
            return
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            text = decoded(line)
            if text is None:
                self.close()
                return
            self.lines.append(text)
        if len(self._partial) > MAX_LINE + 1:
            self.close()
            return
        self.advance()

    def eof_received(self) -> bool:
        """Keep the sending side open, because earlier lines still need an answer."""
        if self._partial:
            self.data_received(b"\n")
        self.ended = True
        self.advance()
        return True

    def pause_writing(self) -> None:
        """Disconnect a client that does not read."""
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the client."""
        self._transport = None
        self.ended = True
        self.lines.clear()
        self._server.unlist(self)
        self.advance()

    def advance(self) -> None:
        """Process the stored lines, one at a time, so that other clients have their turn."""
        if self.game is not None:
            self.game.advance()
        elif self._transport is None or self._transport.is_closing():
            return
        elif self.lines:
            self._server.seat(self, self.lines.popleft())
            asyncio.get_running_loop().call_soon(self.advance)
        elif self.ended:
            self.close()

    def send(self, line: str) -> None:
        """Send a line if the client is still connected."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line.encode() + b"\n")

    def close(self) -> None:
        """Close the connection once everything is sent, or after `LINGER` seconds."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            asyncio.get_running_loop().call_later(LINGER, self._transport.abort)


def decoded(line: bytes) -> str | None:
    """Return a line's text; None if it is too long or not text."""
    line = line.removesuffix(b"\r")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if len(line) > MAX_LINE or CONTROL.search(text) else text

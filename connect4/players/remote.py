"""A program behind a game server of Dynamic Connect-4, as an opponent in the kit's own games.

`docs/protocol.md` describes the lines that are exchanged.
"""

from __future__ import annotations

import re
import socket
import time
from typing import Final

from connect4.errors import AgentError
from connect4.games.base import Seconds, State
from connect4.games.dynamic import COLOURS, DynamicState
from connect4.players.base import Setup
from connect4.players.registry import ADDRESS

PATIENCE: Final = 10.0
"""Seconds to wait for a connection."""

MAX_ANSWER: Final = 65536
"""Maximum length of a line in bytes; the connection fails after more."""


MOVE: Final = re.compile("[0-9][0-9][NSEW].*")
"""A line with a move: column, row, direction, and perhaps more."""


class Wire:
    """A connection to a game server; every failure is an `AgentError`."""

    def __init__(self, host: str, port: int) -> None:
        self._pending = b""
        try:
            self._socket = socket.create_connection((host, port), timeout=PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise AgentError(f"{host} port {port}: no game server there ({why})") from None

    def send(self, line: str) -> None:
        try:
            self._socket.sendall(line.encode() + b"\n")
        except OSError:
            raise AgentError("the server has closed the connection") from None

    def read(self, seconds: Seconds | None) -> str:
        """Return the next line; `seconds` None waits without a limit."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._pending:
            try:
                left = None if deadline is None else max(0.001, deadline - time.monotonic())
                self._socket.settimeout(left)
                data = self._socket.recv(4096)
            except TimeoutError:
                raise AgentError(f"no line from the server within {seconds:g} s") from None
            except OSError:
                data = b""
            if not data:
                raise AgentError("the server has closed the connection: the opponent is gone")
            self._pending += data
            if len(self._pending) > MAX_ANSWER:
                raise AgentError("what came from the server is not a line")
        line, self._pending = self._pending.split(b"\n", 1)
        return line.removesuffix(b"\r").decode("utf-8", "replace")

    def join(self, game: str, colour: str, seconds: Seconds | None = None) -> None:
        """Join a game; returns once both sides have joined."""
        self.send(f"{game} {colour}")
        answer = self.read(seconds)
        if answer != f"{game} {colour}":
            raise AgentError(f"the server replied: {answer}")

    def close(self) -> None:
        self._socket.close()


class RemoteAgent:
    """The opponent in a game on a server.

    We join as the side of our opponent in the kit's game: white if this agent is player 2. COLOUR
    may be that colour, as in the handshake, or the other one; both mean the same game. Our side's
    moves are sent when the remote side's turn begins.
    """

    def __init__(self, setup: Setup) -> None:
        match = ADDRESS.fullmatch(setup.agent.rest)
        assert match is not None
        self._player = setup.player
        self._wire = Wire(match["host"].strip("[]"), int(match["port"]))
        self._wire.join(match["game"], COLOURS[2 - setup.player])

    def choose(self, state: State, seconds: Seconds | None) -> str:
        """Send our side's move, if there is one, and return the opponent's."""
        began = time.monotonic()
        self._send_last(state, seconds)
        left = None if seconds is None else seconds - (time.monotonic() - began)
        line = self._wire.read(left)
        if MOVE.fullmatch(line) is None:
            raise AgentError(f"the server replied: {line}")
        return line[:3]

    def _send_last(self, state: State, seconds: Seconds | None) -> None:
        assert isinstance(state, DynamicState)
        if state.last is not None and state.mover == self._player:
            self._wire.send(state.last)
            echo = self._wire.read(seconds)
            if echo[:3] != state.last:
                raise AgentError(f"the server does not take the move {state.last}: {echo}")

    def see_end(self, state: State) -> None:
        """Send our side's last move if it ended the game."""
        try:
            self._send_last(state, 2.0)
        except AgentError:
            return  # the game is over, so the reply does not matter

    def close(self) -> None:
        self._wire.close()

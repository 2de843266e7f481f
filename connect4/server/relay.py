"""The relay: who has joined which game, whose turn it is, and the clock (`docs/protocol.md`).

Everything runs in one thread, driven by incoming data. A `Connection` splits bytes into lines. A
`RelayedGame` processes the lines of its two sides one at a time, so no client delays another game.
An `Arbiter` keeps the board of a strict game, or of a client's game.
"""

import asyncio
import re
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

from connect4 import record
from connect4.errors import InputError
from connect4.games.base import Ending, Seconds, State
from connect4.games.dynamic import COLOURS, DYNAMIC
from connect4.players.base import Outcome, Reply, Turn
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result, final, step

BAD_INIT: Final = "Invalid init string. Format: <gameID> <black | white>"
BAD_COLOUR: Final = 'Invalid color. Needs to be either "black" or "white".'
TAKEN: Final = '{colour} player of gameID = "{game}" is already connected.'
HTTP: Final = (" HTTP/1.0", " HTTP/1.1")
NO_OPPONENT: Final = "Waited one minute, but still no opponent: Aborting."
TIMEOUT: Final = "Timeout of {milliseconds} ms triggered: Game over."

REMOTE: Final = "remote"
"""The name of a player whose agent is unknown."""

MAX_IDLE: Final = 1000
"""The most clients without a seat."""


def line_error(line: str, columns: int = 7, rows: int = 7) -> str | None:
    """Return the error in the form of a move line, in the order of the protocol, or None."""
    if len(line) < 3:
        return "String index out of range: 2"
    if line[2] not in "NSEW":
        return "operator must be one of N, S, E, W"
    for char, name, most in ((line[0], "column", columns), (line[1], "row", rows)):
        if not (char.isascii() and char.isdigit() and 1 <= int(char) <= most):
            return f"{char} is not a valid {name} number. Needs to be between 1 and {most}."
    return None


class Arbiter:
    """Applies the moves of one server game to its board; a side that cannot move passes."""

    def __init__(self, game: Record) -> None:
        self.record = game
        self.state: State = game.start
        self._pass()

    @property
    def mover(self) -> str:
        return COLOURS[self.state.mover - 1]

    @property
    def plies(self) -> int:
        return sum(turn.outcome is Outcome.PLAYED for turn in self.record.turns)

    def refusal(self, move: str) -> str | None:
        """Return the error line for an illegal move, or None."""
        turn, _ = step(0, self.state, Reply(Outcome.PLAYED, move, move))
        return f"illegal move: {turn.detail}" if turn.outcome is Outcome.INVALID else None

    def play(self, move: str, seconds: Seconds) -> Turn:
        """Play a move that took `seconds`; an illegal one leaves the board as it is."""
        turn = self.take(Reply(Outcome.PLAYED, move, move, seconds))
        self._pass()
        return turn

    def _pass(self) -> None:
        while not self.state.is_over() and not self.state.legal_actions():
            self.take(Reply(Outcome.PASS))

    def take(self, reply: Reply) -> Turn:
        turns = self.record.turns
        turn, self.state = step(len(turns) + 1, self.state, reply)
        turns.append(turn)
        return turn

    def verdict(self) -> str | None:
        """Return the line that announces the end, or None if the game is not over."""
        ending = self.state.ending()
        if ending is None:
            return None
        winner = final(self.state, ending).winner
        return f"Game over: {COLOURS[winner - 1]} wins." if winner else "Game over: draw."


class RelayedGame:
    """One game ID: the sides that have joined, the side to move, the clock."""

    def __init__(self, server: "Server", name: str) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.name = name
        self.sides: dict[str, Connection] = {}
        self._mover = "white"
        self._timer = self._loop.call_later(server.wait, self.end, None, None, NO_OPPONENT)
        self._began = 0.0
        self._arbiter: Arbiter | None = None

    def join(self, connection: "Connection", colour: str) -> None:
        """Seat a client; the second one starts the game."""
        connection.game = self
        self.sides[colour] = connection
        if len(self.sides) < 2:
            return
        for side, player in self.sides.items():
            player.send(f"{self.name} {side}")
        if self._server.start is not None:
            client = RecordedPlayer(REMOTE)
            players = (client, client)
            start, seconds = self._server.start, self._server.seconds
            self._arbiter = Arbiter(Record(DYNAMIC, start, players, seconds, 0))
        self._next_turn("white")

    def advance(self) -> None:
        """Take the next step, if there is one, and schedule the one after it."""
        act = self._step()
        if act is not None:
            act()
            if self._step() is not None:
                self._loop.call_soon(self.advance)

    def _step(self) -> Callable[[], None] | None:
        """Return the next step, if any: play a line, or end a game that a side has left."""
        if len(self.sides) == 2 and self.sides[self._mover].lines:
            return self._judge
        if any(side.ended and not side.lines for side in self.sides.values()):
            return self._left
        return None

    def _judge(self) -> None:
        mover, other = self.sides[self._mover], self.sides[other_colour(self._mover)]
        line = mover.lines.popleft()
        arbiter = self._arbiter
        if arbiter is None:
            error = line_error(line)
        else:
            rows, columns = arbiter.state.board().shape
            error = line_error(line, columns, rows) or arbiter.refusal(line[:3])
        if error is not None:
            mover.send(error)
            return
        mover.send(line)
        other.send(line)
        if arbiter is not None:
            arbiter.play(line[:3], self._loop.time() - self._began)
        self._next_turn(other_colour(self._mover))

    def _next_turn(self, colour: str) -> None:
        """Start the clock of the side to move, which the board determines if there is one."""
        self._mover = colour
        if self._arbiter is not None:
            verdict = self._arbiter.verdict()
            if verdict is not None:
                self.end(None, line=verdict)
                return
            self._mover = self._arbiter.mover
        self._timer.cancel()
        self._began = self._loop.time()
        seconds = self._server.seconds
        line = TIMEOUT.format(milliseconds=round(seconds * 1000))
        self._timer = self._loop.call_later(seconds, self.end, Ending.TIMEOUT, self._mover, line)
        self._loop.call_soon(self.advance)

    def _left(self) -> None:
        gone = [colour for colour, side in self.sides.items() if side.ended and not side.lines]
        self.end(Ending.DISCONNECTED, gone[0] if len(gone) == 1 else None)

    def end(self, ending: Ending | None, loser: str | None = None, line: str | None = None) -> None:
        """Send both sides the last line, if there is one, and close both connections.

        `ending` is None by the rules, or if no opponent came.
        """
        self._timer.cancel()
        self._server.games.pop(self.name, None)
        for side in self.sides.values():
            if line is not None:
                side.send(line)
            side.game = None
            side.lines.clear()
            side.close()
        self.sides.clear()
        if self._arbiter is not None:
            self._server.keep(self.name, self._arbiter, ending, loser)


def other_colour(colour: str) -> str:
    """Return the other side's colour."""
    return COLOURS[1 - COLOURS.index(colour)]


class Server:
    """All games. `start` is None in relay mode; `seconds` is the limit of a move.

    A client waits `wait` seconds for an opponent, and has the same time to join a game. Of the
    clients without a game, the oldest beyond `MAX_IDLE` are disconnected. Records are written to
    `records`.
    """

    def __init__(
        self, seconds: Seconds, start: State | None, records: Path | None, wait: Seconds
    ) -> None:
        self.seconds = seconds
        self.start = start
        self.wait = wait
        self.games: dict[str, RelayedGame] = {}
        self._records = records
        self._unseated: dict[Connection, asyncio.TimerHandle] = {}
        self._written = 0 if records is None else len(list(records.glob("*.json")))

    def arrived(self, connection: "Connection") -> None:
        """Accept a client that has not joined a game yet."""
        timer = asyncio.get_running_loop().call_later(self.wait, connection.close)
        self._unseated[connection] = timer
        if len(self._unseated) > MAX_IDLE:
            oldest = next(iter(self._unseated))
            self.unlist(oldest)
            oldest.close()

    def unlist(self, connection: "Connection") -> None:
        """Remove a client from the list of those without a game."""
        timer = self._unseated.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def seat(self, connection: "Connection", line: str) -> None:
        """Process a handshake."""
        line = line.rstrip(" ")  # as the course's server does
        if line.endswith(HTTP):  # a web page in a local browser must not play
            connection.close()
            return
        words = line.split(" ")
        if len(words) != 2 or not all(words):
            connection.send(BAD_INIT)
            return
        name, colour = words[0], words[1].lower()
        if colour not in COLOURS:
            connection.send(BAD_COLOUR)
            return
        game = self.games.get(name)
        if game is None:
            game = self.games[name] = RelayedGame(self, name)
        if colour in game.sides:
            connection.send(TAKEN.format(colour=colour, game=name))
            return
        self.unlist(connection)
        game.join(connection, colour)

    def keep(self, name: str, arbiter: Arbiter, ending: Ending | None, loser: str | None) -> None:
        """Write a strict game's record if records are enabled and a move was played.

        `loser` is the side that ended the game early.
        """
        if self._records is None or not arbiter.plies:
            return
        ending = arbiter.state.ending() or ending
        assert ending is not None
        result = final(arbiter.state, ending)
        if loser is not None:
            result = Result(result.scores, ending, 2 if loser == COLOURS[0] else 1)
        arbiter.record.result = result
        self._written += 1
        safe = re.sub("[^A-Za-z0-9_-]", "_", name)[:60]
        while (path := self._records / f"{self._written:06}-{safe}.json").exists():
            self._written += 1  # a record was removed before, or another server writes here
        try:
            record.write(arbiter.record, path)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """End every game and close every connection."""
        for game in list(self.games.values()):
            game.end(Ending.ABORTED)
        for connection in list(self._unseated):
            connection.close()


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
        for line in (line.removesuffix(b"\r") for line in lines):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = "\0"
            if len(line) > MAX_LINE or CONTROL.search(text):
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
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line.encode() + b"\n")

    def close(self) -> None:
        """Close the connection once everything is sent, or after `LINGER` seconds."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            asyncio.get_running_loop().call_later(LINGER, self._transport.abort)

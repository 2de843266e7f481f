"""The game server of Dynamic Connect-4: `docs/protocol.md`, byte for byte, over asyncio.

Everything runs in one thread, driven by what arrives: a `Connection` cuts bytes into lines, a
`Match` plays the lines of its two sides one at a time, so that no client can hold up another's.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

from connect4.cli import Parser, count, port_number, time_limit
from connect4.errors import BadInput
from connect4.games import load_start
from connect4.games.base import Ending, Seconds
from connect4.games.dynamic import COLOURS, DYNAMIC, DynamicState
from connect4.server.arbiter import Arbiter

MAX_LINE: Final = 1024
"""Bytes of a line without its end."""

MAX_KEPT: Final = 256
"""Lines of one client that are kept until its turn comes."""

MAX_UNSENT: Final = 65536
"""Bytes that a client may leave unread before its connection is closed."""

LINGER: Final = 5.0
"""Seconds that a closed connection gets to take what was sent to it."""

CONTROL: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")

BAD_INIT: Final = "Invalid init string. Format: <gameID> <black | white>"
BAD_COLOUR: Final = 'Invalid color. Needs to be either "black" or "white".'
TAKEN: Final = '{colour} player of gameID = "{game}" is already connected.'
NO_OPPONENT: Final = "Waited one minute, but still no opponent: Aborting."
TIMEOUT: Final = "Timeout of {milliseconds} ms triggered: Game over."


def line_error(line: str, columns: int = 7, rows: int = 7) -> str | None:
    """Return what is wrong with the form of a move line, in the order of the protocol."""
    if len(line) < 3:
        return "String index out of range: 2"
    if line[2] not in "NSEW":
        return "operator must be one of N, S, E, W"
    for char, name, most in ((line[0], "column", columns), (line[1], "row", rows)):
        if not (char.isascii() and char.isdigit() and 1 <= int(char) <= most):
            return f"{char} is not a valid {name} number. Needs to be between 1 and {most}."
    return None


class Connection(asyncio.Protocol):
    """One client: its lines in, lines out to it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._partial = b""
        self._transport: asyncio.Transport | None = None
        self.lines: deque[str] = deque()
        self.ended = False
        """Whether the client will send nothing more."""
        self.match: Match | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new client."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=MAX_UNSENT)
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_UNSENT
        )
        self._server.arrived(self)

    def data_received(self, data: bytes) -> None:
        """Cut what has come into lines; what is no line, or far too many, ends the connection."""
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
        """Keep the way out open: what the client sent before is still to be answered."""
        if self._partial:
            self.data_received(b"\n")
        self.ended = True
        self.advance()
        return True

    def pause_writing(self) -> None:
        """Give up on a client that does not read."""
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
        """Do what the lines kept so far allow, one line at a time: the others have their turn."""
        if self.match is not None:
            self.match.advance()
        elif self._transport is None or self._transport.is_closing():
            return
        elif self.lines:
            self._server.seat(self, self.lines.popleft())
            asyncio.get_running_loop().call_soon(self.advance)
        elif self.ended:
            self.close()

    def send(self, line: str) -> None:
        """Send a line, if the client is still there."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(line.encode() + b"\n")

    def close(self) -> None:
        """Close once everything is sent, or after `LINGER` seconds."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            asyncio.get_running_loop().call_later(LINGER, self._transport.abort)


def decoded(line: bytes) -> str | None:
    """Return a line's text; None where it is too long or no text."""
    line = line.removesuffix(b"\r")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if len(line) > MAX_LINE or CONTROL.search(text) else text


class Match:
    """One game ID: the sides that have joined, whose turn it is, the clock."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.name = name
        self.sides: dict[str, Connection] = {}
        self._mover = "white"
        self._timer = self._loop.call_later(server.wait, self._no_opponent)
        self._began = 0.0
        self._arbiter: Arbiter | None = None

    def join(self, connection: Connection, colour: str) -> None:
        """Seat a client; the second one begins the game."""
        connection.match = self
        self.sides[colour] = connection
        if len(self.sides) < 2:
            return
        for side, player in self.sides.items():
            player.send(f"{self.name} {side}")
        if self._server.start is not None:
            self._arbiter = Arbiter(self._server.start, self._server.seconds)
        self._next_turn("white")

    def advance(self) -> None:
        """Take the next step, if there is one, and see to it that the one after it comes."""
        step = self._step()
        if step is not None:
            step()
            if self._step() is not None:
                self._loop.call_soon(self.advance)

    def _step(self) -> Callable[[], None] | None:
        """Return what can be done now: play a line, or end a game that a side has left."""
        if len(self.sides) == 2 and self.sides[self._mover].lines:
            return self._judge
        if any(side.ended and not side.lines for side in self.sides.values()):
            return self._left
        return None

    def _judge(self) -> None:
        """Answer a line of the side to move."""
        mover, other = self.sides[self._mover], self.sides[other_colour(self._mover)]
        line = mover.lines.popleft()
        arbiter = self._arbiter
        if arbiter is None:
            error = line_error(line)
        else:
            error = line_error(line, arbiter.columns, arbiter.rows) or arbiter.refusal(line[:3])
        if error is not None:
            mover.send(error)
            return
        mover.send(line)
        other.send(line)
        if arbiter is not None:
            arbiter.play(line[:3], self._loop.time() - self._began)
        self._next_turn(other_colour(self._mover))

    def _next_turn(self, colour: str) -> None:
        """Start the clock of the side whose turn it is, by the board where one is kept."""
        self._mover = colour
        if self._arbiter is not None:
            verdict = self._arbiter.verdict()
            if verdict is not None:
                self._tell(verdict)
                self.end(None)
                return
            self._mover = self._arbiter.mover
        self._timer.cancel()
        self._began = self._loop.time()
        self._timer = self._loop.call_later(self._server.seconds, self._timeout)
        self._loop.call_soon(self.advance)

    def _timeout(self) -> None:
        self._tell(TIMEOUT.format(milliseconds=round(self._server.seconds * 1000)))
        self.end(Ending.TIMEOUT, self._mover)

    def _no_opponent(self) -> None:
        self._tell(NO_OPPONENT)
        self.end(None)

    def _left(self) -> None:
        gone = [colour for colour, side in self.sides.items() if side.ended and not side.lines]
        self.end(Ending.DISCONNECTED, gone[0] if len(gone) == 1 else None)

    def _tell(self, line: str) -> None:
        for side in self.sides.values():
            side.send(line)

    def end(self, ending: Ending | None, loser: str | None = None) -> None:
        """Close both connections; `ending` says why, unless the rules or nobody's coming did."""
        self._timer.cancel()
        self._server.matches.pop(self.name, None)
        for side in self.sides.values():
            side.match = None
            side.lines.clear()
            side.close()
        self.sides.clear()
        if self._arbiter is not None:
            self._server.keep(self.name, self._arbiter, ending, loser)


def other_colour(colour: str) -> str:
    """Return the other side's colour."""
    return COLOURS[1 - COLOURS.index(colour)]


class Server:
    """All matches. `start` is None in relay mode; `seconds` is the limit of a move.

    A client waits `wait` seconds for an opponent, and may stay as long without a seat; of clients
    without a seat the oldest one over `idle` goes. Records are written to `records`.
    """

    def __init__(
        self,
        seconds: Seconds = 10.0,
        start: DynamicState | None = None,
        records: Path | None = None,
        wait: Seconds = 60.0,
        idle: int = 1000,
    ) -> None:
        self.seconds = seconds
        self.start = start
        self.wait = wait
        self.matches: dict[str, Match] = {}
        self._records = records
        self._idle = idle
        self._unseated: dict[Connection, asyncio.TimerHandle] = {}
        self._written = 0

    def arrived(self, connection: Connection) -> None:
        """Take a client that has no seat yet."""
        timer = asyncio.get_running_loop().call_later(self.wait, connection.close)
        self._unseated[connection] = timer
        if len(self._unseated) > self._idle:
            oldest = next(iter(self._unseated))
            self.unlist(oldest)
            oldest.close()

    def unlist(self, connection: Connection) -> None:
        """Take a client off the list of those without a seat."""
        timer = self._unseated.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def seat(self, connection: Connection, line: str) -> None:
        """Answer a handshake."""
        words = line.split(" ")
        if len(words) != 2 or not all(words):
            connection.send(BAD_INIT)
            return
        name, colour = words[0], words[1].lower()
        if colour not in COLOURS:
            connection.send(BAD_COLOUR)
            return
        match = self.matches.get(name)
        if match is None:
            match = self.matches[name] = Match(self, name)
        if colour in match.sides:
            connection.send(TAKEN.format(colour=colour, game=name))
            return
        self.unlist(connection)
        match.join(connection, colour)

    def keep(self, name: str, arbiter: Arbiter, ending: Ending | None, loser: str | None) -> None:
        """Write a strict game's record where records are wanted."""
        if self._records is None:
            return
        self._written += 1
        safe = re.sub("[^A-Za-z0-9_-]", "_", name)[:60]
        try:
            arbiter.write(self._records / f"{self._written:06}-{safe}.json", ending, loser)
        except BadInput as error:
            print(f"error: {error}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """End every game and close every connection."""
        for match in list(self.matches.values()):
            match.end(Ending.ABORTED)
        for connection in list(self._unseated):
            connection.close()


EXAMPLES: Final = """
examples:
  python3 -m connect4.server
      relay moves between programs on this machine, port 12345, 10 s a move
  python3 -m connect4.server --host 0.0.0.0 --port 4000 --time 20
      the same for the whole network
  python3 -m connect4.server --strict --records games --max-turns 200
      keep the board: refuse illegal moves, announce the end, write a record of each game
  printf 'g1 white\\n13E\\n' | nc 127.0.0.1 12345
      play by hand; docs/protocol.md has all lines
"""


def make_parser() -> Parser:
    """Return the command line's parser."""
    parser = Parser(
        prog="python3 -m connect4.server",
        description="Serve games of Dynamic Connect-4 to programs, one line a move.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--port", type=port_number, default=12345, help="TCP port (default 12345; 0: any free one)")
    add("--time", type=time_limit, default=10.0, help="seconds per move (default 10)")
    add("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    add("--strict", action="store_true", help="keep the board and judge moves and the end")
    add("--records", metavar="DIR", type=Path, help="strict: write each game's record there")
    add("--start", metavar="START", help="strict: the position to begin with")
    add("--max-turns", type=count, help="strict: a draw after so many plies (default 100)")
    add("--line", type=count, help="strict: pieces in a line that win, 3 or 4 (default 4)")
    add("--repetition", action="store_true", default=None, help="strict: a third time is a draw")
    add(
        "--wait",
        type=time_limit,
        default=60.0,
        help="seconds to wait for a handshake, and for an opponent (default 60)",
    )
    add("--idle", type=count, default=1000, help="clients without a seat (default 1000)")
    return parser


def make_server(arguments: argparse.Namespace) -> Server:
    """Return the server that the command line asks for; raises `BadInput`."""
    start = None
    if arguments.strict:
        state = load_start(DYNAMIC, arguments.start or "start")
        assert isinstance(state, DynamicState)
        start = state.with_options(arguments.line, arguments.max_turns, arguments.repetition)
    else:
        for name in ("records", "start", "max_turns", "line", "repetition"):
            if getattr(arguments, name) is not None:
                raise BadInput(f"--{name.replace('_', '-')} needs --strict: a relay keeps no board")
    if arguments.records is not None and not arguments.records.is_dir():
        raise BadInput(f"--records {arguments.records}: no such folder")
    return Server(arguments.time, start, arguments.records, arguments.wait, arguments.idle)


async def serve(server: Server, host: str, port: int) -> None:
    """Serve until a SIGTERM or Ctrl-C; raises `BadInput` where the port cannot be had."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    with contextlib.suppress(NotImplementedError):  # on Windows a Ctrl-C cancels this instead
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
    try:
        listener = await loop.create_server(lambda: Connection(server), host, port, backlog=4096)
    except OSError as error:
        raise BadInput(f"{host} port {port}: {error.strerror}") from None
    found = listener.sockets[0].getsockname()
    mode = "relay" if server.start is None else "strict"
    print(
        f"listening on {found[0]} port {found[1]} ({mode}, {server.seconds:g} s a move)", flush=True
    )
    try:
        await stopped.wait()
    finally:
        listener.close()
        server.stop()
        await asyncio.sleep(0.1)  # what was sent last leaves


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_args(argv)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        asyncio.run(serve(make_server(arguments), arguments.host, arguments.port))
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0

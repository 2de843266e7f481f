"""Connect one of the kit's agents to a game server of Dynamic Connect-4, the kit's or another.

`docs/protocol.md` describes the lines that are exchanged.
"""

import argparse
import random
import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from connect4 import record as records
from connect4.cli import Parser, check_place, count, fail, port_number, seed_number, time_limit
from connect4.errors import AgentError, InputError, one_line
from connect4.games import begin
from connect4.games.base import SIDES, Ending, Player, Winner, opponent
from connect4.games.dynamic import COLOURS, DYNAMIC, DynamicRules, DynamicState
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, PlayerLeftError, Seat, Setup
from connect4.players.human import HumanSeat
from connect4.players.registry import parse_agent
from connect4.record import Record, RecordedPlayer
from connect4.referee import Result, final
from connect4.server.relay import REMOTE, Arbiter

GAME_OVER: Final = "Game over: "

NO_LIMIT: Final = 100_000
"""More plies than any game has, because a relay has no limit."""

MARGIN: Final = (0.5, 0.1)
"""The part of a move's time that is reserved for communication: seconds, and a fraction."""

EXAMPLES: Final = """
examples:
  python3 -m connect4.client 127.0.0.1 12345 g1 white --agent random
      join game g1 as white
  python3 -m connect4.client 127.0.0.1 12345 g1 black --agent human --time 60
      play by hand, on a server that allows 60 s a move
  python3 -m connect4.client example.org 12345 final white --agent random b
      begin from position b of connect4/initial_states/dynamic
  python3 -m connect4.client 127.0.0.1 1234 g white --agent mcts --record g.json
      keep the game's record, even if the connection is lost

exit status: 0 the game was played to its end, 1 it ended early or never began,
  2 bad input, 130 you left it
"""


PATIENCE: Final = 10.0
"""Seconds to wait for a connection."""

MAX_LINE: Final = 65536
"""The maximum length of a line in bytes."""

MOVE: Final = re.compile("[0-9][0-9][NSEW].*")
"""A line with a move: column, row, direction, and perhaps more."""


class Wire:
    """A connection to a game server; every failure is an `AgentError`."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout=PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise AgentError(f"{host} port {port}: no game server there ({why})") from None
        self._socket.settimeout(None)
        self._lines = self._socket.makefile("rb")

    def send(self, line: str) -> None:
        try:
            self._socket.sendall(line.encode() + b"\n")
        except OSError:
            raise AgentError("the server has closed the connection") from None

    def read(self) -> str:
        """Return the next line."""
        line = b""
        with suppress(OSError):
            line = self._lines.readline(MAX_LINE)
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            raise AgentError("what came from the server is not a line")
        if not line.endswith(b"\n"):
            raise AgentError("the server has closed the connection: the opponent is gone")
        return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


class ServerGame:
    """A game on a server, played on the client's own board and recorded."""

    def __init__(self, wire: Wire, seat: Seat, player: Player, record: Record) -> None:
        """Take `player`, our side, and `record`, which has the start and the limit of a move."""
        self.record = record
        self._board = Arbiter(record)
        self._wire, self._seat, self._player = wire, seat, player

    def play(self, show: Callable[[str], object]) -> str:
        """Play to the end; return the line that says how the game ended.

        Raises `AgentError` if the game is interrupted. The record has a result either way.
        """
        board = self._board
        try:
            while not board.state.is_over():
                show(f"{board.state.display()}\n")
                mover, began = board.state.mover, time.monotonic()
                line = self._next_line(mover)
                if line.startswith(GAME_OVER):
                    colour = line.removeprefix(GAME_OVER).partition(" ")[0]
                    winner = SIDES[COLOURS.index(colour)] if colour in COLOURS else 0
                    self._end(Ending.ABORTED, winner, f"the server replied: {line}")
                    return f"{line} ({board.plies} plies)"
                turn = board.play(line[:3], time.monotonic() - began)
                if turn.outcome is Outcome.INVALID:
                    self._end(Ending.FORFEIT, opponent(mover))
                    raise AgentError(f"the opponent's move is illegal: {turn.detail}")
            show(f"{board.state.display()}\n")
            ending = board.state.ending()
            assert ending is not None
            self.record.result = final(board.state, ending)
            return f"{board.verdict()} ({board.plies} plies)"
        except (PlayerLeftError, KeyboardInterrupt):
            self._end(Ending.LEFT, 0)
            raise
        except AgentError as error:
            if self.record.result is None:
                self._end(Ending.DISCONNECTED, 0, str(error))
            raise

    def _next_line(self, mover: Player) -> str:
        """Return the server's line for a turn, after sending our move: a move, or "Game over"."""
        own = self._sent_move() if mover == self._player else ""
        line = self._wire.read()
        is_move = line.startswith(own) and MOVE.fullmatch(line) is not None
        if is_move or line.startswith(GAME_OVER):
            return line
        if line.startswith("Timeout of "):
            self._end(Ending.TIMEOUT, opponent(mover), line)
        else:
            self._end(Ending.ABORTED, 0, f"the server replied: {line}")
        why = f"does not take the move {own}" if own else "replied"
        raise AgentError(f"the server {why}: {line}")

    def _sent_move(self) -> str:
        reply = self._seat.ask(self._board.state, self.record.time_limit)
        if reply.outcome is not Outcome.PLAYED or reply.text is None:
            self._board.take(reply)
            self._end(Ending.FORFEIT, opponent(self._player))
            raise AgentError(f"our agent has no move to send ({reply.outcome}: {reply.detail})")
        self._wire.send(reply.text)
        return reply.text

    def _end(self, ending: Ending, winner: Winner, detail: str | None = None) -> None:
        self.record.result = Result(self._board.state.scores(), ending, winner, detail)


def make_parser() -> Parser:
    """Return the command line's parser."""
    parser = Parser(
        prog="python3 -m connect4.client",
        description="Play one game of Dynamic Connect-4 on a game server.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("host", metavar="HOST", help="the name or address of the server")
    add("port", metavar="PORT", type=port_number, help="the port of the server")
    add("game", metavar="GAMEID", help="the name of the game, the same for both sides")
    add("colour", metavar="white|black", type=str.lower, choices=COLOURS)
    add("start", metavar="START", nargs="?", default="start", help="the first position")
    add("--agent", required=True, metavar="NAME", help="who plays, such as random or human")
    add("--time", type=time_limit, default=10.0, help="the server's seconds per move (default 10)")
    add("--seed", type=seed_number, help="a deterministic agent repeats the game of a seed")
    add("--max-turns", type=count, help="a draw after N plies (default: no limit)")
    add("--line", type=count, help="length of a line that wins, 3 or 4 (default 4)")
    add("--repetition", action="store_true", default=None, help="a third repetition is a draw")
    add("--record", metavar="FILE", type=Path, help="write the game's record, however it ends")
    return parser


def join_and_play(arguments: argparse.Namespace) -> str:
    """Play the game of the command line; return the line that says how it ended.

    Raises `InputError`, or `AgentError` if the game is interrupted.
    """
    agent = parse_agent(arguments.agent, DYNAMIC.name)
    options = {option.name: getattr(arguments, option.name) for option in DYNAMIC.options}
    state = begin(DYNAMIC, arguments.start, None, None, options)
    assert isinstance(state, DynamicState)
    file_limit = state.layout.rules.max_turns
    if arguments.max_turns is None and file_limit == DynamicRules().max_turns:  # it sets none
        state = state.with_options(max_turns=NO_LIMIT)
    if arguments.record is not None:
        check_place("--record", arguments.record)
    if len(arguments.game.split()) != 1:
        raise InputError(f"game {arguments.game!r}: a game ID is one word")
    player: Player = 1 if arguments.colour == COLOURS[0] else 2
    seed = random.SystemRandom().randrange(2**31) if arguments.seed is None else arguments.seed
    seconds = arguments.time - min(MARGIN[0], MARGIN[1] * arguments.time)
    if agent.kind == "human":
        seat: Seat = HumanSeat(DYNAMIC, player, input, print)
    else:
        seat = open_seat(Setup(agent, player, DYNAMIC, seconds, seed), "none")
    with closing(seat), closing(Wire(arguments.host, arguments.port)) as wire:
        wire.send(f"{arguments.game} {arguments.colour}")
        answer = wire.read()
        if answer != f"{arguments.game} {arguments.colour}":
            raise AgentError(f"the server replied: {answer}")
        names = [RecordedPlayer(agent.text), RecordedPlayer(REMOTE)]
        one, two = names if player == 1 else reversed(names)
        game = ServerGame(wire, seat, player, Record(DYNAMIC, state, (one, two), seconds, seed))
        try:
            return game.play(print if agent.kind == "human" else str)
        finally:
            if arguments.record is not None:
                records.write(game.record, arguments.record)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_intermixed_args(argv)
    try:
        print(one_line(join_and_play(arguments)))
    except InputError as error:
        return fail(error)
    except AgentError as error:
        return fail(error, 1)
    except (KeyboardInterrupt, PlayerLeftError):
        print("left the game", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

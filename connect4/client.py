"""One of our agents as a client of a game server of Dynamic Connect-4, ours or any other.

`docs/protocol.md` describes the lines that are exchanged.
"""

from __future__ import annotations

from connect4 import entry  # first: it speaks for the imports below

# isort: split
import argparse
import random
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Final

from connect4.cli import Parser, count, port_number, seed_number, time_limit
from connect4.errors import AgentError, IllegalAction, InputError
from connect4.games import load_start
from connect4.games.base import Player, Seconds, State
from connect4.games.dynamic import COLOURS, DYNAMIC, DynamicState
from connect4.isolation.seat import open_seat
from connect4.players.base import Outcome, PlayerLeftError, Reply, Seat, Setup
from connect4.players.human import HumanSeat
from connect4.players.names import AgentName
from connect4.players.registry import parse_agent
from connect4.players.remote import Wire
from connect4.referee import step
from connect4.server.arbiter import verdict

MARGIN: Final = (0.5, 0.1)
"""What the way to the server may take of a move's time: so many seconds, or that part of it."""

EXAMPLES: Final = """
examples:
  python3 -m connect4.client 127.0.0.1 12345 g1 white --agent random
      join game g1 as white
  python3 -m connect4.client 127.0.0.1 12345 g1 black --agent human --time 60
      play by hand, on a server that allows 60 s a move
  python3 -m connect4.client example.org 12345 final white --agent random --time 20 b
      begin from position b of connect4/initial_states/dynamic

exit status: 0 the game was played to its end, 1 it was broken off or never began, 2 bad input
"""


def play(
    wire: Wire,
    seat: Seat,
    state: State,
    player: Player,
    seconds: Seconds,
    show: Callable[[str], None],
) -> str:
    """Play a game that both sides have joined; return the line that says how it ended.

    Raises `AgentError` where it was broken off.
    """
    plies = 0
    while not state.is_over():
        if not state.legal_actions():
            _, state = step(plies, state, Reply(Outcome.PASS))
            continue
        show(str(state.display()))
        if state.mover == player:
            move = own_move(seat, state, seconds)
            wire.play(move)
        else:
            line = wire.read(None)
            if line.startswith("Game over: "):
                return f"{line} ({plies} plies)"
            move = line[:3]
        turn, state = step(plies, state, Reply(Outcome.PLAYED, move, move))
        if turn.outcome is not Outcome.PLAYED:
            raise AgentError(what_was_wrong(line, turn.detail))
        plies += 1
    show(str(state.display()))
    return f"{verdict(state)} ({plies} plies)"


def what_was_wrong(line: str, error: str | None) -> str:
    """Return why a line in the opponent's turn ends the game."""
    try:
        DYNAMIC.parse_action(line[:3])
    except IllegalAction:
        return f"the server says: {line}"
    return f"the opponent's move is illegal: {error}"


def own_move(seat: Seat, state: State, seconds: Seconds) -> str:
    """Return our agent's move as text; raises `AgentError` where it has none."""
    reply = seat.ask(state, seconds)
    if reply.outcome is not Outcome.PLAYED or reply.text is None:
        raise AgentError(f"our agent has no move to send ({reply.outcome}: {reply.detail})")
    return reply.text


def take_seat(agent: AgentName, player: Player, seconds: Seconds, seed: int) -> Seat:
    """Return the seat of our agent."""
    if agent.kind == "human":
        return HumanSeat(DYNAMIC, player, input, print)
    return open_seat(Setup(agent, player, DYNAMIC, seconds, seed), "none")


def make_parser() -> Parser:
    """Return the command line's parser."""
    parser = Parser(
        prog="python3 -m connect4.client",
        description="Play one game of Dynamic Connect-4 on a game server.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("host", metavar="HOST")
    add("port", metavar="PORT", type=port_number)
    add("game", metavar="GAMEID", help="both sides join by the same word")
    add("colour", metavar="white|black", type=str.lower, choices=COLOURS)
    add("start", metavar="START", nargs="?", default="start", help="the position to begin with")
    add("--agent", required=True, metavar="NAME", help="who plays, such as random or human")
    add("--time", type=time_limit, default=10.0, help="the server's seconds per move (default 10)")
    add("--seed", type=seed_number, help="makes a deterministic agent repeat its play")
    add("--max-turns", type=count, help="a draw after so many plies (default 100)")
    add("--line", type=count, help="pieces in a line that win, 3 or 4 (default 4)")
    add("--repetition", action="store_true", default=None, help="a third time is a draw")
    return parser


def join_and_play(arguments: argparse.Namespace) -> str:
    """Play what the command line asks for; return the line that says how it ended.

    Raises `InputError`, and `AgentError` where the game was broken off.
    """
    agent = parse_agent(arguments.agent, DYNAMIC.name)
    state = load_start(DYNAMIC, arguments.start)
    assert isinstance(state, DynamicState)
    state = state.with_options(arguments.line, arguments.max_turns, arguments.repetition)
    if len(arguments.game.split()) != 1:
        raise InputError(f"game {arguments.game!r}: a game ID is one word")
    player: Player = 1 if arguments.colour == COLOURS[0] else 2
    seed = random.SystemRandom().randrange(2**31) if arguments.seed is None else arguments.seed
    seconds = arguments.time - min(MARGIN[0], MARGIN[1] * arguments.time)
    show = print if agent.kind == "human" else (lambda board: None)
    with (
        closing(take_seat(agent, player, seconds, seed)) as seat,
        closing(Wire(arguments.host, arguments.port)) as wire,
    ):
        wire.join(arguments.game, arguments.colour)
        return play(wire, seat, state, player, seconds, show)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_intermixed_args(argv)
    try:
        entry.ready()
        print(join_and_play(arguments))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except AgentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, PlayerLeftError):
        print("left the game", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

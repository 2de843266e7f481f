"""An agent's side of the protocol, without the process: load it, answer requests for moves.

`worker` runs this in a process of the agent's own, `wasm.guest` at level `wasm`.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from typing import Any, Protocol

from connect4.errors import AgentError, IllegalAction
from connect4.games.base import Game
from connect4.isolation import protocol
from connect4.isolation.protocol import line_of
from connect4.players.base import Agent, Setup, note_of
from connect4.players.student import MAX_FRAMES, Note, StudentAgent, clipped


class Channel(Protocol):
    """What takes messages to the referee."""

    def sendall(self, data: bytes, /) -> object:
        """Send a whole message."""
        ...


def say(channel: Channel, message: dict[str, Any]) -> None:
    """Flush what the agent has printed, then send one line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the agent may have closed or replaced it
            continue
    channel.sendall(line_of(message))


def draw_from(seed: int) -> None:
    """Let everything that draws from the system's random bytes draw from `seed` from now on.

    That covers generators without a seed, numpy's too, `secrets` and `uuid4`: a game repeats.
    """
    stream = random.Random(f"system {seed}")  # not the stream of `random.seed(seed)`
    plain_seed = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        plain_seed(self, stream.getrandbits(256) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    random.seed = random._inst.seed
    random._urandom = os.urandom = stream.randbytes  # type: ignore[attr-defined]
    os.getrandom = lambda size, flags=0: stream.randbytes(size)


def load(channel: Channel, setup: Setup, note: Note | None) -> Agent | None:
    """Return the agent, or None where the referee has been told why there is none."""
    try:
        if setup.source is not None:
            return StudentAgent(setup, note)
        from connect4.players.building import build

        return build(setup)
    except BaseException as error:
        say(channel, {protocol.FAILED: _detail(error)})
        return None


def answer(agent: Agent, game: Game, request: dict[str, Any]) -> dict[str, str | list[str]]:
    """Return the answer to one request; `LAST` for an error that this process ends with."""
    state = game.from_json(request["state"])
    try:
        played = game.format_action(agent.choose(state, request["seconds"]))
        note = note_of(agent)
        return {protocol.PLAYED: played} if note is None else {protocol.NOTED: [played, note]}
    except IllegalAction as error:
        return {protocol.INVALID: str(error)}
    except BaseException as error:
        cause = error.__context__ if isinstance(error, AgentError) else error
        stops = isinstance(cause, SystemExit | KeyboardInterrupt)
        return {protocol.LAST if stops else protocol.ERROR: _detail(error)}


def _detail(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return error.detail
    return clipped("".join(traceback.format_exception(error, limit=-MAX_FRAMES)).rstrip())

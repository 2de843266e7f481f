"""The agent's loop at level `wasm`: this module runs inside, in the Python that counts fuel.

`images.FuelAgent` is the other end. Each turn runs one call of `turn`, which reads one request and
writes one answer, both as `isolation.protocol` describes.
"""

import gc
import json
import linecache
import os
import traceback
from collections.abc import Sequence

from connect4.games import GAMES, find_game
from connect4.games.base import Game
from connect4.isolation import protocol
from connect4.players.base import Agent

_loaded: list[tuple[Agent, Game]] = []


def send(data: bytes) -> None:
    """Write a message to the referee."""
    while data:
        data = data[os.write(protocol.ANSWERS, data) :]


def begin(kept: Sequence[str] | None, allowed: Sequence[str]) -> None:
    """Prepare this Python to be copied; for a submission (`kept`), forget most of the kit."""
    for name in GAMES:  # `confine` forgets the modules that `find_game` loads
        find_game(name)
    if kept is not None:
        protocol.confine(kept, allowed)
    _warm_up()
    gc.collect()
    gc.freeze()
    gc.enable()


def _warm_up() -> None:
    """Load what Python loads for its first traceback, so that no agent pays for it."""
    linecache.cache["ai.py"] = (5, None, ["1 / 0\n"], "ai.py")
    try:
        exec(compile("1 / 0", "ai.py", "exec"), {})
    except ZeroDivisionError as error:
        traceback.format_exception(error)
    try:
        compile("1 +", "ai.py", "exec")
    except SyntaxError as error:
        traceback.format_exception(error)
    linecache.clearcache()


def turn() -> None:
    """Load the agent, answer a request, or say what the agent thought of the last one."""
    request = b""
    while data := os.read(0, 1 << 20):
        request += data
    if not _loaded:
        setup = protocol.read_setup(json.loads(request)["setup"])
        agent = protocol.load(send, setup, protocol.note)
        if agent is not None:
            _loaded.append((agent, setup.game))
            protocol.say(send, {protocol.READY: True})
    else:
        (agent, game), asked = _loaded[0], json.loads(request)
        if protocol.THOUGHT in asked:
            protocol.say_thought(send, agent)
        else:
            protocol.say(send, protocol.answer(agent, game, asked))

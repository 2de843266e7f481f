"""Replay one turn of a recorded game, for `--replay-turn RECORD:N`."""

from __future__ import annotations

import importlib.util
import random
import sys
import traceback
from bdb import BdbQuit
from contextlib import closing
from pathlib import Path

import numpy as np

from connect4 import record as records
from connect4.errors import IllegalAction, InputError, harmless
from connect4.games.base import Player, Seconds, State
from connect4.isolation.measuring import NO_PLAYER
from connect4.isolation.seat import Level, open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.names import student_file
from connect4.players.registry import file_hash, recorded_agent
from connect4.players.student import MODULE_NAME, read_answer
from connect4.record import Record
from connect4.referee import Turn, step
from connect4.views.terminal.summary import may_be_kept, tell_debug
from connect4.views.words import BUSY, first_line, spent_text


def read_place(where: str) -> tuple[Record, Turn, State]:
    """Return the record, the turn and the position before it for `RECORD:N`.

    Raises `InputError`.
    """
    name, _, text = where.rpartition(":")
    if not (name and text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError(f"--replay-turn {where}: expected RECORD:N, such as game.json:12")
    record, state = records.read_turn(Path(name), int(text))
    if record.players[state.mover - 1].agent == "human":
        raise InputError(f"--replay-turn {where}: turn {text} was a person's")
    return record, record.turns[int(text) - 1], state


def setup_of(record: Record, player: Player, seconds: Seconds, named: str | None) -> Setup:
    """Return the setup of a side's agent with another time limit; raises `InputError`.

    `named` is the agent on the command line (see `recorded_agent`).
    """
    recorded = record.players[player - 1]
    agent = recorded_agent(recorded.agent, record.game.name, named)
    return Setup(agent, player, record.game, seconds, record.seed, recorded.asked)


def replay_turn(
    record: Record, recorded: Turn, state: State, setup: Setup, level: Level
) -> tuple[int, str, str]:
    """Ask the agent of a turn once more; print the recorded answer and the new one.

    Return 0 if the agent plays a legal move, else 1; then a heading for the agent's output, and the
    output.
    """
    number = recorded.number
    who = f"player {state.mover} ({harmless(setup.agent.text)})"
    asked = f", get_{setup.method}_move" if setup.agent.kind == "ai" else ""
    print(f"Turn {number}, {who}{asked}, from the position\n{state.to_text()}")
    answer = harmless(recorded.text or "none")
    why = f": {first_line(recorded.detail)}" if recorded.is_lost and recorded.detail else ""
    print(f"Recorded: {answer}, {recorded.outcome} in {spent_text(recorded)}{why}")
    with closing(open_seat(setup, level)) as seat:
        reply = seat.ask(state, setup.seconds)
    if reply.outcome is not Outcome.ERROR:
        print(f"Answer: {reply.text or 'none'}, {reply.outcome} in {spent_text(reply)}")
    if reply.detail:
        print(harmless(reply.detail))
        tell_debug(reply.detail)
    if reply.starved and reply.outcome is Outcome.TIMEOUT:
        print(BUSY)
    now, _ = step(number, state, reply)
    legal = now.outcome is Outcome.PLAYED
    if reply.outcome is Outcome.PLAYED and not legal:
        print(f"That is no valid action there: {now.detail}.")
    changed = file_hash(setup.agent) != record.players[state.mover - 1].sha256
    kept = legal and may_be_kept(record, recorded)
    print(comparison(recorded, now, changed, kept))
    return (0 if legal else 1), f"P{who[1:]} printed:", seat.log


def debug_turn(number: int, state: State, setup: Setup) -> int:
    """Play a turn in this process, without a clock, so that debuggers work; return the status.

    The file is loaded under its own path: `breakpoint()`, pdb and an editor's breakpoints find it.
    """
    if setup.agent.kind != "ai":
        raise InputError(f"--debug is for a file; {setup.agent.text} played turn {number}")
    path = student_file(setup.agent).resolve()
    method = f"get_{setup.method}_move"
    print(f"Turn {number}: {method} of {path}, from the position\n{state.to_text()}")
    random.seed(setup.derived_seed())
    np.random.seed(setup.derived_seed() % 2**32)
    spec = importlib.util.spec_from_file_location(MODULE_NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[MODULE_NAME] = importlib.util.module_from_spec(spec)
    limit = int(setup.seconds) if float(setup.seconds).is_integer() else setup.seconds
    given = state.for_agent()
    try:
        spec.loader.exec_module(module)
        answer = getattr(module.AIPlayer(state.mover, limit), method)(given)
    except BdbQuit:  # `q` in pdb
        return 1
    except (KeyboardInterrupt, SystemExit):  # Python would not show where
        traceback.print_exc()
        return 1
    finally:
        if not np.array_equal(given[0], state.board()):
            print(f"Note: {method} changed the board that it was given: try actions on a copy.")
    print(f"Answer: {answer}")
    assert setup.game.file_action is not None
    try:
        state.apply(setup.game.file_action(read_answer(answer)))
    except IllegalAction as error:
        print(f"That is no valid action there: {error}.")
        return 1
    return 0


def comparison(recorded: Turn, now: Turn, changed: bool, kept: bool = False) -> str:
    """Say whether the answer `now` is the recorded one, and what cannot be known.

    `kept` means that the player of the game may have kept something which this one lacks.
    """
    if changed:
        return (
            "The agent's file is not the one that played: its content has changed. So this answer "
            "proves nothing about the recorded one."
        )
    if (recorded.detail or "").startswith(NO_PLAYER):
        return "In the game there was no player to ask, so there is no answer to compare."
    if (recorded.text, recorded.outcome) == (now.text, now.outcome):
        return "The answer is the recorded one."
    why = (
        "The agent was started for this turn alone, so what it kept from earlier turns is missing; "
        "and an agent that draws at random or watches the clock need not answer alike. Which of "
        "these it is cannot be known from here."
    )
    if Outcome.TIMEOUT in (recorded.outcome, now.outcome):
        why = "Whether a turn is late depends on the machine too: its speed and what else it does."
    if kept:
        why = (
            "A fresh player answers this position. The file may keep something from its earlier "
            "turns, such as a stop flag. --lifetime move makes a fresh player for each turn, as "
            "the course's simulator did."
        )
    return f"The answer differs from the recorded one. {why}"

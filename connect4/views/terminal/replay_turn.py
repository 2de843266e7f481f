"""Replay one turn of a recorded game, for `--replay-turn RECORD:N`."""

from __future__ import annotations

import importlib.util
import random
import sys
import traceback
from bdb import BdbQuit
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from connect4 import record as records
from connect4.errors import IllegalAction, InputError, IsolationError, harmless
from connect4.games.base import SIDES, Ending, Player, Seconds
from connect4.isolation.reloaded import NO_PLAYER
from connect4.isolation.seat import Level, open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.names import student_file
from connect4.players.registry import file_hash, recorded_agent
from connect4.players.student import MODULE_NAME, read_answer
from connect4.record import Record
from connect4.referee import Turn, step
from connect4.views.terminal.summary import faults_of, tell_debug
from connect4.views.words import BUSY, ENDINGS, first_line, spent_text

FRESH: Final = (
    "a fresh player answers this position. The file may keep something from its earlier turns, "
    "such as a stop flag. --lifetime move makes a fresh player for each turn, as the course's "
    "simulator did."
)
"""The note on a lost turn if a new player answers the position."""

USUAL_SECONDS: Final = 5.0
"""The shortest time of the assignment: a file that plays there may keep seconds in reserve."""


def read_place(where: str) -> tuple[Record, int]:
    """Return the record and the turn's number for `RECORD:N`; raises `InputError`."""
    name, _, text = where.rpartition(":")
    if not (name and text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError(f"--replay-turn {where}: expected RECORD:N, such as game.json:12")
    record = records.read(Path(name))
    number = int(text)
    if never_began(record):
        why = ENDINGS[Ending.NOT_LOADED]
        raise InputError(f"--replay-turn {where}: {why}; play the game again")
    if not 1 <= number <= len(record.turns):
        raise InputError(f"--replay-turn {where}: the record has turns 1 to {len(record.turns)}")
    if record.players[record.turns[number - 1].player - 1].agent == "human":
        raise InputError(f"--replay-turn {where}: turn {number} was a person's")
    return record, number


def never_began(record: Record) -> bool:
    """Return whether an agent could not be loaded, so that the record has no turns."""
    return record.result is not None and record.result.ending is Ending.NOT_LOADED


def setup_of(record: Record, player: Player, seconds: Seconds, named: str | None) -> Setup:
    """Return the setup of a side's agent with another time limit; raises `InputError`."""
    recorded = record.players[player - 1]
    agent = recorded_agent(recorded.agent, record.game.name, named)
    return Setup(agent, player, record.game, seconds, record.seed, recorded.asked)


def replay_turn(
    record: Record, number: int, seconds: Seconds, level: Level, named: str | None = None
) -> tuple[int, str, str]:
    """Ask the agent of a turn once more; print the recorded answer and the new one.

    `named` is the agent on the command line (see `recorded_agent`). Return 0 if the agent plays a
    legal move, else 1; then a heading for the agent's output, and the output.
    """
    state = list(records.replay(record))[number - 1]
    setup = setup_of(record, state.mover, seconds, named)
    who = f"player {state.mover} ({harmless(setup.agent.text)})"
    asked = f", get_{setup.method}_move" if setup.agent.kind == "ai" else ""
    print(f"Turn {number}, {who}{asked}, from the position\n{state.to_text()}")
    recorded = record.turns[number - 1]
    answer = harmless(recorded.text or "none")
    why = f": {first_line(recorded.detail)}" if recorded.is_lost and recorded.detail else ""
    print(f"Recorded: {answer}, {recorded.outcome} in {spent_text(recorded)}{why}")
    with closing(open_seat(setup, level)) as seat:
        reply = seat.ask(state, seconds)
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


def debug_turn(record: Record, number: int, seconds: Seconds, named: str | None) -> int:
    """Play a turn in this process, without a clock, so that debuggers work; return the status.

    The file is loaded under its own path: `breakpoint()`, pdb and an editor's breakpoints find it.
    """
    state = list(records.replay(record))[number - 1]
    setup = setup_of(record, state.mover, seconds, named)
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
    limit = int(seconds) if float(seconds).is_integer() else seconds
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


def may_be_kept(record: Record, turn: Turn) -> bool:
    """Return whether state from earlier turns may explain a lost turn."""
    earlier = record.turns[: turn.number - 1]
    return (
        turn.outcome in (Outcome.INVALID, Outcome.ERROR)
        and not (turn.detail or "").startswith(NO_PLAYER)
        and record.lifetime == "game"
        and record.players[turn.player - 1].asked is not None
        and any(other.player == turn.player for other in earlier)
    )


def tell_what_would_help(games: Sequence[Record], level: Level) -> None:
    """Ask a fresh player of each file about one lost turn; print a line if it answers.

    One that does not is asked once more with the time of the assignment.
    """
    asked = set()
    for record, player in product(games, SIDES):
        agent, limit = record.players[player - 1].agent, record.time_limit
        lost = (turn for turn in faults_of(record, player) if may_be_kept(record, turn))
        turn = next(lost, None)
        if turn is None or agent in asked:
            continue
        asked.add(agent)
        who = f"Player {player} ({harmless(agent)}), turn {turn.number}"
        if _answers(record, turn, limit, level):
            print(f"{who}: {FRESH}")
        elif limit < USUAL_SECONDS and _answers(record, turn, USUAL_SECONDS, level):
            print(
                f"{who}: with {USUAL_SECONDS:g} s a move a player answers this position. "
                f"{limit:g} s is too little for the file; it may keep more than that in reserve."
            )


def _answers(record: Record, turn: Turn, seconds: Seconds, level: Level) -> bool:
    """Return whether a fresh player plays a legal move in place of a lost turn."""
    state = list(records.replay(record))[turn.number - 1]
    with (
        suppress(InputError, IsolationError),
        closing(open_seat(setup_of(record, turn.player, seconds, None), level)) as seat,
    ):
        reply = seat.ask(state, seconds)
        return reply.outcome is Outcome.PLAYED and reply.action in state.legal_actions()
    return False


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
        why = f"{FRESH[0].upper()}{FRESH[1:]}"
    return f"The answer differs from the recorded one. {why}"

"""Plays games for the tests: agents by name, or students' files written for one test."""

import re
from textwrap import dedent

from connect4.games import GAMES, find_game, load_start
from connect4.games.base import Ending
from connect4.players.base import Outcome, Turn
from connect4.players.registry import parse_agent
from connect4.record import Record, RecordedPlayer, dumps, loads
from connect4.referee import Over, final
from connect4.table import Table, Terms, no_person

TIMES = re.compile(r'"(seconds|cpu_seconds|overrun)": [0-9.e-]+|"starved": (?:true|false)')


def seated(
    one,
    two,
    start="case4",
    *,
    seed=1,
    seconds=20.0,
    game="extended",
    person=no_person,
    play_unloaded=False,
):
    """Return a table in the test's own process; `start` is a state or a state file's name."""
    rules = find_game(game)
    state = load_start(rules, start) if isinstance(start, str) else start
    agents = parse_agent(one, game), parse_agent(two, game)
    terms = Terms(seconds, seed, level="none", play_unloaded=play_unloaded)
    return Table(rules, state, agents, terms, person)


def classic_record(columns, size=(6, 7), names=("one", "two")):
    """Return the record of a classic game in which tokens were dropped into these columns."""
    game = GAMES["classic"]
    state = start = game.start(*size)
    turns = []
    for number, column in enumerate(columns, 1):
        turns.append(Turn(Outcome.PLAYED, column, str(column), number=number, player=state.mover))
        state = state.apply(column)
    one, two = map(RecordedPlayer, names)
    result = final(state, state.ending() or Ending.LEFT)
    return Record(game, start, (one, two), 1.5, 7, turns, result)


def played(one, two, start="case4", **terms):
    """Play a game to its end; return its record and the position in which it ended."""
    with seated(one, two, start, **terms) as table:
        *_, over = table.events()
    assert isinstance(over, Over)
    return table.record, over.state


def without_times(text):
    """Return a record's text without what may differ between two equal games."""
    return TIMES.sub("-", text)


def reread(record):
    """Return the record as a reader gets it; reading replays and checks it."""
    return loads(dumps(record))


def agent_file(folder, move, *, name="student.py", before="", setup="pass"):
    """Write a student's file; `move` is the body of both methods. Return the agent's name."""
    source = f"""\
import numpy as np
{dedent(before)}

class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        {setup}

    def get_expectimax_move(self, state):
        board, popouts = state
{_indented(move)}

    def get_intelligent_move(self, state):
        board, popouts = state
{_indented(move)}
"""
    (folder / name).write_text(source, encoding="utf-8")
    return f"ai:{folder / name}"


def _indented(body):
    return "\n".join(" " * 8 + line for line in dedent(body).strip().splitlines())

"""After a game: the agents' output, the scores, what to do next, and `--replay-turn RECORD:N`."""

import importlib.util
import random
import shlex
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
from connect4.errors import IllegalAction, InputError, IsolationError, harmless, one_line
from connect4.games.base import SIDES, Ending, Player, Seconds, State
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import NO_PLAYER, Level, open_seat
from connect4.players.base import Outcome, Setup, Turn, split_name, student_file
from connect4.players.registry import file_hash, method_of, recorded_agent
from connect4.players.student import MODULE_NAME, copied, read_answer, what_changed
from connect4.record import Record
from connect4.referee import Result, step
from connect4.table import TablePlan
from connect4.views import words

SHOWN_LINES: Final = 20
"""The number of lines of an agent's output to print."""

FRESH: Final = (
    "a fresh player answers this position. The file may keep something from its earlier turns, "
    "such as a stop flag, or draw at random. --lifetime move makes a fresh player for each turn, "
    "as the course's simulator did."
)
"""The note on a lost turn if a new player answers the position."""

USUAL_SECONDS: Final = 5.0
"""The shortest time of the assignment: a file that plays there may keep seconds in reserve."""

WITHOUT_POINTS: Final = (Ending.LINE, Ending.FORFEIT, Ending.NOT_LOADED)
"""Endings in which the points do not determine the winner."""


def tell_result(record: Record) -> None:
    """Print the scores, why the game ended, who has won, and each side's faults."""
    assert record.result is not None
    names = [one_line(player.agent) for player in record.players]
    if record.result.ending is Ending.NOT_LOADED:
        who = f"Neither player 1 ({names[0]}) nor player 2 ({names[1]}) could"
        if winner := record.result.winner:
            who = f"Player {3 - winner} ({names[2 - winner]}) could not"
        print(f"{who} be loaded:\n{words.indented(record.result.detail)}\n")
    for player, points in zip(SIDES, record.result.scores, strict=True):
        print(f"Player {player} Score: {points}")
    why = words.ENDINGS[record.result.ending].removesuffix(": a draw")  # the next line says it
    print(f"The game ended: {why}.")
    print(winner_text(record.result, names))
    for player in SIDES:
        faults = faults_of(record, player)
        if faults:
            print(f"Player {player} faults: {words.faults_text(faults)}")
        own = [turn for turn in record.turns if turn.player == player]
        if changed := words.changed_text(f"Player {player}", own):
            print(changed)
    if busy := words.busy_text(record.turns):
        print(busy)


def winner_text(result: Result, names: Sequence[str]) -> str:
    """Return who won, and by how much if points decide; the percentage is that of part A."""
    if not result.winner:
        return "No winner." if result.ending.undecided else "A draw."
    margin = abs(result.scores[0] - result.scores[1])
    least = min(result.scores)
    share = f" ({100 * margin / least:.1f} %)" if least else ""  # of 0 points there is none
    by = f", by {margin} point{'' if margin == 1 else 's'}{share}"
    who = f"Winner: player {result.winner} ({names[result.winner - 1]})"
    return f"{who}{'' if result.ending in WITHOUT_POINTS else by}."


def faults_of(record: Record, player: Player) -> list[Turn]:
    """Return the lost turns of a side."""
    return [turn for turn in record.turns if turn.player == player and turn.is_lost]


def agents_faults(record: Record) -> list[Turn]:
    """Return the first lost turn of each side that is a program; one by its own fault, if any."""
    return [
        min(lost, key=lambda turn: turn.starved)
        for player in SIDES
        if record.players[player - 1].agent != "human" and (lost := faults_of(record, player))
    ]


def tell_debug(detail: str | None) -> None:
    """If an agent asked for a terminal, print how it gets one."""
    if any(word in (detail or "") for word in ("bdb.BdbQuit", "EOFError")):
        print("breakpoint() and input() need a terminal: add --debug to that command.")


def tell_average(one: str, two: str, results: Sequence[Result]) -> None:
    """Print the mean scores of two agents over both sides."""
    (first_one, first_two), (second_two, second_one) = (result.scores for result in results)
    mean_one, mean_two = (first_one + second_one) / 2, (first_two + second_two) / 2
    margin = mean_one - mean_two
    print(f"Average over both sides: {one} {mean_one:g}, {two} {mean_two:g}, margin {margin:+g}")


def keep(
    record: Record, logs: Sequence[str], plan: TablePlan, log: Path | None, named: Path | None
) -> None:
    """Print the summary of a finished game; write its logs to `log`, and its record.

    The record is written if a file is `named` for it, or if a program lost a turn.
    """
    faulty = bool(agents_faults(record))
    printed = [
        (f"Player {player} ({agent.text}) printed:", text)
        for player, (agent, text) in enumerate(zip(plan.agents, logs, strict=True), 1)
        if text
    ]
    for heading, text in printed:
        keep_log(heading, text, log)
    tell_result(record)
    sys.stdout.flush()
    if named or faulty:
        try:
            records.write(record, Path(plan.record_name))
        except InputError as error:
            if named:
                raise
            print(f"note: {error}; --record FILE puts it elsewhere", file=sys.stderr)
            return
    for turn in agents_faults(record):
        why = f"To see why player {turn.player} lost turn {turn.number}, play it once more:"
        place = shlex.quote(f"{plan.record_name}:{turn.number}")
        print(f"{why} python3 -m connect4.ConnectFour --replay-turn {place}")
        tell_debug(turn.detail)
    if faulty and not named:
        print(f"The game's record is in {plan.record_name}; --record FILE puts it elsewhere.")
    elif named and str(named) != plan.record_name:  # one of two games
        print(f"The game's record is in {plan.record_name}.")
    sys.stdout.flush()


def keep_log(heading: str, log: str, place: Path | None) -> None:
    """Write an agent's output to the file of `--log`, or show the end of it."""
    if place is not None:
        write_text(place, f"{heading}\n{harmless(log)}\n")
        return
    lines = harmless(log).splitlines()
    cut = f" (the last {SHOWN_LINES} lines; --log FILE keeps all)"
    print(heading + (cut if len(lines) > SHOWN_LINES else ""))
    for line in lines[-SHOWN_LINES:]:
        print(f"  {line}")


def write_text(place: Path, text: str) -> None:
    """Append to a text file, or truncate it if the text is empty; raises `InputError`."""
    try:
        with place.open("a" if text else "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None


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
    recorded, other = record.players[player - 1], record.players[2 - player]
    agent = recorded_agent(recorded.agent, record.game.name, named)
    method = method_of(agent, split_name(other.agent), recorded.asked)
    return Setup(agent, player, record.game, seconds, record.seed, method)


def replay_turn(
    record: Record, recorded: Turn, state: State, setup: Setup, level: Level, limits: Limits
) -> tuple[int, str, str]:
    """Ask the agent of a turn once more; print the recorded answer and the new one.

    Return 0 if the agent plays a legal move, else 1; then a heading for the agent's output, and the
    output.
    """
    number = recorded.number
    who = f"player {state.mover} ({one_line(setup.agent.text)})"
    asked = f", get_{setup.method}_move" if setup.agent.kind == "ai" else ""
    print(f"Turn {number}, {who}{asked}, from the position\n{state.to_text()}")
    answer = one_line(recorded.text or "none")
    why = f": {words.first_line(recorded.detail)}" if recorded.is_lost and recorded.detail else ""
    print(f"Recorded: {answer}, {recorded.outcome} in {words.spent_text(recorded)}{why}")
    with closing(open_seat(setup, level, limits)) as seat:
        reply = seat.ask(state, setup.seconds)
    now, _ = step(number, state, reply)
    legal = now.outcome is Outcome.PLAYED
    if reply.outcome is not Outcome.ERROR:
        print(f"Answer: {reply.text or 'none'}, {now.outcome} in {words.spent_text(reply)}")
    if thought := words.thought_text(reply):
        print(f"It thought: {thought}")
    if reply.detail:
        print(harmless(reply.detail))
        tell_debug(reply.detail)
    if busy := words.busy_text([now]):
        print(busy)
    if reply.outcome is Outcome.PLAYED and not legal:
        print(f"That is no valid action there: {now.detail}.")
    if told := words.changed_text("The agent", [reply]):
        print(told)
    other = "" if setup.seconds == record.time_limit else "The time is not that of the game"
    if file_hash(setup.agent) != record.players[state.mover - 1].sha256:
        other = "The agent's file has changed since the game"
    print(f"{other}: this is the answer now." if other else comparison(recorded, now))
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
    before = copied(given)
    try:
        spec.loader.exec_module(module)
        answer = getattr(module.AIPlayer(state.mover, limit), method)(given)
    except BdbQuit:  # `q` in pdb
        return 1
    except (KeyboardInterrupt, SystemExit):  # Python would not show where
        traceback.print_exc()
        return 1
    finally:
        if changed := what_changed(given, before):
            print(f"Note: {method} changed {changed}. {words.ON_A_COPY}")
    print(f"Answer: {answer}")
    assert setup.game.file_action is not None
    try:
        state.apply(setup.game.file_action(read_answer(answer)))
    except IllegalAction as error:
        print(f"That is no valid action there: {error}.")
        return 1
    return 0


def tell_what_would_help(games: Sequence[Record], level: Level) -> None:
    """Ask a fresh player of each file about one lost turn; print a line if it answers.

    One that does not is asked once more with the time of the assignment.
    """
    asked = set()
    for record, player in product(games, SIDES):
        agent, asks = record.players[player - 1].agent, record.players[player - 1].asked is not None
        own = [turn for turn in record.turns if turn.player == player]
        turn = next(  # a fault that state from an earlier turn may explain
            (
                turn
                for turn in own[1:]
                if turn.outcome in (Outcome.INVALID, Outcome.ERROR)
                and not (turn.detail or "").startswith(NO_PLAYER)
            ),
            None,
        )
        if turn is not None and asks and record.lifetime == "game" and agent not in asked:
            asked.add(agent)
            with suppress(InputError, IsolationError):
                if told := _fresh_text(record, turn, level):
                    print(f"Player {player} ({one_line(agent)}), turn {turn.number}: {told}")


def _fresh_text(record: Record, turn: Turn, level: Level) -> str:
    """Return what a fresh player does in place of a lost turn; empty if it is as lost."""
    state, limit = list(records.replay(record))[turn.number - 1], record.time_limit

    def ask(seconds: Seconds) -> tuple[bool, str | None, str]:
        """Return whether the answer is legal, the answer, and both in words."""
        setup = setup_of(record, turn.player, seconds, None)
        with closing(open_seat(setup, level)) as seat:
            reply = seat.ask(state, seconds)
        if reply.text is None:
            return False, None, f"gives no action ({words.first_line(reply.detail)})"
        legal = reply.outcome is Outcome.PLAYED and reply.action in state.legal_actions()
        said = f"answers {reply.text}, which is {'' if legal else 'not '}valid there"
        return legal, reply.text, said

    legal, answer, said = ask(limit)
    if legal:
        return FRESH
    is_legal_later, later = False, ""
    if limit < USUAL_SECONDS:
        is_legal_later, _, text = ask(USUAL_SECONDS)
        text = "does so too" if text == said else text
        later = f"; with {USUAL_SECONDS:g} s a move it {text}"
    if turn.text is not None or answer is not None:
        return f"a fresh player {said}{later}."
    if not is_legal_later:
        return ""
    return (
        f"with {USUAL_SECONDS:g} s a move a player answers this position. "
        f"{limit:g} s is too little for the file; it may keep more than that in reserve."
    )


def comparison(recorded: Turn, now: Turn) -> str:
    """Say whether the answer `now` is the recorded one, and what cannot be known."""
    if (recorded.detail or "").startswith(NO_PLAYER):
        return "In the game there was no player to ask, so there is no answer to compare."
    if (recorded.text, recorded.outcome) == (now.text, now.outcome):
        return "The answer is the recorded one."
    return (
        "The answer differs from the recorded one. The agent was started for this turn alone, so "
        "what it kept from earlier turns is missing; and an agent that draws at random or watches "
        "the clock need not answer alike. Which of these it is cannot be known from here."
    )

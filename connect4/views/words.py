"""Texts that several views share: how a game ended, how a turn was judged, why a turn was lost."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from connect4.errors import harmless, headline, one_line
from connect4.games.base import Ending, State
from connect4.isolation.seat import NO_PLAYER, level_of
from connect4.players.base import Outcome, Reply, Turn
from connect4.search import value_text

ENDINGS: Final = {
    Ending.NO_ACTION: "the player to move has no valid action",
    Ending.STALLED: "stopped after six skipped turns in a row",
    Ending.LINE: "a winning line",
    Ending.BOARD_FULL: "the board is full",
    Ending.DRAW_LIMIT: "the limit of turns is reached: a draw",
    Ending.REPETITION: "the position has come up for the third time: a draw",
    Ending.FORFEIT: "a late, invalid or failed turn loses the game",
    Ending.RESIGNED: "a player resigned",
    Ending.TIMEOUT: "a side's time ran out",
    Ending.DISCONNECTED: "a side disconnected",
    Ending.LEFT: "a player left",
    Ending.ABORTED: "the game was stopped",
    Ending.NOT_LOADED: "an agent could not be loaded, so no turn was played",
}

OWN_FRAME: Final = re.compile(r'^  File "[^"/\\]+", line \d+', re.MULTILINE)
"""A line of a traceback: its file has no folder, so it is the agent's."""

NUMBER: Final = re.compile(r"\d+(\.\d+)?")

MOST_REASONS: Final = 5
"""The maximum number of reasons for lost turns in one line."""


def spent_text(turn: Reply, digits: int = 3) -> str:
    """Return what a turn used of its limit."""
    return level_of(turn).spent_text(turn, digits)


def move_text(turn: Turn) -> str:
    """Describe the outcome of a turn."""
    who = f"player {turn.player}"
    if turn.outcome is Outcome.PLAYED:
        note = f" ({first_line(turn.detail)})" if turn.detail else ""
        return f"{who} plays {turn.text}{note}"
    if turn.outcome is Outcome.PASS:
        return f"{who} cannot move and passes"
    return f"{who}'s turn is lost ({turn.outcome}): {first_line(turn.detail)}"


def first_line(detail: str | None) -> str:
    """Return the most informative line of a detail."""
    return harmless(headline(detail or ""))


def indented(detail: str | None) -> str:
    """Return an agent's error, indented to set it apart from the kit's own text."""
    return textwrap.indent(harmless(detail or ""), "  ")


def skipped_text(judged: Sequence[object | None], agent: str) -> str:
    """Return which turns of an analysis are None, and why; empty if none is."""
    turns = [number for number, turn in enumerate(judged, 1) if turn is None]
    if not turns:
        return ""
    were = "was" if len(turns) == 1 else "were"
    why = f"{agent} does not know positions after a lost turn."
    return f"{_named(turns)} {were} not analysed: {why}"


def _named(turns: Sequence[int]) -> str:
    """Return the first numbers of turns, and how many there are."""
    named = ", ".join([*map(str, turns[:4]), *(["..."] if len(turns) > 4 else [])])
    return f"Turn {named}" if len(turns) == 1 else f"Turns {named} ({len(turns)})"


def busy_text(turns: Iterable[Turn]) -> str:
    """Return which turns the machine lost; empty if it lost none."""
    busy = [turn.number for turn in turns if turn.starved and turn.outcome is Outcome.TIMEOUT]
    why = (
        "the machine was too busy to tell whether it is too slow. Close other programs, play again."
    )
    return f"{_named(busy)}: {why}" if busy else ""


def whole_reason(turn: Turn) -> str:
    """Return the detail of a turn, with the answer if it was no action."""
    answer = f"\n(the answer: {turn.text})" if turn.text and turn.action is None else ""
    return f"{turn.detail}{answer}" if turn.detail else ""


ON_A_COPY: Final = "Try each action on a copy: board.copy(), Integer(left.get_int())."


def changed_text(who: str, turns: Sequence[Turn]) -> str:
    """Return what a side changed of the states that it was given; empty if it changed nothing."""
    found = [turn for turn in turns if turn.changed]
    if not found:
        return ""
    first, many = found[0], f"{len(found)} turns, the first is " if len(found) > 1 else ""
    often = f" (on {many}turn {first.number})" if first.number else ""
    return f"{who} changed {one_line(first.changed)}{often}. {ON_A_COPY}"


def thought_text(turn: Turn) -> str:
    """Return how far the agent looked and what it found; empty if it did not say."""
    thought = turn.thought or {}
    parts = [f"depth {thought['depth']}"] if "depth" in thought else []
    parts += [f"{thought['nodes']:,} nodes"] if "nodes" in thought else []
    parts += [value_text(thought["value"])] if "value" in thought else []
    return ", ".join(parts)


def belief_text(turn: Turn, own: float, better: str, worth: float) -> str:
    """Return what the agent believed of its action and of a better one; empty if it did not say.

    `own` and `worth` are what the analysis says of the two, from the side of the mover.
    """
    thought = turn.thought or {}
    values = thought.get("values", {})
    value = values.get(turn.text, thought.get("value"))
    if value is None or turn.outcome is not Outcome.PLAYED:
        return ""
    depth = f" (depth {thought['depth']})" if "depth" in thought else ""
    other = f"{better} at {values[better]:+.4g}" if better in values else f"no value for {better}"
    mine = f"its search valued {turn.text} at {value:+.4g}{depth} and had {other}"
    return f"{mine}; the analysis has {turn.text} at {own:+.4g} and {better} at {worth:+.4g}"


def fault_report(turn: Turn, before: State, agent: str) -> str:
    """Return a report for the agent's author: the reason, and the position."""
    what = "failed on" if turn.outcome is Outcome.ERROR else "lost"
    outcome = "" if turn.outcome is Outcome.ERROR else f" ({turn.outcome})"
    return (
        f"Player {turn.player} ({agent}) {what} turn {turn.number}{outcome}:\n"
        f"{indented(whole_reason(turn))}\n\n"
        f"The position, as a state file:\n{before.to_text()}\n"
    )


def kind_of_fault(outcome: str, detail: str | None) -> str:
    """Return what lost turns with one cause share: for an exception, its message and its line.

    That is the innermost line of the agent's own file. Numbers in a message may differ from turn to
    turn, and so may the calls that led to the line.
    """
    if outcome == Outcome.INVALID:
        return outcome
    head = headline(detail or "")
    if head.startswith(NO_PLAYER):
        return first_line(detail)
    frames = OWN_FRAME.findall(detail or "")
    if outcome == Outcome.ERROR and frames:
        return "\n".join([outcome, NUMBER.sub("N", head), frames[-1]])
    return f"{outcome} {NUMBER.sub('N', head.partition(' (')[0])}"


def faults_text(turns: Sequence[Turn]) -> str:
    """Summarise a side's lost turns: the number for each reason, and the first turn."""
    groups: dict[str, list[Turn]] = {}
    for turn in turns:
        groups.setdefault(kind_of_fault(turn.outcome, turn.detail), []).append(turn)
    parts = [_group_text(group) for group in groups.values()]
    others = sum(map(len, list(groups.values())[MOST_REASONS:]))
    return ", ".join(parts[:MOST_REASONS] + ([f"{others} for other reasons"] if others else []))


def _group_text(turns: Sequence[Turn]) -> str:
    count, first = len(turns), turns[0]
    reason = first_line(first.detail)
    if reason.startswith(NO_PLAYER):
        return f"{count} {reason}"
    words = {Outcome.TIMEOUT: "late", Outcome.ERROR: "errors" if count > 1 else "error"}
    word = words.get(first.outcome, first.outcome.value)
    return f"{count} {word} (the first on turn {first.number}: {reason})"

"""Show the game in a terminal: redrawn in place, or line by line if output is redirected."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TextIO

from connect4.errors import harmless
from connect4.games.base import Ending, Player, State
from connect4.players.base import Outcome, Turn
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.table import TablePlan
from connect4.views.board import Motion, motion_between
from connect4.views.document import TERMINAL
from connect4.views.words import (
    fault_report,
    kind_of_fault,
    move_text,
    repeat_command,
    spent_text,
    thought_text,
)

NAME: Final = 30
"""The maximum length of an agent's name; a longer one loses its middle."""

PRINTED: Final = 60
"""The characters of an agent's output that are shown below its turn."""

COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Style:
    """How to draw the cells and the frame; `tokens` are those of player 1 and 2."""

    tokens: tuple[str, str]
    empty: str
    frame: str
    """The vertical and the horizontal bar, then the corners, those on top first."""
    codes: tuple[str, str] | None
    """The players' ANSI colours; None without colours."""

    def paint(self, text: str, code: str) -> str:
        """Return `text` in an ANSI colour, or unchanged if there is none."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.codes else text

    def token(self, player: Player) -> str:
        return self.in_colour_of(player, self.tokens[player - 1])

    def in_colour_of(self, player: int, text: str) -> str:
        return self.paint(text, self.codes[player - 1]) if self.codes else text

    def of(self, state: State) -> Style:
        """Return the style with the letters of a game that has its own notation."""
        return replace(self, tokens=state.symbols) if state.slides else self


def style_for(stream: TextIO) -> Style:
    """Use round tokens if the stream can encode them, and colours if it is a terminal."""
    terminal = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    codes = TERMINAL if terminal and "NO_COLOR" not in os.environ else None
    try:
        "●○·│┌┐└┘─▾".encode(stream.encoding or "ascii")
        round_tokens = terminal
    except (LookupError, UnicodeEncodeError):
        round_tokens = False
    if round_tokens:
        return Style(("●", "○"), "·", "│─┌┐└┘", codes)
    return Style(("X", "O"), ".", "|-++++", codes)


def draw_board(state: State, moved: Motion | None, style: Style) -> list[str]:
    """Return the lines of the board below the column numbers; the last move is in brackets."""
    style = style.of(state)
    cells = state.board()
    last = moved.target if moved else None
    width = 3 if cells.shape[1] <= 10 else 4
    labels = [f"{row + state.first_number:2} " for row in range(len(cells))] if state.slides else []
    indent = " " * 3 if labels else "  "
    columns = range(state.first_number, state.first_number + cells.shape[1])
    lines = [f"{indent} {''.join(f'{column:^{width}}' for column in columns)}"]
    frame = style.frame
    edge = frame[1] * (width * cells.shape[1])
    lines.append(indent + frame[2] + edge + frame[3])
    for row, values in enumerate(cells.tolist()):
        line = (labels[row] if labels else indent) + frame[0]
        for column, value in enumerate(values):
            token = style.token(value) if value else style.paint(style.empty, "2")
            around = "[]" if (row, column) == last else "  "
            line += around[0] + token + around[1] + " " * (width - 3)
        lines.append(line + frame[0])
    lines.append(indent + frame[4] + edge + frame[5])
    if state.column_owners is not None:
        owners = "".join(
            style.in_colour_of(owner, f"{f'P{owner}':^{width}}") for owner in state.column_owners
        )
        popped = f"; last: column {moved.origin[1]}" if moved and moved.origin else ""
        lines.append(f"{indent} {owners}  pop-outs{popped}")
    return lines


def rows_of(line: str) -> int:
    """Return how many rows of the terminal a line takes."""
    shown = len(COLOUR.sub("", line.rstrip()))
    return max(1, -(-shown // shutil.get_terminal_size().columns))


class TerminalView:
    """Shows a game on `out`, and reads the moves of people from the terminal."""

    def __init__(self, plan: TablePlan, out: TextIO = sys.stdout, verbose: bool = False) -> None:
        """Show a game; with `verbose` also what its agents think, unless a person plays."""
        one, two = plan.agents
        self._agents = one.text, two.text
        self._plan = plan
        self._out = out
        self._style = style_for(out)
        self._live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._drawn = 0
        self._last: Turn | None = None
        self._before = plan.start
        self._moved: Motion | None = None
        self._reported: set[tuple[Player, str]] = set()
        self._printed: list[str] = []
        self._verbose = verbose and not (plan.is_person(1) or plan.is_person(2))
        self._gain = 0
        self._shown: State | None = None

    def see(self, event: Event, printed: str = "") -> None:
        """Show one event of the referee and, after a turn, what the agent printed."""
        if isinstance(event, TurnBegun):
            self._turn_begun(event)
        elif isinstance(event, TurnEnded):
            lines = harmless(printed).strip().splitlines()
            self._printed = [f"      printed: {line[:PRINTED]}" for line in lines[:1]]
            self._turn_ended(event)
        elif event.result.ending is not Ending.NOT_LOADED:  # else the first picture is the last
            self._show(event.state, "")
            self._print([""] if self._live else [])

    def begin(self) -> None:
        """Show the position before the first turn."""
        state, title = self._plan.start, self._plan.title
        if self._live:
            self._show(state, "")
        else:
            self._print([title, *self._heading(state), *draw_board(state, None, self._style)])
            self._shown = state

    def _turn_begun(self, event: TurnBegun) -> None:
        self._before = event.state
        player = event.state.mover
        agent = self._agents[player - 1]
        limit = f" for at most {event.limit:g} s" if event.limit is not None else ""
        if agent == "human":
            self._show(event.state, f"You have {event.limit:g} s for this move." if limit else "")
        elif self._live:
            self._show(event.state, f"player {player} ({agent}) thinks{limit}")

    def _turn_ended(self, event: TurnEnded) -> None:
        turn = event.turn
        self._last = turn
        if turn.is_lost and self._agents[turn.player - 1] != "human":
            self._report(turn)
        self._moved = None
        if turn.outcome is Outcome.PLAYED:
            self._moved = motion_between(self._before.board(), event.state.board())
        self._gain = event.state.margin(turn.player) - self._before.margin(turn.player)
        if self._live:
            return
        one, two = event.state.scores()
        score = f"{one}:{two}" if event.state.game.counts_points else ""
        self._print(
            [
                *self._reply(turn),
                f"{turn.number:4}. {score:>9} {spent_text(turn):>10}  {self._told(turn)}",
                *self._printed,
            ]
        )

    def _told(self, turn: Turn) -> str:
        """Describe the turn that has just ended, with its gain; `--verbose` adds the thought."""
        gained = self._gain and self._plan.game.counts_points
        told = f"{move_text(turn)}, {self._gain:+}" if gained else move_text(turn)
        thought = thought_text(turn) if self._verbose else ""
        return f"{told}; {thought}" if thought else told

    def _reply(self, turn: Turn) -> list[str]:
        """Return a program's move in the game's own words, for a person."""
        words = self._plan.game.reply
        if not words or turn.outcome is not Outcome.PLAYED:
            return []
        mine, other = self._agents[turn.player - 1], self._agents[2 - turn.player]
        told = other == "human" and mine != "human"
        return [words.format(move=turn.text)] if told else []

    def _report(self, turn: Turn) -> None:
        """Print a fault in full the first time, above the board, which is then redrawn."""
        known = turn.player, kind_of_fault(turn.outcome, turn.detail)
        if known in self._reported:
            return
        self._reported.add(known)
        agent = self._agents[turn.player - 1]
        repeat = repeat_command(self._plan.record_name, turn)
        self._erase()
        self._print(fault_report(turn, self._before, agent, repeat).splitlines())

    def _heading(self, state: State) -> list[str]:
        lines = []
        players: tuple[Player, Player] = (1, 2)
        half = (NAME - 3) // 2
        names = [
            name if len(name) <= NAME else f"{name[:half]}...{name[half + 3 - NAME :]}"
            for name in self._agents
        ]
        width = max(12, *map(len, names))
        for player, points in zip(players, state.scores(), strict=True):
            agent = names[player - 1]
            left = ""
            if state.pop_outs_left is not None:
                left = f"   {state.pop_outs_left[player - 1]} pop-outs left"
            name = f"Player {player} {self._style.of(state).token(player)} {agent:<{width}}"
            word = "point " if points == 1 else "points"
            counted = f" {points:4} {word}{left}" if state.game.counts_points else left
            lines.append(f"  {name}{counted}")
        return lines

    def _show(self, state: State, status: str) -> None:
        """Draw the whole picture; on a terminal, in place, else only if the position is new."""
        if not self._live:
            if state == self._shown:
                self._print([f"  {status}"] if status else [])
                return
            self._shown = state
        last = self._last
        lines = ["", f"  {self._plan.title}", "", *self._heading(state), ""]
        lines += draw_board(state, self._moved, self._style)
        if last is not None:
            lines += self._wrapped(f"Turn {last.number}: {self._told(last)}, {spent_text(last, 2)}")
            lines += [f"  {line}" for line in self._reply(last) if self._live]
            lines += self._printed
        if status:
            lines.append(f"  {status}")
        self._erase()
        self._print(lines)
        self._drawn = sum(map(rows_of, lines)) if self._live else 0

    def _wrapped(self, text: str) -> list[str]:
        """Return an indented line, wrapped to the terminal's width."""
        if not self._live:
            return [f"  {text}"]
        width = shutil.get_terminal_size().columns
        return textwrap.wrap(
            text, width - 1, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )

    def _erase(self) -> None:
        """Erase the last picture, if all of it is still on the screen."""
        if self._live and self._drawn:
            rows = shutil.get_terminal_size().lines
            self._out.write(f"\x1b[{self._drawn}F\x1b[J" if self._drawn < rows else "\x1b[H\x1b[2J")
        self._drawn = 0

    def _print(self, lines: Sequence[str]) -> None:
        self._out.write("".join(f"{line.rstrip()}\n" for line in lines))
        self._out.flush()

    def read_line(self, prompt: str) -> str:
        """Read a line from the person; raises `EOFError` at the end of input."""
        self._out.write(prompt)
        self._out.flush()
        line = sys.stdin.readline() if sys.stdin else ""  # a closed input has ended
        self._drawn += rows_of(prompt + line.rstrip("\n")) if self._drawn else 0
        if not line or not sys.stdin.isatty():
            self._print([line])  # no terminal echoes it
        if not line:
            raise EOFError
        return line

    def say(self, line: str) -> None:
        lines = self._wrapped(line)
        self._drawn += sum(map(rows_of, lines)) if self._drawn else 0
        self._print(lines)

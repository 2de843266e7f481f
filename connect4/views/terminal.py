"""Show the game in a terminal: a line for each turn, and the board before a person's move."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TextIO

from connect4.errors import harmless
from connect4.games.base import SIDES, Ending, Player, State
from connect4.players.base import Outcome, Turn
from connect4.referee import Event, TurnBegun, TurnEnded
from connect4.table import TablePlan
from connect4.views.board import Motion, motion_between
from connect4.views.document import TERMINAL
from connect4.views.words import fault_report, kind_of_fault, move_text, spent_text, thought_text

NAME: Final = 30
"""The maximum length of an agent's name; a longer one loses its middle."""

PRINTED: Final = 60
"""The characters of an agent's output that are shown below its turn."""


@dataclass(frozen=True, slots=True)
class Style:
    """How to draw the cells and the frame; `tokens` are those of player 1 and 2."""

    tokens: tuple[str, str]
    empty: str
    frame: str
    """The vertical and the horizontal bar, then the corners, those on top first."""
    codes: tuple[str, str] | None
    """The players' ANSI colours; None without colours."""

    def paint(self, text: str, player: int) -> str:
        """Return `text` in a player's colour, or dimmed if it is nobody's."""
        return f"\x1b[{('2', *self.codes)[player]}m{text}\x1b[0m" if self.codes else text

    def cell(self, player: int) -> str:
        return self.paint((self.empty, *self.tokens)[player], player)

    def of(self, state: State) -> "Style":
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
            around = "[]" if (row, column) == last else "  "
            line += around[0] + style.cell(value) + around[1] + " " * (width - 3)
        lines.append(line + frame[0])
    lines.append(indent + frame[4] + edge + frame[5])
    if state.column_owners is not None:
        owners = "".join(
            style.paint(f"{f'P{owner}':^{width}}", owner) for owner in state.column_owners
        )
        popped = f"; last: column {moved.origin[1]}" if moved and moved.origin else ""
        lines.append(f"{indent} {owners}  pop-outs{popped}")
    return lines


class TerminalView:
    """Shows a game on `out`, and reads the moves of people from the terminal."""

    def __init__(self, plan: TablePlan, out: TextIO = sys.stdout, verbose: bool = False) -> None:
        """Show a game; with `verbose` also what its agents think, unless a person plays."""
        one, two = plan.agents
        self._agents = one.text, two.text
        self._plan = plan
        self._out = out
        self._style = style_for(out)
        self._before = plan.start
        self._shown: State | None = None
        self._moved: Motion | None = None
        self._reported: set[tuple[Player, str]] = set()
        self._verbose = verbose and not (plan.is_person(1) or plan.is_person(2))

    def begin(self) -> None:
        """Show the position before the first turn."""
        self._show(self._plan.start)

    def see(self, event: Event, printed: str = "") -> None:
        """Show one event of the referee and, after a turn, what the agent printed."""
        if isinstance(event, TurnEnded):
            self._turn_ended(event.turn, event.state, printed)
        elif isinstance(event, TurnBegun):
            if self._agents[event.state.mover - 1] == "human":
                self._show(event.state)
                if event.limit is not None:
                    self.say(f"You have {event.limit:g} s for this move.")
        elif event.result.ending is not Ending.NOT_LOADED:  # else the first picture is the last
            self._show(event.state)

    def _turn_ended(self, turn: Turn, state: State, printed: str) -> None:
        before, self._before = self._before, state
        agent, other = self._agents[turn.player - 1], self._agents[2 - turn.player]
        fault = turn.player, kind_of_fault(turn.outcome, turn.detail)
        if turn.is_lost and agent != "human" and fault not in self._reported:
            self._reported.add(fault)  # in full the first time
            self._print(fault_report(turn, before, agent).splitlines())
        self._moved = None
        if turn.outcome is Outcome.PLAYED:
            self._moved = motion_between(before.board(), state.board())
            if self._plan.game.reply and other == "human" and agent != "human":
                self._print([self._plan.game.reply.format(move=turn.text)])
        told, score = move_text(turn), ""
        if state.game.counts_points:
            score = "{}:{}".format(*state.scores())
            gain = state.margin(turn.player) - before.margin(turn.player)
            told += f", {gain:+}" if gain else ""
        if self._verbose and (thought := thought_text(turn)):
            told += f"; {thought}"
        self._print([f"{turn.number:4}. {score:>9} {spent_text(turn):>10}  {told}"])
        for line in harmless(printed).strip().splitlines()[:1]:
            self._print([f"      printed: {line[:PRINTED]}"])

    def _show(self, state: State) -> None:
        """Draw a position that is not drawn yet."""
        if state != self._shown:
            self._shown = state
            board = draw_board(state, self._moved, self._style)
            self._print([self._plan.title, *self._heading(state), *board])

    def _heading(self, state: State) -> list[str]:
        half = (NAME - 3) // 2
        names = [
            name if len(name) <= NAME else f"{name[:half]}...{name[half + 3 - NAME :]}"
            for name in self._agents
        ]
        width = max(12, *map(len, names))
        style, lines = self._style.of(state), []
        for player, name, points in zip(SIDES, names, state.scores(), strict=True):
            line = f"  Player {player} {style.cell(player)} {name:<{width}}"
            if state.game.counts_points:
                line += f" {points:4} {'point ' if points == 1 else 'points'}"
            if state.pop_outs_left is not None:
                line += f"   {state.pop_outs_left[player - 1]} pop-outs left"
            lines.append(line)
        return lines

    def _print(self, lines: Sequence[str]) -> None:
        self._out.write("".join(f"{line.rstrip()}\n" for line in lines))
        self._out.flush()

    def read_line(self, prompt: str) -> str:
        """Read a line from the person; raises `EOFError` at the end of input."""
        self._out.write(prompt)
        self._out.flush()
        line = sys.stdin.readline() if sys.stdin else ""  # a closed input has ended
        if not line or not sys.stdin.isatty():
            self._print([line])  # no terminal echoes it
        if not line:
            raise EOFError
        return line

    def say(self, line: str) -> None:
        self._print([f"  {line}"])

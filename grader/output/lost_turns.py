"""Lost turns: each reason once, with the game, the turn and the position."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from connect4.errors import headline
from connect4.views.words import kind_of_fault
from grader.play.one_game import Replay, without_folders
from grader.play.schedule import PlannedGame
from grader.results.store import PlayedGame

MAX_REASONS: Final = 20

CLIPPED: Final = 1500
"""Maximum characters of a reason in files that others show; of a traceback, the end is kept."""

OWN: Final = ("played", "pass")

PLACE: Final = re.compile(r'^ *File "([^"\n]*)", line (\d+)', re.MULTILINE)
"""A line of a traceback that names a file."""


@dataclass(frozen=True, slots=True)
class LostTurn:
    """The first turn that was lost for a reason, and the number of such turns."""

    game: PlannedGame
    number: int
    outcome: str
    detail: str
    board: str
    """The position before the turn, a line per row; empty if it is not shown."""
    count: int = 1
    pop_outs: str = ""
    """The pop-outs that the players had left; empty in games without them."""
    against: tuple[str, ...] = ()
    """The part and the opponent of each match with such turns."""

    @property
    def title(self) -> str:
        """Return the game, the turn and the outcome; for a hidden board, without the turn."""
        if self.game.board.hidden:
            return f"{self.game.title}: {self.outcome}"
        return f"{self.game.title}, turn {self.number}: {self.outcome}"

    @property
    def cause(self) -> str:
        """Return why the turns were lost, in one line; for a hidden board, the outcome alone."""
        shown = self.detail and not self.game.board.hidden
        return headline(self.detail) if shown else self.outcome

    @property
    def where(self) -> str:
        """Return the place of the exception, as `ai.py, line 10`; empty if it is not shown."""
        places = [] if self.game.board.hidden else PLACE.findall(self.detail)
        return f"{places[-1][0]}, line {places[-1][1]}" if places else ""

    @property
    def position(self) -> str:
        """Return the position as text; empty if it is not shown."""
        title = "the position (0: empty, 1 and 2: the players):"
        return "\n".join(filter(None, (title, self.board, self.pop_outs))) if self.board else ""

    @property
    def text(self) -> str:
        """Return the reason with the position, in several lines; a long reason is cut."""
        detail = self.detail
        if len(detail) > CLIPPED:
            detail = "...\n" + detail[-CLIPPED:].partition("\n")[2]
        others = f"and {self.count - 1} more like it" if self.count > 1 else ""
        return "\n".join(filter(None, (self.title, detail, self.position, others)))


def lost_turns(
    games: Sequence[PlannedGame], played: Mapping[str, PlayedGame], replays: Mapping[str, Replay]
) -> list[LostTurn]:
    """Return the first turn lost for each reason, by the player `match.one` of each game.

    For a hidden board neither the position nor the reason is shown, because a program may put the
    position into the text of its exception.
    """
    found: dict[tuple[str, str], LostTurn] = {}
    for game in games:
        result = played.get(game.key)
        if result is None or not result.faults[game.side - 1].total or game.key not in replays:
            continue
        try:
            data = json.loads(replays[game.key].partition(" ")[2])
        except ValueError:  # a damaged one
            continue
        for number, turn in enumerate(data["turns"], 1):
            if turn[0] != game.side or turn[2] in OWN:
                continue
            told = turn[-1] is not None and not game.board.hidden
            detail = without_folders(data["details"][turn[-1]]) if told else ""
            reason = kind_of_fault(turn[2], detail), detail if turn[2] == "invalid" else ""
            name = match_name(game)
            if reason in found:
                known = found[reason]
                against = known.against if name in known.against else (*known.against, name)
                found[reason] = replace(known, count=known.count + 1, against=against)
            else:
                board, left = ("", "") if game.board.hidden else _position(data, number)
                found[reason] = LostTurn(
                    game, number, turn[2], detail, board, pop_outs=left, against=(name,)
                )
    return list(found.values())


def match_name(game: PlannedGame) -> str:
    """Return the part and the opponent of a game, as the tables name its match."""
    return f"{game.match.part}: {game.match.two.name}"


def _position(data: Mapping[str, Any], number: int) -> tuple[str, str]:
    """Return the board before a turn and the pop-outs left.

    The board has a line per row: 0 for empty, else the player's number.
    """
    cells = list(data["start"])
    for turn in data["turns"][: number - 1]:
        changed = turn[6]
        for cell, value in zip(changed[::2], changed[1::2], strict=True):
            cells[cell] = str(value)
    columns = data["columns"]
    rows = [" ".join(cells[at : at + columns]) for at in range(0, len(cells), columns)]
    left = data["left"] if number == 1 else data["turns"][number - 2][5]
    popouts = f"pop-outs left: player 1: {left[0]}, player 2: {left[1]}" if left else ""
    return "\n".join(rows), popouts

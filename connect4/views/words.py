"""Words that several views say."""

from __future__ import annotations

from typing import Final

from connect4.games.base import Ending

ENDINGS: Final = {
    Ending.NO_ACTION: "the player to move has no valid action",
    Ending.STALLED: "stopped after six skipped turns in a row",
    Ending.LINE: "a winning line",
    Ending.BOARD_FULL: "the board is full",
    Ending.DRAW_LIMIT: "the limit of turns is reached: a draw",
    Ending.REPETITION: "the position has come up for the third time: a draw",
    Ending.FORFEIT: "a late, invalid or failed turn loses the game",
    Ending.TIMEOUT: "a side's time ran out",
    Ending.DISCONNECTED: "a side disconnected",
    Ending.LEFT: "a player left",
    Ending.ABORTED: "the game was stopped",
    Ending.NOT_LOADED: "an agent could not be loaded, so no turn was played",
}

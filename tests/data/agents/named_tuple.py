"""Answers with an honest NamedTuple."""

from typing import NamedTuple

from connect4.utils import get_valid_actions


class Move(NamedTuple):
    column: int
    is_popout: bool


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return Move(*get_valid_actions(self.player_number, state)[0])

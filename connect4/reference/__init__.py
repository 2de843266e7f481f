"""The strongest agent of the kit, `reference`: expected line margins, expectimax and alpha-beta.

`tables` values a line, `lines` a board, `evaluation` adds what was learned,
`expectimax` plays against chance and `alphabeta` against an opponent that plays
to win. `AIPlayer` has the constructor and the two methods of a submission.
"""

from connect4.reference.player import AIPlayer

__all__ = ["AIPlayer"]

"""Small drawn game trees as games: what a search visits can be compared with the drawing."""

from connect4.games.base import Ending, State
from connect4.search import Evaluation


class Drawn(State):
    """A position of a drawn tree: a dict of moves to what follows, or a number for player 1.

    A number is the value where the drawing ends. A position that is written `(tree,)` leaves its
    mover without an action although the game goes on: it passes to `tree`. `seen` collects the
    paths of all positions that were made, in order.
    """

    def __init__(self, tree, mover=1, path="", seen=None):
        self.tree = tree
        self.mover = mover
        self.path = path
        self.seen = [] if seen is None else seen

    def _next(self, tree, step):
        path = self.path + step
        self.seen.append(path)
        return Drawn(tree, 3 - self.mover, path, self.seen)

    def legal_actions(self):
        return list(self.tree) if isinstance(self.tree, dict) else []

    def apply(self, action):
        return self._next(self.tree[action], action)

    def skip(self):
        return self._next(self.tree[0], "-")

    def ending(self):
        return Ending.BOARD_FULL if isinstance(self.tree, int) else None

    def scores(self):
        return max(self.tree, 0), max(-self.tree, 0)

    def key(self):
        return self.path, self.mover

    @property
    def setting(self):
        return None

    def board(self):
        raise NotImplementedError

    to_text = to_json = grid = bitboards = board
    game = None


BY_VALUE = Evaluation(lambda state: 0, lambda state, depth: state.margin(state.mover))
"""The value that the drawing shows at an end; 0 if the depth ends before."""

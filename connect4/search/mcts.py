"""Monte-Carlo tree search (UCT, with proven wins backed up), and evaluation by random games."""

import math
from collections.abc import Callable
from random import Random
from statistics import fmean, pstdev
from typing import Final

from connect4.games.base import State
from connect4.search import Deadline, Move, OutOfBudgetError, Thought, ascending

WON: Final = math.inf
LOST: Final = -math.inf

EXPLORATION: Final = {"classic": 1.0, "classic-full": 0.7, "popout": 1.4}
"""The constant `c` that suits a game best, if it is not 2."""

CALIBRATION: Final = 50
"""Playouts that measure the standard deviation of the margin."""

CALIBRATION_PLIES: Final = 6
"""Plies of a playout that ends with an estimate."""


class MctsNode:
    """A node of the tree. `total` and `proven` are from the view of the side that moved here.

    `total / visits` is the mean reward; `proven` is `WON` or `LOST` if that side has a forced win
    or loss, else 0.
    """

    __slots__ = ("children", "move", "over", "proven", "state", "total", "untried", "visits")

    def __init__(self, state: State, move: Move, rng: Random) -> None:
        self.state = state
        self.move = move
        self.over = state.ending() is not None
        self.children: list[MctsNode] = []
        self.untried = [] if self.over else list(ascending(state))
        rng.shuffle(self.untried)
        self.visits = 0
        self.total = 0.0
        self.proven = 0.0

    def worth(self) -> tuple[float, float]:
        """Return the key to compare moves by: the proof, then the mean reward.

        Among proven losses, the one with the most visits is the longest defence.
        """
        return self.proven, self.visits if self.proven == LOST else self.mean()

    def mean(self) -> float:
        return self.total / self.visits


class Mcts:
    """Searches one position; `root` is the tree afterwards.

    Each iteration descends by UCT, score r/n + c*sqrt(ln(2N)/n), to a position with untried moves,
    adds one child and plays one random game from there, or estimates it (Kocsis & Szepesvari 2006,
    "Bandit based Monte-Carlo planning"; Browne et al. 2012, "A survey of Monte Carlo tree search
    methods", algorithm 2). A child that wins at once proves its parent, and proofs travel upwards
    (Winands, Bjornsson & Saito 2008, "Monte-Carlo tree search solver").
    """

    def __init__(
        self,
        state: State,
        exploration: float,
        rng: Random,
        decided_by_win: bool = True,
        leaf: Callable[[State], float] | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        """Prepare to search a position that is not over.

        Rewards are margins: 1, 0 or -1 with `decided_by_win`; otherwise shifted and scaled so that
        playouts from here have mean 0 and standard deviation 1. `leaf` estimates the margin for the
        mover in place of a random game. It helps in long games in which every move matters a
        little, because random games tell little there (Lorentz 2008, "Amazons discover
        Monte-Carlo").
        """
        self._c = exploration
        self._random = rng
        self._proves = decided_by_win
        self._deadline = deadline or Deadline()
        self._leaf = leaf
        self._mean, self._deviation = 0.0, 1.0
        if not decided_by_win:
            margins = [self._margin(self._wander(state)) for _ in range(CALIBRATION)]
            self._mean, self._deviation = fmean(margins), max(1.0, pstdev(margins))
        self.iterations = 0
        self.root = MctsNode(state, None, rng)

    def run(self, iterations: int | None = None) -> None:
        """Run this many iterations or, if None, as many as the deadline allows."""
        root = self.root
        try:
            while self.iterations != iterations and not root.proven:
                self.iterations += 1
                if self.iterations >= self._deadline.next_check:
                    self._deadline.check(self.iterations)
                self._iterate()
        except OutOfBudgetError:
            pass

    def best(self) -> Move:
        line = self.line()
        return line[0].move if line else self.root.untried[-1]

    def line(self) -> list[MctsNode]:
        """Return the nodes of best play below the root."""
        node, found = self.root, []
        while node.children:
            node = max(node.children, key=MctsNode.worth)
            found.append(node)
        return found

    def thought(self) -> Thought:
        """Return the result as an agent says it; see `value`."""
        children, line = self.root.children, self.line()
        most = sorted(children, key=lambda child: -child.visits)[:5]
        return Thought(
            self.best(),
            self.value(line[0]) if line else None,
            len(line),
            self.iterations,
            values={child.move: self.value(child) for child in children},
            line=tuple(node.move for node in line),
            note="visits: " + ", ".join(f"{child.move} ({child.visits})" for child in most),
        )

    def value(self, node: MctsNode) -> float:
        """Return the value of a node for the side to move at the root.

        It is the expected margin or, if only winning counts, the share of games that are won; a
        draw counts half.
        """
        margin = self.margin(node) * (1 if self.root.state.mover == 1 else -1)
        return (1 + margin) / 2 if self._proves else margin

    def margin(self, node: MctsNode) -> float:
        """Return player 1's expected margin at a node of the tree."""
        reward = math.copysign(1, node.proven) if node.proven else node.mean()
        return self._mean + self._deviation * (reward if node.state.mover == 2 else -reward)

    def _iterate(self) -> None:
        node = self.root
        path = [node]
        while not node.untried and node.children and not node.proven:
            node = self._select(node)
            path.append(node)
        if node.untried and not node.proven:
            move = node.untried.pop()
            child = MctsNode(node.state.after(move), move, self._random)
            node.children.append(child)
            node = child
            path.append(node)
        self._back_up(path, self._reward(node))

    def _select(self, node: MctsNode) -> MctsNode:
        """Return the child with the highest UCT score."""
        numerator = self._c * math.sqrt(math.log(2 * node.visits))
        best_score = LOST
        best = node.children[0]
        for child in node.children:
            visits = child.visits
            score = child.proven or child.total / visits + numerator / math.sqrt(visits)
            if score > best_score:
                best_score, best = score, child
        return best

    def _reward(self, node: MctsNode) -> float:
        """Return player 1's reward at `node`: proven, or from one playout or estimate."""
        state = node.state
        if node.proven:
            return 1.0 if (node.proven == WON) == (state.mover == 2) else -1.0
        return (self._margin(state) - self._mean) / self._deviation

    def _wander(self, state: State) -> State:
        """Return the position after some random plies if positions are estimated, else `state`."""
        for _ in range(CALIBRATION_PLIES if self._leaf else 0):
            if state.ending() is not None:
                break
            moves = ascending(state)
            state = state.after(moves[int(self._random.random() * len(moves))])
        return state

    def _margin(self, state: State) -> float:
        """Return player 1's margin in `state`: estimated, or at the end of a random game."""
        if state.ending() is not None:
            return state.margin(1)
        if self._leaf is None:
            one, two = state.playout(self._random)
            return one - two
        return self._leaf(state) if state.mover == 1 else -self._leaf(state)

    def _back_up(self, path: list[MctsNode], reward: float) -> None:
        """Add player 1's `reward` to every node of `path` and propagate a proof of the last one."""
        for node in path:
            node.visits += 1
            node.total += reward if node.state.mover == 2 else -reward
        last = path[-1]
        if self._proves and last.over and not last.proven and last.total > 0:
            last.proven = WON
            self._prove(path)

    def _prove(self, path: list[MctsNode]) -> None:
        """Propagate the proof of the last node of `path` to its ancestors."""
        for place in range(len(path) - 2, -1, -1):
            node = path[place]
            if path[place + 1].proven == WON:
                node.proven = LOST
            elif not node.untried and all(child.proven == LOST for child in node.children):
                node.proven = WON
            else:
                break


def sampled(samples: int, rng: Random) -> Callable[[State], float]:
    """Return a leaf evaluation: the mean margin of the mover over random playouts.

    If a win counts 1 point, as in classic Connect 4, that is (wins - losses) / samples. The
    playouts begin with the side to move (Abramson 1990, "Expected-outcome: a general model of
    static evaluation").
    """

    def leaf(state: State) -> float:
        total = 0
        for _ in range(samples):
            one, two = state.playout(rng)
            total += one - two
        return (total if state.mover == 1 else -total) / samples

    return leaf

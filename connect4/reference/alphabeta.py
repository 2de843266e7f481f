"""Iterative deepening principal-variation search with a transposition table.

Every value is the mover's expected final margin. Principal-variation search: Marsland and
Campbell, "Parallel search of strongly ordered game trees", 1982. The last plies are worked out
from gains without making the positions.
"""

from math import inf
from typing import TypeAlias

from connect4.reference.evaluation import Evaluation, Judgement
from connect4.reference.lines import DEEPEST, ME, Actions, Found, Lines, Position, slot_of
from connect4.search import Deadline, OutOfBudgetError

TEMPO = 0.5
"""How much of its best gain the side to move after the last ply is credited with.

With a half, searches of odd and of even depths find the same values on average; with 0.75 they are
9 points apart without pop-outs. Reductions by one ply and the table mix both depths.
"""

MARGIN = 3.0
"""Points by which a pop-out or a shallower search must miss the window to be left out."""


class Leaves:
    """Values and bounds of positions one or two plies before the end of a search."""

    def __init__(self, evaluation: Evaluation):
        self.lines = evaluation.lines
        self.evaluation = evaluation

    def estimate(self, position: Position, judgement: Judgement, actions: Actions) -> float:
        """Return the mover's value by gains alone: the best action, less a share of the best reply.

        It looks one ply less far ahead than the search does here, and takes all other gains to stay
        as they are. After a drop the best reply is thus the second best drop.
        """
        _, drops, total, _, mover, own, other = position
        in_hand = self.evaluation.in_hand(judgement, mover, own, other) if own or other else 0.0
        first = drops[0][0] if drops else 0.0
        best = -inf
        if drops:
            best = first - TEMPO * (drops[1][0] if len(drops) > 1 else 0.0)
        if own:
            gain = next((gain for gain, action in actions if action < 0), -inf)
            change = self.evaluation.in_hand(judgement, mover, own - 1, other) - in_hand
            best = max(best, gain + change - TEMPO * first)
        return total + best - judgement.added + in_hand

    def promising(
        self, position: Position, judgement: Judgement, actions: Actions, alpha: float
    ) -> tuple[Actions, float]:
        """Return the actions without the pop-outs that miss `alpha` by more than `MARGIN`.

        That is judged by their gains. The first action always stays. Also returns how much the best
        pop-out left out may be worth.
        """
        _, _, total, _, mover, own, other = position
        if not own:
            return actions, -inf
        now = (
            total
            - judgement.added
            + self.evaluation.in_hand(judgement, mover, own - 1, other)
            + MARGIN
        )
        bar = alpha - now
        left_out = [gain for gain, action in actions[1:] if action < 0 and gain <= bar]
        if not left_out:
            return actions, -inf
        rest = [item for item in actions[1:] if item[1] >= 0 or item[0] > bar]
        return [actions[0], *rest], min(alpha, now + left_out[0])

    def frontier(
        self,
        position: Position,
        judgement: Judgement,
        alpha: float,
        beta: float,
        tempo: float,
    ) -> float:
        """Return the value of the mover's best action less the best drop in reply.

        The reply counts with the weight `tempo`. For a drop no child is made: the gain of a reply
        has changed only where it shares a line with the action.
        """
        codes, drops, total, _, mover, own, _ = position
        shared_by = self.lines.shared[mover]
        best = -inf
        for gain, cell in drops:
            value = total + gain
            if value <= best:  # nor can the drops after it be better: they gain less
                break
            shared = shared_by[cell]
            enough = (value - alpha) / tempo
            best_reply = 0.0
            for drop in drops:
                reply, other = drop
                if common := shared[other]:
                    line, changes = common
                    reply += changes[codes[line]]
                if reply > best_reply and other != cell:
                    best_reply = reply
                if best_reply >= enough:
                    break
            else:
                best_reply = max(best_reply, self.lines.gain_above(codes, cell, mover))
            value -= tempo * best_reply
            if value > best:
                best = value
                if value >= beta:
                    return best
                alpha = max(alpha, value)
        if own:
            best = max(best, self._pop_frontier(position, judgement, max(alpha, best), tempo))
        return best if best > -inf else total

    def _pop_frontier(
        self, position: Position, judgement: Judgement, alpha: float, tempo: float
    ) -> float:
        """Return the same as `frontier` for the mover's pop-outs alone.

        The judgement has their gains before the last move, best first. Those that miss `alpha` by
        more than `MARGIN` are left out, and pop-outs of a column that was empty then.
        """
        codes, _, total, _, mover, own, other = position
        in_hand = self.evaluation.in_hand
        total += in_hand(judgement, mover, own - 1, other) - in_hand(judgement, mover, own, other)
        best = -inf
        for gain_before, action in judgement.replies:
            if total + gain_before + MARGIN <= max(alpha, best):
                return max(best, total + gain_before)
            gain = self.lines.pop_gain(codes, ~action, mover)
            value = total + gain
            if value > alpha and value > best:
                replies = self.lines.play(position, gain, action)[1]
                value -= tempo * replies[0][0]
            best = max(best, value)
        return best


Entry: TypeAlias = tuple[int, int, int, float, int]
"""In the table of positions: key, depth, bound (-1 upper, 0 exact, 1 lower), value, best action."""


class AlphaBeta:
    """The search of one board. The table is kept from one move to the next."""

    CUT_DEPTH = 4
    """From this depth on a search may stop if one two plies less deep is far outside its window.

    Values two plies apart differ by 1.3 to 5 points (standard deviation; most at the end and with
    pop-outs left). Far is `MARGIN`. Worth 2.3 ± 1.0 points a game.
    """

    NEAR = 8.0
    """Points: each depth begins with a window this far around the value of the last depth."""

    AGE, RIVAL = 0.5, 6.0
    """From the third depth on: how much the mean of an action's values so far counts beside the new
    one; an action whose value is further below what would make it the best may have a bound."""

    BLEND = 0.25
    """The share of `Leaves.estimate` in a value two plies before the end of a search.

    The rest is what the search finds there. The two err differently: their mix errs less.
    """

    CLOSE = 1e-6
    """Less than values differ by: the width of a window that only asks "better or not"."""

    TABLE_SIZE = 2**18
    """Entries. A new one replaces the old one in its place, so no search pauses to make room."""

    LEAP, LEAP_WITH_POPOUTS = 8, 2
    """The last N depths before the end of the game are skipped: they take nearly as long.

    With pop-outs left fewer are skipped: they cost less, and the exact values help to choose.
    """

    ENDING = 6
    """With pop-outs left and at most this many plies to go, a game is searched to its end.

    That begins two plies before the end of a search. Together with a leap of 2 instead of 3 it cuts
    the points given away near the end by 3 to 14 %.
    """

    share = staticmethod(lambda kind, height: 0.5)
    """A cell then gains the same whoever takes it, and one list serves both."""

    def __init__(self, lines: Lines):
        self.lines = lines
        self.known: list[Entry] = [(-1, 0, 0, 0.0, 0)] * self.TABLE_SIZE
        self.evaluation = Evaluation(lines, ME)
        self.leaves = Leaves(self.evaluation)
        self.solved = False
        """Whether the search that runs reaches the end of the game."""
        self.probing = False
        """Whether it is one of `_probe_cut`, which makes no further ones."""

    def choose(self, position: Position, budget: Deadline) -> Found:
        self.budget = budget
        actions = self.lines.actions(position)[:]
        left = self.lines.plies_left(position)
        _, _, _, _, mover, own, other = position
        last_mover = mover if left % 2 else 3 - mover
        if last_mover != self.evaluation.last_mover:
            self.evaluation = Evaluation(self.lines, last_mover)
            self.leaves = Leaves(self.evaluation)
        self.evaluation.hand_worths.clear()
        phase = self.evaluation.phase(left - 2 * (own + other))
        judgement = Judgement(phase, 0.0, 0.0, self.evaluation.replies(position))
        leap = self.LEAP_WITH_POPOUTS if own or other else self.LEAP
        values: list[tuple[int, float]] = []
        means: dict[int, float] = {}
        try:
            for depth in (*range(1, min(left - leap, DEEPEST)), min(left, DEEPEST)):
                self.solved = depth == left
                value = self._weigh(position, judgement, depth, actions, means, values)
                values.append((depth, value))
        except OutOfBudgetError:
            self.solved = self.probing = False
        return Found(actions[0][1], tuple(values), self.solved)

    def _weigh(
        self,
        position: Position,
        judgement: Judgement,
        depth: int,
        actions: Actions,
        means: dict[int, float],
        values: list[tuple[int, float]],
    ) -> float:
        """Search all actions to this depth, put the best one first and return its value.

        Values of several depths err differently. So from the third depth on an action counts by a
        mean: of its mean so far and its new value. A search to the end of the game counts alone.
        An action far below the best one has an upper bound in place of its value. That makes its
        mean too high, but not high enough to be chosen.
        """
        age, rival = (self.AGE if depth > 2 else 0.0), self.RIVAL
        if self.solved:
            age = rival = 0.0
        best, found = -inf, 0.0
        for index, (gain, action) in enumerate(list(actions)):
            child = self.lines.play(position, gain, action)
            older = age * means.get(action, 0.0)
            if index or len(values) < 2:
                alpha = (best - older) / (1 - age) - rival
                value = self._look(child, judgement, depth, index, alpha, inf)
            else:
                value = self._near(child, judgement, depth, values[-1][1])
            means[action] = mean = older + (1 - age) * value
            if mean > best:
                best, found = mean, value
                actions.remove((gain, action))
                actions.insert(0, (gain, action))
        return found

    def _near(self, child: Position, judgement: Judgement, depth: int, expected: float) -> float:
        """Return the value of the first action: most often near `expected`, that of the last depth.

        The first search uses a window around that value. If the result lies outside, a second one
        has no limit on that side.
        """
        low, high = expected - self.NEAR, expected + self.NEAR
        value = self._look(child, judgement, depth, 0, low, high)
        if value <= low:
            return self._look(child, judgement, depth, 0, -inf, value + self.CLOSE)
        if value >= high:
            return self._look(child, judgement, depth, 0, value - self.CLOSE, inf)
        return value

    def line(self, position: Position, action: int, depth: int) -> list[int]:
        """Return `action` and the best actions after it, up to `depth`, as the table knows them."""
        line = [action]
        while len(line) < depth:
            gain = {known: gain for gain, known in self.lines.actions(position)}[action]
            position = self.lines.play(position, gain, action)
            slot = slot_of(position)
            key_found, _, _, _, action = self.known[slot % self.TABLE_SIZE]
            if key_found != slot:
                break
            line.append(action)
        return line

    def _look(
        self,
        child: Position,
        judgement: Judgement,
        depth: int,
        index: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Return the value of the action at place `index`, which leads to `child`.

        Late actions are first searched less deep (late move reductions).
        """
        if index:
            less = 0
            if index > 2 and depth > 3 and not self.solved:
                less = 2 if index > 5 and depth > 5 else 1
            value = -self._search(child, judgement, depth - 1 - less, -alpha - self.CLOSE, -alpha)
            if less and value > alpha:
                value = -self._search(child, judgement, depth - 1, -alpha - self.CLOSE, -alpha)
            if not alpha < value < beta:
                return value
        return -self._search(child, judgement, depth - 1, -beta, -alpha)

    def _search(
        self, position: Position, judgement: Judgement, depth: int, alpha: float, beta: float
    ) -> float:
        """Return the mover's value: exact inside the window, else a bound on that side.

        `judgement` is that of the position before the last ply; only a search of one ply uses it.
        """
        self.budget.spend()
        if depth <= 2:
            leaf = self._leaf(position, judgement, depth, alpha, beta)
            if leaf is not None:
                return leaf
        slot = slot_of(position)
        place = slot % self.TABLE_SIZE
        key_found, known, bound, value, favourite = self.known[place]
        found = key_found == slot
        tells = not bound or (value >= beta if bound > 0 else value <= alpha)
        if found and known >= depth and tells:
            return value
        if depth >= self.CUT_DEPTH and not self.solved and beta - alpha < 2 * self.CLOSE:
            bound_found = self._probe_cut(position, judgement, slot, depth, alpha, beta)
            if bound_found is not None:
                return bound_found
            key_found, _, _, _, favourite = self.known[place]
            found = key_found == slot
        actions = self.lines.actions(position)
        if not actions or not depth:
            return position[2]
        best = -inf
        share = estimate = 0.0
        if depth == 2 and not self.solved:
            judgement = self.evaluation.judge(position, actions)  # hardly changes with one move
            share, estimate = self.BLEND, self.leaves.estimate(position, judgement, actions)
            alpha = (alpha - share * estimate) / (1 - share)  # the window for the rest of the value
            beta = (beta - share * estimate) / (1 - share)
            actions, best = self.leaves.promising(position, judgement, actions, alpha)
        if found and favourite != actions[0][1]:
            actions = sorted(actions, key=lambda item: item[1] != favourite)
        best, action = self._best_of(position, judgement, depth, actions, best, alpha, beta)
        bound = 1 if best >= beta else -1 if best <= alpha else 0
        value = (1 - share) * best + share * estimate
        self.known[place] = slot, depth, bound, value, action
        return value

    def _best_of(
        self,
        position: Position,
        judgement: Judgement,
        depth: int,
        actions: Actions,
        best: float,
        alpha: float,
        beta: float,
    ) -> tuple[float, int]:
        """Return the value of the best action and that action, or `best` and the first one."""
        best_action = actions[0][1]
        for index, (gain, action) in enumerate(actions):
            child = self.lines.play(position, gain, action)
            value = self._look(child, judgement, depth, index, alpha, beta)
            if value > best:
                best, best_action = value, action
                if value >= beta:
                    break
                alpha = max(alpha, value)
        return best, best_action

    def _leaf(
        self, position: Position, judgement: Judgement, depth: int, alpha: float, beta: float
    ) -> float | None:
        """Return the value of a position in the last two plies, None if it needs a search.

        With one ply left the value is an estimate. With two plies left, a game with pop-outs that
        ends soon is searched to its end. In a search to the end of the game, the last two plies
        without pop-outs are worked out at once.
        """
        _, drops, _, _, mover, own, other = position
        popouts = own + other
        if self.solved:
            if depth < 2 or popouts:
                return None
            return self.leaves.frontier(position, judgement, alpha, beta, 1.0)
        if depth == 1 and (drops or self.lines.actions(position)):
            more = judgement.added
            if popouts:
                more += self.evaluation.in_hand(judgement, mover, own, other)
            found = self.leaves.frontier(position, judgement, alpha - more, beta - more, TEMPO)
            return found + more
        if depth < 2 or not popouts or len(drops) + 2 * popouts > self.ENDING:
            return None
        left = self.lines.plies_left(position)
        if left > self.ENDING:
            return None
        self.solved = True
        value = self._search(position, judgement, left, alpha, beta)
        self.solved = False
        return value

    def _probe_cut(
        self,
        position: Position,
        judgement: Judgement,
        slot: int,
        depth: int,
        alpha: float,
        beta: float,
    ) -> float | None:
        """Return a bound outside the null window that a search two plies less deep makes likely.

        None if there is none. Buro, "ProbCut: an effective selective extension of the alpha-beta
        algorithm", 1995.
        """
        for probed in False, True:
            key_found, known, bound, value, _ = self.known[slot % self.TABLE_SIZE]
            if key_found == slot and known >= depth - 2:
                if bound >= 0 and value - MARGIN >= beta:
                    return value - MARGIN
                if bound <= 0 and value + MARGIN <= alpha:
                    return value + MARGIN
            if probed or self.probing or depth == self.CUT_DEPTH:
                return None
            self.probing = True
            far = beta + MARGIN
            if self._search(position, judgement, depth - 2, far - self.CLOSE, far) < far:
                far = alpha - MARGIN
                self._search(position, judgement, depth - 2, far, far + self.CLOSE)
            self.probing = False
        return None

"""The last plies of alpha-beta, worked out from gains without making the positions."""

from __future__ import annotations

from math import inf

from connect4.reference.evaluation import Evaluation, Judgement
from connect4.reference.lines import Actions, Position

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
        total += self.evaluation.in_hand(
            judgement, mover, own - 1, other
        ) - self.evaluation.in_hand(judgement, mover, own, other)
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

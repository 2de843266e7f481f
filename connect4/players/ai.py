"""The course's solution: expected line margins, expectimax against chance, alpha-beta otherwise.

The simulator creates one `AIPlayer` per game and requests a move from it each turn. A state is
`(board, popouts)`: `board` is a numpy array of shape (rows, columns), row 0 on top, 0 for an
empty cell and 1 or 2 for a player's token; `popouts` maps a player to an `Integer`, the number
of pop-outs left. A move is `(column, is_popout)`. Both parts of a state are the agent's own copies.

How it works. A line is a row, a column or a diagonal. Each player's points are the sum over all
lines, so a position can be valued line by line. If every empty cell becomes mine or the
opponent's with equal chance, a line has an expected margin: my points less the opponent's, on
average. The sum over all lines is the evaluation; on a full board it is the margin itself.

A drop changes four lines. Its gain is the growth of the mover's expected margin. An empty cell is
the mean of its two fillings, so both players gain the same by taking it. One list of gains, best
first, serves both: it orders the moves of the search, and its first entries replace the last ply.
"""

import gc
import random
import time as clock
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from connect4.config import win_pts
from connect4.utils import Integer, get_valid_actions

State: TypeAlias = tuple[np.ndarray[Any, Any], dict[int, Integer]]
Move: TypeAlias = tuple[int, bool]
Thought: TypeAlias = dict[str, Any]

INFINITY = float("inf")

ME, OPPONENT = 1, 2
"""The two sides as the search sees them: ME is the player who searches, whatever its number."""

# -- Lines: the expected margin of a row, a column or a diagonal

LONGEST = 12
"""Cells, as on the largest board. A table has 3**length entries; a longer line is split."""


def line_table(length: int) -> tuple[float, ...]:
    """Return the expected margin of every line of `length` cells, by the code of the line.

    The code has a ternary digit for each cell: 0 for empty, 1 for mine, 2 for the opponent's. The
    first cell has the lowest digit. An empty cell counts as the mean of both ways to fill it.
    """
    masks = (f"{mask:0{length}b}" for mask in range(2**length))  # full lines: 1 for mine
    worth = [win_pts[n % 4] + n // 4 * win_pts[4] for n in range(length + 1)]
    mine = np.array([sum(worth[len(run)] for run in mask.split("0")) for mask in masks], float)
    margins = (mine - mine[::-1]).reshape((2,) * length)  # reversed: the opponent's points
    for cell in range(length):
        theirs, own = np.moveaxis(margins, cell, 0)
        margins = np.stack(((own + theirs) / 2, own, theirs), cell)
    return tuple(margins.ravel().tolist())


TABLES = [line_table(length) for length in range(LONGEST + 1)]

# -- The board: how codes and gains follow from moves

Changes: TypeAlias = list[tuple[int, int]]
"""Lines, each with the change of its code."""

Actions: TypeAlias = list[tuple[float, int]]
"""Pairs (gain, action), best first. An action is the cell of a drop, or `~column` for a pop-out.

A cell is `height * columns + column`, height 0 at the bottom.
"""


class Position(NamedTuple):
    """A position as the search sees it."""

    codes: list[int]
    """The code of each line."""
    drops: Actions
    """The possible drops; the gains are the same for both players."""
    margin: float
    """The expected margin of the player to move."""
    key: int
    """A number for the tokens and the player to move (Zobrist hashing)."""
    mover: int
    own: int
    """Pop-outs left of the player to move."""
    other: int
    """Pop-outs left of the other player."""
    last: int = 0
    """The action that led here."""


class Board:
    """The lines of one board shape, and how moves change them."""

    def __init__(self, rows: int, columns: int, player: int):
        self.rows, self.columns, self.cells, self.player = rows, columns, rows * columns, player
        lines: dict[tuple[str, int, int], list[int]] = {}
        for kind in ("row", "rise", "fall", "column"):
            for cell in range(self.cells):
                height, column = divmod(cell, columns)
                places = {"row": height, "rise": height - column, "fall": height + column}
                part = (column if kind == "row" else height) // LONGEST
                lines.setdefault((kind, places.get(kind, column), part), []).append(cell)
        self.tables = [TABLES[len(line)] for line in lines.values()]
        self.crossing: list[Changes] = [[] for _ in range(self.cells)]
        """By cell: how a token of mine changes the codes of its four lines, the column last."""
        self.related: list[set[int]] = [set() for _ in range(self.cells)]
        """The cells that have a line in common with each cell."""
        for index, line in enumerate(lines.values()):
            for digit, cell in enumerate(line):
                self.crossing[cell].append((index, 3**digit))
                self.related[cell].update(line)
        numbers = random.Random(0)
        self.keys = [[0] * self.cells]  # by token and cell; an empty cell changes nothing
        self.keys += [[numbers.getrandbits(60) for _ in range(self.cells)] for _ in range(2)]
        self.turn_key = numbers.getrandbits(60)
        self.popout_of = lru_cache(20_000)(self._popout)

    def read(self, state: State) -> Position:
        """Return the position of a state in which I am to move."""
        board, popouts = state
        codes = [0] * len(self.tables)
        landing = list(range(self.columns))
        key = 0
        for cell, token in enumerate(board[::-1].ravel().tolist()):
            if token:
                mover = ME if token == self.player else OPPONENT
                for line, weight in self.crossing[cell]:
                    codes[line] += mover * weight
                key ^= self.keys[mover][cell]
                landing[cell % self.columns] += self.columns
        margin = sum(table[code] for table, code in zip(self.tables, codes, strict=True))
        own, other = (popouts[player].get_int() for player in (self.player, 3 - self.player))
        return Position(codes, self._drops(codes, landing), margin, key, ME, own, other)

    def gain(self, codes: list[int], changes: Changes) -> float:
        """Return how much my expected margin grows with these changes."""
        gain = 0.0
        for line, change in changes:
            table, code = self.tables[line], codes[line]
            gain += table[code + change] - table[code]
        return gain

    def actions(self, position: Position) -> Actions:
        """Return what the mover can do, best first."""
        codes, drops, _, _, mover, own, _, _ = position
        if not own:
            return drops
        sign, number = (1, self.player) if mover == ME else (-1, 3 - self.player)
        popouts = [
            (sign * self.gain(codes, self._changes(codes, column)[0]), ~column)
            for column in range(number - 1, self.columns, 2)  # player 1 has the even columns
            if self._token(codes, column)
        ]
        return sorted(drops + popouts, reverse=True)

    def play(self, position: Position, gain: float, action: int) -> Position:
        """Return the position after one of the mover's actions."""
        codes, drops, margin, key, mover, own, other, _ = position
        codes = codes[:]
        if action >= 0:
            for line, weight in self.crossing[action]:
                codes[line] += mover * weight
            key ^= self.keys[mover][action]
            related, above = self.related[action], action + self.columns
            kept = [drop for drop in drops if drop[1] not in related]
            landing = [cell for _, cell in drops if cell in related and cell != action]
            drops = sorted(kept + self._drops(codes, [*landing, above]), reverse=True)
        else:
            changes, changed_key, top = self._changes(codes, ~action)
            for line, change in changes:
                codes[line] += change
            key ^= changed_key
            own -= 1
            landing = [cell for _, cell in drops if cell % self.columns != ~action]
            drops = self._drops(codes, [*landing, top])
        key ^= self.turn_key
        return Position(codes, drops, -margin - gain, key, 3 - mover, other, own, action)

    def plies_left(self, position: Position) -> int:
        """Return the most plies that can follow: what is popped out is filled again."""
        empty = sum(self.rows - cell // self.columns for _, cell in position.drops)
        return empty + 2 * (position.own + position.other)

    def move(self, action: int) -> Move:
        """Return an action as the simulator writes it."""
        return (action % self.columns, False) if action >= 0 else (~action, True)

    def _drops(self, codes: list[int], landing: list[int]) -> Actions:
        """Return the drops into those of the `landing` cells that are on the board."""
        cells = [cell for cell in landing if cell < self.cells]
        return sorted(
            [(self.gain(codes, self.crossing[cell]), cell) for cell in cells], reverse=True
        )

    def _token(self, codes: list[int], cell: int) -> int:
        """Return whose token is in a cell, read off the code of its column: 0 for nobody's."""
        line, weight = self.crossing[cell][-1]
        return codes[line] // weight % 3

    def _changes(self, codes: list[int], column: int) -> tuple[Changes, int, int]:
        """Return the codes and the key that a pop-out changes, and the cell that becomes empty."""
        cells = range(column, self.cells, self.columns)
        return self.popout_of(column, *[self._token(codes, cell) for cell in cells])

    def _popout(self, column: int, *tokens: int) -> tuple[Changes, int, int]:
        """Return the same, given the tokens of the column from the bottom to the top."""
        changes: dict[int, int] = {}
        key, top = 0, column
        for height, (token, falling) in enumerate(pairwise([*tokens, 0])):
            cell = height * self.columns + column
            top = cell if token else top
            for line, weight in self.crossing[cell]:
                changes[line] = changes.get(line, 0) + (falling - token) * weight
            key ^= self.keys[token][cell] ^ self.keys[falling][cell]
        return [(line, change) for line, change in changes.items() if change], key, top


board_of = lru_cache(4)(Board)  # a game builds its board once; 4: both players of two shapes


# -- The budget of a move


class BudgetSpentError(Exception):
    """The time or the nodes of this move are used up."""


class Budget:
    """How long a move may take: a number of seconds or, if given, a number of nodes."""

    def __init__(self, seconds: float, nodes: int | None):
        reserve = min(0.1 * seconds + 0.02, 0.6 * seconds)  # the machine may be busy
        self.deadline = INFINITY if nodes is not None else clock.monotonic() + seconds - reserve
        self.nodes, self.most_nodes = 0, INFINITY if nodes is None else nodes

    def spend(self) -> None:
        """Count one node; raise `BudgetSpentError` if it was one too many."""
        self.nodes += 1
        if self.nodes > self.most_nodes or clock.monotonic() > self.deadline:
            raise BudgetSpentError


# -- The searches


class Expectimax:
    """Expectimax against an opponent that takes each of its actions with equal probability."""

    def __init__(self, board: Board):
        self.board = board

    def choose(self, position: Position, budget: Budget, thought: Thought) -> int:
        """Return the best action found within the budget; `thought` gets the last whole depth.

        It looks up to 7 plies ahead: 9 take minutes. The gains replace my last ply.
        """
        self.budget = budget
        actions = self.board.actions(position)[:]
        best = actions[0]
        with suppress(BudgetSpentError):
            for depth in range(1, min(self.board.plies_left(position) + 1, 7) + 1, 2):
                actions.sort(key=lambda item: item != best)
                highest, values = -INFINITY, dict[Move, float]()
                for item in actions:
                    value = -self._value(self.board.play(position, *item), depth - 1)
                    values[self.board.move(item[1])] = value
                    if value > highest:
                        highest, best = value, item
                thought.update(value=highest, depth=depth, nodes=budget.nodes, values=values)
        return best[1]

    def _value(self, position: Position, depth: int) -> float:
        """Return the mover's expected final margin."""
        self.budget.spend()
        actions = self.board.actions(position)
        if not actions or not depth:
            return position.margin
        if depth == 1 and position.mover == ME:
            return position.margin + actions[0][0]
        values = [-self._value(self.board.play(position, *item), depth - 1) for item in actions]
        return max(values) if position.mover == ME else sum(values) / len(values)


class AlphaBeta:
    """Alpha-beta with iterative deepening and a transposition table.

    Every value is the expected final margin of the player to move.
    """

    TEMPO = 0.5
    """After the last ply, the player to move is credited with this part of its best gain. With one
    half, searches of odd and of even depths find about the same values."""

    KEEP, SPEND, HOARD, PAID = 5.0, 2.0, 4, 6.0
    """Points for a pop-out in hand; HOARD is a count. See `_in_hand`. Chosen by trial games."""

    MOST_ENTRIES = 150_000
    """Positions in the table; a full table is emptied. They take about 60 MB."""

    def __init__(self, board: Board):
        self.board = board

    def choose(self, position: Position, budget: Budget, thought: Thought) -> int:
        """Return the best action found within the budget; `thought` gets the last whole depth."""
        self._begin(position, budget)
        actions = self.board.actions(position)[:]
        with suppress(BudgetSpentError):
            for depth in range(1, min(self.plies_left, 200) + 1):  # Python's recursion has a limit
                value = self._deepen(position, actions, depth)
                thought.update(value=value, depth=depth, nodes=budget.nodes)
        return actions[0][1]

    def _begin(self, position: Position, budget: Budget) -> None:
        """Note what is the same in the whole search for a move, and forget the last one."""
        self.budget = budget
        self.table: dict[tuple[int, int, int], tuple[int, float, int, int]] = {}
        """Depth, value, bound (1: the true value may be higher, -1: lower), best action."""
        self.plies_left = self.board.plies_left(position)
        self.last_mover = ME if self.plies_left % 2 else OPPONENT
        in_hand = position.own if self.last_mover == ME else position.other
        self.hoard = in_hand > self.HOARD

    def _deepen(self, position: Position, actions: Actions, depth: int) -> float:
        """Search `depth` plies, put the best action first, and return its value.

        The best action of the last depth is searched first, and each better one is put before it
        at once. So if the budget ends the search early, the first action is the best one known.
        """
        self.depth, self.solved = depth, depth == self.plies_left
        best = -INFINITY
        for item in actions[:]:
            value = -self._search(self.board.play(position, *item), depth - 1, -INFINITY, -best)
            if value > best:
                best = value
                actions.remove(item)
                actions.insert(0, item)
        return best

    def _search(self, position: Position, depth: int, alpha: float, beta: float) -> float:
        """Return a value v for the mover, by a search of `depth` plies or more.

        Let m be the value that minimax finds with the same evaluation. Then
            alpha < v < beta  implies  m == v,
            v <= alpha        implies  m <= v,
            v >= beta         implies  m >= v.
        "Or more": the table may answer with the value of a deeper search.
        """
        self.budget.spend()
        actions = self.board.actions(position)
        if not actions or not depth:
            return position.margin
        if depth == 1 and not self.solved:
            return self._last_ply(position, actions)
        name = position.key, position.own, position.other
        if name in self.table:
            known_depth, value, bound, favourite = self.table[name]
            decides = not bound or (value >= beta if bound > 0 else value <= alpha)
            if decides and known_depth >= depth:
                return value
            actions = sorted(actions, key=lambda item: item[1] != favourite)
        best, best_action, floor = -INFINITY, actions[0][1], alpha  # alpha rises, the floor stays
        for item in actions:
            value = -self._search(self.board.play(position, *item), depth - 1, -beta, -alpha)
            if value > best:
                best, best_action = value, item[1]
                alpha = max(alpha, value)
                if alpha >= beta:
                    break
        if len(self.table) >= self.MOST_ENTRIES:
            self.table.clear()
        bound = 1 if best >= beta else -1 if best <= floor else 0
        self.table[name] = depth, best, bound, best_action
        return best

    def _last_ply(self, position: Position, actions: Actions) -> float:
        """Return the mover's value with one ply to go, read off the gains.

        That is the best gain, less TEMPO times the gain of the best drop then left to the opponent.
        """
        _, drops, margin, _, mover, own, other, _ = position
        first, second = [*(gain for gain, _ in drops[:2]), 0.0, 0.0][:2]
        in_hand = self._in_hand(mover, own)
        best = first - self.TEMPO * second if drops else -INFINITY
        popout = next((gain for gain, action in actions if action < 0), None)
        if popout is not None:
            spent = in_hand - self._in_hand(mover, own - 1)
            best = max(best, popout - spent - self.TEMPO * first)
        return margin + in_hand - self._in_hand(3 - mover, other) + best

    def _in_hand(self, mover: int, popouts: int) -> float:
        """Return what a number of pop-outs in hand is worth to the mover.

        Each move lowers the number of plies left by one, so we know at once who makes the last one.
        The other player is to move when the board is full. It has to pop out, at a loss, as often
        as it can, and the last mover drops into the gap. So the last mover keeps its pop-outs. With
        more than HOARD it can answer each one of the other player; those then cost that player.
        """
        if mover == self.last_mover:
            return self.KEEP * popouts
        if self.hoard and popouts:
            return self.PAID * (1 - popouts)
        return self.SPEND * popouts


class Explained(AlphaBeta):
    """Alpha-beta that notes its nodes."""

    def nodes(self, position: Position, depth: int) -> list[list[Any]]:
        """Return the nodes of a search of `depth` plies, as `AIPlayer.explain` describes them."""
        self._begin(position, Budget(INFINITY, None))
        self.tree: list[list[Any]] = [[0, None, "MAX", None, -INFINITY, INFINITY, "best"]]
        actions = self.board.actions(position)[:]
        value = self._deepen(position, actions, min(depth, self.plies_left))
        self.tree[0][3], ply = value, 1
        for node in self.tree[1:]:  # on the principal variation the value stays the same
            if node[0] == ply and node[3] == value:
                node[6], ply = "best", ply + 1
            elif node[0] < ply - 1:
                break
        return self.tree

    def _search(self, position: Position, depth: int, alpha: float, beta: float) -> float:
        mine, move = position.mover == ME, self.board.move(position.last)
        window = (alpha, beta) if mine else (-beta, -alpha)
        node = [self.depth - depth, move, "MAX" if mine else "MIN", None, *window, ""]
        self.tree.append(node)
        value = super()._search(position, depth, alpha, beta)
        node[3] = value if mine else -value
        return value


# -- The player


class AIPlayer:
    """Plays ExtendedConnect4 against random and against thinking opponents."""

    node_budget: int | None = None
    """A limit on the positions that a move may visit; it replaces the clock. None for no limit."""

    def __init__(self, player_number: int, time: int):
        """Play as `player_number` (1 or 2) with `time` seconds for each move."""
        self.player_number, self.time = player_number, time
        self.type, self.player_string = "ai", f"Player {player_number}:ai"

    def get_expectimax_move(self, state: State) -> Move:
        """Return the move against an opponent that plays at random."""
        return self._choose(state, Expectimax)

    def get_intelligent_move(self, state: State) -> Move:
        """Return the move against an opponent that plays to win."""
        return self._choose(state, AlphaBeta)

    def explain(self, state: State, depth: int = 4) -> list[list[Any]]:
        """Return the nodes of an alpha-beta search, each before those below it.

        A node is `[ply, move, kind, value, alpha, beta, note]`, all from my side. I move at a
        "MAX" node; "best" marks the principal variation.
        """
        board = board_of(*state[0].shape, self.player_number)
        return Explained(board).nodes(board.read(state), depth)

    def _choose(self, state: State, method: "type[AlphaBeta | Expectimax]") -> Move:
        """Return the move that a search by `method` finds."""
        budget = Budget(self.time, self.node_budget)
        moves = get_valid_actions(self.player_number, state)
        if len(moves) == 1:
            return moves[0]
        board = board_of(*state[0].shape, self.player_number)
        gc.disable()  # the search makes no cycles; a collection takes long in a large table
        try:
            self.thought: Thought = {}
            return board.move(method(board).choose(board.read(state), budget, self.thought))
        finally:
            gc.enable()

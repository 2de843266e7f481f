"""Make the positions of `grader practice`: `python3 -m benchmarks.practice_positions FILE`.

Needs a C compiler, and about an hour. Writes three kinds of positions whose answers are known:

- skills: a right answer that leads clearly, at several depths of search or exactly, and that the
  kit's stronger agents find too (`KINDS`). Players take turns to be the mover.
- `kills_BUG`: positions that a correct search of four plies solves and one with that bug does not.
- `regret` of part A: the exact expected final margin of each action against the random player.

Those of part B come from `benchmarks.regret_positions`. `exact.c` does the searching.
The same seed tries the same positions in the same order.
"""

import argparse
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.exact import SOURCE, compiled
from benchmarks.games import GAME, empty
from connect4.games import extended
from connect4.games.base import Player, opponent
from connect4.games.extended import ExtendedState
from connect4.games.falling import ExtendedAction, format_action
from connect4.players.base import Agent, Setup
from connect4.players.registry import build, parse_agent
from connect4.utils import get_pts
from grader.solved import Solved, text_of

KINDS = {
    "b take_row": 8, "b take_column": 8, "b take_diagonal": 8, "b bigger_gain": 10,
    "b block_four": 10, "b no_gift": 10, "b pop_break": 10, "b only_pops": 10,
    "b last_moves": 10, "b combination": 10,
    "a take_points": 8, "a pop_out": 8, "a last_moves": 8, "a fearless": 8,
}  # fmt: skip
"""How many positions of each skill, by part and name."""

BUGS = {"no_decrement": False, "shared_popouts": False, "opp_maximises": False, "mean_own": True}
"""The bugs of `kills`, and whether they show against the random player."""

BOARDS = ((6, 8), (6, 10), (8, 8), (8, 10))
SMALL = ((4, 6), (6, 6), (6, 8), (8, 8), (8, 10))
JUDGES = ("alphabeta:depth=4", "alphabeta:depth=4,heuristic=margin", "reference:nodes=3000")
CHANCE_JUDGES = ("expectimax:depth=3", "reference:nodes=3000")


def question(state: ExtendedState, places: Iterable[int]) -> Solved:
    """Return a position and its right answers, by their places among its legal actions."""
    actions = state.legal_actions()
    return Solved("b", "", state, tuple(actions[place] for place in places))


def line_of(asked: Solved) -> str:
    """Return the position and its right answers as text."""
    right = [action for action in asked.state.legal_actions() if action in asked.right]
    return f"{text_of(asked.state)} {'|'.join(map(format_action, right))}"


class Judge:
    """The compiled `exact.c`. Values are the mover's, one for each legal action."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def _ask(self, states: Sequence[ExtendedState], *words: object) -> list[list[str]]:
        text = "".join(f"{text_of(state)}\n" for state in states)
        command = [str(self.program), *map(str, words)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    def exact(
        self, states: Sequence[ExtendedState], mode: str, nodes: int
    ) -> list[list[float] | None]:
        """Return final margins (`solve`) or expected ones (`expect`); None: not within `nodes`."""
        found = self._ask(states, mode, nodes)
        return [None if "unsolved" in words else list(map(float, words[1:])) for words in found]

    def depths(
        self, states: Sequence[ExtendedState], mode: str, deepest: int, leaf: int = 0
    ) -> list[list[list[float]]]:
        """Return what searches of 1 to `deepest` plies say (`depth`; `chance`: against random)."""
        found = self._ask(states, mode, deepest, leaf)
        return [[list(map(float, word.split(","))) for word in words] for words in found]


def top(values: Sequence[float]) -> int:
    """Return the place of the greatest value."""
    return max(range(len(values)), key=values.__getitem__)


def lead(values: Sequence[float], place: int) -> float:
    """Return by how much a value exceeds all others."""
    return values[place] - max(value for other, value in enumerate(values) if other != place)


def leads(depths: Iterable[Sequence[float]], place: int, by: float) -> bool:
    """Return whether one action leads at all of these depths."""
    return all(top(values) == place and lead(values, place) >= by for values in depths)


# -- Positions to try


def filled(rng: Random) -> ExtendedState:
    """Return a full board with pop-outs left."""
    rows, columns = rng.choice(BOARDS)
    popouts = rng.choice([1, 2, 3])
    state = empty(f"{rows}x{columns}+{popouts}")
    while drops := [action for action in state.legal_actions() if not action[1]]:
        state = state.apply(rng.choice(drops))
    return state.skip() if rng.random() < 0.5 else state


def random_game(rng: Random, rows: int, columns: int, popouts: int, plies: int) -> ExtendedState:
    """Return the position after `plies` random actions, or the end of the game."""
    state = empty(f"{rows}x{columns}+{popouts}")
    for _ in range(plies):
        if not (actions := state.legal_actions()):
            break
        state = state.apply(rng.choice(actions))
    return state


def open_position(rng: Random) -> ExtendedState:
    """Return a position of the middle game with any number of pop-outs up to three."""
    rows, columns = rng.choice(BOARDS)
    state = random_game(rng, rows, columns, 2, rng.randrange(10, rows * columns - 8))
    popouts = rng.randrange(4), rng.randrange(4)
    return extended.position(state.for_agent()[0], popouts, state.mover)


def near_position(rng: Random, most_empty: int = 9) -> ExtendedState:
    """Return a position with three or more empty cells that can be solved."""
    rows, columns = rng.choice(SMALL)
    want = rng.randrange(3, most_empty)
    state = random_game(rng, rows, columns, 0, rows * columns - want)
    popouts = rng.choice([(1, 0), (1, 1), (2, 0), (1, 2), (2, 1), (0, 1), (0, 0)])
    return extended.position(state.for_agent()[0], popouts, state.mover)


def late_position(rng: Random) -> ExtendedState:
    """Return a position with three to seven plies left."""
    rows, columns = rng.choice(BOARDS)
    popouts, left = rng.choice([0, 0, 1, 1]), rng.randrange(3, 8)
    state = empty(f"{rows}x{columns}+{popouts}")
    while state.max_plies > left and (actions := state.legal_actions()):
        state = state.apply(rng.choice(actions))
    return state


# -- Skills


def ways(state: ExtendedState, column: int, player: Player) -> set[str]:
    """Return the directions in which the top token of a column stands in a run of four."""
    board = state.for_agent()[0]
    top_row = int((board[:, column] == 0).sum())
    found = set()
    for name, down, across in (
        ("row", 0, 1), ("column", 1, 0), ("diagonal", 1, 1), ("diagonal", 1, -1),
    ):  # fmt: skip
        length = 1
        for sign in (1, -1):
            row, place = top_row + sign * down, column + sign * across
            while (
                0 <= row < board.shape[0]
                and 0 <= place < board.shape[1]
                and board[row, place] == player
            ):
                length, row, place = length + 1, row + sign * down, place + sign * across
        if length >= 4:
            found.add(name)
    return found


def points(state: ExtendedState, player: Player) -> int:
    return get_pts(player, state.for_agent()[0])


class Seen:
    """A position with what searches say of it: margins by depth, and what each action gains."""

    def __init__(self, state: ExtendedState, margins: list[list[float]]) -> None:
        self.state, self.margins = state, margins
        self.actions, self.mover = state.legal_actions(), state.mover
        now = state.margin(state.mover)
        self.gains = [value - now for value in margins[0]]

    def after(self, place: int) -> tuple[ExtendedState, int, int]:
        """Return the position after an action, and the change of the mover's and other's points."""
        after, mover = self.state.apply(self.actions[place]), self.mover
        own = points(after, mover) - points(self.state, mover)
        return after, own, points(after, opponent(mover)) - points(self.state, opponent(mover))

    def drop_gain(self) -> float:
        pairs = zip(self.gains, self.actions, strict=True)
        return max((gain for gain, action in pairs if not action[1]), default=-99)

    def threats(self) -> dict[ExtendedAction, float]:
        """Return what each action of the opponent would gain if the mover passed."""
        passed, now = self.state.skip(), self.state.margin(self.mover)
        return {
            action: passed.apply(action).margin(opponent(self.mover)) + now
            for action in passed.legal_actions()
        }


def open_skills(seen: Seen, means: list[list[float]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the skills that a position of the middle game asks for, with the right answers."""
    margins, gains = seen.margins, seen.gains
    best = top(margins[3])
    after, own, others = seen.after(best)
    column, pop = seen.actions[best]
    second = sorted(gains)[-2]
    threats = seen.threats()
    worst = max(threats.values())
    if leads(margins[1:], best, 8) and leads(means[1:], best, 3) and not pop:
        found = ways(after, column, seen.mover)
        if own >= 15 and second <= 5 and len(found) == 1:
            yield f"b take_{found.pop()}", (best,)
        fours = [action for action, gain in threats.items() if gain >= 15]
        other = opponent(seen.mover)
        left = max(
            (after.apply(action).margin(other) - after.margin(other)
             for action in after.legal_actions()), default=0,
        )  # fmt: skip
        quiet = max(gains) < 8 and gains[best] < max(gains)
        if quiet and fours == [(column, False)] and left <= 9:
            yield "b block_four", (best,)
    if leads(margins[1:], best, 10) and leads(means[1:], best, 5):
        if not pop and own >= 10 and second >= 5 and gains[best] - second >= 9:
            yield "b bigger_gain", (best,)
        if pop and others <= -15 and own <= 5:
            yield "b pop_break", (best,)
    greedy = [place for place, gain in enumerate(gains) if gain == max(gains)]
    losses = [[max(margins[depth]) - margins[depth][place] for depth in (1, 3)]
              for place in range(len(gains))]  # fmt: skip
    right = tuple(place for place, (two, four) in enumerate(losses) if two < 10 and four < 25)
    gifts = all(min(losses[place]) >= 12 for place in greedy) and gives_a_four(seen, greedy[0])
    if gifts and worst < 12 and 0 < len(right) <= 0.6 * len(gains):
        yield "b no_gift", right
    best = top(margins[4])
    unseen = margins[0][best] < max(margins[0]) and margins[1][best] < max(margins[1])
    if unseen and leads(margins[2:], best, 8) and leads(means[3:], best, 5):
        yield "b combination", (best,)


def gives_a_four(seen: Seen, place: int) -> bool:
    """Return whether the opponent gains a four by a drop onto the mover's."""
    column, pop = seen.actions[place]
    after = seen.state.apply((column, pop))
    if pop or (column, False) not in after.legal_actions():
        return False
    other = opponent(seen.mover)
    return after.apply((column, False)).margin(other) - after.margin(other) >= 15


def near_skills(
    seen: Seen, chances: list[list[float]], solved: list[float], expected: list[float]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the skills that a solved position asks for, against thinking and random players."""
    best, mean_best = top(solved), top(expected)
    _, own, others = seen.after(best)
    breaks = seen.actions[best][1] and others <= -13 and own <= 5
    if breaks and leads(seen.margins[1:], best, 0) and lead(solved, best) >= 5:
        yield "b pop_break", (best,)
    if not all(top(values) == mean_best for values in chances[1:]):
        return
    pop, gain = seen.actions[mean_best][1], seen.gains[mean_best]
    if lead(expected, mean_best) >= 5:
        if pop and gain >= 10 and gain - seen.drop_gain() >= 8:
            yield "a pop_out", (mean_best,)
        if not pop and gain >= 12:
            yield "a take_points", (mean_best,)
    feared = (solved, seen.margins[1], seen.margins[3])
    fears = all(max(values) - values[mean_best] >= 6 for values in feared)
    if fears and mean_best != best and lead(expected, mean_best) >= 3:
        yield "a fearless", (mean_best,)


def candidates(judge: Judge, rng: Random) -> Iterator[tuple[str, Solved]]:
    """Yield questions without end; most fit skills that have enough already."""
    while True:
        full, late = [filled(rng) for _ in range(4)], [late_position(rng) for _ in range(60)]
        late = [state for state in late if len(state.legal_actions()) >= 4]
        for kind, states in (("b only_pops", full), ("b last_moves", late)):
            for state, values in zip(states, judge.exact(states, "solve", 20_000_000), strict=True):
                if values and len(values) > 1 and lead(values, top(values)) >= 8:
                    yield kind, question(state, (top(values),))
        for state, values in zip(late, judge.exact(late, "expect", 20_000_000), strict=True):
            if values and lead(values, top(values)) >= 4:
                yield "a last_moves", question(state, (top(values),))
        yield from near_candidates(judge, [near_position(rng) for _ in range(600)])
        yield from open_candidates(judge, [open_position(rng) for _ in range(600)])


def near_candidates(judge: Judge, states: list[ExtendedState]) -> Iterator[tuple[str, Solved]]:
    states = [state for state in states if len(state.legal_actions()) >= 4]
    shallow, chances = judge.depths(states, "depth", 4), judge.depths(states, "chance", 3)
    clear = [
        (state, Seen(state, margins), chance)
        for state, margins, chance in zip(states, shallow, chances, strict=True)
        if lead(chance[2], top(chance[2])) >= 3
    ]
    some = [state for state, _, _ in clear]
    solved, expected = judge.exact(some, "solve", 400_000), judge.exact(some, "expect", 800_000)
    for (state, seen, chance), values, means in zip(clear, solved, expected, strict=True):
        if values and means:
            for kind, right in near_skills(seen, chance, values, means):
                yield kind, question(state, right)


def open_candidates(judge: Judge, states: list[ExtendedState]) -> Iterator[tuple[str, Solved]]:
    states = [state for state in states if len(state.legal_actions()) > 1]
    shallow = judge.depths(states, "depth", 3)  # a cheap look at what may be clear at five plies
    states = [
        state
        for state, (one, two, three) in zip(states, shallow, strict=True)
        if max(lead(two, top(two)), lead(three, top(three))) >= 8 or max(two) - two[top(one)] >= 12
    ]
    deep, means = judge.depths(states, "depth", 5), judge.depths(states, "depth", 4, leaf=1)
    for state, margins, mean in zip(states, deep, means, strict=True):
        for kind, right in open_skills(Seen(state, margins), mean):
            yield kind, question(state, right)


class Asker:
    """Agents that answer single positions, each as a new player."""

    def __init__(self, names: Sequence[str], method: str) -> None:
        self.names, self.method = names, method

    def answer(self, name: str, state: ExtendedState) -> ExtendedAction:
        setup = Setup(parse_agent(name), state.mover, GAME, 60, 1, self.method)
        agent: Agent = build(setup)
        action: ExtendedAction = agent.choose(state, 60)
        return action

    def agree(self, asked: Solved) -> bool:
        """Return whether every agent gives a right answer."""
        return all(self.answer(name, asked.state) in asked.right for name in self.names)


def skills(judge: Judge, seed: int) -> Iterator[str]:
    """Yield the lines of all skills."""
    thinking, chance = Asker(JUDGES, "intelligent"), Asker(CHANCE_JUDGES, "expectimax")
    have: dict[str, list[str]] = defaultdict(list)
    tried: set[tuple[str, str]] = set()
    for kind, asked in candidates(judge, Random(f"skills {seed}")):
        if all(len(have[name]) >= number for name, number in KINDS.items()):
            break
        name = text_of(asked.state)
        if len(have[kind]) >= KINDS[kind] or (kind, name) in tried:
            continue
        tried.add((kind, name))
        judges = chance if kind == "a last_moves" else None if kind.startswith("a ") else thinking
        if kind == "b pop_break" and asked.state.max_plies < 20:
            judges = None  # it is solved
        if judges and not judges.agree(asked):
            continue
        due = asked.state.mover == 1 + len(have[kind]) % 2
        have[kind].append(line_of(asked if due else asked.twin()))
        print(Counter({name: len(lines) for name, lines in have.items()}), flush=True)
    for kind in KINDS:
        for line in have[kind]:
            yield f"{kind} {line}"


# -- Positions that kill one bug


def worth(
    state: ExtendedState, depth: int, me: Player, bug: str, chance: bool, spent: list[int]
) -> float:
    """Return my margin by a search of `depth` plies that has a bug, or "" for a correct one.

    `spent` counts the pop-outs of each player that the tree has used, for the bug that shares them.
    """
    actions = known_actions(state, bug, spent)
    if not depth or not actions:
        return state.margin(me)
    values = [
        worth(applied(state, action, bug, spent), depth - 1, me, bug, chance, spent)
        for action in actions
    ]
    mean = sum(values) / len(values)
    if state.mover == me:
        return mean if bug == "mean_own" else max(values)
    return mean if chance else max(values) if bug == "opp_maximises" else min(values)


def known_actions(state: ExtendedState, bug: str, spent: Sequence[int]) -> Sequence[ExtendedAction]:
    actions = state.legal_actions()
    if bug == "shared_popouts" and spent[state.mover - 1] >= state.popouts[state.mover - 1]:
        actions = tuple(action for action in actions if not action[1])
    return actions


def applied(
    state: ExtendedState, action: ExtendedAction, bug: str, spent: list[int]
) -> ExtendedState:
    after = state.apply(action)
    if not action[1] or bug not in ("no_decrement", "shared_popouts"):
        return after
    if bug == "shared_popouts":
        spent[state.mover - 1] += 1
    return extended.position(after.for_agent()[0], state.popouts, after.mover)


def chosen(state: ExtendedState, bug: str, chance: bool) -> ExtendedAction:
    """Return the action that a search of four plies chooses."""
    spent, values = [0, 0], {}
    for action in state.legal_actions():
        after = applied(state, action, bug, spent)
        values[action] = worth(after, 3, state.mover, bug, chance, spent)
    return max(values, key=lambda action: values[action])


def kills(judge: Judge, seed: int, each: int = 10) -> Iterator[str]:
    """Yield the lines of positions that kill one bug each, ten for every bug."""
    rng = Random(f"kills {seed}")
    have = Counter[str]()
    while any(have[bug] < each for bug in BUGS):
        state = rng.choice([filled, near_position, near_position, late_position])(rng)
        if max(state.popouts) > 2 or len(state.legal_actions()) < 3 or state.max_plies > 12:
            continue
        for chance, mode, clear in ((False, "solve", 6), (True, "expect", 4)):
            due = [bug for bug in BUGS if BUGS[bug] == chance and have[bug] < each]
            (values,) = judge.exact([state], mode, 400_000) if due else [None]
            if not values or lead(values, top(values)) < clear:
                continue
            right = state.legal_actions()[top(values)]
            if chosen(state, "", chance) != right:
                continue
            for bug in due:
                if chosen(state, bug, chance) != right:
                    have[bug] += 1
                    asked = question(state, (top(values),))
                    if state.mover != 1 + have[bug] % 2:
                        asked = asked.twin()
                    yield f"{'a' if chance else 'b'} kills_{bug} {line_of(asked)}"


# -- Regret of part A

PLAN = (
    ("4x4+1", 9, 15), ("6x8+1", 10, 17), ("8x10", 12, 20), ("4x6+1", 10, 16), ("6x6", 12, 20),
    ("8x10+1", 10, 17), ("6x8", 12, 20), ("4x4+2", 10, 16), ("6x8+2", 11, 17), ("4x6+2", 11, 17),
    ("6x6+1", 10, 17), ("8x10+2", 11, 17),
)  # fmt: skip
"""Boards with pop-outs, and the plies left that are due, from and below."""

US = ("greedy", "expectimax:depth=1", "reference:nodes=30", "random", "reference:nodes=30")


def regrets(judge: Judge, seed: int, number: int = 156) -> Iterator[str]:
    """Yield the lines of part A's regret: exact expected margins, half for each player."""
    asker, kept, seen, index = Asker((), "expectimax"), 0, set(), 0
    while kept < number:
        board, low, high = PLAN[index % len(PLAN)]
        rng, us = Random(f"regret {seed} {index}"), 1 + kept % 2
        index += 1
        plies, agent, opening = rng.randrange(low, high), rng.choice(US), rng.choice([0, 2, 4])
        state, ply = empty(board), 0
        while (actions := state.legal_actions()) and not (
            state.mover == us and state.max_plies <= plies
        ):
            ours = state.mover == us and ply >= opening and rng.random() < 0.93
            action = asker.answer(agent, state) if ours else rng.choice(actions)
            state, ply = state.apply(action), ply + 1
        if len(actions) < 2 or text_of(state) in seen:
            continue
        seen.add(text_of(state))
        (values,) = judge.exact([state], "expect", 12_000_000)
        if values and max(values) - min(values) >= 1:
            kept += 1
            yield f"a regret {text_of(state)} {','.join(f'{value:.2f}' for value in values)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, help="the file to write")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, options.file.open("w") as file:
        judge = Judge(compiled(SOURCE, Path(folder)))
        for made in (skills, kills, regrets):
            for line in made(judge, options.seed):
                print(line, file=file, flush=True)


if __name__ == "__main__":
    main()

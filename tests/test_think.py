"""One call for one position: what an agent chooses, and what it says about it."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import connect4
from connect4.search import center
from connect4.search.heuristics import heuristic_of
from connect4.search.solver import Solver
from connect4.search.trace import Flag


def positions(game: str, number: int) -> list[connect4.State]:
    """Return positions of random games that are not over."""
    rng = Random(game)
    found: list[connect4.State] = []
    while len(found) < number:
        state = connect4.start(game)
        for _ in range(rng.randrange(24)):
            if state.legal_actions():
                state = state.apply(rng.choice(state.legal_actions()))
        if state.legal_actions():
            found.append(state)
    return found


def value_of(state: connect4.State, depth: int, estimate: Any) -> float:
    """Return the value of a position for its mover, by the definition alone."""
    if state.is_over():
        return float(estimate.final(state, depth))
    if depth == 0:
        return float(estimate.leaf(state))
    moves = state.legal_actions() or [None]
    return max(-value_of(state.after(move), depth - 1, estimate) for move in moves)


@pytest.mark.parametrize("game", connect4.GAMES)
def test_minimax_knows_every_value_and_alpha_beta_those_that_it_did_not_prune(game: str) -> None:
    for state in positions(game, 4):
        estimate = heuristic_of(state.game).evaluation()
        thought = connect4.think("minimax:depth=2", state)
        depth = thought.depth
        assert depth == 2 or abs(thought.value or 0) >= 1e9 or len(thought.line) < 2
        assert thought.values == {
            move: -value_of(state.apply(move), depth - 1, estimate)
            for move in state.legal_actions()
        }
        assert thought.value == thought.values[thought.action] == max(thought.values.values())
        assert thought.action == next(
            move for move in center(state) if thought.values[move] == thought.value
        )
        pruned = connect4.think("alphabeta:depth=2,tt=off", state)
        assert (pruned.action, pruned.value) == (thought.action, thought.value)
        assert pruned.values.items() <= thought.values.items()
        assert pruned.nodes <= thought.nodes


@pytest.mark.parametrize(
    "agent", ["alphabeta:depth=3", "expectimax:depth=2", "montecarlo:depth=1,samples=5",
              "mcts:iterations=60", "greedy", "random"],
)  # fmt: skip
@pytest.mark.parametrize("game", connect4.GAMES)
def test_an_agent_thinks_what_it_plays_and_its_line_can_be_played(game: str, agent: str) -> None:
    for state in positions(game, 2):
        thought = connect4.think(agent, state, seed=3)
        assert thought == connect4.think(agent, state, seed=3), "the same seed, the same thought"
        pair = (agent, "random") if state.mover == 1 else ("random", agent)
        turn = connect4.play(*pair, state, seconds=60, seed=3).turns[0]
        assert thought.action == turn.action
        assert thought.seconds is not None
        if agent == "random":
            assert (thought.value, thought.depth, thought.line) == (None, None, ())
            continue
        assert thought.line[0] == thought.action
        assert thought.value == thought.values[thought.action]
        assert thought.values.keys() <= set(state.legal_actions())
        end = state
        for move in thought.line:
            end = end.after(move)


def test_tree_search_says_the_share_of_games_that_it_wins_and_a_solver_its_score() -> None:
    state = connect4.start("classic")
    thought = connect4.think("mcts:iterations=400", state, seed=1)
    assert 0.5 < thought.value < 1
    assert thought.nodes == 400
    assert (thought.note or "").startswith("visits: ")
    state = next(state for state in positions("classic", 60) if (state.board() > 0).sum() > 18)
    thought = connect4.think("solver:engine=own", state)
    assert thought.value == Solver().score(state)
    assert thought.depth is None
    assert connect4.think("mcts:iterations=999", won_in_one()).value == 1


def won_in_one() -> connect4.State:
    state = connect4.start("classic")
    for column in (0, 1, 0, 1, 0, 1):
        state = state.apply(column)
    return state


def test_a_thought_is_printed_on_one_line() -> None:
    said = str(connect4.think("alphabeta:depth=2", "case1"))
    assert said.startswith("<Thought: (3, False), value -6, depth 2, ")
    assert said.endswith(" s, line (3, False) (3, False)>")
    assert "a win, depth 1" in str(connect4.think("minimax:depth=4", won_in_one()))
    assert str(connect4.think(lambda state: 2, won_in_one())).startswith("<Thought: 2, 0.0")


class Player:
    """A student's player."""

    def __init__(self, player_number: int, time: float) -> None:
        self.column = player_number
        self.time = time

    def get_expectimax_move(self, state: object) -> tuple[int, bool]:
        return self.column + 2, False

    def get_intelligent_move(self, state: object) -> tuple[int, bool]:
        return self.column, False


def test_classes_instances_and_functions_are_asked_in_this_process() -> None:
    assert connect4.think(Player, "case1").action == (1, False)
    assert connect4.think(Player, connect4.load("case1").skip()).action == (2, False)
    assert connect4.think(Player(2, 1), "case1", ask="expectimax").action == (4, False)
    with pytest.raises(connect4.IllegalAction, match="column 9 is outside"):
        connect4.think(lambda state: (9, False), "case1")
    with pytest.raises(connect4.AgentError, match="ZeroDivisionError"):
        connect4.think(lambda state: 1 // 0, "case1")


FILE = """
class AIPlayer:
    def __init__(self, player_number, time):
        self.time = time
    def get_intelligent_move(self, state):
        while self.time < 0.3: pass
        return 2, self.time == 7
    def get_expectimax_move(self, state):
        return 1 // 0
"""


def test_a_file_is_asked_in_a_process_and_its_faults_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(FILE)
    name = f"ai:{file}"
    thought = connect4.think(name, "case1", seconds=1)
    assert (thought.action, thought.value) == ((2, False), None)
    for seconds, method, error, why in (
        (7, "intelligent", connect4.IllegalAction, "column 2 is empty"),
        (0.2, "intelligent", connect4.AgentError, r"0\.2\d* s"),
        (1, "expectimax", connect4.AgentError, "ZeroDivisionError"),
    ):
        with pytest.raises(error, match=why):
            connect4.think(name, "case1", seconds, ask=method)  # type: ignore[arg-type]
    theirs = tmp_path / "theirs.py"
    theirs.write_text("def agent(observation, configuration):\n    return 4\n")
    assert connect4.think(f"kaggle:{theirs}", connect4.start("classic")).action == 4


def test_what_cannot_think_is_refused_in_one_line() -> None:
    over = won_in_one().apply(0)
    for agent, state, why in (
        ("human", "case1", "agent 'human' is no program"),
        ("alphabeta", over, "the side to move has no action in that position"),
        ("alphabet", over, "did you mean 'alphabeta'"),
    ):
        with pytest.raises(connect4.InputError, match=why):
            connect4.think(agent, state)


def test_a_tree_has_children_visits_and_what_the_search_chose() -> None:
    for game in connect4.GAMES:
        (state,) = positions(game, 1)
        tree = connect4.search_tree("minimax:depth=2", state)
        thought = connect4.think("minimax:depth=2", state)
        root = tree.nodes[0]
        assert (tree.best, tree.value) == (thought.action, root.value)
        if thought.depth == 2:
            assert {node.move: node.value for node in root.children} == thought.values
        below = [root]
        for node in tree.nodes:  # a walk over the children is the search order
            assert node is below.pop()
            below.extend(reversed(node.children))
        assert below == []
        assert root.visits is None
    tree = connect4.search_tree("mcts:iterations=50", connect4.start("classic"), seed=2)
    root = tree.nodes[0]
    assert root.visits == 50 == sum(node.visits or 0 for node in root.children)
    (chosen,) = [node for node in root.children if Flag.BEST in node.flags]
    assert (tree.best, tree.value) == (chosen.move, chosen.value)
    with pytest.raises(connect4.InputError, match="takes an agent's name, such as ai:FILE"):
        connect4.search_tree(Player, "case1")

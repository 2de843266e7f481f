"""The search for sliding pieces: threats, forced replies, repetitions; games that it wins."""

from random import Random

from connect4.games import GAMES, load_start
from connect4.games.base import Ending
from connect4.players.base import Setup
from connect4.players.registry import build, parse_agent
from connect4.search import WIN, center
from connect4.search.heuristics import heuristic_of
from connect4.search.minimax import TableAlphaBeta, deepen
from connect4.search.sliding import SlidingAlphaBeta, bare
from tests.positions import random_position, wins

DYNAMIC = GAMES["dynamic"]
RACE = heuristic_of(DYNAMIC, "race").evaluation()


def positions(number, seed, line=4):
    """Yield random undecided positions."""
    rng = Random(seed)
    names = ["a", "b", "c"] if line == 4 else ["start"]
    starts = [load_start(DYNAMIC, name).with_options(line=line) for name in names]
    for _ in range(number):
        yield random_position(rng, 0, 30, rng.choice(starts))[0]


def test_white_forces_a_win_in_three_plies_in_a_and_in_c_and_none_in_five_in_b():
    for start in ("a", "c"):
        state = load_start(DYNAMIC, start)
        found = deepen(SlidingAlphaBeta(RACE, center), state, 9)
        assert found.value >= WIN - 2
        first = state.apply(found.move)
        for reply in first.legal_actions():
            second = first.apply(reply)
            move = deepen(SlidingAlphaBeta(RACE, center), second, 3).move
            assert second.apply(move).scores() == (1, 0)
    found = deepen(SlidingAlphaBeta(RACE, center), load_start(DYNAMIC, "b"), 5)
    assert abs(found.value) < WIN - 100


def test_it_finds_every_win_and_loss_that_a_plain_search_finds():
    plain = heuristic_of(DYNAMIC, "connected").evaluation()
    decided = 0
    for state in positions(40, 2):
        known = deepen(TableAlphaBeta(plain, center), state, 4)
        if abs(known.value) < WIN:
            continue
        found = SlidingAlphaBeta(RACE, center).search(state, known.depth)
        assert found.value == known.value, state.to_text()
        decided += known.depth > 1
    assert decided > 5


def test_forced_replies_are_no_depth():
    plain = heuristic_of(DYNAMIC, "connected").evaluation()
    further = 0
    for state in positions(70, 3):
        known = deepen(TableAlphaBeta(plain, center), state, 2)
        found = SlidingAlphaBeta(RACE, center).search(state, 2)
        if abs(known.value) < WIN and abs(found.value) > WIN - 100:
            deeper = deepen(TableAlphaBeta(plain, center), state, 6)
            if abs(deeper.value) >= WIN:
                assert (deeper.value > 0) == (found.value > 0)
                further += 1
    assert further >= 2


def test_a_position_that_came_up_before_is_a_draw():
    others = 0
    for state in positions(40, 5):
        if wins(state):
            continue
        best = SlidingAlphaBeta(RACE, center).search(state, 2)
        seen = {bare(state), bare(state.apply(best.move))}
        again = SlidingAlphaBeta(RACE, center, seen=seen).search(state, 2)
        if best.value > 0:
            assert 0 <= again.value <= best.value
        if again.value > 0:
            assert again.move != best.move
            others += 1
        everything = {bare(state.apply(move)) for move in state.legal_actions()}
        assert SlidingAlphaBeta(RACE, center, seen=everything).search(state, 2).value == 0
    assert others > 5


def played(white, black, start):
    """Return the last position of a game between two agents in this process."""
    agents = {
        player: build(Setup(parse_agent(name, "dynamic"), player, DYNAMIC, 20.0, seed=player))
        for player, name in ((1, white), (2, black))
    }
    state = start
    while not state.is_over():
        state = state.apply(agents[state.mover].choose(state, None))
    return state


def test_it_does_not_shuffle_to_the_draw_against_weak_opponents():
    for number, weak in enumerate(["random", "minimax:depth=1,heuristic=connected"] * 2):
        start = load_start(DYNAMIC, "start")
        names = ("alphabeta:depth=3", weak) if number < 2 else (weak, "alphabeta:depth=3")
        end = played(*names, start)
        assert end.ending() is Ending.LINE
        assert end.margin(1 if number < 2 else 2) > 0

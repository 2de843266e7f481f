"""What each move cost: checked against brute force on boards that are solved whole."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import connect4
from connect4 import record as records
from connect4.analysis.costs import Cost, analyse, cost_of
from connect4.analysis.experts import Expected
from connect4.errors import InputError
from connect4.games import GAMES, load_start
from connect4.games.base import Ending, State
from connect4.players.base import Outcome, Turn
from connect4.players.registry import PLAYERS
from connect4.record import Record
from connect4.referee import Result
from connect4.search.solver import LibrarySolver, Solver
from connect4.views.page import page
from tests.browser import Browser
from tests.command import environment, run
from tests.games import classic_record, played, recorded
from tests.positions import by_force

ENOUGH = 20.0
"""Seconds in which the boards below are solved many times over; solved ones do not use them."""


@pytest.fixture
def game() -> Record:
    start = GAMES["extended"].read("1\n0 0 0 0\n0 0 0 0\n", "start")
    return recorded(start, ["0", "3", "0P", "1", "0", "-", "2", "1P", "2", "3"])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_values_and_losses_are_those_of_perfect_play(game: Record, jobs: int) -> None:
    states = list(records.replay(game))
    found = judging(game, ENOUGH, jobs)
    assert len(found["turns"]) == len(game.turns)
    for turn, before, after, judged in zip(
        game.turns, states, states[1:], found["turns"], strict=False
    ):
        one, two = by_force(before), by_force(after)
        if turn.outcome is Outcome.PLAYED:
            assert judged["before"] == one
        assert judged["after"] == two
        gap = one - two if turn.player == 1 else two - one
        assert judged["loss"] == max(0, gap)
        if judged["loss"]:
            assert follow(before, judged["line"]) == one
        else:
            assert judged["line"] == []


def judging(record: Record, seconds: float, jobs: int = 1) -> dict[str, Any]:
    return analyse(record, seconds, jobs).to_json()


def follow(state: State, line: list[str]) -> int:
    """Return the value of the position at the end of a line."""
    for text in line:
        state = state.apply(GAMES["extended"].parse_action(text))
    return int(by_force(state))


def test_without_the_reference_agent_it_is_alpha_beta_that_judges(
    game: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(PLAYERS, "reference")
    found = judging(game, ENOUGH)
    assert found["agent"] == "alphabeta:heuristic=margin"
    states = list(records.replay(game))
    assert [turn["after"] for turn in found["turns"]] == [by_force(state) for state in states[1:]]


@pytest.mark.slow
def test_the_worst_three_of_each_side_are_named_worst_first(game: Record) -> None:
    found = judging(game, ENOUGH)
    losses = {turn.number: found["turns"][turn.number - 1]["loss"] for turn in game.turns}
    assert any(found["worst"])
    for player, numbers in zip((1, 2), found["worst"], strict=True):
        own = [losses[turn.number] for turn in game.turns if turn.player == player]
        assert [losses[number] for number in numbers] == sorted(filter(None, own), reverse=True)[:3]
        assert all(game.turns[number - 1].player == player for number in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classic", "classic-full", "dynamic", "popout"])
def test_every_game_can_be_judged(name: str) -> None:
    game = GAMES[name]
    start = load_start(game, "a") if name == "dynamic" else game.start(4, 4)
    record, _ = played("random", "random", start, game=name)
    found = judging(record, 0.1)
    assert any(judged["loss"] for judged in found["turns"])
    for before, judged in zip(records.replay(record), found["turns"], strict=False):
        assert bool(judged["line"]) == bool(judged["loss"] or judged["slower"])
        state = before
        for text in judged["line"]:
            state = state.apply(game.parse_action(text))
    page([record])


@pytest.mark.bitbully
def test_six_by_seven_is_judged_by_the_solver() -> None:
    whole = classic_record((3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 3, 3, 4, 4, 5))
    assert whole.ending is Ending.LEFT, "nobody has won"
    states = list(records.replay(whole))[-4:]
    turns = [replace(turn, number=number) for number, turn in enumerate(whole.turns[-3:], 1)]
    solver = Solver()
    found = judging(replace(whole, start=states[0], turns=turns), ENOUGH)
    assert found["agent"] == "solver"
    for before, after, judged in zip(states, states[1:], found["turns"], strict=False):
        assert judged["proven"]
        best, played = solver.score(before), -solver.score(after)
        assert judged["loss"] == 100 * max(0, outcome(best) - outcome(played))
        assert judged["slower"] == (0 if judged["loss"] else 2 * max(0, best - played))
        for position, key in ((before, "before"), (after, "after")):
            score = solver.score(position) * (1 if position.mover == 1 else -1)
            assert (judged[key] > 0) == (score > 0)
            assert (judged[key] < 0) == (score < 0)


def outcome(score: int) -> int:
    return (score > 0) - (score < 0)


@pytest.mark.bitbully
def test_with_the_library_each_move_of_a_game_is_judged_by_its_outcome_alone() -> None:
    """The best opening costs nothing, a worse one the win; in a lost position nothing costs."""
    record = classic_record((3, 1, 3, 3, 0, 6, 6))
    engine = LibrarySolver()
    scores = [engine.score(state) for state in records.replay(record)]
    found = judging(record, 1.0, 0)
    assert found["agent"] == "solver"
    assert [turn["proven"] for turn in found["turns"]] == [True] * 7
    assert [turn["loss"] for turn in found["turns"]] == [
        100 * (outcome(best) + outcome(after)) for best, after in pairwise(scores)
    ]
    assert found["turns"][0]["loss"] == found["turns"][1]["loss"] == 0
    assert {turn["loss"] for turn in found["turns"]} > {0}


LATE = replace(Turn(Outcome.TIMEOUT, number=1, player=1), detail="no answer within 20 s")


def lost_at_the_end(columns: tuple[int, ...]) -> Record:
    """Return a classic game that a late turn loses after these moves."""
    record = classic_record(columns)
    number, mover = len(columns) + 1, [*records.replay(record)][-1].mover
    record.turns.append(replace(LATE, number=number, player=mover))
    record.result = Result((0, 0), Ending.FORFEIT, 2 if mover == 1 else 1)
    return records.loads(records.dumps(record))


@pytest.mark.bitbully
def test_a_turn_after_which_the_solver_does_not_know_the_position_is_left_out_and_named(
    browser: Browser, tmp_path: Path
) -> None:
    """Player 2 has missed a turn and one token less, which no game of the library has."""
    record = lost_at_the_end((0, 3, 3))
    records.write(record, tmp_path / "game.json")
    done = run("connect4.analysis", "game.json", "--time", "0.5", "--jobs", "1", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    left_out = "Turn 4 was not analysed: solver does not know positions after a lost turn."
    assert left_out in done.stdout.splitlines()
    record = records.read(tmp_path / "game.json")
    *costs, last = record.extra["analysis"]["turns"]
    assert last is None
    assert [turn["proven"] for turn in costs] == [True] * 3
    costs = connect4.analyse(record, seconds=0.5).costs
    assert [cost is None for cost in costs] == [False, False, False, True]
    file = tmp_path / "game.html"
    file.write_text(page([record]), encoding="utf-8")
    browser.open(file)
    assert browser.find("#lead path.expected")
    browser.press("\ue010")  # the key End
    assert browser.text("#advice") == "This turn was not analysed."
    assert left_out in browser.text("#worst-source")
    browser.assert_quiet()


@pytest.mark.bitbully
def test_a_lost_turn_of_player_1_is_judged_by_who_moves_then() -> None:
    """Both have as many tokens, and player 2 is to move: as at the start of a game."""
    record = lost_at_the_end((3, 3))
    before, after = [*records.replay(record)][-2:]
    solver = LibrarySolver()
    found = judging(record, 1.0, 0)["turns"][-1]
    signs = outcome(solver.score(before)), -outcome(solver.score(after))
    assert (found["before"], found["after"]) == tuple(100 * sign for sign in signs)


def estimate(*values: float, first: int = 1) -> Expected:
    """Return an unproven value with those of the depths from `first` on."""
    return Expected(values[-1], ("a",), depths=tuple(enumerate(values, first)))


def test_estimates_that_swing_with_the_last_plys_side_are_compared_at_the_same_last_ply() -> None:
    """Each search that ends with a move of player 1 looks 20 better for it."""
    before = estimate(21, 1, 21, 1, 21, 1)
    for after in (estimate(1, 21, 1, 21, 1, 21), estimate(1, 21, 1, 21), estimate(1, 21, 1)):
        assert cost_of(1, before, after, 40).loss == 0
        assert cost_of(2, before, after, 40).loss == 0
    worse = estimate(-9, 11, -9, 11, -9, 11)
    assert cost_of(1, before, worse, 40)[:4] == (1, -9, 10, False)
    assert cost_of(2, before, worse, 40).loss == 0


def test_a_cost_within_the_scatter_of_the_last_depths_is_not_shown() -> None:
    before = estimate(10, 10, 10, 10, 10, 10)
    found = cost_of(1, before, estimate(6, 14, 3, 12, 6), 40)
    assert (found.loss, found.noise) == (0, 11)
    found = cost_of(1, before, estimate(-4, -2, -5, -3, -5), 40)
    assert (found.loss, found.noise) == (15, 3)


def test_a_loss_that_is_proven_after_a_bad_estimate_is_no_blunder() -> None:
    """Where one value is proven and the other not, the proven one counts as an estimate."""
    lost = Expected(-100, (), True, 9, ((1, -30), (2, -34), (3, -37), (4, -100)))
    assert cost_of(1, estimate(-31, -33, -36, -38, -38), lost, 40).loss < 5
    assert cost_of(1, estimate(10, 11, 10, 11, 10), lost, 40).loss > 40
    also_lost = Expected(-100, (), True, 20)
    assert cost_of(1, also_lost, lost, 40)[:6] == (-100, -100, 0, True, 0, 10)


def test_a_move_into_a_forced_loss_costs_although_the_estimates_scatter() -> None:
    """No side forces a win within 6 plies before the move; after it the opponent does in 5."""
    lost = Expected(-100, ("b",), True, 5)
    unclear = estimate(0, -35, 0, -35, 0, -35)
    assert cost_of(1, unclear, lost, 40)[:4] == (-35, -40, 5, False)
    assert cost_of(1, unclear, replace(lost, plies=6), 40).loss == 0
    assert cost_of(2, unclear, lost, 40).loss == 0


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Cost(0, 0, 200, True), "proven"),
        (Cost(0, 0, 12.5, False, 3), "estimated, noise 3"),
        (Cost(0, 0, 12.5, False, 30), "estimated; from here the loss is forced"),
    ],
)
def test_the_certainty_of_a_cost_is_told(found: Cost, text: str) -> None:
    assert found.certainty == text


@pytest.mark.parametrize(
    ("moves", "lost"), [("13S 76S 14E", [100, 0, 0]), ("44E 76S 13N", [0, 0, 100])]
)
def test_each_move_of_dynamic_before_the_draw_limit_is_judged_by_its_outcome(
    moves: str, lost: list[int]
) -> None:
    """White forces a win from `a` in 3 plies. All values are checked by brute force."""
    game = GAMES["dynamic"]
    record = recorded(load_start(game, "a").with_options(max_turns=3), moves.split())
    values = list(map(by_force, records.replay(record)))
    costs = [
        100 * (before - after) * (1 if turn.player == 1 else -1)
        for turn, (before, after) in zip(record.turns, pairwise(values), strict=True)
    ]
    found = judging(record, ENOUGH, 0)
    assert found["agent"] == "alphabeta:heuristic=race"
    assert [turn["loss"] for turn in found["turns"]] == costs == lost
    assert [turn["proven"] for turn in found["turns"]] == [True] * 3
    worst = lost.index(100)
    state = list(records.replay(record))[worst]
    for text in found["turns"][worst]["line"]:
        state = state.apply(text)
    assert state.scores() == (1, 0), "the better line ends in white's win"


def written(game: Record, folder: Path) -> Path:
    path = folder / "game.json"
    records.write(game, path)
    return path


@pytest.mark.slow
def test_the_command_adds_the_analysis_and_keeps_the_rest(game: Record, tmp_path: Path) -> None:
    path = written(game, tmp_path)
    before = json.loads(path.read_text(encoding="utf-8"))
    done = run("connect4.analysis", "game.json", "--time", "20", "--jobs", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = json.loads(path.read_text(encoding="utf-8"))
    found = after.pop("analysis")
    assert after == before
    assert found["seconds"] == 20
    assert "positions: 11 of 11" in done.stderr
    for number in found["worst"][0] + found["worst"][1]:
        judged = found["turns"][number - 1]
        line = next(line for line in done.stdout.splitlines() if f"turn {number}," in line)
        assert line.endswith(" (proven)")
        assert f"cost {judged['loss']:g}; better {judged['line'][0]}" in line
    again = run("connect4.analysis", "game.json", "--time", "20", "-o", "b.json", cwd=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "b.json").read_bytes() == path.read_bytes()


def test_ctrl_c_stops_at_once_and_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    start = GAMES["extended"].start(None, None)
    path = written(recorded(start, ["0", "1", "2"]), tmp_path)
    before = path.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-m", "connect4.analysis", "game.json", "--time", "60", "--jobs", "1"],
        cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.read(1), "its progress shows that it has begun"
    process.send_signal(signal.SIGINT)
    assert "stopped; the record is as it was" in process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert path.read_bytes() == before


def damaged(**changes: Any) -> dict[str, Any]:
    usual = {"before": 1.0, "after": 1.0, "loss": 0.0, "line": [], "proven": True, "slower": 0}
    turn = {**usual, **changes.pop("turn", {})}
    return {
        "agent": "x", "seconds": 1, "unit": "points", "turns": [turn], "worst": [[], []], **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    "analysis",
    [
        "text",
        damaged(turns=[]),
        damaged(turn={"loss": float("nan")}),
        damaged(turn={"line": "3"}),
        damaged(worst=[[9], []]),
        damaged(seconds=None),
        {},
    ],
)
def test_an_analysis_that_cannot_be_drawn_is_refused(analysis: Any) -> None:
    game = recorded(GAMES["extended"].read("0\n0 0\n", "start"), ["0"])
    game.extra["analysis"] = analysis
    with pytest.raises(InputError, match="the record's analysis cannot be read"):
        page([game])

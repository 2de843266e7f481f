"""What agents say that they thought: what is kept and shown, and that no turn is lost by it."""

import json
import os
import re
from pathlib import Path

import pytest

import connect4
from connect4.analysis.costs import thoughts
from connect4.errors import InputError
from connect4.players.base import Turn
from connect4.players.thoughts import MOST_TEXT, checked, plain
from connect4.record import Record, dumps, loads
from connect4.views.page import page
from connect4.views.words import belief_text
from grader.play.one_game import as_seen_by
from tests.browser import Browser
from tests.command import run

FILE = """
import os, sys, time
import numpy as np
from connect4.utils import get_valid_actions

class Hostile(dict):
    __class__ = property(lambda self: 1 / 0)
    def __repr__(self): raise SystemExit
    __iter__ = items = keys = __len__ = __bool__ = __eq__ = __repr__

class Number(float):
    __repr__ = __float__ = __abs__ = __lt__ = lambda *arguments: sys.exit(1)

nested = []
nested.append(nested)
WRONG = [{wrong}]

class AIPlayer:
    turn = -1

    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        moves = get_valid_actions(self.player_number, state)
        self.turn += 1
        {body}
        return moves[-1]

    get_expectimax_move = get_intelligent_move
"""

GOOD = """assert self.thought is None, "an old thought is still there"
        values = {move: np.float64(move[0]) for move in moves}
        self.thought = {"value": 12.3456789, "depth": 4, "nodes": 1830, "note": "a note",
            "values": values, "line": [moves[-1], (0, True)]}"""

SENT_FIRST = """for end in range(3, 30):
            try: os.write(end, b'{"thought": [["depth", 1]]}\\n')
            except OSError: pass"""

FLOOD = """while self.turn == 5:
            for end in range(3, 30):
                try: os.write(end, b'{"thought"\\n' * 1_000_000)
                except OSError: pass"""

WRONG = {
    "5": "it is a dict",
    "nested": "it is a dict",
    "Hostile(value=1)": "it is a dict",
    "{7: 1}": "it is a dict",
    "{'eval': 1}": "'eval' is not one of value, depth",
    "{'value': float('nan')}": "'value' is a finite number",
    "{'value': Number(3)}": "'value' is a finite number",
    "{'value': 10 ** 10_000}": "'value' is a finite number",
    "{'depth': 2.5}": "'depth' is a whole number",
    "{'values': {(99_999, False): 1.0}}": "'values' maps actions to finite numbers",
    "{'values': {Hostile: 1.0}}": "'values' maps actions to finite numbers",
    "{'values': {(column, False): 1.0 for column in range(100_000)}}": "'values' maps actions",
    "{'line': nested}": "'line' is a list of actions",
    "{'line': [(3, False)] * 41}": "'line' is a list of actions",
    "{'note': 'x' * 1_000_000}": "'note' is a text",
}


def game(
    folder: Path,
    body: str,
    level: str = "process",
    board: str = "case4",
    wrong: str = "",
    seconds: float = 5,
) -> Record:
    path = folder / "thinks.py"
    path.write_text(FILE.replace("{wrong}", wrong).replace("{body}", body), encoding="utf-8")
    return connect4.play(f"ai:{path}", "random", board, seconds=seconds, seed=1, isolation=level)


def own(record: Record) -> list[Turn]:
    return [turn for turn in record.turns if turn.player == 1]


@pytest.mark.parametrize("level", ["none", "process"])
def test_a_thought_is_kept_with_its_turn(tmp_path: Path, level: str) -> None:
    record = game(tmp_path, GOOD, level)
    assert not record.faults
    turn = next(turn for turn in own(record) if turn.thought)  # a busy machine may drop one
    values = {text: float(text.strip("P")) for text in turn.thought["values"]}
    assert turn.thought == {
        "value": 12.3457,
        "depth": 4,
        "nodes": 1830,
        "values": values,
        "line": [turn.text, "0P"],
        "note": "a note",
    }
    assert turn.text in values
    again = loads(dumps(record))
    assert [turn.thought for turn in again.turns] == [turn.thought for turn in record.turns]
    assert '"depth":4' in page([record])


@pytest.mark.parametrize("level", ["none", "process"])
def test_a_wrong_thought_is_a_note_and_costs_no_turn(tmp_path: Path, level: str) -> None:
    body = "self.thought = WRONG[self.turn % len(WRONG)]"
    record = game(tmp_path, body, level, "mid8x10", ", ".join(WRONG))
    assert not record.faults
    told = list(WRONG.values())
    notes = [(told[place % len(told)], turn) for place, turn in enumerate(own(record))]
    found = [(expected, turn) for expected, turn in notes if turn.detail]
    assert len(found) > len(notes) / 2
    for expected, turn in found:
        assert turn.detail.startswith(f"thought: {expected}")
        assert turn.thought is None
    loads(dumps(record))
    assert "maps actions to finite numbers" in page([record])


@pytest.mark.parametrize(
    "body",
    [
        "self.thought = {'note': 'x' * 100} if self.turn % 2 else None",
        "type(self).thought = property(lambda self: time.sleep(0.02) or {'note': ''})",
        "type(self).thought = property(lambda self: 1 / 0)",
        "self.__dict__['thought'] = lambda: 1",
        SENT_FIRST,
    ],
)
def test_no_turn_is_lost_by_a_strange_thought(tmp_path: Path, body: str) -> None:
    """Late, of a hostile property, a method of that name, or sent before the answer."""
    record = game(tmp_path, body)
    assert not record.faults
    assert all((turn.thought or {}).keys() <= {"note", "depth"} for turn in record.turns)


def test_a_late_or_failed_turn_has_no_thought(tmp_path: Path) -> None:
    late = (
        "self.thought = {'depth': 1}; time.sleep(0.4 if self.turn else 0); moves.append((9, 9, 9))"
    )
    path = tmp_path / "late.py"
    path.write_text(FILE.replace("{wrong}", "").replace("{body}", late), encoding="utf-8")
    record = connect4.play(f"ai:{path}", "random", "case4", seconds=0.3, isolation="process")
    assert {turn.outcome.value for turn in own(record)} >= {"invalid", "timeout"}
    assert not any(turn.thought for turn in record.turns)


def test_what_a_property_does_is_in_the_agents_own_time(tmp_path: Path) -> None:
    record = game(
        tmp_path, "type(self).thought = property(lambda self: time.sleep(9))", seconds=0.3
    )
    assert {turn.outcome.value for turn in own(record)} == {"timeout"}


def test_thoughts_without_end_are_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "floods.py"
    path.write_text(FILE.replace("{wrong}", "").replace("{body}", FLOOD), encoding="utf-8")
    board = connect4.start("extended", rows=4, columns=4)
    record = connect4.play(f"ai:{path}", "random", board, seconds=1, isolation="process")
    lost = [turn for turn in own(record) if turn.is_lost]
    assert {turn.outcome.value for turn in lost} == {"timeout"}
    assert not any("it came" in turn.detail for turn in lost)


def test_a_student_gets_the_thoughts_of_the_own_seat_alone(tmp_path: Path) -> None:
    record = connect4.play("greedy", "alphabeta:depth=1", "case4", seconds=5, seed=1)
    assert all(turn.thought for turn in record.turns)
    for seen in ([1], [2], []):
        found = {turn.player for turn in as_seen_by(record, seen).turns if turn.thought}
        assert sorted(found) == seen
    assert '"nodes":' in page([record])
    assert '"nodes":' not in page([as_seen_by(record, ())])


def test_a_note_that_grows_by_escapes_can_be_read_again() -> None:
    game = connect4.load("case1").game
    thought, wrong = checked(plain({"note": "\x1b" * MOST_TEXT}), game)
    assert wrong is None
    assert checked(plain(thought), game) == (thought, None)


@pytest.mark.parametrize("thought", [5, {"depth": -1}, {"values": {"x": 1}}, {"line": 3}])
def test_a_record_with_another_form_of_thought_is_refused(thought: object) -> None:
    record = connect4.play("greedy", "random", "case4", seconds=5, seed=1)
    document = record.to_json()
    document["turns"][0]["thought"] = thought
    with pytest.raises(InputError, match="turn 1: thought: "):
        loads(json.dumps(document))


def test_analysis_and_terminal_quote_a_thought(tmp_path: Path) -> None:
    record = connect4.play("greedy", "alphabeta:depth=2", "case4", seconds=5, seed=1)
    lines = list(thoughts(record, connect4.analyse(record, seconds=0.01)))
    assert len(lines) == len(record.turns)
    assert re.match(r"turn 2, player 2, \dP?: depth 2, \d+ nodes, value .* \(analysis: ", lines[1])
    turn = record.turns[0]
    other = next(text for text in turn.thought["values"] if text != turn.text)
    said = belief_text(turn, 7, other, 31)
    assert f"valued {turn.text} at " in said
    assert f"(depth 1) and had {other} at " in said
    assert said.endswith(f"; the analysis has {turn.text} at +7 and {other} at +31")
    words = ["greedy", "random", "case4", "--view", "terminal", "--seed", "1"]
    for more in ([], ["--verbose"]):
        done = run("connect4.ConnectFour", *words, *more, cwd=tmp_path, status=0)
        assert ("; depth 1, " in done.stdout) == bool(more)


@pytest.mark.browser
def test_the_page_shows_what_was_believed_and_where_it_parts(
    browser: Browser, tmp_path: Path
) -> None:
    record = connect4.play("greedy", "alphabeta:depth=2", "case1", seconds=5, seed=1)
    analysis = connect4.analyse(record, seconds=0.02)
    number = analysis.worst[0][0]
    turn, better = record.turns[number - 1], analysis.costs[number - 1].line[0]
    file = tmp_path / "game.html"
    file.write_text(page([record]), encoding="utf-8")
    browser.open(file, f"#1.{number}")
    shown = [chip.get_attribute("class") for chip in browser.find_all(".chips g")]
    assert sorted(kind.split()[0] for kind in shown) == sorted(
        "pop-out" if text.endswith("P") else "drop" for text in turn.thought["values"]
    )
    assert sum("chosen" in kind for kind in shown) == 1
    assert "search: depth 1, " in browser.text(".thought")
    assert f"valued {turn.text} at " in browser.text(".parted")
    assert f"the analysis has {turn.text} at " in browser.text(".parted")
    assert f" and {better} at " in browser.text(".parted").partition(";")[2]
    assert {"belief1", "belief2"} <= {
        line.get_attribute("class") for line in browser.find_all("#lead path")
    }
    chips = browser.find(".chips").rect
    browser.open(file, "#1.0")
    assert not browser.find(".thought").is_displayed()
    assert not browser.find(".chips").is_displayed()
    assert browser.find(".chips").rect == chips, "what is below stays where it is"
    browser.assert_quiet()


@pytest.mark.browser
def test_what_plays_a_game_again_is_in_the_window_beside_thoughts_and_costs(
    browser: Browser, tmp_path: Path
) -> None:
    record = connect4.play("greedy", "alphabeta:depth=2", "mid8x10", seconds=5, seed=1)
    analysis = connect4.analyse(record, seconds=0.01)
    file = tmp_path / "game.html"
    file.write_text(page([record]), encoding="utf-8")
    browser.open(file, f"#1.{analysis.worst[0][0]}", (1440, 900))
    box = browser.find(".controls").rect
    assert box["y"] + box["height"] <= 900


def test_an_agent_of_the_kit_and_a_file_say_what_think_returns(tmp_path: Path) -> None:
    path = tmp_path / "thinks.py"
    path.write_text(FILE.replace("{wrong}", "").replace("{body}", GOOD), encoding="utf-8")
    thought = connect4.think(f"ai:{path}", "case1")
    if thought.depth is not None:  # a busy machine may drop it
        assert (thought.depth, thought.nodes, thought.line[0]) == (4, 1830, thought.action)
        assert thought.values[thought.action] == thought.action[0]
    found = (connect4.think("ai", "case1", seconds=0.5) for _ in range(5))
    assert any(thought.depth for thought in found), "a busy machine may drop one"
    for game_name, agent in (("dynamic", "mcts:iterations=50"), ("classic", "solver")):
        record = connect4.play(agent, "random", connect4.start(game_name), seconds=2, seed=1)
        said = [turn.thought for turn in own(record) if turn.thought]  # a late turn has none
        assert said
        assert all(thought["value"] is not None for thought in said)
        assert not any(turn.detail for turn in own(record) if turn.detail != os.devnull)

"""Records: what is written is read back, repeats to the byte, and is refused where it lies."""

import json
import os
from dataclasses import replace

import pytest

from connect4.errors import InputError
from connect4.games.base import Ending
from connect4.players.base import Outcome
from connect4.record import RecordedPlayer, dumps, loads, read, replay, write
from connect4.referee import Result
from tests.games import agent_file, played, without_times

FOUR_TURNS = """{
  "format": "connect4-record/1",
  "game": "extended",
  "rules_version": 1,
  "points": [0, 0, 2, 5, 20],
  "start": {"popouts": 1, "board": [[0, 0], [0, 0]]},
  "time_limit": 2.0,
  "seed": 7,
  "isolation": "none",
  "lifetime": "game",
  "agent_versions": {"python": "3.11.7", "numpy": "2.4.6"},
  "players": [
    {"agent": "ai", "asked": "expectimax", "sha256": "00ff"},
    {"agent": "random", "asked": null, "sha256": null}
  ],
  "turns": [
    {"player": 1, "action": "0", "outcome": "played", "seconds": 0.412, "cpu_seconds": 0.401, "overrun": 0.0, "starved": false, "detail": null},
    {"player": 2, "action": null, "outcome": "timeout", "seconds": 2.031, "cpu_seconds": 2.0, "overrun": 0.031, "starved": true, "detail": "no answer within 2 s"},
    {"player": 1, "action": "0P", "outcome": "played", "seconds": 0.0, "cpu_seconds": 0.0, "overrun": 0.0, "starved": false, "detail": null},
    {"player": 2, "action": "9", "outcome": "invalid", "seconds": 0.0, "cpu_seconds": 0.0, "overrun": 0.0, "starved": false, "detail": "column 9 is outside 0..1"}
  ],
  "result": {"scores": [0, 0], "ending": "left", "winner": 0}
}
"""  # noqa: E501 - the document as it stands in a file

FINISHED = {
    "format": "connect4-record/1",
    "game": "extended",
    "rules_version": 1,
    "start": {"popouts": 0, "board": [[0, 0], [1, 2]]},
    "time_limit": 20,
    "seed": 0,
    "players": [{"agent": "ai"}, {"agent": "random"}],
    "turns": [
        {"player": 1, "action": "0", "outcome": "played"},
        {"player": 2, "action": "1", "outcome": "played"},
    ],
    "result": {"scores": [2, 2], "ending": "no_action", "winner": 0},
}
"""The least that is a record: two players with a column each."""


def changed(*path_and_value):
    """Return `FINISHED` as text with the value at that path replaced, or taken out if `...`."""
    *path, last, value = path_and_value
    document = json.loads(json.dumps(FINISHED))
    place = document
    for step in path:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document)


def nested(depth):
    """Return a list in a list, and so on."""
    inner = []
    for _ in range(depth):
        inner = [inner]
    return inner


def skipped(count, outcome="invalid"):
    return [
        {"player": 1 + number % 2, "action": None, "outcome": outcome} for number in range(count)
    ]


# Written and read


def test_a_record_is_written_as_it_was_read():
    record = loads(FOUR_TURNS)
    assert dumps(record) == FOUR_TURNS
    assert record.turns[1].outcome is Outcome.TIMEOUT
    assert record.turns[1].starved
    assert record.turns[2].action == (0, True)
    assert record.turns[3].action is None
    assert record.players[0] == RecordedPlayer("ai", "expectimax", "00ff")
    assert record.result.ending is Ending.LEFT


def test_the_least_that_is_a_record():
    record = loads(json.dumps(FINISHED))
    assert (record.isolation, record.lifetime, record.versions) == ("none", "game", {})
    assert record.turns[0].seconds == 0.0


def test_a_played_game_is_written_read_and_replayed(tmp_path):
    record, state = played("ai:nodes=100", "random", "case4", seed=5)
    path = tmp_path / "game.json"
    write(record, path)
    again = read(path)
    assert dumps(again) == path.read_text(encoding="utf-8")
    positions = list(replay(again))
    assert len(positions) == len(record.turns) + 1
    assert positions[0].key() == record.start.key()
    assert positions[-1].key() == state.key()
    assert positions[-1].scores() == again.result.scores
    assert json.loads(path.read_text(encoding="utf-8"))["players"][0]["asked"] == "expectimax"


@pytest.mark.slow
def test_equal_seeds_give_the_same_bytes_but_for_the_times(tmp_path):
    move = """
    import random
    self.turns = getattr(self, "turns", 0) + 1
    if self.turns % 5 == 0:
        return [1, False]
    if self.turns % 7 == 0:
        raise ValueError("the seventh turn")
    return (random.randrange(8), np.random.random() < 0.2)
    """
    agent = agent_file(tmp_path, move)
    records = [played(agent, "random", "case1", seed=seed)[0] for seed in (3, 3, 4)]
    one, two, three = (without_times(dumps(record)) for record in records)
    assert one == two
    assert one != three
    assert {turn.outcome for turn in records[0].turns} == {
        Outcome.PLAYED,
        Outcome.INVALID,
        Outcome.ERROR,
    }


def test_the_record_of_a_game_that_never_began_says_why():
    failure = "SyntaxError: invalid syntax"
    record = loads(finished_with([], ending="not_loaded", winner=2, detail=failure))
    assert record.result == Result((0, 0), Ending.NOT_LOADED, 2, failure)
    assert json.loads(dumps(record))["result"]["detail"] == failure
    assert '"detail"' not in dumps(loads(finished_with([], ending="left"))), "only where needed"


def test_unknown_fields_are_kept_at_the_top_and_ignored_below():
    document = json.loads(json.dumps(FINISHED))
    document["mood"] = {"good": [1, 2]}
    document["turns"][0]["nodes"] = 5
    document["players"][1]["name"] = "R"
    document["start"]["comment"] = "quiet"
    record = loads(json.dumps(document))
    assert record.extra == {"mood": {"good": [1, 2]}}
    assert json.loads(dumps(record))["mood"] == {"good": [1, 2]}


@pytest.mark.parametrize(
    "detail", ["größer als 0 ✓ 🎲", 'a "quote"\n\ttab \\ \x00 \x1b[31m', "\udc80"]
)
def test_any_text_survives(tmp_path, detail):
    record = loads(FOUR_TURNS)
    record.turns[3] = replace(record.turns[3], detail=detail)
    path = tmp_path / "größe ✓.json"
    write(record, path)
    assert read(path).turns[3].detail == detail
    path.read_bytes().decode("utf-8")


# Where it is written


def test_a_record_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "game.json"
    write(loads(FOUR_TURNS), path)
    broken = loads(FOUR_TURNS)
    broken.extra["set"] = {1, 2}
    with pytest.raises(TypeError):
        write(broken, path)
    assert path.read_text(encoding="utf-8") == FOUR_TURNS
    assert os.listdir(tmp_path) == ["game.json"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    record = loads(FOUR_TURNS)
    folder = tmp_path / "folder"
    folder.mkdir()
    for path, cause in [
        (tmp_path / "no" / "game.json", "No such file or directory"),
        (folder, "Is a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        with pytest.raises(InputError) as refusal:
            write(record, path)
        assert str(refusal.value) == f"{path}: the record cannot be written: {cause}"
    assert os.listdir(tmp_path) == ["folder"]


# Refused


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "the record cannot be read: No such file or directory"),
        (b"\xff\xfe", "not a record (byte 0 is no text)"),
        (b"", "not a record: no JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"{", "not a record: no JSON"),
        (b"[" * 100_000, "not a record: no JSON"),
        (b"9" * 5000, "not a record: no JSON"),
        (b" " * 50_000_001, "longer than 50000000 characters; that is no record"),
        (b"[]", "not a record of a game: format None, expected 'connect4-record/1'"),
        (b'{"format": "connect4-record/2"}', "format 'connect4-record/2', expected"),
        (b'{"format": "connect4-record/1"}', "not a whole record: KeyError: 'game'"),
    ],
)
def test_what_is_no_record_is_refused_with_its_file(tmp_path, data, message):
    path = tmp_path / "game.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as refusal:
        read(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("game", "extendet"), "no game 'extendet' (did you mean 'extended'?)"),
        (("rules_version", True), "rules version True of extended, expected 1"),
        (("start", {}), "start: not a position of ExtendedConnect4 (KeyError('popouts'))"),
        (("start", "mover", 2), "turn 1: player 1, 0 (played) is against the rules there"),
        (("start", "board", [[0] * 5000] * 4), "start: a board of 20000 cells; expected at most"),
        (("players", []), "not a whole record: ValueError"),
        (("players", 0, "agent", ...), "not a whole record: KeyError: 'agent'"),
        (("players", [{}] * 3), "players has 3 items; expected at most 2"),
        (("turns", []), "turn 0: no game ends there with no_action"),
        (("turns", [0] * 100_001), "turns has 100001 items; expected at most 100000"),
        (("turns", 1, 5), "turn 2: "),
        (("turns", 1, "player", ...), "turn 2: no 'player'"),
        (("turns", 1, "player", 3), "turn 2: player is 3; expected a whole number from 1 to 2"),
        (("turns", 1, "player", 1), "turn 2: player 1, 1 (played) is against the rules there"),
        (("turns", 1, "action", None), "turn 2: action is None; expected a text"),
        (("turns", 1, "action", "1Q"), "turn 2: '1Q' is not a move: type 3 to drop"),
        (("turns", 1, "action", "0"), "turn 2: player 2, 0 (played) is against the rules there: c"),
        (("turns", 1, "outcome", "flew"), "turn 2: 'flew' is not a valid Outcome"),
        (("turns", 1, "outcome", "pass"), "turn 2: player 2, 1 (pass) is against the rules there"),
        (("turns", 1, "outcome", "invalid"), "turn 2: no game ends there with no_action"),
        (("turns", 0, "seconds", float("nan")), "turn 1: seconds is nan; expected a number from 0"),
        (("turns", 0, "cpu_seconds", -0.5), "turn 1: cpu_seconds is -0.5; expected a number from"),
        (("turns", 0, "fuel", 1e300), "turn 1: fuel is 1e+300; expected a whole number from 0"),
        (("turns", 0, "starved", "no"), "turn 1: starved is 'no'; expected true or false"),
        (("turns", 0, "thought", nested(60)), "turn 1: thought: it is a dict with the keys value,"),
        (("result", "scores", [2, 5]), "(2, 2), no_action, winner 0; the record has (2, 5), no_"),
        (("result", "scores", [2.5, 2]), "a score is 2.5; expected a whole number from 0 to 1e+09"),
        (("result", "winner", 1), "winner 0; the record has (2, 2), no_action, winner 1"),
        (("result", "ending", "tired"), "'tired' is not a valid Ending"),
        (("result", "ending", "left"), "winner 0; the record has (2, 2), left, winner 0"),
        (("result", "ending", "not_loaded"), "winner 0; the record has (2, 2), not_loaded, winner"),
        (("result", ...), "not a whole record: KeyError: 'result'"),
        (("time_limit", 1e308), "time_limit is 1e+308; expected a number from 0 to 1e+06"),
        (("seed", 10**100), "expected a whole number from -1e+80 to 1e+80"),
        (("seed", nested(900)), "...]]]]]]]; expected a whole number from"),
        (("agent_versions", {"numpy": 2}), "numpy is 2; expected a text"),
        (("mood", nested(60)), "'mood' is nested more than 50 deep"),
    ],
)
def test_a_record_that_does_not_replay_is_refused_with_the_turn(change, message):
    with pytest.raises(InputError) as refusal:
        loads(changed(*change))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def finished_with(turns, **result):
    document = {**FINISHED, "turns": turns}
    document["result"] = {"scores": [0, 0], "ending": "stalled", "winner": 0, **result}
    return json.dumps(document)


def test_a_turn_after_the_end_is_refused():
    turns = [*FINISHED["turns"], {"player": 1, "action": None, "outcome": "timeout"}]
    with pytest.raises(InputError, match=r"turn 3: player 1, None \(timeout\) is against"):
        loads(changed("turns", turns))


def test_stalled_takes_exactly_six_skipped_turns_in_a_row():
    assert loads(finished_with(skipped(6))).result.ending is Ending.STALLED
    for turns, winner, message in (
        (5, 0, "turn 5: no game ends there with stalled"),
        (7, 0, "turn 7: player 1, None (invalid) is against the rules there"),
        (6, 2, "stalled, winner 0; the record has (0, 0), stalled, winner 2"),
    ):
        with pytest.raises(InputError) as refusal:
            loads(finished_with(skipped(turns), winner=winner))
        assert message in str(refusal.value)

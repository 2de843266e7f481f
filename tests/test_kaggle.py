"""Agents for Kaggle's ConnectX, as their authors write them."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import connect4
from connect4.errors import InputError, headline
from connect4.games.base import Ending
from connect4.games.classic import CLASSIC
from connect4.isolation import protocol, sandbox
from connect4.isolation.seat import Level, choose_level, open_seat
from connect4.players.base import Outcome, Setup
from connect4.players.registry import parse_agent
from connect4.record import Record
from tests.command import run

LEVELS: list[Level] = ["process", "strong"] if choose_level("auto")[0] == "strong" else ["process"]

FIRST = "    return [c for c in range(config.columns) if obs.board[c] == 0][0]\n"


def may_mount() -> bool:
    """Return whether this user may mount a folder for a process of its own."""
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def details(source: str, folder: Path, level: Level, turns: int = 1) -> list[str | None]:
    """Return why such a file failed in each of its turns; it is loaded anew for each."""
    (folder / "agent.py").write_text(source, encoding="utf-8")
    name = parse_agent(f"kaggle:{folder / 'agent.py'}", "classic")
    seat = open_seat(Setup(name, 1, CLASSIC, 10.0, 1), level, lifetime="move")
    found = [seat.ask(CLASSIC.start(None, None), 10.0).detail for _ in range(turns)]
    seat.close()
    return found


TEMPORARY = """
import os, tempfile
folder = tempfile.mkdtemp()
assert os.listdir(tempfile.gettempdir()) == [os.path.basename(folder)]
def refused(place, mebibytes=1):
    try:
        with open(place, "wb") as file:
            file.write(bytes(mebibytes << 20))
    except OSError:
        return True
with tempfile.TemporaryDirectory() as other:
    assert not refused(other + "/a", 9)
    os.rename(other + "/a", other + "/b")
assert not refused(folder + "/a", 5) and refused(folder + "/b", 6)
assert refused(BESIDE) and refused(SHARED) and refused("/root/here")
def agent(obs, config):
"""


@pytest.mark.skipif(not (sandbox.landlock_abi() and may_mount()), reason="needs Landlock, mounts")
@pytest.mark.parametrize("level", LEVELS)
def test_each_process_has_a_temporary_folder_of_its_own_and_writes_nowhere_else(
    level: Level, tmp_path: Path
) -> None:
    before = os.listdir(sandbox.TEMPORARY)
    places = f"BESIDE, SHARED = {str(tmp_path / 'beside')!r}, '/tmp/shared-by-all'\n"
    assert details(places + TEMPORARY + FIRST, tmp_path, level, turns=2) == [None, None]
    assert os.listdir(sandbox.TEMPORARY) == before


KAGGLE = """
from kaggle_helper import lowest
def lowest_column(observation, configuration):
    assert observation.board == observation["board"] and configuration["inarow"] == 4
    assert configuration.timeout == 5 and hasattr(observation, "absent") is False
    assert observation.mark == 1 + observation.step % 2
    return lowest(observation.board[:configuration.columns])
"""


@pytest.mark.parametrize("level", ["none", *LEVELS])
def test_an_agent_for_kaggle_plays_from_any_folder(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "agent.py").write_text(KAGGLE, encoding="utf-8")
    helper = "import numpy\ndef lowest(top): return numpy.int64(top.index(0))\n"
    (tmp_path / "kaggle_helper.py").write_text(helper, encoding="utf-8")
    name = f"kaggle:{tmp_path / 'agent.py'}"
    record = connect4.play(name, "random", game="classic", isolation=level, seconds=5, seed=1)
    assert record.faults == ()
    assert all(turn.action == 0 for turn in record.turns[:5:2])


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("def agent(observation):\n    return 9", "column 9 is outside 0..6"),
        ("def agent(observation, configuration): pass", "None is no column; expected an integer"),
        ("def agent(observation, configuration):\n    return 1 / 0", 'agent.py", line 2, in agent'),
        ("columns = 7", "agent.py has no function; expected f(observation, configuration)"),
        ("import nowhere_at_all", 'agent.py", line 1, in <module>'),
    ],
)
def test_what_is_wrong_with_an_agent_for_kaggle_names_its_line(
    source: str, detail: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(source, encoding="utf-8")
    name = f"kaggle:{tmp_path / 'agent.py'}"
    record = connect4.play(name, "random", game="classic", isolation="none", seconds=5)
    assert record.result is not None
    assert detail in ((record.faults[0] if record.faults else record.result).detail or "")


TRAITS = {
    "configuration": """
def agent(obs, config):
    assert (config.episodeSteps, config["agentTimeout"], config.runTimeout) == (1000, 60, 1200)
    assert config.actTimeout == config.timeout == 10 and obs.remainingOverageTime == 60
    assert config["__raw_path__"].endswith("/agent.py")
""",
    "annotations": """
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Node:
    children: list[Node] | None = None
def agent(obs, config):
    assert Node().children is None
""",
    "copies": """
import copy, pickle
def agent(obs, config):
    own, config = copy.deepcopy(obs), pickle.loads(pickle.dumps(config))
    own.board[0] = 2
    assert copy.copy(config).columns == 7 and own["board"] is own.board and obs.board[0] == 0
""",
    "a search as an object": """
class Search:
    def __call__(self, obs, config):
        return obs.board[:config.columns].index(0)
def agent(obs, config): pass
agent = Search()
""",
}


@pytest.mark.parametrize("level", ["none", *LEVELS])
@pytest.mark.parametrize("trait", TRAITS)
def test_what_agents_for_kaggle_rely_on(trait: str, level: Level, tmp_path: Path) -> None:
    plays = "" if "object" in trait else FIRST
    assert details(TRAITS[trait] + plays, tmp_path, level) == [None]


@pytest.mark.parametrize(
    ("last", "fault"),
    [
        ("class TooLate(Exception): pass", "is no column; expected an integer; {} class TooLate"),
        ("from random import choice", "\nnote: {} choice of the module random"),
        ("def helper(board): return board[0]", "\nnote: {} helper"),
    ],
)
def test_a_fault_names_the_callable_that_was_called(last: str, fault: str, tmp_path: Path) -> None:
    (detail,) = details(f"def agent(obs, config):\n{FIRST}{last}", tmp_path, "process")
    named = fault.format("the last callable of the file is the agent:")
    assert detail is not None
    assert detail.endswith(named)
    assert headline(detail).endswith(named.strip())


@pytest.mark.parametrize("level", LEVELS)
def test_a_file_beside_the_agent_cannot_be_opened_and_that_is_said(
    level: Level, tmp_path: Path
) -> None:
    weights = tmp_path / "weights.npy"
    weights.write_bytes(bytes(10))
    opening = f"open({str(weights)!r})"
    for source in (opening, f"def agent(obs, config):\n    {opening}"):
        (detail,) = details(source, tmp_path, level)
        assert detail is not None
        assert detail.splitlines()[-1] == protocol.DENIED


def test_a_notebook_is_told_what_to_do_and_a_record_has_the_files_hash(tmp_path: Path) -> None:
    (tmp_path / "agent.ipynb").write_text('{"cells": [], "nbformat": 4}', encoding="utf-8")
    with pytest.raises(InputError, match="is a Jupyter notebook; save its code"):
        parse_agent(f"kaggle:{tmp_path / 'agent.ipynb'}", "classic")
    path = tmp_path / "agent.py"
    path.write_text(f"def agent(obs, config):\n{FIRST}", encoding="utf-8")
    record = connect4.play(f"kaggle:{path}", "random", game="classic", isolation="none")
    assert record.players[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_loading_has_a_limit_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text("while True: pass", encoding="utf-8")
    arguments = ["kaggle:slow.py", "random", "--game", "classic", "--startup", "0.3"]
    done = run("connect4.ConnectFour", *arguments, cwd=tmp_path, status=1)
    assert "slow.py was not loaded within 0.3 s" in done.stdout


def episode(moves: str, last: str = "DONE", **configuration: object) -> dict[str, object]:
    """Return an episode of these columns, counted from 0; the last turn has the status `last`."""
    waiting = {"action": 0, "status": "INACTIVE"}
    steps = [[{"action": 0, "status": "ACTIVE"}, waiting]]
    for number, move in enumerate(moves):
        ended = number == len(moves) - 1 and last != "ACTIVE"
        acted = {"action": int(move), "status": last if ended else "INACTIVE"}
        next_one = {"action": 0, "status": "DONE" if ended else "ACTIVE"}
        steps.append([next_one, acted] if number % 2 else [acted, next_one])
    given = {"rows": 6, "columns": 7, "inarow": 4, "actTimeout": 2, **configuration}
    info = {"TeamNames": ["Ada", "Bo"]}
    return {"name": "connectx", "configuration": given, "steps": steps, "info": info}


def loaded(document: dict[str, object], folder: Path) -> Record:
    path = folder / "episode.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return connect4.Record.load(path)


def test_an_episode_is_read_as_a_record_of_classic(tmp_path: Path) -> None:
    record = loaded(episode("3041526"), tmp_path)
    assert [turn.action for turn in record.turns] == [3, 0, 4, 1, 5, 2, 6]
    assert (record.winner, record.ending, record.time_limit) == (1, Ending.LINE, 2)
    assert [player.agent for player in record.players] == ["Ada (at Kaggle)", "Bo (at Kaggle)"]
    record.save(tmp_path / "game.json")
    assert repr(connect4.Record.load(tmp_path / "game.json")) == repr(record)
    run("connect4.views.page", "episode.json", "-o", "game.html", cwd=tmp_path, status=0)
    assert "Ada (at Kaggle)" in (tmp_path / "game.html").read_text(encoding="utf-8")
    refused = run("connect4.analysis", "episode.json", cwd=tmp_path, status=2)
    assert "an episode of Kaggle's is not overwritten; give -o OUT" in refused.stderr
    arguments = ("episode.json", "--time", "0.1", "-o", "costs.json")
    done = run("connect4.analysis", *arguments, cwd=tmp_path, status=0)
    assert "Player 2 (Bo (at Kaggle)): " in done.stdout
    assert connect4.Record.load(tmp_path / "costs.json").extra["analysis"]


@pytest.mark.parametrize(
    ("moves", "last", "outcome", "winner"),
    [
        ("304", "TIMEOUT", Outcome.TIMEOUT, 2),
        ("30", "ERROR", Outcome.ERROR, 1),
        ("3333333", "Invalid column: 3", Outcome.INVALID, 2),
        ("304", "ACTIVE", Outcome.PLAYED, 0),
    ],
)
def test_an_episode_ends_as_at_kaggle(
    moves: str, last: str, outcome: Outcome, winner: int, tmp_path: Path
) -> None:
    record = loaded(episode(moves, last), tmp_path)
    assert (record.turns[-1].outcome, record.winner) == (outcome, winner)
    assert record.ending is (Ending.FORFEIT if winner else Ending.LEFT)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (episode(""), "the episode has no turn"),
        (episode("3333333"), "turn 7: player 1, 3 .played. is against the rules there: column 3"),
        (episode("30", rows=40), "rows is 40; expected a whole number from 0 to 12"),
        (episode("30", inarow=5), "a line of 5: expected 3 or 4"),
        ({"name": "connectx"}, "not a whole record: KeyError: 'configuration'"),
        ({"name": "halite"}, "not a record of a game: format None"),
    ],
)
def test_what_is_wrong_with_an_episode_is_one_line(
    document: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        loaded(document, tmp_path)

"""`publish-game` gives a student a marked game with its seed, once marks are final."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.command import assert_refused, run
from tests.grading import COMMAND, all_records, hand_in, rubric, searcher

pytestmark = pytest.mark.slow

GRADE = ("grade", "class", "--rubric", "rubric.toml", "--jobs", "1", "--isolation", "process")


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's marks, with a seed of the rubric, a hidden board and the teacher's baseline."""
    folder = tmp_path_factory.mktemp("publish")
    path = rubric(folder, match='hidden = ["secret.txt"]\n')
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('["tiny.txt"]', '["tiny.txt", "secret.txt"]', 2))
    (folder / "secret.txt").write_text("0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")
    hand_in(folder / "class", "ann", searcher(1))
    done = run(COMMAND, *GRADE, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(marked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(marked, tmp_path / "copy"))


def publish(folder: Path, *arguments: str):
    return run(COMMAND, "publish-game", "grade.db", *arguments, "--out", "for-ann", cwd=folder)


def test_a_published_game_can_be_played_again_move_by_move(folder: Path) -> None:
    done = publish(folder, "ann", "1", "5")
    assert done.returncode == 0, done.stderr
    assert "game 1 (A: random, tiny.txt, as player 1, round 1) is in for-ann" in done.stderr
    place = folder / "for-ann"
    record = json.loads((place / "ann-game1.json").read_text(encoding="utf-8"))
    played = next(
        held for held in all_records(folder / "grade.db").values() if held["seed"] == record["seed"]
    )
    text = (place / "ann-game1-repeat.txt").read_text(encoding="utf-8")
    words = shlex.split(next(line for line in text.splitlines() if "--seed" in line))
    again = run(words[2], *words[3:], "--view", "none", "--record", "again.json", cwd=place)
    assert again.returncode == 0, again.stderr
    repeated = json.loads((place / "again.json").read_text(encoding="utf-8"))
    assert [turn["action"] for turn in repeated["turns"]] == [
        turn["action"] for turn in played["turns"]
    ]
    everything = "".join(
        path.read_text(encoding="utf-8") for path in place.rglob("*") if path.is_file()
    )
    assert str(folder) not in everything
    assert "ai:baseline.py" in everything


def test_what_is_hidden_or_not_there_is_not_published(folder: Path) -> None:
    assert_refused(publish(folder, "ann", "3"), "game 3: its board is hidden")
    assert_refused(publish(folder, "ann", "99"), "game 99: there are 8, numbered as on")
    assert_refused(publish(folder, "eve", "1"), "'eve' has no games there; ann (1 in all)")
    assert not (folder / "for-ann").exists()


def test_a_published_seed_marks_nobody_any_more(folder: Path) -> None:
    """Whoever hands in again knows the random player's moves."""
    assert publish(folder, "ann", "1").returncode == 0
    hand_in(folder / "class", "ann", searcher(1, note="another version"))
    done = run(COMMAND, *GRADE, cwd=folder)
    assert done.returncode == 2
    assert "2 of the games to play have seeds that publish-game made public" in done.stderr
    assert "ann, A: random, tiny.txt, as player 1" in done.stderr
    missing = publish(folder, "ann", "2")
    assert_refused(missing, "games have no result, so the marks are not final")

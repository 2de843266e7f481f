"""`publish-game` gives a student a marked game with its seed, once marks are final."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import assert_refused, environment, run
from tests.grading import COMMAND, all_records, execute, hand_in, rubric, searcher
from tests.marked import rows

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
    run(COMMAND, *GRADE, cwd=folder, status=0)
    return folder


@pytest.fixture
def folder(marked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(marked, tmp_path / "copy"))


def publish(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(COMMAND, "publish-game", "grade.db", *arguments, "--out", "for-ann", cwd=folder)


def publish_when_asked(folder: Path, answer: str) -> subprocess.CompletedProcess[str]:
    """Publish a game from a terminal in which a teacher types an answer."""
    teacher, terminal = pty.openpty()
    os.write(teacher, answer.encode())
    words = [sys.executable, "-m", COMMAND, "publish-game", "grade.db", "ann", "5"]
    done = subprocess.run(
        [*words, "--out", "for-ann"],
        cwd=folder,
        stdin=terminal,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        check=False,
    )
    os.close(teacher)
    os.close(terminal)
    return done


def test_a_published_game_can_be_played_again_move_by_move(folder: Path) -> None:
    done = publish(folder, "ann", "1", "5", "--yes")
    assert done.returncode == 0, done.stderr
    assert "game 1 (A: random, tiny.txt, as player 1, round 1) is in for-ann" in done.stderr
    place = folder / "for-ann"
    record = json.loads((place / "ann-game1.json").read_text(encoding="utf-8"))
    played = next(
        held for held in all_records(folder / "grade.db").values() if held["seed"] == record["seed"]
    )
    text = (place / "ann-game1-repeat.txt").read_text(encoding="utf-8")
    words = shlex.split(next(line for line in text.splitlines() if "--seed" in line))
    run(words[2], *words[3:], "--view", "none", "--record", "again.json", cwd=place, status=0)
    repeated = json.loads((place / "again.json").read_text(encoding="utf-8"))
    assert [turn["action"] for turn in repeated["turns"]] == [
        turn["action"] for turn in played["turns"]
    ]
    everything = "".join(
        path.read_text(encoding="utf-8") for path in place.rglob("*") if path.is_file()
    )
    assert str(folder) not in everything
    assert "ai:baseline.py" in everything


def test_a_game_has_the_number_that_the_students_page_gives_it(folder: Path) -> None:
    """Two of eight games have a hidden board; each has a number all the same."""
    assert run(COMMAND, "report", "grade.db", "--out", "out", cwd=folder).returncode == 0
    page = (folder / "out" / "feedback" / "ann.html").read_text(encoding="utf-8")
    assert re.findall(r"game \d: hidden", page) == [f"game {n}: hidden" for n in (3, 4, 7, 8)]
    shown = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["games"]
    assert [game["number"] for game in shown] == [1, 2, 5, 6]
    assert publish(folder, "ann", "1", "2", "5", "6", "--yes").returncode == 0
    for game in shown:
        part, board, side, number = game["label"].split(", ")
        told = f", {board}, as player {1 if side == 'first' else 2}, {number}\n"
        title = (folder / "for-ann" / f"ann-game{game['number']}-repeat.txt").read_text()
        assert title.startswith(f"{part}: ")
        assert told in title


def test_the_teacher_sees_the_game_and_is_asked_before_its_seed_is_spent(folder: Path) -> None:
    assert_refused(
        publish(folder, "ann", "5"), "a published seed stays public; without a terminal, give --yes"
    )
    refused = publish_when_asked(folder, "\n")
    assert refused.returncode == 1
    assert refused.stderr == (
        "game 5: B: ai:baseline.py, tiny.txt, as player 1, round 1: 12 to 12\n"
        "A published seed stays public. Publish? [y/N] nothing is published\n"
    )
    assert not (folder / "for-ann").exists()
    assert publish_when_asked(folder, "y\n").returncode == 0
    assert (folder / "for-ann" / "ann-game5.json").is_file()


def test_what_is_hidden_or_not_there_is_not_published(folder: Path) -> None:
    assert_refused(publish(folder, "ann", "3", "--yes"), "game 3: its board is hidden")
    assert_refused(publish(folder, "ann", "99", "--yes"), "game 99: there are 8, numbered as on")
    assert_refused(publish(folder, "eve", "1", "--yes"), "'eve' is not in it; ann (1 in all) are")
    assert not (folder / "for-ann").exists()


def test_later_games_with_a_published_seed_say_so(folder: Path) -> None:
    """Whoever hands in again may know the random player's moves."""
    assert publish(folder, "ann", "1", "--yes").returncode == 0
    time.sleep(1)  # the results file notes whole seconds
    hand_in(folder / "class", "ann", searcher(1, note="another version"))
    run(COMMAND, *GRADE, "--out", "out", cwd=folder, status=0)
    page = (folder / "out" / "feedback" / "ann.html").read_text(encoding="utf-8")
    assert page.count("; its seed was public") == 2
    marks = rows(folder / "out" / "grades.csv")
    assert [row["Remark"] for row in marks] == ["games whose seed was public: 2"]


def test_a_file_that_came_after_the_pages_of_the_class_says_so(folder: Path) -> None:
    """They replay the random player's moves, which are the same for everybody."""
    hand_in(folder / "class", "bob", searcher(1, note="of bob"))
    run(COMMAND, *GRADE, "--out", "out", cwd=folder, status=0)
    assert {row["Remark"] for row in rows(folder / "out" / "grades.csv")} == {""}
    time.sleep(1)
    hand_in(folder / "class", "ann", searcher(1, note="another version"))
    run(COMMAND, *GRADE, "--out", "out", cwd=folder, status=0)
    found = {row["Name"]: row["Remark"] for row in rows(folder / "out" / "grades.csv")}
    assert found == {"ann": "games whose seed was public: 4", "bob": ""}


def test_a_class_with_missing_games_can_publish_those_that_were_played(folder: Path) -> None:
    first = "(SELECT min(rowid) FROM game)"
    execute(folder / "grade.db", f"DELETE FROM game WHERE rowid = {first}")
    title = "game 1 (A: random, tiny.txt, as player 1, round 1)"
    assert_refused(publish(folder, "ann", "1", "--yes"), f"{title}: it has no result yet")
    asked = publish_when_asked(folder, "y\n")
    assert "game 5: " in asked.stderr

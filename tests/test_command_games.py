"""Classic and Dynamic Connect-4 from the one command, as a person plays them."""

import json

import pytest

from tests.command import assert_refused, run

COMMAND = "connect4.ConnectFour"


def test_a_person_plays_classic_by_columns_and_is_asked_again_for_what_cannot_be_played(tmp_path):
    done = run(
        COMMAND, "human", "human", "--game", "classic", "--rows", "2", "--columns", "4",
        "--record", "game.json", cwd=tmp_path, stdin="4\n-1\nx\n0\n0\n0\n1\n1\n2\n2\n3\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Please input your move(integer 0~3):  " in done.stdout
    assert "column 4 is outside 0..3" in done.stdout
    assert "'-1' is not a move: type 3 to drop into column 3" in done.stdout
    assert "'x' is not a move: type 3 to drop into column 3" in done.stdout
    assert "column 0 is full" in done.stdout
    assert "The game ended: a winning line." in done.stdout
    assert "Player 1 Score: 1\nPlayer 2 Score: 0\n" in done.stdout
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert [turn["action"] for turn in document["turns"]] == list("0011223")
    assert document["result"] == {"scores": [1, 0], "ending": "line", "winner": 1}


def test_a_game_of_classic_starts_after_moves_or_from_a_plain_grid(tmp_path):
    (tmp_path / "grid.txt").write_text("0 0 0 0 0 0 0\n0 0 0 1 0 0 0\n", encoding="utf-8")
    classic = ("greedy", "random", "--game", "classic", "--view", "none")
    for options, board in (
        (
            ("--moves", "4445"),
            [[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 2, 0, 0]],
        ),
        (("grid.txt",), [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]),
    ):
        done = run(COMMAND, *classic, *options, "--record", "game.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        start = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))["start"]
        assert start["board"][-3:] == board
    for moves, message in (
        ("4448", "--moves: '8' is no column; expected 1 to 7, as in 4445, `4 4 7` or `d1 d2`"),
        ("4444444", "--moves: move 7, 4: column 4 is full"),
        ("12121212", "--moves: move 8, 2: the game is over"),
    ):
        assert_refused(run(COMMAND, *classic, "--moves", moves, cwd=tmp_path), message)
    other = run(COMMAND, "greedy", "random", "--moves", "4445", cwd=tmp_path)
    assert_refused(other, "--moves takes the place of START in classic, classic-full, popout")


@pytest.mark.slow
def test_a_person_is_told_the_programs_moves_in_classic(tmp_path):
    done = run(
        COMMAND, "human", "random", "--game", "classic", "--record", "game.json", "--seed", "1",
        cwd=tmp_path, stdin="3\nq\n",
    )  # fmt: skip
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert f"Bot's move: {document['turns'][1]['action']}\n" in done.stdout
    assert "Bot's move" not in run(
        COMMAND, "random", "random", "--game", "classic", cwd=tmp_path
    ).stdout  # fmt: skip


def test_a_person_plays_dynamic_on_its_own_board(tmp_path):
    (tmp_path / "three.txt").write_text("O,O, ,O\n , ,O, \nX, , ,X\n", encoding="utf-8")
    done = run(
        COMMAND, "human", "random", "three.txt", "--game", "dynamic", "--record", "game.json",
        cwd=tmp_path, stdin="32\n13N\n32n\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert " 1 | O  O  .  O |\n 2 | .  .  O  . |\n 3 | X  .  .  X |\n" in done.stdout
    assert "Player 1 O human" in done.stdout
    assert "'32' is not a move: type 71W to move the piece in column 7, row 1" in done.stdout
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert document["start"] == {"board": ["O,O, ,O", " , ,O,", "X, , ,X"]}
    assert "13N: the piece there is black's" in done.stdout
    assert [turn["action"] for turn in document["turns"]] == ["32N"]
    assert document["result"] == {"scores": [1, 0], "ending": "line", "winner": 1}


def test_options_of_dynamic_stand_in_the_record(tmp_path):
    done = run(
        COMMAND, "random", "random", "--game", "dynamic", "b", "--max-turns", "5", "--line", "4",
        "--repetition", "--record", "game.json", "--seed", "2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The game ended: the limit of turns is reached.\nA draw.\n" in done.stdout
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert (document["start"]["max_turns"], document["start"]["repetition"]) == (5, True)
    assert len(document["turns"]) == 5

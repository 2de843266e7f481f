"""The strict game server: it keeps the board, announces the end, writes records."""

import json
import signal

import pytest

from connect4.record import read, replay
from tests.lines import PATIENCE, joined, serving

LINE_OF_THREE = "O,O, ,O\n , ,O,\nX, , ,X\n"
PASSING = "X,O, \nO, ,O\n , , \nmover=1\nmax_turns=6\n"


def play(white, black, moves):
    """Play legal moves in turn, white first."""
    sides = [white, black]
    for move in moves.split():
        mover, other = sides
        mover.ask(f"{move}\n", f"{move}\n")
        other.expect(f"{move}\n")
        sides.reverse()


def records(folder):
    return [read(path) for path in sorted(folder.glob("*.json"))]


def test_a_game_is_played_to_its_announced_end_and_recorded(tmp_path):
    (tmp_path / "000002-___we_ird_id.json").touch()  # of an earlier run; the first was removed
    with serving("--strict", "--records", str(tmp_path), "--start", "c") as (_, port):
        white, black = joined(port, "../we/ird:id")
        white.ask("11E\n", "illegal move: 11E: there is no piece in column 1, row 1\n")
        white.ask("51S\n", "illegal move: 51S: the piece there is black's\n")
        white.ask("31S\n", "illegal move: 31S: the square there is taken\n")
        white.ask("31N\n", "illegal move: 31N: that leaves the board\n")
        white.ask("11x\n", "operator must be one of N, S, E, W\n")
        white.ask("81N\n", "8 is not a valid column number. Needs to be between 1 and 7.\n")
        moves = "54E 51E 31W 61S 57W 52N"
        play(white, black, moves)
        white.close()
        assert black.rest() == ""
    [_, path] = sorted(tmp_path.glob("*.json"))
    assert path.name == "000003-___we_ird_id.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [turn["action"] for turn in document["turns"]] == moves.split()
    assert document["result"] == {"scores": [0, 0], "ending": "disconnected", "winner": 2}
    assert len(list(replay(read(path)))) == 7


def test_the_winner_is_announced_to_both_and_both_are_closed(tmp_path):
    (tmp_path / "three.txt").write_text(LINE_OF_THREE, encoding="utf-8")
    options = ("--strict", "--start", "three.txt", "--records", ".")
    with serving(*options, cwd=tmp_path) as (_, port):
        white, black = joined(port)
        white.ask("51N\n", "5 is not a valid column number. Needs to be between 1 and 4.\n")
        white.ask("14N\n", "4 is not a valid row number. Needs to be between 1 and 3.\n")
        white.send("32N and that is that\n13E\n")
        answer = "32N and that is that\nGame over: white wins.\n"
        assert (white.rest(), black.rest()) == (answer, answer)
    [record] = records(tmp_path)
    assert (record.result.ending, record.result.winner) == ("line", 1)


@pytest.mark.parametrize(
    ("start", "options", "moves", "said"),
    [
        ("", "--max-turns 3", "13E 71W 23W", "draw"),
        ("", "--repetition", "13E 71W 23W 61E 13E 71W 23W 61E", "draw"),
        ("X,X, , \n , ,X,\nO, ,O,\n", "--line 3 --start a.txt", "13N 32N", "black wins"),
        ("O,O,O,O\nX, , ,X\n", "--start a.txt", "", "white wins"),
    ],
)
def test_each_end_is_announced_to_both(start, options, moves, said, tmp_path):
    (tmp_path / "a.txt").write_text(start, encoding="utf-8")
    with serving("--strict", *options.split(), cwd=tmp_path) as (_, port):
        white, black = joined(port)
        play(white, black, moves)
        assert white.rest() == black.rest() == f"Game over: {said}.\n"


def test_who_cannot_move_has_passed_and_the_other_moves_again(tmp_path):
    (tmp_path / "shut.txt").write_text(PASSING, encoding="utf-8")
    options = ("--strict", "--start", "shut.txt", "--records", ".")
    with serving(*options, cwd=tmp_path) as (_, port):
        white, black = joined(port)
        black.send("11N\n11E\n")
        white.ask("32W\n21E\n", "32W\n21E\n11E\n")
        black.expect("32W\n21E\nillegal move: 11N: that leaves the board\n11E\n")
        black.close()
        assert white.rest() == ""
    [record] = records(tmp_path)
    assert [str(turn.outcome) for turn in record.turns] == ["played", "pass", "played", "played"]


def test_running_out_of_time_loses_in_the_record(tmp_path):
    with serving("--strict", "--records", str(tmp_path), "--time", "0.5") as (_, port):
        white, black = joined(port)
        play(white, black, "13E")
        assert white.rest() == black.rest() == "Timeout of 500 ms triggered: Game over.\n"
    [record] = records(tmp_path)
    assert (record.result.ending, record.result.winner) == ("timeout", 1)
    assert record.time_limit == 0.5


def test_games_that_a_signal_ends_are_recorded_as_aborted(tmp_path):
    with serving("--strict", "--records", str(tmp_path)) as (process, port):
        white, black = joined(port)
        play(white, black, "13E 71W")
        process.send_signal(signal.SIGTERM)
        assert white.rest() == black.rest() == ""
        process.wait(PATIENCE)
    [record] = records(tmp_path)
    assert (record.result.ending, record.result.winner, len(record.turns)) == ("aborted", 0, 2)


def test_a_game_without_a_move_leaves_no_record(tmp_path):
    with serving("--strict", "--records", str(tmp_path)) as (_, port):
        for _ in range(3):
            white, black = joined(port)
            white.close()
            assert black.rest() == ""
    assert records(tmp_path) == []


def test_a_record_that_cannot_be_written_ends_no_game(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    (tmp_path / "three.txt").write_text(LINE_OF_THREE, encoding="utf-8")
    options = ("--strict", "--start", "three.txt", "--records", "records")
    complaint = r"(error: records/00000[12]-g\.json: the record cannot be written: .*\n){2}"
    with serving(*options, cwd=tmp_path, complaint=complaint) as (_, port):
        folder.rmdir()
        for _ in range(2):
            white, black = joined(port)
            white.send("32N\n")
            assert white.rest() == black.rest() == "32N\nGame over: white wins.\n"

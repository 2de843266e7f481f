"""Our agents on a game server: `connect4.client`."""

import re
import signal
import socket
import subprocess
import sys

import pytest

from connect4 import record
from connect4.games.dynamic import DYNAMIC
from tests.command import environment, run
from tests.lines import PATIENCE, Client, serving

COMMAND = "connect4.client"


def begun(module, *arguments, cwd):
    """Start a command; nobody types anything."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)], cwd=cwd, env=environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process):
    """Return a command's exit status and what it printed."""
    output, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, output, errors


@pytest.fixture
def listener():
    """A game server that the test itself plays."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def port_of(listener):
    return listener.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [(), ("--strict",)], ids=["relay", "strict"])
def test_two_clients_play_a_game_to_the_same_end_in_both_modes(mode, tmp_path):
    start = ("--start", "c") if mode else ()
    with serving(*mode, *start) as (_, port):
        common = ("127.0.0.1", port, "g1")
        rest = ("c", "--agent", "random", "--seed", "5")
        white = begun(COMMAND, *common, "white", *rest, cwd=tmp_path)
        black = begun(COMMAND, *common, "BLACK", *rest, cwd=tmp_path)
        first, second = ended(white), ended(black)
    assert first == second
    status, output, errors = first
    assert (status, errors) == (0, "")
    assert re.fullmatch(r"Game over: (white wins|black wins|draw)\. \(\d+ plies\)\n", output)


def client_of(listener, folder, colour, *options, agrees=True):
    """Start a client, whose agent is `random`; return its process and its server.

    The server has the client's line and, if it `agrees`, has answered that the game begins.
    """
    address = "127.0.0.1", port_of(listener), "g", colour
    process = begun(COMMAND, *address, *options, "--agent", "random", cwd=folder)
    server = Client.of(listener)
    server.ask("", f"g {colour}\n")
    if agrees:
        server.send(f"g {colour}\n")
    return process, server


def test_the_client_writes_column_row_direction_and_reads_whole_lines(listener, tmp_path):
    (tmp_path / "start.txt").write_text("O, , \nX,X,\nX,X,\n", encoding="utf-8")
    process = begun(
        COMMAND, "127.0.0.1", port_of(listener), "word", "white", "start.txt", "--agent", "random",
        "--max-turns", "4", cwd=tmp_path,
    )  # fmt: skip
    server = Client.of(listener)
    server.expect("word white\n")
    for piece in (b"wo", b"rd whi", b"te\r", b"\n"):
        server.send(piece)
    server.expect("11E\n")
    server.send("11E\n12N and more\n")
    state = DYNAMIC.read("O, , \nX,X,\nX,X,\n", "start").apply("11E").apply("12N")
    move = server.socket.recv(100).decode()
    assert move.strip() in state.legal_actions()
    assert move == f"{move.strip()}\n"
    state = state.apply(move.strip())
    server.send(f"{move}{state.legal_actions()[0]}\n")
    assert ended(process) == (0, "Game over: draw. (4 plies)\n", "")


GONE = "error: the server has closed the connection: the opponent is gone\n"
LATE = "Timeout of 10000 ms triggered: Game over.\n"


@pytest.mark.parametrize(
    ("lines", "message", "ending", "winner"),
    [
        ("illegal move: no\n", "error: the server does not take the move {move}: il", "aborted", 0),
        ("{move}\n11E\n", "error: the opponent's move is illegal: 11E: there is", "forfeit", 1),
        ("{move}\n?\n", "error: the server replied: ?\n", "aborted", 0),
        ("{move}\n", GONE, "disconnected", 0),
        (f"{{move}}\n{LATE}", f"error: the server replied: {LATE}", "timeout", 1),
    ],
)
def test_a_game_that_breaks_off_is_one_line_status_1_and_a_record(
    lines, message, ending, winner, listener, tmp_path
):
    process, server = client_of(listener, tmp_path, "white", "c", "--record", "game.json")
    move = server.socket.recv(100).decode().strip()
    server.send(lines.format(move=move))
    server.socket.shutdown(socket.SHUT_WR)
    status, output, errors = ended(process)
    server.close()
    assert (status, output) == (1, "")
    assert errors.startswith(message.format(move=move))
    assert errors.count("\n") == 1
    result = record.read(tmp_path / "game.json").result
    assert (result.ending, result.winner) == (ending, winner)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            'white player of gameID = "g" is already connected.\n',
            'error: the server replied: white player of gameID = "g" is already connected.\n',
        ),
        ("x" * 70_000, "error: what came from the server is not a line\n"),
    ],
)
def test_a_game_that_does_not_begin_is_one_line_and_status_1(answer, message, listener, tmp_path):
    process, server = client_of(listener, tmp_path, "white", agrees=False)
    server.send(answer)
    assert ended(process) == (1, "", message)
    server.close()


def test_the_servers_own_end_is_believed(listener, tmp_path):
    process, server = client_of(listener, tmp_path, "black")
    server.send("Game over: draw.\n")
    assert ended(process) == (0, "Game over: draw. (0 plies)\n", "")
    server.close()


SHUFFLING = "O, , \n , , \n , ,O\n , , \nX, ,X\n"


def shuffled(listener, folder, plies, *options):
    """Play a client, as black, for N plies; return its process, the server and all moves.

    Neither side can make a line: the moves are those that the board allows first.
    """
    (folder / "shuffle.txt").write_text(SHUFFLING, encoding="utf-8")
    start = ("shuffle.txt", "--seed", "3")
    process, server = client_of(listener, folder, "black", *start, *options)
    state, moves = DYNAMIC.read(SHUFFLING, "start").with_options(max_turns=1000), []
    while len(moves) < plies:
        own = len(moves) % 2
        move = server.socket.recv(100).decode().strip() if own else state.legal_actions()[0]
        server.send(f"{move}\n")
        moves.append(move)
        state = state.apply(move)
    return process, server, moves


@pytest.mark.slow
def test_a_relay_game_is_no_draw_at_ply_100_and_a_lost_connection_keeps_its_record(
    listener, tmp_path
):
    process, server, moves = shuffled(listener, tmp_path, 120, "--record", "game.json")
    server.close()
    status, output, errors = ended(process)
    assert (status, output) == (1, "")
    assert errors == "error: the server has closed the connection: the opponent is gone\n"
    game = record.read(tmp_path / "game.json")
    assert [turn.text for turn in game.turns] == moves
    assert [player.agent for player in game.players] == ["remote", "random"]
    assert (game.result.ending, game.result.winner) == ("disconnected", 0)
    assert game.result.detail == errors.removeprefix("error: ").strip()


def test_max_turns_makes_a_draw_on_a_relay_too(listener, tmp_path):
    options = ("--max-turns", "6", "--record", "game.json")
    process, server, moves = shuffled(listener, tmp_path, 6, *options)
    assert ended(process) == (0, "Game over: draw. (6 plies)\n", "")
    server.close()
    game = record.read(tmp_path / "game.json")
    assert [turn.text for turn in game.turns] == moves
    assert game.result.ending == "draw_limit"


def test_a_ctrl_c_keeps_the_record(listener, tmp_path):
    process, server = client_of(listener, tmp_path, "black", "--record", "game.json")
    server.send("13E\n")
    server.socket.recv(100)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "left the game\n")
    server.close()
    game = record.read(tmp_path / "game.json")
    assert (len(game.turns), game.result.ending) == (1, "left")


def test_a_person_plays_on_a_server_and_sees_the_board(listener, tmp_path):
    (tmp_path / "three.txt").write_text("O,O, ,O\n , ,O,\nX, , ,X\n", encoding="utf-8")
    address = "127.0.0.1", str(port_of(listener)), "g", "white", "three.txt"
    process = subprocess.Popen(
        [sys.executable, "-m", COMMAND, *address, "--agent", "human"],
        cwd=tmp_path, env=environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    server = Client.of(listener)
    server.ask("", "g white\n")
    server.send("g white\n")
    process.stdin.write("32\n99N\n32n\n")
    process.stdin.flush()
    server.ask("", "32N\n")
    server.send("32N\n")
    output, _ = process.communicate(timeout=PATIENCE)
    assert "  1 2 3 4\n1 O O   O\n2     O\n3 X     X\n" in output
    assert "'32' is not a move" in output
    assert "99N: the board has columns 1 to 4 and rows 1 to 3" in output
    assert output.endswith(
        "  1 2 3 4\n1 O O O O\n2\n3 X     X\n\nGame over: white wins. (1 plies)\n"
    )


def test_no_server_is_one_clear_line(tmp_path, listener):
    port = port_of(listener)
    listener.close()
    done = run(COMMAND, "127.0.0.1", str(port), "g", "white", "--agent", "random", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: 127.0.0.1 port {port}: no game server there (Connection refused)\n"
    )

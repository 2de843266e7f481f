"""The game server's lines, byte for byte, against scripted clients."""

import signal
import socket
import time
from contextlib import suppress

import pytest

from tests.command import ROOT, assert_refused, run
from tests.lines import PATIENCE, Client, joined, serving

COMMAND = "connect4.server"

BAD_INIT = "Invalid init string. Format: <gameID> <black | white>\n"
BAD_COLOUR = 'Invalid color. Needs to be either "black" or "white".\n'
OPERATOR = "operator must be one of N, S, E, W\n"


@pytest.fixture(scope="module")
def port():
    """A relay that several tests share, each with a game ID of its own."""
    with serving("--wait", "30") as (_, number):
        yield number


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "   \r\n"])
def test_both_sides_get_their_answer_only_when_both_have_joined(port, end):
    white, black = Client(port), Client(port)
    black.send("two BLACK\n")
    white.send(f"two White{end}")
    white.expect("two white\n")
    black.expect("two black\n")
    white.close()
    assert black.rest() == ""


@pytest.mark.parametrize(
    "line", ["", "g", "g white now", "g  white", " g white", "g\twhite", "white ", " "]
)
def test_a_handshake_is_two_words_and_may_be_tried_again(port, line):
    client = Client(port)
    client.ask(f"{line}\n", BAD_INIT)
    client.ask("g blue\n", BAD_COLOUR)
    client.ask("g whit\u00e9\n", BAD_COLOUR)
    client.send("again white\n")
    other = Client(port)
    other.ask("again white\n", 'white player of gameID = "again" is already connected.\n')
    other.ask("again BLACK\n", "again black\n")
    client.expect("again white\n")
    client.close()
    assert other.rest() == ""


def test_a_move_goes_to_the_mover_first_and_to_the_opponent_whole(port):
    white, black = joined(port, "echo")
    white.ask("13E and a word more\n", "13E and a word more\n")
    black.expect("13E and a word more\n")
    black.ask("71W\r\n", "71W\n")
    white.ask("23W\n", "71W\n23W\n")
    black.expect("23W\n")
    black.close()
    assert white.rest() == ""


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", "String index out of range: 2\n"),
        ("71", "String index out of range: 2\n"),
        ("71w", OPERATOR),
        ("99x", OPERATOR),
        ("71 W", OPERATOR),
        ("81W", "8 is not a valid column number. Needs to be between 1 and 7.\n"),
        ("08E", "0 is not a valid column number. Needs to be between 1 and 7.\n"),
        ("aaN", "a is not a valid column number. Needs to be between 1 and 7.\n"),
        ("79S", "9 is not a valid row number. Needs to be between 1 and 7.\n"),
        ("7 S", "  is not a valid row number. Needs to be between 1 and 7.\n"),
        ("7\u0663N", "\u0663 is not a valid row number. Needs to be between 1 and 7.\n"),
    ],
)
def test_a_bad_move_is_answered_to_its_sender_alone_who_may_try_again(port, line, answer):
    white, black = joined(port, "bad")
    white.ask(f"{line}\n", answer)
    white.ask(f"{line}\n", answer)
    white.ask("11N\n", "11N\n")
    white.close()
    assert black.rest() == "11N\n"


def test_a_line_out_of_turn_is_kept_and_played_in_turn(port):
    white, black = Client(port), Client(port)
    white.send("early white\n11N\n33S\n")
    black.send("early black\n22E\nbad\n44W\n")
    white.expect("early white\n11N\n22E\n33S\n44W\n")
    black.expect("early black\n11N\n22E\n33S\n" + OPERATOR + "44W\n")
    white.close()
    black.close()


def test_lines_may_come_in_any_pieces(port):
    white, black = joined(port, "bits")
    for piece in ("1", "3", "E", "\n"):
        white.send(piece)
    white.expect("13E\n")
    black.expect("13E\n")
    black.send("71W")
    black.socket.shutdown(socket.SHUT_WR)
    white.expect("71W\n")
    assert black.rest() == "71W\n"
    assert white.rest() == ""


def test_when_a_side_leaves_the_others_connection_closes_without_a_word(port):
    white, black = joined(port, "left")
    black.close()
    assert white.rest() == ""
    white, black = joined(port, "left")
    white.ask("13E\n", "13E\n")
    white.close()
    assert black.rest() == "13E\n"
    waiting = Client(port)
    waiting.send("left white\n")
    waiting.close()
    white, black = joined_again(port, "left")
    white.close()
    assert black.rest() == ""


def joined_again(port, game):
    """Join a game whose white side has just left: the server may not have noticed yet."""
    while True:
        white = Client(port)
        white.send(f"{game} white\n")
        white.socket.settimeout(0.2)
        try:
            assert b"already connected" in white.socket.recv(100)
        except TimeoutError:
            black = Client(port)
            black.ask(f"{game} black\n", f"{game} black\n")
            white.socket.settimeout(PATIENCE)
            white.expect(f"{game} white\n")
            return white, black
        white.close()


@pytest.mark.slow
def test_the_clock_runs_on_across_bad_moves_and_ends_the_game_for_both():
    with serving("--time", "1") as (_, port):
        white, black = joined(port)
        began = time.monotonic()
        tries = 0
        while time.monotonic() - began < 0.7:
            white.ask("11X\n", OPERATOR)
            tries += 1
            time.sleep(0.05)
        assert tries > 1
        assert white.rest() == black.rest() == "Timeout of 1000 ms triggered: Game over.\n"
        white, black = joined(port)
        white.ask("13E\n", "13E\n")
        assert white.rest() == "Timeout of 1000 ms triggered: Game over.\n"
        assert black.rest() == "13E\nTimeout of 1000 ms triggered: Game over.\n"


@pytest.mark.slow
def test_who_finds_no_opponent_is_told_and_closed():
    with serving("--wait", "0.3") as (_, port):
        white = Client(port)
        white.send("alone white\n13E\n")
        assert white.rest() == "Waited one minute, but still no opponent: Aborting.\n"
        silent = Client(port)
        assert silent.rest() == "", "a silent client is closed too"
        white, black = joined(port, "alone")
        white.ask("13E\n", "13E\n")
        black.expect("13E\n")


def relay_some_moves(white, black, rounds=20):
    """Play on; every line has to come through, in order."""
    for number in range(rounds):
        white.ask(f"11N {number}\n", f"11N {number}\n")
        black.expect(f"11N {number}\n")
        black.ask(f"22E {number}\n", f"22E {number}\n")
        white.expect(f"22E {number}\n")


LONG = "g" * 1024


@pytest.mark.slow
@pytest.mark.parametrize(
    "junk",
    [
        b"x" * 1025 + b"\n", b"x" * 3000, b"\xff\xfe\x00\x01\n", b"g white\x00\n",
        b"\x1b[2Jg white\n", b"g white\n" + b"\x80\n", b"bad\n" * 100_000,
        b"g white\n" + b"11N\n" * 1000,
        b"GET / HTTP/1.1\r\n" + b"\r\n" * 300, bytes(range(256)) * 4000,
    ],
    ids=[
        "long line", "endless line", "binary", "NUL", "escape sequence", "junk after joining",
        "flood of handshakes", "flood of moves", "flood of empty lines", "flood of bytes",
    ],
)  # fmt: skip
def test_a_client_that_misbehaves_is_closed_alone(port, junk):
    white, black = joined(port, "calm")
    relay_some_moves(white, black, 2)
    bad = Client(port)
    with suppress(ConnectionError):
        bad.send(junk)
    relay_some_moves(white, black)
    assert set(bad.rest().splitlines(keepends=True)) <= {BAD_INIT}
    relay_some_moves(white, black)
    white.close()
    assert black.rest() == ""


def test_a_page_in_a_browser_joins_no_game(port):
    browser = Client(port)
    browser.send("POST / HTTP/1.1\r\n\r\ng1 white\n13E\n")
    assert browser.rest() == ""
    white, black = joined(port, "g1")
    relay_some_moves(white, black)


@pytest.mark.slow
def test_a_client_that_does_not_read_is_closed_alone(port):
    white, black = joined(port, "reading")
    slow = Client(port, receive_buffer=2048)
    with pytest.raises(ConnectionError):
        for _ in range(2000):
            slow.send("no handshake\n" * 100)
            relay_some_moves(white, black, 1)
    relay_some_moves(white, black)
    white.close()
    assert black.rest() == ""


@pytest.mark.slow
def test_a_thousand_silent_clients_harm_nobody_and_one_more_closes_the_oldest():
    resource = pytest.importorskip("resource", reason="resource, of Unix systems")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2000:
        pytest.skip("this machine allows fewer than 2000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    with serving() as (_, port):
        white, black = joined(port)
        silent = [Client(port) for _ in range(1000)]
        relay_some_moves(white, black)
        latest = Client(port)
        assert silent[0].rest() == ""
        latest.ask("no\n", BAD_INIT)
        silent[1].ask("no\n", BAD_INIT)
        relay_some_moves(white, black)
        for client in (*silent[1:], latest):
            client.close()


def test_many_games_at_once_stay_apart(port):
    games = {f"game{number}": joined(port, f"game{number}") for number in range(40)}
    for number in range(5):
        for game, (white, black) in games.items():
            white.send(f"11N {game} {number}\n")
            black.send(f"77S {game} {number}\n")
    for game, (white, black) in games.items():
        expected = "".join(f"11N {game} {n}\n77S {game} {n}\n" for n in range(5))
        white.expect(expected)
        black.expect(expected)
        white.close()
        assert black.rest() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(number):
    with serving() as (process, port):
        white, black = joined(port)
        idle = Client(port)
        idle.ask("no\n", BAD_INIT)
        process.send_signal(number)
        assert white.rest() == black.rest() == idle.rest() == ""
        assert process.wait(PATIENCE) == 0


def test_a_port_that_is_taken_is_one_clear_line(port, tmp_path):
    done = run(COMMAND, "--port", str(port), cwd=tmp_path)
    assert_refused(done, f"127.0.0.1 port {port}: ", "ddress already in use")


@pytest.mark.parametrize("name", ["ConnectFour", "server", "client"])
def test_the_help_has_examples_and_stays_as_it_is(name):
    done = run(f"connect4.{name}", "--help", cwd=ROOT)
    assert done.returncode == 0
    assert f"examples:\n  python3 -m connect4.{name}" in done.stdout
    snapshot = ROOT / "tests" / "data" / "help" / f"{name}.txt"
    assert done.stdout.split() == snapshot.read_text(encoding="utf-8").split(), (
        "the help has changed; if that is meant: "
        f"COLUMNS=100 python3 -m connect4.{name} --help > {snapshot.relative_to(ROOT)}"
    )

"""Agents by name, students' files that fail, and the random player."""

import hashlib
import importlib.util
import os
import py_compile
from textwrap import dedent

import pytest

from connect4 import config
from connect4.errors import AgentError, InputError
from connect4.games import load_start
from connect4.games.base import Ending
from connect4.games.extended import EXTENDED
from connect4.players.base import STUDENT_FILE, AgentName, Outcome, Setup
from connect4.players.registry import PLAYERS, build, file_hash, parse_agent
from connect4.players.student import MAX_DETAIL
from grader.handin.find import find
from grader.rubric import reading as rubrics
from tests.games import agent_file, played, reread


def refusal(name, game="extended"):
    with pytest.raises(InputError) as refused:
        parse_agent(name, game)
    message = str(refused.value)
    assert "\n" not in message
    return message


# Names


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("humann", " (did you mean 'human'?)"),
        ("rnadom:5", " (did you mean 'random'?)"),
        ("qqqqqq", ";"),
        ("", ";"),
    ],
)
def test_an_unknown_agent_suggests_the_nearest_and_lists_all(name, hint):
    message = refusal(name)
    assert message.startswith(f"no agent {name!r}{hint}")
    for kind in PLAYERS:
        assert kind in message.partition("the agents are ")[2]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ai:", "agent 'ai:': nothing follows the colon"),
        ("random:5", "agent 'random:5': '5' is not understood; write random"),
        ("random:seed=3", "agent 'random:seed=3': no option 'seed'; the options are none"),
        ("ai:nods=5", "agent 'ai:nods=5': no option 'nods' (did you mean 'nodes'?); "),
        ("ai:nodes=0", "agent 'ai:nodes=0': nodes is a whole number above 0, not '0'"),
        ("ai:nodes=1e3", "nodes is a whole number above 0, not '1e3'"),
        ("ai:nodes=5,nodes=6", "agent 'ai:nodes=5,nodes=6': option 'nodes' is given twice"),
        ("ai:nodes=5,fast", "agent 'ai:nodes=5,fast': 'fast' is not an option; expected key=value"),
    ],
)
def test_a_name_that_makes_no_sense_is_refused(name, message):
    assert refusal(name).startswith(message) or message in refusal(name)


def test_a_missing_file_suggests_the_nearest_beside_it(tmp_path):
    agent_file(tmp_path, "return (0, False)", name="agent_one.py")
    missing = tmp_path / "agent_on.py"
    assert refusal(f"ai:{missing}") == (
        f"agent 'ai:{missing}': no file '{missing}' (did you mean 'agent_one.py'?)"
    )
    assert refusal(f"ai:{tmp_path}").endswith(f"'{tmp_path}' is a folder; name the file in it")
    assert refusal("ai:no/such/folder/ai.py").endswith("no file 'no/such/folder/ai.py'")
    assert refusal("ai:" + "x" * 5000).endswith("x'")


@pytest.mark.timeout(20)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs Linux")
def test_what_is_no_regular_file_holds_nobody_up(tmp_path):
    """A record may name any path, and a reader of `/proc/kmsg` or of a pipe would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    zero = tmp_path / "zero.py"
    zero.symlink_to("/dev/zero")
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(1 << 40)
    named = ["/proc/kmsg", "/dev/zero", "/sys/kernel/notes", tmp_path / "pipe", zero]
    for path in filter(os.path.exists, named):
        assert refusal(f"ai:{path}").endswith(f"the file '{path}' is no regular file")
    assert refusal(f"kaggle:{zero}", "classic").endswith("is no regular file")
    assert refusal(f"ai:{tmp_path}/huge.py").endswith("is larger than 50 MB")
    for name in ("ai:~\0/ai.py", "ai:\0", "ai:~\ud800/ai.py"):
        assert "no file" in refusal(name)
    seat = Setup(AgentName("ai:x", "ai", "/proc/kmsg"), 1, EXTENDED, 1.0, 1, "intelligent")
    with pytest.raises(AgentError, match="kmsg is no regular file"):
        build(seat)


def test_a_file_is_named_with_commas_blanks_options_or_a_tilde(tmp_path, monkeypatch):
    path = tmp_path / "Müller, Eva 2.py"
    path.write_text("class AIPlayer: pass")
    name = parse_agent(f"ai:{path},nodes=50")
    assert (name.rest, name.options) == (str(path), {"nodes": "50"})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert file_hash(parse_agent("ai:~/Müller, Eva 2.py")) == file_hash(name)


def test_the_hash_is_of_the_students_file(tmp_path):
    name = agent_file(tmp_path, "return (0, False)")
    content = (tmp_path / "student.py").read_bytes()
    assert file_hash(parse_agent(name)) == hashlib.sha256(content).hexdigest()
    own = hashlib.sha256(STUDENT_FILE.read_bytes()).hexdigest()
    assert file_hash(parse_agent("ai")) == file_hash(parse_agent("ai:nodes=5")) == own
    assert file_hash(parse_agent("random")) is None
    record, _ = played(name, "random")
    assert record.players[0].sha256 == hashlib.sha256(content).hexdigest()
    assert record.players[1].sha256 is None


# Students' files


def first_turn(agent):
    record, _ = played(agent, "random")
    return reread(record).turns[0]


def load_failure(agent):
    record, _ = played(agent, "random")
    result = reread(record).result
    assert (result.ending, result.winner, record.turns) == (Ending.NOT_LOADED, 2, [])
    return result.detail


def source_file(tmp_path, source, name="student.py"):
    (tmp_path / name).write_text(dedent(source), encoding="utf-8")
    return f"ai:{tmp_path / name}"


HEADER = "Traceback (most recent call last):\n"


def own_frame(line, where="<module>"):
    return f'{HEADER}  File "student.py", line {line}, in {where}\n'


@pytest.mark.parametrize(
    ("source", "line", "last"),
    [
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("import numpie", 1, "ModuleNotFoundError: No module named 'numpie'"),
        ("x = 1\nraise SystemExit(3)", 2, "SystemExit: 3"),
        ("from connect4.utils import get_points", 1, None),
    ],
)
def test_a_file_that_cannot_be_loaded_shows_its_own_traceback_first(tmp_path, source, line, last):
    detail = load_failure(source_file(tmp_path, source))
    assert detail.startswith(own_frame(line))
    if last:
        assert detail.endswith(last)


def test_a_syntax_error_names_file_and_line(tmp_path):
    detail = load_failure(source_file(tmp_path, "x = 1\ndef (:\n"))
    assert detail.startswith("SyntaxError: invalid syntax (student.py, line 2)\n")
    assert '  File "student.py", line 2\n    def (:\n' in detail


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [
        ("x = 1\n".encode("utf-16"), 1, 0),
        ("x = 1\n".encode("utf-16-le"), 1, 1),
        ("# coding: latin-1\nname = 'M\xfcller'\n".encode("latin-1"), 2, 27),
        (b"x = 1\ny = '\0'\n", 2, 11),
    ],
)
def test_a_file_that_is_no_utf8_text_is_refused_as_by_the_grader(tmp_path, data, line, byte):
    name = source_file(tmp_path, "")
    (tmp_path / "student.py").write_bytes(data)
    with pytest.raises(InputError) as refusal:
        parse_agent(name)
    wrong = f"not UTF-8 (line {line}, byte {byte}); save the file as UTF-8"
    assert str(refusal.value) == f"agent {name!r}: the file {name[3:]!r} is {wrong}"
    (submission,) = find([tmp_path / "student.py"], rubrics.read().submission)
    assert submission.problem == wrong


@pytest.mark.parametrize("begin", ["\ufeff", "# coding: latin-1\n", "# an agent\r# coding: hex\n"])
def test_a_mark_or_an_encoding_that_a_file_declares_changes_no_text(tmp_path, begin):
    """What a person, the form check and the look for copies read is what runs."""
    name = agent_file(tmp_path, "raise ValueError('Müller')")
    path = tmp_path / "student.py"
    path.write_bytes(begin.encode() + path.read_bytes())
    assert find([path], rubrics.read().submission)[0].problem is None
    assert first_turn(name).detail.endswith("ValueError: Müller")


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("class Player: pass", "student.py defines no class AIPlayer"),
        (" \n", "student.py: the file is empty"),
        (
            "class AIPlayer: pass",
            "TypeError: AIPlayer() takes no arguments\n"
            "note: the simulator needs def __init__(self, player_number, time) in class AIPlayer",
        ),
        (
            "class AiPlayer: pass",
            "student.py defines no class AIPlayer; rename AiPlayer to AIPlayer",
        ),
    ],
)
def test_a_file_without_what_is_asked_for_says_what_is_missing(tmp_path, source, last):
    detail = load_failure(source_file(tmp_path, source))
    assert last is None or detail.endswith(last)


@pytest.mark.parametrize(
    ("move", "last"),
    [
        ("raise ValueError('no idea')", "ValueError: no idea"),
        ("return board[99, 99]", "IndexError: index 99 is out of bounds for axis 0 with size 4"),
        ("raise SystemExit", "SystemExit"),
        ("raise Mute", "Mute: <exception str() failed>"),
        ("return deeper(0)", None),
        ("popouts[3].decrement()", "KeyError: 3"),
    ],
)
def test_a_failure_in_a_move_shows_the_students_own_frames_first(tmp_path, monkeypatch, move, last):
    monkeypatch.setattr(config, "debug_mode", True)  # so that a count minds its limits
    before = """
    class Mute(Exception):
        def __str__(self): raise SystemExit
    def deeper(n): return deeper(n + 1)
    """
    turn = first_turn(agent_file(tmp_path, move, before=before))
    assert (turn.outcome, turn.text) == (Outcome.ERROR, None)
    assert turn.detail.startswith(f'{HEADER}  File "student.py", line ')
    assert "connect4/players/student.py" not in turn.detail
    if last:
        assert turn.detail.endswith(last)
    else:
        assert "RecursionError: maximum recursion depth exceeded" in turn.detail


@pytest.mark.parametrize("raised", ["'x' * 10**7", "'line\\n' * 10**5"])
def test_a_long_error_text_is_cut_in_its_middle(tmp_path, raised):
    turn = first_turn(agent_file(tmp_path, f"raise ValueError({raised})"))
    assert turn.detail.startswith(HEADER)
    assert "\n...\n" in turn.detail
    assert len(turn.detail) <= MAX_DETAIL + 10


def test_a_change_of_folder_hides_no_traceback(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent_file(tmp_path, "import os\nos.chdir('/')\nraise ValueError('lost')")
    turn = first_turn("ai:student.py")
    assert turn.detail.startswith(f'{HEADER}  File "student.py", line ')


def test_the_file_is_what_runs_and_not_old_bytecode_beside_it(tmp_path):
    """Same length, same time stamp: what an import would take from `__pycache__`."""
    agent_file(tmp_path, "return (5, False)")
    path = tmp_path / "student.py"
    os.utime(path, (1_000_000_000, 1_000_000_000))
    py_compile.compile(str(path), importlib.util.cache_from_source(str(path)), doraise=True)
    path.write_text(path.read_text().replace("(5, False)", "(2, False)"))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert first_turn(f"ai:{path}").text == "2"


def test_dataclasses_and_main_guards_work_in_a_students_file(tmp_path):
    before = """
    from __future__ import annotations
    from dataclasses import dataclass, field
    import pickle

    @dataclass
    class Node:
        children: list[Node] = field(default_factory=list)

    if __name__ == "__main__":
        raise SystemExit("not run by the referee")
    """
    source = dedent(before) + dedent(
        """
        class AIPlayer:
            def __init__(self, player_number, time): pass
            def get_expectimax_move(self, state):
                return (len(pickle.loads(pickle.dumps(Node([Node()]))).children), False)
        """
    )
    assert first_turn(source_file(tmp_path, source)).text == "1"


@pytest.mark.parametrize(("seconds", "text"), [(20.0, "20"), (2.5, "2.5")])
def test_the_constructor_gets_the_number_and_the_seconds(tmp_path, seconds, text):
    setup = "self.text = f'{player_number} {time}'"
    agent = agent_file(tmp_path, "raise ValueError(self.text)", setup=setup)
    record, _ = played("random", agent, seconds=seconds)
    assert record.turns[1].detail.endswith(f"ValueError: 2 {text}")


# The kit's own agents


def test_the_random_player_plays_every_action_and_repeats_with_its_seed():
    state = load_start(EXTENDED, "mid8x10")
    one, two, other = (
        build(Setup(parse_agent("random"), 1, EXTENDED, 1.0, seed)) for seed in (5, 5, 6)
    )
    choices = [one.choose(state, None) for _ in range(300)]
    assert choices == [two.choose(state, None) for _ in range(300)]
    assert choices != [other.choose(state, None) for _ in range(300)]
    assert set(choices) == set(state.legal_actions())


def test_an_older_submission_that_counts_as_the_courses_integer_let_it_plays_every_turn(tmp_path):
    move = """
        valid = get_valid_actions(self.player_number, state)
        left = {player: Integer(popouts[player]._i) for player in (1, 2)}
        for _ in range(20):  # a search that counts first and looks later
            popouts[self.player_number].decrement()
            left[3 - self.player_number].increment()
        assert popouts[self.player_number]._i == left[self.player_number].get_int() - 20
        assert not config.debug_mode and config.win_pts == win_pts
        return valid[-1]
    """
    before = """
        from connect4 import config
        from connect4.config import win_pts
        from connect4.utils import Integer, get_valid_actions
    """
    record, _ = played(agent_file(tmp_path, move, before=before), "random", "case1")
    assert {turn.outcome for turn in record.turns} == {Outcome.PLAYED}

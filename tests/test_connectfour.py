"""The command `python3 -m connect4.ConnectFour`, run as a person runs it."""

import json
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import connect4
from connect4.errors import headline
from connect4.games import load_start
from connect4.games.base import Ending
from connect4.games.extended import EXTENDED
from connect4.isolation.sandbox import Limits
from connect4.players.base import Outcome, Turn
from connect4.players.registry import parse_agent
from connect4.table import Table, Terms
from connect4.views.words import ENDINGS, busy_text, faults_text
from tests.command import ROOT, assert_refused, environment, run
from tests.games import agent_file

COMMAND = "connect4.ConnectFour"


BEFORE = "import time\nfrom connect4.utils import get_valid_actions"


def agent(folder: Path, body: str) -> Path:
    """Write an agent whose two methods share `body`."""
    agent_file(folder, body, name="agent.py", before=BEFORE)
    return folder / "agent.py"


def small_start(folder: Path) -> str:
    """Write a board on which a game, and each of its lost turns, is soon over."""
    (folder / "small.txt").write_text("0\n0 0\n0 0\n", encoding="utf-8")
    return "small.txt"


def scores(output: str) -> tuple[int, int]:
    """Return the two printed scores."""
    found = re.findall(r"^Player ([12]) Score: (\d+)$", output, re.MULTILINE)
    assert [player for player, _ in found] == ["1", "2"], output
    return int(found[0][1]), int(found[1][1])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_assignments_command_plays_to_two_scores() -> None:
    command = "ai random case4.txt --time 20"
    done = run(COMMAND, *command.split(), cwd=ROOT, seconds=500)
    assert done.returncode == 0, done.stderr
    own, other = scores(done.stdout)
    assert own > other


@pytest.mark.slow
def test_swap_plays_both_sides_writes_two_records_and_says_the_average(tmp_path: Path) -> None:
    done = run(
        COMMAND, "ai", "random", "case4", "--swap", "--time", "0.2", "--record", "game.json",
        "--view", "none", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = (
        json.loads((tmp_path / name).read_text(encoding="utf-8"))
        for name in ("game-1.json", "game-2.json")
    )
    assert [player["agent"] for player in first["players"]] == ["ai", "random"]
    assert [player["agent"] for player in second["players"]] == ["random", "ai"]
    own = (first["result"]["scores"][0] + second["result"]["scores"][1]) / 2
    other = (first["result"]["scores"][1] + second["result"]["scores"][0]) / 2
    assert re.findall(r"^The game's record is in (.*)\.$", done.stdout, re.M) == [
        "game-1.json",
        "game-2.json",
    ]
    expected = f"Average over both sides: ai {own:g}, random {other:g}, margin {own - other:+g}"
    assert expected in done.stdout


@pytest.mark.slow
def test_the_method_asked_follows_the_opponent_and_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(
        "class AIPlayer:\n"
        "    def __init__(self, player_number, time): pass\n"
        "    def get_expectimax_move(self, state): raise RuntimeError('expectimax asked')\n"
        "    def get_intelligent_move(self, state): raise RuntimeError('intelligent asked')\n",
        encoding="utf-8",
    )
    name = f"ai:{path}"
    quiet = ("--view", "none", "--time", "0.2")
    assert "expectimax asked" in run(COMMAND, name, "random", "case4", *quiet, cwd=tmp_path).stdout
    assert "intelligent asked" in run(COMMAND, name, "ai", "case4", *quiet, cwd=tmp_path).stdout
    forced = run(
        COMMAND, name, "random", "case4", *quiet, "--ask", "intelligent", cwd=tmp_path
    ).stdout
    assert "intelligent asked" in forced


@pytest.mark.parametrize(("view", "level"), [("terminal", "auto"), ("none", "none")])
def test_an_agent_that_cannot_be_loaded_ends_the_game_with_its_one_message(
    tmp_path: Path, view: str, level: str
) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    options = ("--view", view, "--isolation", level, "--swap")
    done = run(COMMAND, "random", "ai:broken.py", "case4", *options, cwd=tmp_path)
    assert done.returncode == 1
    assert "Player 2 (ai:broken.py) could not be loaded:\n  SyntaxError: invalid" in done.stdout
    assert done.stdout.count("SyntaxError") == 1, "said once, also of two games"
    assert done.stdout.count('broken.py", line 1') == 1
    assert "an agent could not be loaded, so no turn was played" in done.stdout
    assert "Player 1 Score: 0\nPlayer 2 Score: 0\n" in done.stdout
    assert "faults" not in done.stdout
    assert "printed:" not in done.stdout, "the kit's own calls are not shown"


@pytest.mark.slow
def test_an_agents_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = agent(tmp_path, "raise RuntimeError('\\x1b[2Jgone\\r\\x07')")
    for level in ("auto", "none"):
        played = ("--record", "game.json", "--isolation", level)
        done = run(COMMAND, f"ai:{path}", "random", small_start(tmp_path), *played, cwd=tmp_path)
        again = run(COMMAND, "--replay-turn", "game.json:1", "--isolation", level, cwd=tmp_path)
        for output in (done.stdout, again.stdout):
            assert "RuntimeError: " in output
            assert "gone" in output
            assert "\x1b" not in output
            assert "\x07" not in output


def test_scores_are_told_where_the_record_of_a_fault_cannot_be_written(tmp_path: Path) -> None:
    path = agent(tmp_path, "raise RuntimeError('lost\\nPlayer 1 Score: 991')")
    (tmp_path / "connect4-fault.json").mkdir()
    done = run(
        COMMAND, f"ai:{path}", "random", small_start(tmp_path), "--view", "terminal", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "  Player 1 Score: 991\n" in done.stdout, "what an agent raises passes for no score"
    assert len(re.findall(r"^Player 1 Score: \d+\nPlayer 2 Score: \d+$", done.stdout, re.M)) == 1
    assert "note: connect4-fault.json: the record cannot be written" in done.stderr


@pytest.mark.slow
def test_what_an_agent_prints_is_shown_at_the_end_or_written_to_a_file(tmp_path: Path) -> None:
    path = agent(
        tmp_path,
        "print('a\\x1b[2J\\r\\tlooking at', self.player_number)\n"
        "return get_valid_actions(self.player_number, state)[0]",
    )
    command = (COMMAND, "random", f"ai:{path}", "case4", "--view", "none")
    shown = run(*command, cwd=tmp_path).stdout
    assert shown.startswith(f"Player 2 (ai:{path}) printed: (the last 20 ")
    looking = r"a\x1b[2J\r" + "\tlooking at 2\n"  # control characters are escaped
    assert f"  [turn 22]\n  {looking}  [turn 24]\n  {looking}" in shown
    written = run(*command, "--log", "prints.txt", cwd=tmp_path).stdout
    assert "looking" not in written
    assert (tmp_path / "prints.txt").read_text(encoding="utf-8").count(looking) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        ("while True: pass", "timeout", "no answer within 0.1 s (stopped 0."),
        (
            "import os\nos._exit(3)",
            "error",
            "agent.py: its process ended with exit status 3\n  A new AIPlayer is made",
        ),
        ("return 9, False", "invalid", "column 9 is outside 0..1\n  (the answer: 9)"),
        ("return state[0][99, 0], False", "error", "IndexError: index 99 is out of bounds"),
    ],
)
def test_every_lost_turn_gets_the_position_the_record_and_the_command_that_repeats_it(
    tmp_path: Path, body: str, outcome: str, reason: str
) -> None:
    path = agent(tmp_path, body)
    done = run(
        COMMAND, "random", f"ai:{path.name}", small_start(tmp_path), "--time", "0.1", cwd=tmp_path
    )
    begins = re.findall(r"^Player 2 \(ai:agent.py\) .*turn .*:\n  .*", done.stdout, re.M)
    assert len(begins) == 1, "the whole report comes once for each kind of fault"
    report = done.stdout[done.stdout.index(begins[0]) :]
    assert reason in report
    position = report[report.index("The position, as a state file:\n") :].splitlines()[1:4]
    assert position[0] == "0 0 2"
    command = "python3 -m connect4.ConnectFour --replay-turn connect4-fault.json:2"
    assert f"To see why player 2 lost turn 2, play it once more: {command}\n" in report
    document = json.loads((tmp_path / "connect4-fault.json").read_text(encoding="utf-8"))
    assert document["turns"][1]["outcome"] == outcome
    lost = [turn for turn in document["turns"] if turn["outcome"] != "played"]
    assert len(lost) > 1
    assert len(re.findall(r"player 2's turn is lost", done.stdout)) == len(lost)
    assert re.search(r"Player 2 faults: \d+ .* \(the first on turn 2: ", done.stdout)
    again = run(*command.split()[2:], cwd=tmp_path)
    assert again.returncode == 1
    assert f", {outcome} in " in again.stdout, "the recorded turn"
    (tmp_path / "saved.txt").write_text("\n".join(position), encoding="utf-8")
    from_there = run(COMMAND, "random", "random", "saved.txt", "--view", "none", cwd=tmp_path)
    assert from_there.returncode == 0, from_there.stderr


@pytest.mark.parametrize(
    ("detail", "line"),
    [
        ("no traceback\nof anything", "no traceback"),
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n\n'
            "The above exception was the direct cause:\n\nTraceback (most recent call last):\n"
            '  File "a.py", line 2\nRuntimeError: a\nsecond line',
            "RuntimeError: a",
        ),
        (
            "  + Exception Group Traceback (most recent call last):\n  |   File\n"
            "  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---",
            "ExceptionGroup: two (2 sub-exceptions)",
        ),
    ],
)
def test_the_reason_of_a_lost_turn_is_the_line_that_names_the_error(detail: str, line: str) -> None:
    assert headline(detail) == line


def test_lost_turns_are_grouped_by_reason() -> None:
    late = "no answer within 0.5 s (stopped 0.00{} s over the limit)\n{}"
    gone = "without a player: its loading time of 10 s was used up"
    turns = [
        Turn(Outcome.TIMEOUT, detail=late.format(n, n), number=n, player=1) for n in range(1, 7)
    ]
    assert faults_text(turns) == f"6 late (the first on turn 1: {turns[0].detail[:-2]})"
    turns += [Turn(Outcome.ERROR, detail=gone, number=n, player=1) for n in range(7, 62)]
    busy = "the machine was too busy: it got 0.{}5 s of processor in 1.00 s"
    turns += [Turn(Outcome.TIMEOUT, detail=busy.format(n), number=n, player=1) for n in (62, 63)]
    assert faults_text(turns[1:]).startswith("5 late (the first on turn 2: ")
    assert faults_text(turns[6:]) == f"55 {gone}, 2 late (the first on turn 62: {busy.format(62)})"


def test_one_bug_is_one_reason_however_deep_the_search_was() -> None:
    """The calls above the line, and numbers in the message, may differ."""
    frame = '  File "ai.py", line {}, in search\n    x\n'
    library = '  File "connect4/utils.py", line 9, in get_pts\n    y\n'

    def lost(depth: int, line: int, why: str) -> Turn:
        lines = frame.format(7) * depth + frame.format(line) + library
        detail = f"Traceback (most recent call last):\n{lines}{why}"
        return Turn(Outcome.ERROR, detail=detail, number=depth, player=1)

    same = [lost(depth, 5, f"KeyError: {depth}") for depth in (1, 2, 3)]
    assert faults_text(same) == "3 errors (the first on turn 1: KeyError: 1)"
    others = [*same, lost(4, 6, "KeyError: 1"), lost(5, 5, "TypeError: x")]
    assert faults_text(others).count("the first on turn") == 3


def test_the_machine_is_blamed_for_its_turns_alone() -> None:
    turns = [Turn(Outcome.TIMEOUT, starved=n != 2, number=n) for n in (1, 2, 3)]
    assert busy_text(turns).startswith("Turns 1, 3 (2): the machine was too busy to tell")
    assert busy_text(turns[1:2]) == ""


def test_an_illegal_answer_is_not_blamed_on_the_time(tmp_path: Path) -> None:
    path = agent(tmp_path, "return state[0].shape[1], False")
    options = ("--view", "none", "--time", "0.5")
    done = run(COMMAND, f"ai:{path.name}", "random", "case4", *options, cwd=tmp_path)
    answer = "answers 6, which is not valid there; with 5 s a move it does so too"
    assert done.stdout.endswith(f"Player 1 (ai:agent.py), turn 3: a fresh player {answer}.\n")
    again = run(COMMAND, "--replay-turn", "connect4-fault.json:1", "--startup", "9", cwd=tmp_path)
    assert "\nAnswer: 6, invalid in " in again.stdout


KEEPS_A_FLAG = """best = None
while not getattr(self, 'stop', False):
    best = get_valid_actions(self.player_number, state)[0]
    self.stop = True
return best"""


@pytest.mark.slow
def test_a_file_that_needs_a_fresh_player_for_each_turn_is_told(tmp_path: Path) -> None:
    path = agent(tmp_path, KEEPS_A_FLAG)
    command = (COMMAND, f"ai:{path.name}", "random", "case4", "--view", "none")
    done = run(*command, cwd=tmp_path)
    told = (
        "a fresh player answers this position. The file may keep something from its earlier turns, "
        "such as a stop flag, or draw at random. --lifetime move makes a fresh player for each "
        "turn, as the course's simulator did.\n"
    )
    assert done.stdout.endswith(f"Player 1 (ai:agent.py), turn 3: {told}")
    again = run(COMMAND, "--replay-turn", "connect4-fault.json:3", cwd=tmp_path)
    assert "what it kept from earlier turns is missing" in again.stdout
    fresh = run(*command, "--lifetime", "move", cwd=tmp_path)
    assert "faults" not in fresh.stdout
    path = agent(tmp_path, "return None")
    assert "answers this position" not in run(*command, "--time", "1", cwd=tmp_path).stdout


@pytest.mark.slow
def test_a_file_that_keeps_more_time_in_reserve_than_it_has_is_told(tmp_path: Path) -> None:
    path = agent(tmp_path, "if self.limit > 1:\n    return get_valid_actions(1, state)[0]")
    source = path.read_text(encoding="utf-8").replace("):\n", "):\n        self.limit = time\n", 1)
    path.write_text(source, encoding="utf-8")
    command = (COMMAND, f"ai:{path.name}", "random", "case4", "--view", "none", "--time", "1")
    assert run(*command, cwd=tmp_path).stdout.endswith(
        "Player 1 (ai:agent.py), turn 3: with 5 s a move a player answers this position. "
        "1 s is too little for the file; it may keep more than that in reserve.\n"
    )


@pytest.mark.slow
def test_a_turn_without_a_player_says_so_when_it_is_replayed(tmp_path: Path) -> None:
    name = parse_agent(f"ai:{agent(tmp_path, 'raise SystemExit')}", "extended")
    terms = Terms(5.0, 1, "process", limits=Limits(reload_seconds=0.0))
    with Table(EXTENDED, load_start(EXTENDED, "case4"), (name, name), terms) as table:
        list(table.events())
    table.record.save(tmp_path / "game.json")
    done = run(COMMAND, "--replay-turn", "game.json:3", cwd=tmp_path)
    assert "0.000 s: without a player: its loading time of 0 s was used up\n" in done.stdout
    assert "\nIn the game there was no player to ask, so there is no answer to com" in done.stdout


@pytest.mark.slow
def test_a_repeated_turn_takes_the_time_that_the_command_line_gives(tmp_path: Path) -> None:
    path = agent(
        tmp_path,
        "print('asked', flush=True)\ntime.sleep(0.4)\n"
        "return get_valid_actions(self.player_number, state)[0]",
    )
    played = ("--time", "0.1", "--view", "none", "--record", "slow.json")
    run(COMMAND, f"ai:{path}", "random", "case4", *played, cwd=tmp_path)
    late = run(COMMAND, "--replay-turn", "slow.json:1", cwd=tmp_path)
    assert late.returncode == 1
    assert re.search(r"Answer: none, timeout in 0\.\d+ s\nno answer within 0.1 s", late.stdout)
    assert "printed:\n  asked\n" in late.stdout
    longer = run(COMMAND, "--replay-turn", "slow.json:1", "--time", "30", cwd=tmp_path)
    assert longer.returncode == 0, longer.stdout
    assert "Answer: 0, played in 0." in longer.stdout


@pytest.mark.slow
def test_the_winner_is_named_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "even.txt").write_text("0\n0 0\n", encoding="utf-8")
    (tmp_path / "won.txt").write_text("0\n1 0\n1 2\n", encoding="utf-8")
    quiet = ("--view", "none")
    even = run(COMMAND, "random", "random", "even.txt", *quiet, cwd=tmp_path).stdout
    assert even.endswith(f"The game ended: {ENDINGS[Ending.NO_ACTION]}.\nA draw.\n")
    won = run(COMMAND, "random", "random", "won.txt", *quiet, cwd=tmp_path).stdout
    assert won.endswith("Winner: player 1 (random), by 6 points.\n")
    classic = run(COMMAND, "random", "random", "--game", "classic", "--seed", "1", *quiet,
                  cwd=tmp_path).stdout  # fmt: skip
    assert re.search(r"^Winner: player [12] \(random\)\.$", classic, re.M)
    words = ("human", "random", "even.txt", "--swap")
    left = run(COMMAND, *words, cwd=tmp_path, stdin="q\n").stdout
    assert left.endswith("The game ended: a player left.\nNo winner.\n")
    assert left.count("The game ended") == 1, "the second game does not begin"


@pytest.mark.parametrize(
    ("strict", "typed", "own"),
    [
        ((), "4\n", [("3", "played"), ("4", "played")]),
        (("--human-strict",), "", [("3", "played"), ("9", "invalid")]),
    ],
)
def test_a_person_pays_for_an_illegal_move_only_on_request(
    tmp_path: Path, strict: tuple[str, ...], typed: str, own: list[tuple[str, str]]
) -> None:
    done = run(
        COMMAND, "human", "random", "case4", "--seed", "3", "--record", "game.json", *strict,
        cwd=tmp_path, stdin=f"banana\n\n-1\n3\n9\n{typed}q\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Type 3 to drop into column 3; q leaves" in done.stdout, "no pop-out is legal yet"
    assert "'banana' is not a move: type 3 to drop into column 3, 3P to pop out" in done.stdout
    assert "'' is not a move" in done.stdout
    assert "'-1' is not a move" in done.stdout
    assert "column 9 is outside 0..5" in done.stdout
    assert "The game ended: a player left." in done.stdout
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    turns = [turn for turn in document["turns"] if turn["player"] == 1]
    assert [(turn["action"], turn["outcome"]) for turn in turns] == own
    assert document["result"]["ending"] == "left"
    assert not (tmp_path / "connect4-fault.json").exists(), "a person needs no debugging"


@pytest.mark.slow
def test_a_person_is_clocked_only_on_request(tmp_path: Path) -> None:
    for option, outcome in (([], "played"), (["--human-clock"], "timeout")):
        process = subprocess.Popen(
            [sys.executable, "-m", COMMAND, "human", "random", "case4", "--time", "0.1",
             "--record", "game.json", *option],
            cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(),
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        while "q leaves" not in process.stdout.readline():
            pass
        time.sleep(0.3)
        process.stdin.write("3\nq\n")
        process.stdin.flush()
        process.communicate(timeout=30)
        turns = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))["turns"]
        assert turns[0]["outcome"] == outcome


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_game_shows_no_traceback(tmp_path: Path, number: signal.Signals) -> None:
    path = agent(tmp_path, "print('thinking', flush=True)\ntime.sleep(30)")
    process = subprocess.Popen(
        [sys.executable, "-m", COMMAND, f"ai:{path}", "random", "case4", "--record", "game.json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline()
    time.sleep(1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors
    assert process.returncode == 130
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert document["result"]["ending"] == "left"


@pytest.mark.parametrize("module", ["connect4.ConnectFour", "connect4", "grader"])
def test_without_numpy_one_line_says_to_activate_the_environment(module: str) -> None:
    bare = [sys.executable, "-S", "-m", module, "random", "random"]
    done = subprocess.run(
        bare, cwd=ROOT, capture_output=True, text=True, env=environment(), check=False
    )
    assert_refused(done, "has no numpy: activate the kit's environment first (source .venv/bin/")


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("grader", ("check", "--form-only", "numpy.py")),
        ("connect4.ConnectFour", ("random", "random", "--view", "none", "--isolation", "none")),
    ],
)
def test_no_file_in_the_folder_where_a_command_runs_is_taken_for_a_module(
    module: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("numpy", "typing", "argparse", "random", "tabulate"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n1 / 0\n", encoding="utf-8")
    done = run(module, *arguments, cwd=tmp_path)
    assert done.stderr == ""
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_replay_turn_says_why_an_answer_is_not_allowed_and_escapes_what_a_record_has(
    tmp_path: Path,
) -> None:
    path = agent(tmp_path, "return 99, False")
    run(COMMAND, f"ai:{path}", "random", "case4", "--record", "game.json", cwd=tmp_path)
    document = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert document["turns"][0]["outcome"] == "invalid"
    again = run(COMMAND, "--replay-turn", "game.json:1", cwd=tmp_path)
    assert again.returncode == 1
    assert "That is no valid action there: column 99 is outside 0..5." in again.stdout
    document["turns"][0]["action"] = "\x1b[2J"
    (tmp_path / "game.json").write_text(json.dumps(document), encoding="utf-8")
    done = run(COMMAND, "--replay-turn", "game.json:1", cwd=tmp_path)
    assert r"Recorded: \x1b[2J, invalid" in done.stdout
    assert "\x1b" not in done.stdout


def foreign_record(folder: Path, agent: str, game: str) -> None:
    """Write a record in which player 1 is `agent`; somebody else may have made it."""
    document = connect4.play("random", "random", game=game, isolation="none").to_json()
    document["players"][0]["agent"] = agent
    (folder / "game.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.slow
def test_a_record_alone_imports_no_module(tmp_path: Path) -> None:
    """Only a person who names the agent on the command line too has its module loaded."""
    code = "open('ran', 'w').close()\n\ndef first(seen, state):\n    return 0\n"
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    foreign_record(tmp_path, "env:mine:first", "classic")
    replay = ("--replay-turn", "game.json:1")
    assert_refused(run(COMMAND, *replay, cwd=tmp_path), "the record names the agent 'env:mine")
    tree = run("connect4.views.tree", "game.json:1", "-o", "t.html", cwd=tmp_path)
    assert_refused(tree, "searches no tree")
    other = run(COMMAND, "greedy", *replay, cwd=tmp_path)
    assert_refused(
        other, "agent 'greedy' did not play this turn; the record names 'env:mine:first'"
    )
    assert not (tmp_path / "ran").exists()
    done = run(COMMAND, "env:mine:first", *replay, "--isolation", "none", cwd=tmp_path)
    assert "Answer: 0, played" in done.stdout, done.stderr
    assert (tmp_path / "ran").exists()


@pytest.mark.slow
def test_replay_turn_says_when_the_answer_differs_or_cannot_be_compared(tmp_path: Path) -> None:
    path = agent(tmp_path, "self.n = getattr(self, 'n', 0) + 1; return self.n - 1, False")
    played = ("--view", "none", "--record", "game.json")
    run(COMMAND, f"ai:{path}", "random", "case4", *played, cwd=tmp_path)
    first = run(COMMAND, "--replay-turn", "game.json:1", cwd=tmp_path)
    assert "The answer is the recorded one." in first.stdout
    later = run(COMMAND, "--replay-turn", "game.json:3", cwd=tmp_path)
    assert "Recorded: 1, played in " in later.stdout
    assert "Answer: 0, played in " in later.stdout
    assert "differs from the recorded one. The agent was started for this turn" in later.stdout
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    changed = run(COMMAND, "--replay-turn", "game.json:1", cwd=tmp_path)
    assert "The agent's file has changed since the game: this is the answer now." in changed.stdout


@pytest.mark.slow
def test_an_empty_variable_for_the_view_is_none_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    done = subprocess.run(
        [sys.executable, "-m", COMMAND, "random", "random", "case4"],
        cwd=tmp_path,
        env={**environment(), "CONNECT4_VIEW": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Player 1 Score: " in done.stdout


def test_the_console_commands_are_the_modules_commands():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["scripts"]) == {"connect4", "connect4-grader"}
    for place in project["scripts"].values():
        start = f"import {place.split(':')[0]} as module, sys; sys.exit(module.main(['--help']))"
        done = subprocess.run(
            [sys.executable, "-c", start], cwd=ROOT, text=True, capture_output=True, check=True
        )
        assert done.stdout.startswith("usage:")


@pytest.mark.slow
def test_connect4_with_two_agents_plays_a_game(tmp_path):
    arguments = ("random", "random", "case4", "--view", "none", "--seed", "5")
    one, two = (run(module, *arguments, cwd=tmp_path).stdout for module in ("connect4", COMMAND))
    assert "Player 2 Score:" in one
    assert one == two

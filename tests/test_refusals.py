"""What the commands refuse: one line that says what is wrong, and status 2."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from connect4 import record as records
from connect4.games.base import Ending
from connect4.referee import Result
from tests.command import assert_refused, environment, run
from tests.games import agent_file, classic_record
from tests.grading import searcher

GAME = "connect4.ConnectFour"
PAGE = "connect4.views.page"
TREE = "connect4.views.tree"
ANALYSIS = "connect4.analysis"
SERVER = "connect4.server"
CLIENT = "connect4.client"
GRADER = "grader"
PACKAGES = (ANALYSIS, SERVER, GRADER)

USUAL = {TREE: ("-o", "tree.html"), CLIENT: ("--agent", "random")}
"""What stands before the arguments below: of an option, the last one counts."""

FILES = {
    "bad.json": "{}",
    "small.txt": "0\n0 0 0 0\n0 0 0 0\n",
    "over.txt": "0\n1 2\n",
    "word.txt": "six\n0 0\n",
    "odd.txt": "0\n0 0 0\n",
    "ann.py": searcher(),
    "bad.toml": "[match]\ntmie = 1\n",
}

REFUSED = {
    GAME: [
        ("ai", "two agents are needed"),
        ("ai randon case4", "no agent 'randon' (did you mean 'random'?)"),
        ("ai random case1 --debug", "--debug goes with --replay-turn RECORD:N"),
        ("ai random case44.txt", "case44.txt: no such file", "did you mean 'case4.txt'?"),
        ("old/ai.py random", "no agent 'old/ai.py'; for a student's file write 'ai:old/ai.py'"),
        ("ai random --time soon", "'soon' is not a time limit", "seconds above 0"),
        ("ai random --time nan", "'nan' is not a time limit"),
        ("ai random --time 1_0", "'1_0' is not a time limit"),
        ("ai random --time \u0663", "'\u0663' is not a time limit"),
        ("ai random --seed \u0663", "'\u0663' is not a seed"),
        ("ai random --seed x", "'x' is not a seed"),
        ("ai random --isolation week", "isolation 'week': expected none, process"),
        ("ai random --log no/such/prints.txt", "--log no/such/prints.txt: no folder 'no/such'"),
        ("ai random --game extendet", "no game 'extendet' (did you mean 'extended'?)"),
        ("ai random --view none --record no/such/game.json", "no folder"),
        ("ai random --view none --record .", "--record .: that is a folder"),
        ("ai random --tiem 3", "unrecognized arguments: --tiem"),
        ("--replay-turn unborn.json:1", "unborn.json: no turn was played; play the game again"),
        ("--replay-turn nowhere.json:3", "nowhere.json: the record cannot be read"),
        ("--replay-turn nowhere.json:²", "expected RECORD:N"),
        (f"--replay-turn nowhere.json:{'9' * 5000}", "expected RECORD:N"),
        ("--replay-turn game.json:1 --seed 4", "the agent of the turn, not --seed: the record"),
        ("ai random --replay-turn game.json:1", "the agent of the turn, not random: the record"),
        ("--replay-turn game.json:1 --record more.json", "of the turn, not --record: the record"),
        ("--replay-turn game.json:1 --human-strict", "of the turn, not --human-strict: the record"),
        ("random random word.txt", "word.txt:1: ", "'six' is not a number"),
        ("random random odd.txt", "odd.txt:2: ", "the number of columns has to be even"),
        ("random random --game classic --rows 13", "a board of 13 rows by 7 columns", "1 to 12"),
        ("random random --game classic --rows 0", "--rows: '0' is not a whole number above 0"),
        ("random random --game classic --columns x", "--columns: 'x' is not a whole number"),
        ("random random --columns 7", "6 rows by 7 columns", "even number of columns"),
        ("random random case1 --rows 6", "rows and columns are for an empty board"),
        ("random random --game dynamic --rows 6", "starts on 7 rows by 7 columns"),
        ("random random --line 3", "extended has no option 'line'"),
        ("random random --max-turns 9", "extended has no option 'max_turns'"),
        ("random random --game dynamic --line 5", "a line of 5: expected 3 or 4"),
        ("random random --game dynamic d", "d: no such file", "a.txt, b.txt, c.txt, start.txt"),
        ("random random --game dynamik", "(did you mean 'dynamic'?)", "classic-full"),
        ("random solver --game classic --columns 8", "plays on 6 rows by 7 columns, not on 6 by 8"),
        ("ai random --fuel 5X", "fuel '5X': expected a number with K, M, G or T, such as 5G, or"),
        ("ai random --fuel 5G --time 1", "--fuel takes the place of --time"),
        ("ai random --fuel 5G --isolation none", "--fuel requires isolation wasm, not none"),
        ("random remote:h:1:g:white --game dynamic", "is gone: python3 -m connect4.client plays"),
        ("ai random --game dynamic", "'ai' plays classic, classic-full, extended, popout, not"),
    ],
    PAGE: [
        ("bad.json -o x.html", "bad.json: not a record of a game"),
        ("game.json -o no/x.html", "no/x.html: the page cannot be written: No such file or dir"),
    ],
    TREE: [
        ("game.json:4", "agent 'human' searches no tree"),
        ("game.json:6", "game.json:6: the record has turns 1 to 5"),
        ("game.json:0", "game.json:0: the record has turns 1 to 5"),
        ("game.json:5 --game classic", "--game is not for a record"),
        ("game.json:5 --rows 5", "--rows is not for a record"),
        ("none.json:5", "none.json: the record cannot be read: No such file or directory"),
        ("over.txt", "the game is over in that position"),
        ("--rows 99 --game classic", "99"),
        ("--agent random", "agent 'random' searches no tree of MAX and MIN"),
        ("--agent ai:agent.py", "its AIPlayer has no method explain(state); docs/students.md"),
        ("--agent solver --game classic", "agent 'solver' searches no tree of MAX and MIN"),
        # There is no position to search: the place of the page is checked before it is read.
        ("none.txt -o no/tree.html", "-o no/tree.html: no folder 'no'"),
        ("none.txt -o folder", "-o folder: that is a folder; expected the name of a file"),
    ],
    ANALYSIS: [
        ("none.json", "none.json: the record cannot be read: No such file or directory"),
        ("game.json -o no/x.json", "-o no/x.json: no folder 'no'"),
    ],
    SERVER: [
        ("--port x", "argument --port: 'x' is not a port; expected 0 to 65535"),
        ("--stric", "unrecognized arguments: --stric"),
        ("--records .", "--records needs --strict: a relay keeps no board"),
        ("--max-turns 9", "--max-turns needs --strict: a relay keeps no board"),
        ("--strict --records no/where", "--records no/where: No such file or directory"),
        ("--strict --line 9", "a line of 9: expected 3 or 4"),
        ("--host no.such.host.invalid", "no.such.host.invalid port 12345: "),
    ],
    CLIENT: [
        ("h x g white", "argument PORT: 'x' is not a port; expected 0 to 65535"),
        ("h 1 g red", "argument white|black: invalid choice: 'red'"),
        ("h 1 'two words' white", "game 'two words': a game ID is one word"),
        ("h 1 g white --record no/x", "--record no/x: no folder 'no'"),
        ("h 1 g", "the following arguments are required: white|black"),
        ("h 1 g white --agent ai", "agent 'ai' plays classic", "not dynamic"),
    ],
    GRADER: [
        ("grad x", "there is no command 'grad' (did you mean 'grade'?)"),
        ("grade", "the following arguments are required: PATH"),
        ("grade folder", "folder: no submissions there"),
        ("grade nowhere", "nowhere: no such file or folder"),
        ("grade ann.py --jobs 64", "--jobs 64: there are "),
        ("grade ann.py --time 1 --fuel 5G", "--fuel takes the place of --time; give one of them"),
        ("grade ann.py agent.py --quick", "--quick is for one submission, and there are 2"),
        ("grade ann.py --isolation none", "invalid choice: 'none'"),
        ("grade ann.py --max-hours 5", "is gone: --yes plays for more than 100 core-hours"),
        ("grade ann.py --rubric bad.toml", "bad.toml: match.tmie: unknown key"),
        ("grade ann.py --results no/where.db", "no/where.db: cannot be written"),
        ("grade ann.py --results ann.py", "ann.py: no results file of the grader"),
        ("grade ann.py --out small.txt", "small.txt/.trial: cannot be written: File exists"),
        ("tournament ann.py", "ann.py: a tournament needs two submissions that can play"),
        ("report none.db --records", "--records: --out names the folder for them"),
        ("report x.db --gradebook a.csv", "--gradebook: --out names the folder"),
        ("report none.db", "none.db: no results file there"),
        ("report ann.py", "ann.py: no results file of the grader"),
        ("compare human random", "human: only a file or an agent that needs no person"),
        ("compare ann.py odd.txt", "odd.txt: "),
        ("compare random old.py", "old.py: no such file"),
        ("compare greedy random --games 1", "--games 1: expected 2 or more"),
        ("correct ann --results none.db --mark 3", "arguments are required: --reason"),
        ("correct ann --results none.db --reason x", "give one of --adjust, --percent and --mark"),
        ("correct ann --results none.db --reason x --mark -1", "mark -1.0: expected a number from"),
        ("handout a.zip --gradescope --classroom50", "--gradescope, --classroom50: a zip is for"),
        ("handout a.tar", "a.tar: a handout is a zip; name it a.zip"),
        ("similar ann.py", "similar requires at least two submissions with a source"),
        ("similar ann.py --time 3", "is gone: delete it; moves are no longer compared"),
    ],
}  # fmt: skip
"""For each command the arguments, and what the one line says."""

RUN_ALL = """
import contextlib, importlib, io, json, sys
main = importlib.import_module(sys.argv[1]).main
found = []
for arguments in json.load(sys.stdin):
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main(arguments)
        except SystemExit as stop:
            status = stop.code
    found.append([status, output.getvalue(), errors.getvalue()])
print(json.dumps(found))
"""
"""Runs a command with one list of arguments after the other: a process for each takes long."""


def arguments_of(command: str, line: str) -> list[str]:
    return [*USUAL.get(command, ()), *shlex.split(line)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    agent_file(tmp_path, "return 0, False", name="agent.py")
    (tmp_path / "folder").mkdir()
    names = "minimax:depth=2", "human"
    record = classic_record((2, 2, 3, 1, 5), (5, 6), names)
    records.write(record, tmp_path / "game.json")
    record.turns, record.result = [], Result((0, 0), Ending.NOT_LOADED, 2, "SyntaxError")
    records.write(record, tmp_path / "unborn.json")
    return tmp_path


@pytest.mark.parametrize("command", REFUSED)
def test_bad_input_is_one_clear_line(command: str, folder: Path) -> None:
    """Also where bubblewrap is missing, which a game begins by noting."""
    before = sorted(folder.iterdir())
    lines = [arguments_of(command, line) for line, *_ in REFUSED[command]]
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, f"{command}.__main__" if command in PACKAGES else command],
        cwd=folder, env={**environment(), "PATH": str(folder)}, input=json.dumps(lines),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    wrong = []
    for (line, *parts), answer in zip(REFUSED[command], json.loads(done.stdout), strict=True):
        status, output, errors = answer
        said = errors.count("\n") == 1 and all(part in errors for part in parts)
        if (status, output) != (2, "") or not said:
            wrong.append((line[:80], parts, answer))
    assert wrong == []
    after = [path for path in sorted(folder.iterdir()) if path.suffix != ".lock"]
    assert after == before, "nothing was written"


@pytest.mark.parametrize("command", REFUSED)
def test_the_refusal_is_the_commands_exit_status(command: str, folder: Path) -> None:
    line, *parts = REFUSED[command][0]
    assert_refused(run(command, *arguments_of(command, line), cwd=folder), *parts)

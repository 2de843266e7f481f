"""A student debugs one turn: pdb by a pipe, an exception, and what VS Code starts."""

import json
from pathlib import Path

import pytest

from tests.command import ROOT, run

COMMAND = "connect4.ConnectFour"

AGENT = """
class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        column = 2
        {line}
        return column, False

    get_intelligent_move = get_expectimax_move
"""


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    """Return a folder with `mine.py` and the record of a game in which it lost a turn."""
    (tmp_path / "mine.py").write_text(AGENT.format(line="column = None"), encoding="utf-8")
    done = run(COMMAND, "ai:mine.py", "random", "case4", "--view", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def debug(folder: Path, line: str, typed: str = "") -> tuple[int, str]:
    """Write the agent with another line, debug turn 1; return the status and all output."""
    (folder / "mine.py").write_text(AGENT.format(line=line), encoding="utf-8")
    turn = ("--replay-turn", "connect4-fault.json:1", "--debug")
    done = run(COMMAND, *turn, cwd=folder, stdin=typed)
    return done.returncode, done.stdout + done.stderr


def test_pdb_shows_the_source_and_goes_on(lost: Path) -> None:
    status, output = debug(lost, "breakpoint()", "w\np column + 40\nc\n")
    assert status == 0
    assert f"{lost / 'mine.py'}(9)get_expectimax_move()\n-> return column, False" in output
    assert "(Pdb) 42\n" in output
    assert output.endswith("Answer: (2, False)\n")


def test_what_went_wrong_is_named_at_the_end(lost: Path) -> None:
    for line, typed, end in (
        ("raise KeyError(column)", "", "raise KeyError(column)\nKeyError: 2\n"),
        ("raise SystemExit('over')", "", "raise SystemExit('over')\nSystemExit: over\n"),
        ("column = 9", "", "That is no valid action there: column 9 is outside 0..5.\n"),
        ("breakpoint()", "q\n", "-> return column, False\n(Pdb) "),
    ):
        status, output = debug(lost, line, typed)
        assert status == 1
        assert output.endswith(end)
        assert ("line 8, in get_expectimax_move\n" in output) == line.startswith("raise")
    assert "changed the board" in debug(lost, "state[0][0, 0] = 1")[1]


def test_vs_code_starts_commands_that_work(lost: Path) -> None:
    settings = json.loads((ROOT / ".vscode" / "launch.json").read_text(encoding="utf-8"))
    debugged, game = settings["configurations"]
    assert debugged["subProcess"] is game["subProcess"] is False, "agents have their own process"
    arguments = [word.replace("${input:turn}", "1") for word in debugged["args"]]
    done = run(debugged["module"], *arguments, cwd=lost)
    assert "Answer: (None, False)\nThat is no valid action there" in done.stdout
    (lost / "connect4-fault.json").unlink()
    done = run(game["module"], *game["args"], "--time", "0.1", "--view", "none", cwd=lost)
    assert done.returncode == 0, done.stderr
    assert (lost / "connect4-fault.json").exists()

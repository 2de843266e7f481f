"""The rubric: its values, and one clear line for each way in which it can be wrong."""

import json
from pathlib import Path

import pytest

from connect4.errors import InputError
from grader.commands import required_level
from grader.rubric import reading as rubrics


def refusal(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        rubrics.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_the_default_rubric_keeps_to_the_assignment() -> None:
    rubric = rubrics.read()
    assert 5 <= rubric.match.time_limit <= 20
    assert rubric.part_a.opponent.agent == "random"
    assert rubric.part_a.cap_percent == 50
    # against random the simulator asks get_expectimax_move: part B needs others too
    assert sum(step.agent.agent != "random" for step in rubric.part_b.baselines) >= 2
    for board in rubric.part_a.boards:
        assert 8 <= len(board.start["board"]) <= 12
        assert 10 <= len(board.start["board"][0]) <= 12


def test_a_rubric_changes_only_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("1\n0 0\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    text = '[part_a]\npoints = 7\nboards = ["own.txt"]\n'
    path.write_text(text, encoding="utf-8-sig")  # as Notepad and Excel write it
    mine, default = rubrics.read(path), rubrics.read()
    assert mine.part_a.points == 7
    assert [board.start for board in mine.part_a.boards] == [{"popouts": 1, "board": [[0, 0]]}]
    assert mine.part_b == default.part_b
    assert mine.part_a.cap_percent == default.part_a.cap_percent


def stages(*sizes: tuple[int, int]) -> str:
    """Return a tournament with stages of these sizes of groups, and with who is promoted."""
    listed = (
        f"{{name = '{name}', group_size = {size}, promote = {promote}, repeats = 1, "
        "time_limit = 1, boards = ['case4']}"
        for name, (size, promote) in zip("ab", sizes, strict=False)
    )
    return f"[tournament]\nstages = [{', '.join(listed)}]\n"


def baselines(*lines: str) -> str:
    return f"[part_b]\nbaselines = [{', '.join(f'{{{line}, points = 1}}' for line in lines)}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[match]\nsed = 3\n", "match.sed: unknown key (did you mean 'seed'?)"),
        ("[match]\nhidden = ['a.txt']\n", "match.hidden: board 'a.txt' is none of the boards of"),
        ("[match]\nhidden = ['mid8x10']\n", "match.hidden: board 'mid8x10' is the kit's own, so"),
        ("[match]\ntime_limit = 0\n", "match.time_limit: expected a number above 0, got 0"),
        ('[match]\ntime_limit = "5"\n', "match.time_limit: expected a number, got '5'"),
        ("[match]\nrepeats = 1.5\n", "match.repeats: expected a whole number from 1, got 1.5"),
        ("match = 3\n", "match: expected a table, got 3"),
        ("[limits]\nrequire = 'none'\n", "limits.require: 'none'; expected one of process, strong"),
        ("[part_a]\nboards = []\n", "part_a.boards: no board; name at least one"),
        ("[part_a]\nboards = 'case1'\n", "part_a.boards: expected a list, got 'case1'"),
        ("[part_a]\nboards = ['case9']\n", "part_a.boards: case9: no such file"),
        ("[part_a]\nboards = ['case1', 'case1']\n", "part_a.boards: names a board twice; "),
        ("[part_a]\nopponent = 'human'\n", "part_a.opponent: 'human' cannot be a baseline"),
        ("[part_a]\nopponent = 'randon'\n", "part_a.opponent: no agent 'randon' (did you mean"),
        (
            baselines("agent = 'random', low = 2, high = 2"),
            "part_b.baselines[1].high: 2 is not above low, 2",
        ),
        (baselines("agent = 'random', low = 2"), "part_b.baselines[1].high: is missing"),
        (
            baselines(*["agent = 'random', low = 0, high = 1"] * 2),
            "part_b.baselines: two baselines are called 'random'; results tell them by name",
        ),
        ("[part_a]\nname = 'TA'\n", "part_a.name: unknown key; an agent is called as its file is"),
        ("[tournament]\nstages = []\n", "tournament.stages: expected one or more stages"),
        (stages((1, 1)), "tournament.stages[1].group_size: a group has 2 or more, 0 means all"),
        (stages((0, 0), (0, 0)), "tournament.stages[1].promote: nobody would reach the next stage"),
        ("[statistics]\nconfidence = 1.0\n", "statistics.confidence: expected a number below 1"),
        ('[ladder]\npolicy = "worst"\n', "ladder.policy: 'worst'; expected one of best, latest"),
        ('[ladder]\nrungs = ["random"]\n', "ladder.rungs: expected two or more agents"),
        ("[match]\nfuel = 5e9\ntime_limit = 3", "match.fuel takes the place of match.time_limit"),
        ("[match]\nfuel = 7", "match.fuel: fuel 7: expected 1M to 1000T"),
        ("[match]\nfuel = true", "match.fuel: fuel 'True': expected a number with K"),
        ("[match\n", "the rubric is not a TOML file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_agents_and_boards_lie_beside_the_rubric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command is given; what a student sees of the agent is no path."""
    (tmp_path / "course" / "ta").mkdir(parents=True)
    (tmp_path / "course" / "own.txt").write_text("1\n0 0\n", encoding="utf-8")
    (tmp_path / "course" / "ta" / "strong.py").write_text("x = 1\n", encoding="utf-8")
    path = tmp_path / "course" / "mine.toml"
    path.write_text(
        "[part_a]\nopponent = 'ai:ta/strong.py'\nboards = ['own.txt']\n"
        "[part_b]\nbaselines = [{agent = 'ai:ta/strong.py,nodes=5', points = 1, low = 0, "
        "high = 1}]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    rubric = rubrics.read(path)
    assert rubric.part_a.opponent.agent == f"ai:{tmp_path}/course/ta/strong.py"
    assert rubric.part_a.opponent.name == "ai:strong.py"
    assert [step.agent.name for step in rubric.part_b.baselines] == ["ai:strong.py,nodes=5"]
    stored = json.loads(json.dumps(rubrics.stored_values(rubric)))
    (tmp_path / "course" / "ta" / "strong.py").unlink()
    assert rubrics.from_stored(stored, "results").part_b == rubric.part_b


def test_less_isolation_than_a_rubric_requires_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[limits]\nrequire = 'strong'\n", encoding="utf-8")
    assert required_level("process", rubrics.read())[0] == "process"
    with pytest.raises(InputError) as caught:
        required_level("process", rubrics.read(path))
    said = f"isolation process: {path} requires strong ([limits] require)"
    assert str(caught.value) == said


def test_part_a_requires_a_board_that_is_not_hidden(tmp_path: Path) -> None:
    """Its margin is in percent of the opponent's points there."""
    (tmp_path / "secret.txt").write_text("0\n0 0 0 0\n0 0 0 0\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    hidden = '[match]\nhidden = ["secret.txt"]\n[part_a]\nboards = ["secret.txt"{}]\n'
    path.write_text(hidden.format(""), encoding="utf-8")
    with pytest.raises(InputError, match=r"match\.hidden: every board of part A is hidden"):
        rubrics.read(path)
    path.write_text(hidden.format(', "mid8x10"'), encoding="utf-8")
    assert [board.hidden for board in rubrics.read(path).part_a.boards] == [1, 0]

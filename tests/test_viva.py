"""The page for a talk with an author: positions of the student's own games, and the key."""

from pathlib import Path

import pytest

from connect4 import record as records
from grader.commands.viva import analysed, questions, viva_page, worths
from tests.command import assert_refused, run


def game(tmp_path: Path) -> str:
    """Return the record of a game on few cells, so that every value is exact."""
    start = tmp_path / "small.txt"
    start.write_text("1\n0 0 0 0\n0 1 2 0\n1 2 1 2\n", encoding="utf-8")
    words = ["greedy", "random", "small.txt", "--seed", "3", "--view", "none", "--record", "g.json"]
    assert run("connect4.ConnectFour", *words, cwd=tmp_path).returncode == 0
    return (tmp_path / "g.json").read_text(encoding="utf-8")


def test_the_key_is_exact_where_few_cells_are_left(tmp_path: Path) -> None:
    text = game(tmp_path)
    played = analysed(1, "A: random, small", text, 1, 0)
    record = records.loads(text)
    turn = record.turns[-1] if record.turns[-1].player == 1 else record.turns[-2]
    state = played.states[turn.number - 1]
    found = {worth.move: worth.value for worth in worths(played, turn)}

    def best(after) -> float:
        if after.is_over():
            return after.margin(1)
        values = [best(after.apply(action)) for action in after.legal_actions()]
        return max(values) if after.mover == 1 else min(values)

    write = record.game.format_action
    expected = {write(action): best(state.apply(action)) for action in state.legal_actions()}
    assert found == expected


def test_the_page_asks_first_and_answers_on_a_second_sheet(tmp_path: Path) -> None:
    asked = questions([analysed(7, "A: random, small", game(tmp_path), 1, 0)])
    assert 1 <= len(asked) <= 5
    assert len({item.turn.number for item in asked}) == len(asked)
    page = viva_page("<ann>", asked, lambda item: f"3 4 {item.turn.number}")
    sheet, key = page.split('<h2 class="sheet">Key</h2>')
    assert "&lt;ann&gt;" in sheet
    assert "Game 7 (A: random, small), turn" in sheet
    assert "Its method explain: 3 4" not in sheet
    assert key.count("Its method explain: 3 4") == len(asked)


@pytest.mark.slow
def test_the_command_writes_a_page_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(
        '[match]\ntime_limit = 0.2\n[part_a]\nboards = ["case4"]\n[part_b]\nbaselines = []\n',
        encoding="utf-8",
    )
    (tmp_path / "class").mkdir()
    stub = (Path(__file__).parents[1] / "grader" / "handout" / "ai_stub.py").read_text()
    for name in ("ann", "bob"):
        (tmp_path / "class" / f"{name}.py").write_text(f"{stub}\n# {name}\n", encoding="utf-8")
    words = ["grade", "class", "--rubric", "rubric.toml", "--results", "g.db", "--out", "out"]
    assert run("grader", *words, cwd=tmp_path, seconds=200).returncode == 0
    page = tmp_path / "talks" / "ann.html"
    words = ["viva", "ann", "--results", "g.db", "-o", str(page)]
    done = run("grader", *words, cwd=tmp_path, seconds=200, status=0)
    assert page.stat().st_mode & 0o777 == 0o600
    assert "has no method explain(state)" in page.read_text(encoding="utf-8")
    done = run("grader", "viva", "eve", "--results", "g.db", "-o", "eve.html", cwd=tmp_path)
    assert_refused(done, "g.db: 'eve' is not in it; ann; bob (2 in all) are")
    done = run("grader", "viva", "ann", "--results", "g.db", "-o", "out/ann.html", cwd=tmp_path)
    assert_refused(done, "holds class.html, so students may see it; choose another folder")

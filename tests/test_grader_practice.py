"""The command `practice`: positions with a known answer, and what the answers suggest."""

import inspect
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import grader
from connect4 import config
from connect4.errors import IllegalAction, InputError
from connect4.games.extended import EXTENDED, ExtendedState
from connect4.isolation.sandbox import Limits
from connect4.isolation.seat import choose_level
from connect4.players.base import Outcome, Setup, Turn
from connect4.players.registry import build, parse_agent
from grader.commands import practice as command
from grader.handin.positions import METHOD_OF
from grader.playground.practice import AGAIN
from grader.solved import (
    REGRET,
    Answer,
    Practice,
    Solved,
    ask,
    in_order,
    known_positions,
    read,
    state_of,
    text_of,
)
from grader.solved.questions import questions
from grader.solved.report import PROGRESS, SKILLS, descriptions, difference, lines, page
from tests.browser import PHONE, WIDE, Browser
from tests.command import assert_refused, environment, run
from tests.test_api_facade import failures_of
from tests.test_first_agent import CODE
from tests.test_web import violations

POSITIONS = read()

ASKED = [solved for solved in in_order(POSITIONS) if solved.kind != REGRET]
"""What the questions are about."""


# -- the positions


def test_each_skill_has_positions_for_both_players_and_a_name() -> None:
    skills = [solved for solved in POSITIONS if solved.is_skill]
    assert {(solved.part, solved.kind) for solved in skills} == set(SKILLS)
    for part, kind in SKILLS:
        movers = [one.state.mover for one in skills if (one.part, one.kind) == (part, kind)]
        assert abs(movers.count(1) - movers.count(2)) <= 1, kind


def test_a_position_is_the_twin_of_its_twin() -> None:
    for solved in POSITIONS:
        twin = solved.twin()
        assert twin.twin().state.key() == solved.state.key()
        last = solved.state.grid.columns - 1
        for column, popout in solved.state.legal_actions():
            after = solved.state.apply((column, popout))
            mirrored = twin.state.apply((last - column, popout))
            assert mirrored.margin(twin.state.mover) == after.margin(solved.state.mover)
        assert state_of(text_of(solved.state)).key() == solved.state.key()


@pytest.mark.parametrize("part", METHOD_OF)
def test_values_are_those_of_a_plain_search_to_the_end(part: str) -> None:
    @cache
    def value(state: ExtendedState, player: int) -> float:
        actions = state.legal_actions()
        if not actions:
            return state.margin(player)
        values = [value(state.apply(action), player) for action in actions]
        if state.mover == player:
            return max(values)
        return min(values) if part == "b" else sum(values) / len(values)

    due = [one for one in POSITIONS if (one.part, one.kind) == (part, REGRET)]
    for solved in sorted(due, key=lambda one: one.state.max_plies)[:6]:
        after = (solved.state.apply(action) for action in solved.state.legal_actions())
        found = [value(state, solved.state.mover) for state in after]
        assert found == pytest.approx(solved.values, abs=0.01)


# -- questions


def answers_of(agent: str, positions: Sequence[Solved] = ASKED) -> list[Answer]:
    """Return the answers of an agent in this process."""
    agents, found = {}, []
    for solved in positions:
        state, method = solved.state, METHOD_OF[solved.part]
        if (state.mover, method) not in agents:
            setup = Setup(parse_agent(agent), state.mover, EXTENDED, 1, 1, method)
            agents[state.mover, method] = build(setup)
        try:
            action = agents[state.mover, method].choose(state, 60)
            state.apply(action)
            turn = Turn(Outcome.PLAYED, action)
        except IllegalAction as error:
            turn = Turn(Outcome.INVALID, detail=str(error))
        found.append(Answer(solved, turn))
    return found


LANDS = "np.count_nonzero(board[:, column] == 0) - 1"
MARGIN = "get_pts(me, board) - get_pts(opponent, board)"
SIDES = "me, opponent = self.player_number, 3 - self.player_number"
STAYS = "        board[1:, column] = board[:-1, column].copy()\n        board[0,"
VALID = "get_valid_actions(me, state)"
ORDER = "(values[action], -abs(action[0] - middle))"
DROPS = f"in ([a for a in {VALID} if not a[1]] or {VALID})"

BUGS = {
    "sign": (MARGIN, f"-({MARGIN})", "Prefers"),
    "own": (MARGIN, "get_pts(me, board)", "Counts its own points alone"),
    "top": (LANDS, "0", "Drops as if a token stayed in the top cell"),
    "stays": (STAYS, "        board[-1,", "Pops out as if the tokens above"),
    "one": (SIDES, "me, opponent = 1, 2", "Plays for player 1"),
    "drops": (f"in {VALID}", DROPS, "Never pops out"),
    "first": (
        "(values[action], -abs(action[0] - middle))",
        "0",
        "get_expectimax_move answers the first",
    ),
    "shared": ("state[0].copy(), {", "state[0], {", "get_expectimax_move answers the last"),
    "seven": (f"in {VALID}", f"in [a for a in {VALID} if a[0] < 7]", "Plays in no column after"),
    "last": (
        f"in {VALID}",
        f"in ([a for a in {VALID} if a[0] < state[0].shape[1] - 1] or {VALID})",
        "Never plays the last column",
    ),
}
"""What is replaced in the first agent, and the beginning of the question."""


@pytest.mark.parametrize("bug", BUGS)
def test_a_typical_mistake_is_asked_about(bug: str, tmp_path: Path) -> None:
    old, new, question = BUGS[bug]
    assert old in CODE
    source = CODE.replace(old, new)
    if bug == "one":  # it still asks for its own actions
        source = source.replace(VALID, "get_valid_actions(self.player_number, state)")
    (tmp_path / "ai.py").write_text(source, encoding="utf-8")
    found = questions(answers_of(f"ai:{tmp_path / 'ai.py'}"))
    assert found[0].text.startswith(question)
    assert not found[0].evidence.is_right


DEEP = """
    def get_intelligent_move(self, state):
        return self.search(self.player_number, state, 3)[1]

    get_expectimax_move = get_intelligent_move

    def search(self, player, state, depth):
        me, opponent = self.player_number, 3 - self.player_number
        actions = get_valid_actions(player, state)
        if not depth or not actions:
            return get_pts(me, state[0]) - get_pts(opponent, state[0]), None
        tried = [(after(player, state, action), action) for action in actions]
        worths = [-self.search(3 - player, new, depth - 1)[0] for new, _ in tried]
        best = max(range(len(tried)), key=worths.__getitem__)
        return worths[best], tried[best][1]
"""


@pytest.mark.slow
def test_a_sign_that_is_wrong_where_the_search_stops_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "ai.py").write_text(CODE + DEEP, encoding="utf-8")
    (question,) = questions(answers_of(f"ai:{tmp_path / 'ai.py'}"))
    assert question.text.startswith("Takes no four and blocks none")


@pytest.mark.parametrize(
    ("agent", "described"),
    [
        ("greedy", ["get_intelligent_move looks one move ahead: it sees no reply"]),
        ("minimax:depth=2", ["get_expectimax_move fears"]),
        ("expectimax:depth=3", []),
        ("mcts:iterations=100", None),
        ("random", []),
    ],
)
def test_an_agent_without_a_mistake_is_asked_nothing(
    agent: str, described: list[str] | None
) -> None:
    answers = answers_of(agent)
    assert questions(answers) == []
    if described is not None:
        found = descriptions(answers)
        assert len(found) == len(described)
        assert all(map(str.startswith, found, described))


# -- the command

NOISY = """
from connect4.utils import get_valid_actions

CALLS = []

class AIPlayer:
    def __init__(self, player_number, time):
        self.number = player_number

    def get_expectimax_move(self, state):
        print("a secret of mine")
        CALLS.append(1)
        if len(CALLS) > 1:
            raise RuntimeError("this player has moved before")
        return get_valid_actions(self.number, state)[0]

    def get_intelligent_move(self, state):
        return {"no": "key"}[self.number] if state[0].sum() % 2 else self.get_expectimax_move(state)
"""


@pytest.mark.slow
def test_faults_are_told_with_their_position_and_prints_are_not(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    words = ("practice", "noisy.py", "--seconds", "12", "--time", "0.5", "--page", "page.html")
    done = run("grader", *words, cwd=tmp_path, status=0)
    assert re.search(
        r"^noisy\.py: [\d,]+ of [\d,]+ positions, with 0\.5 s a move$", done.stdout, re.M
    )
    line = NOISY[: NOISY.index('"no"')].count("\n") + 1
    fault = rf'without a valid action: error, KeyError: [12] \(File "noisy.py", line {line}\)$'
    assert re.search(rf"^  \d+ {fault}", done.stdout, re.M)
    assert "secret" not in done.stdout + done.stderr
    assert "moved before" not in done.stdout  # each position has a new player
    assert "A question: get_expectimax_move answers the first valid action" in done.stdout
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert shown.count("<figure") >= 10


NOTHING = NOISY.replace("return", "None #")


def test_of_a_file_that_answers_nothing_only_the_fault_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(NOTHING, encoding="utf-8")
    done = run("grader", "practice", "mine.py", "--seconds", "2", cwd=tmp_path, status=0)
    assert "without a valid action: invalid, an action is a tuple" in done.stdout
    assert "It has to answer first: python3 -m grader check mine.py" in done.stdout
    assert "takes a four" not in done.stdout
    assert "given away" not in done.stdout


@pytest.mark.slow
def test_a_folder_has_a_line_for_each_file_and_the_skills_that_most_lack(tmp_path: Path) -> None:
    for name in ("ann", "bo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "ai.py").write_text(NOISY, encoding="utf-8")
    (tmp_path / "class" / "cy").mkdir()
    (tmp_path / "class" / "cy" / "ai.py").write_text("1 / 0", encoding="utf-8")
    done = run("grader", "practice", "class", "--seconds", "6", cwd=tmp_path, status=0)
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "ann",
        "bo",
        "cy",
        "What most of 2 that answer lack",
    ]
    assert "without a valid action" in lines[0]
    assert "ZeroDivisionError" in lines[2]


def test_what_cannot_be_asked_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("# mine\nb take_row 4 4 0 0 1 1/2/1/2 4\n", encoding="utf-8")
    for words, said in (
        (("missing.py",), "missing.py"),
        (("gredy",), "did you mean 'greedy'"),
        (("human",), "only a file or an agent that needs no person"),
        (("random", "--positions", "more.txt"), "more.txt:2: expected PART KIND"),
        (("random", "--against", "greedy", "--page", "page.html"), "--page shows"),
        (("random", "--against", "human"), "only a file or an agent that needs no person"),
    ):
        assert_refused(run("grader", "practice", *words, cwd=tmp_path), said)


def test_other_points_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "win_pts", [0, 0, 1, 5, 20])
    with pytest.raises(InputError, match=r"win_pts is .*; the answers of the positions hold for"):
        known_positions(None)


def practised(agent: str, positions: list[Solved]) -> Practice:
    level, _ = choose_level("auto")
    setup = Setup(parse_agent(agent), 1, EXTENDED, 5, 1)
    answers = tuple(ask(setup, level, Limits(), positions, 100))
    assert len(answers) == len(positions)
    return Practice(agent, 5, tuple(positions), answers)


def test_two_agents_are_compared_in_the_same_positions() -> None:
    due = [one for one in in_order(POSITIONS) if one.kind == REGRET][:40]
    two, one = practised("minimax:depth=2", due), practised("greedy", due)
    assert two.points_won(two, "b").value == 0
    won = two.points_won(one, "b")
    assert won.value == pytest.approx(one.points_lost("b").value - two.points_lost("b").value)
    answers = answers_of("greedy"), answers_of("minimax:depth=2")
    old, new = (
        Practice(name, 5, tuple(ASKED), tuple(own)) for name, own in zip("ab", answers, strict=True)
    )
    assert "part B: blocks a four: 0 of 10 right before, 10 of 10 now" in difference(new, old)
    part_a, part_b = difference(two, one)
    assert re.fullmatch(
        r"part B: \d\.\d\d ± \d\.\d\d points a move (better|worse) than greedy "
        rf"\({won.count} positions(; that may be chance)?\)",
        part_b,
    )
    assert part_a.startswith("part A: ")


def test_the_page_escapes_what_an_agent_says() -> None:
    turn = Turn(Outcome.ERROR, detail="ValueError: </script><b>")
    answers = tuple(Answer(solved, turn) for solved in ASKED[:3])
    shown = page(Practice("<i>", 1, tuple(ASKED), answers))
    assert "<b>" not in shown
    assert "&lt;i&gt;" in shown


@pytest.mark.browser
@pytest.mark.web
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_page_opens_the_skills_that_a_file_lacks(
    size: tuple[int, int], browser: Browser, tmp_path: Path
) -> None:
    positions = [*ASKED, *(one for one in POSITIONS if one.kind == REGRET)][:200]
    file = tmp_path / "practice.html"
    answers = tuple(answers_of("greedy", positions))
    file.write_text(page(Practice("greedy", 1, tuple(positions), answers)), encoding="utf-8")
    browser.open(file, "", size)
    is_open = {
        one.find_element("css selector", "summary").text: one.get_attribute("open") is not None
        for one in browser.find_all("details")
    }
    assert is_open["Part B: blocks a four: 0 of 10 right, 2 more with players exchanged"]
    assert not is_open["Part B: takes a four in a row: 8 of 8 right, 2 more with players exchanged"]
    assert len(browser.find_all("table")) == 2
    assert browser.run("return document.documentElement.scrollWidth") <= size[0]
    assert violations(browser) == []
    browser.assert_quiet()


@pytest.mark.slow
def test_the_example_runs_without_a_word(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = inspect.getdoc(grader.practice) or ""
    assert failures_of(text, "practice", dict(vars(command))) == ""
    assert capfd.readouterr() == ("", "")


# -- the playground

PLAYGROUND = """
def ask():  # its own names: those of the module go before the file is asked
    import json, sys
    from grader.playground import practice
    from grader.playground.agent import handle
    from grader.playground.referee import Referee
    practice.SECONDS = 1000  # however busy this machine is
    referee = Referee(print)
    def said(kind, **data):
        return json.loads(referee.handle(kind, json.dumps(data)))
    step = said("practice", source=sys.stdin.read())
    while "setup" in step:
        loaded = handle("load", json.dumps({"setup": step["setup"]}), print)
        ready = loaded.startswith('{"ready"')
        line = handle("turn", json.dumps(step["request"]), print) if ready else None
        step = said("position", loaded=loaded, line=line, seconds=0)
    print(json.dumps({**step, **said("practised")}))

ask()
"""


def asked_in_the_playground(source: str) -> dict[str, str]:
    """Return what the playground says of a file, by its two sides without a browser."""
    done = subprocess.run(
        [sys.executable, "-c", PLAYGROUND],
        input=source,
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("bug", ["sign", "shared"])
def test_the_playground_says_what_the_command_says(bug: str, tmp_path: Path) -> None:
    old, new, question = BUGS[bug]
    source = CODE.replace(old, new)
    (tmp_path / "ai.py").write_text(source, encoding="utf-8")
    positions = in_order(POSITIONS)
    answers = answers_of(f"ai:{tmp_path / 'ai.py'}", positions)
    due = "\n".join(lines(Practice("ai.py", 0.2, tuple(positions), tuple(answers))))
    found = asked_in_the_playground(source)
    assert ("\nThe file changed the board it was given: " in found["text"]) is (bug == "shared")
    said = re.sub("\nThe file changed .*", "", found["text"])  # which `answers_of` does not look at
    first, remark, *others = said.splitlines()
    assert [first, *others] == due.replace(PROGRESS, AGAIN).splitlines(), "it has no commands"
    assert f"A question: {question}" in found["text"]
    assert "three times slower" in remark
    assert found["page"].count("<figure") > len(ASKED)


def test_the_playground_tells_faults_and_a_file_that_cannot_be_loaded() -> None:
    found = asked_in_the_playground(NOISY)
    assert "without a valid action: error, KeyError: 1" in found["text"]
    assert 'File "ai.py", line 18' in found["fault"]
    assert "moved before" not in found["text"]
    assert asked_in_the_playground("1 / 0") == {
        "wrong": "ai.py: cannot be loaded: ZeroDivisionError: division by zero"
    }

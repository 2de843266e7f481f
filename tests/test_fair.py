"""Nobody innocent is convicted, and what a student gets says nothing secret."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from connect4 import record as records
from grader.handin import Submission
from grader.handin.worker import death
from grader.marks.tournament import stages, unlikely
from grader.output.pages import public_replay, replay_text
from grader.output.results import read_results
from grader.output.tables import grades_csv, tournament_text
from grader.play.one_game import as_seen_by, play_game, replay_data, submitted_players
from grader.play.schedule import Contestant, grade_games, submitted
from grader.play.trials import STAND_IN
from grader.results import Faults, PlayedGame
from grader.results.store import Store
from grader.rubric import reading as rubrics
from tests.command import ROOT, environment
from tests.grading import SEED, rubric, searcher
from tests.marked import agent, grade_without_playing, grader, rows, write_class

LOST = Faults(timeouts=0, invalid=5, errors=10)


def test_a_hidden_board_shows_a_margin_and_no_lost_turns(tmp_path: Path) -> None:
    """A program chooses what it loses: 5 invalid and 10 errors told a board of 5x10."""
    (tmp_path / "secret.txt").write_text("0\n0 0 0 0 0 0\n0 0 0 0 0 0\n", encoding="utf-8")
    path = tmp_path / "rubric.toml"
    write_class(tmp_path / "class", {"ann.py": agent(50), "bo.py": agent(20)})
    rubric(tmp_path, match='hidden = ["secret.txt"]\n')
    text = path.read_text(encoding="utf-8").replace('["tiny.txt"]', '["tiny.txt", "secret.txt"]', 1)
    path.write_text(text, encoding="utf-8")
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db", hidden_lost=LOST)
    sheet = "Identifier,Full name,Grade,Feedback comments,Last modified (grade)\n"
    sheet += "Participant 1,ann,,,-\nParticipant 2,bo,,,-\n"
    (tmp_path / "sheet.csv").write_text(sheet, encoding="utf-8")
    done = grader(
        "report", "marks.db", "--out", "out", "--gradebook", "sheet.csv", "--details", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nsubmission ") == 1
    out = tmp_path / "out"
    assert rows(out / "grades.csv")[0]["Invalid"] == "10"  # the teacher's
    shown = [path for path in out.rglob("*") if path.is_file()]
    for path in shown:
        if path.name not in ("grades.csv", "class.html"):
            told = path.read_text(encoding="utf-8-sig")
            told = told[told.find("</style>") :] if path.suffix == ".html" else told
            assert "5 invalid" not in told and "10 invalid" not in told, path
            assert "20 errors" not in told and "10 errors" not in told, path
    assert "invalid" not in done.stdout


def test_a_hidden_board_shows_no_lost_turns_in_a_tournament_either(tmp_path: Path) -> None:
    """Its standings are on the projector; the boards of its stages may be those of part A."""
    (tmp_path / "secret.txt").write_text("0\n0 0 0 0 0 0\n0 0 0 0 0 0\n", encoding="utf-8")
    path = rubric(tmp_path, match='hidden = ["secret.txt"]\n')
    text = path.read_text(encoding="utf-8").replace('["tiny.txt"]', '["tiny.txt", "secret.txt"]')
    path.write_text(text, encoding="utf-8")
    rules, two = rubrics.read(path), [submitted("ann", "1" * 64), submitted("bo", "2" * 64)]
    (group,) = stages(two, {}, rules)[0].groups
    assert {game.board.hidden for game in group.games} == {0, 1}
    played = {}
    for game in group.games:
        lost = LOST if game.board.hidden else Faults(timeouts=3)
        played[game.key] = PlayedGame((9, 5), "no_action", 8, (lost, Faults()))
    told = tournament_text(stages(two, played, rules)[:1], [], rules)
    assert "3 timeouts" in told
    assert "invalid" not in told and "error" not in told


def test_a_public_page_has_no_answer_of_a_lost_turn(tmp_path: Path) -> None:
    """An answer that is no move is a number of the author's choice."""
    own = Submission("ann", "", STAND_IN.replace(b"get_valid_actions(self.", b"7269, (self."))
    (game, *_) = grade_games([submitted("ann", str(own.sha256))], rubrics.read(rubric(tmp_path)))
    with Store(tmp_path / "r.db", writing=True) as store:
        store.set_submissions([own])
        store.add(play_game(*game.job("process", store)))
        whole, shown = (
            json.loads(str(replay_text(store, game.key, ("ann", "bo")))),
            public_replay(store, game.key, ("ann", "bo")),
        )
    assert "7269" in json.dumps(whole)
    assert "7269" not in json.dumps(shown)
    assert shown["details"] == ["not a valid move"]
    assert [turn[2] for turn in shown["turns"]] == [turn[2] for turn in whole["turns"]]


SECRET = "def helper():\n    raise RuntimeError('the key is 4711')\n"


@pytest.mark.slow
def test_a_student_sees_the_details_of_the_own_seat_alone(tmp_path: Path) -> None:
    """The rubric's agent raises: its source lines are on no page and in no published record."""
    opponent = tmp_path / "opponent.py"
    method = "    def get_intelligent_move(self, state):\n        print('4711')\n        helper()\n"
    opponent.write_text(
        f"{SECRET}class AIPlayer:\n    def __init__(self, n, time):\n        pass\n{method}"
        "    get_expectimax_move = get_intelligent_move\n", encoding="utf-8"
    )  # fmt: skip
    digest = hashlib.sha256(opponent.read_bytes()).hexdigest()
    rules = rubrics.read(rubric(tmp_path))
    game = grade_games([submitted("ann", "1" * 64)], rules)[0]
    against = replace(game.match, two=Contestant("TA", f"ai:{opponent}", digest, "TA"))
    game = replace(game, match=against, side=1, seed=SEED, time_limit=5.0)
    attempt = play_game(game, "process", (searcher().encode(), None))
    assert attempt.fault is None, attempt.traceback
    whole = json.dumps(attempt.record)
    assert "4711" in whole and "opponent.py" in whole
    record = records.loads(whole)
    assert submitted_players(record) == [1]
    for text in (replay_data(record), json.dumps(as_seen_by(record, [1]).to_json()["turns"])):
        assert "4711" not in text and "opponent.py" not in text
        assert "RuntimeError" in text
    assert "4711" in json.dumps(as_seen_by(record, [2]).to_json()["turns"])


def test_names_and_remarks_are_no_formulas_in_any_file(tmp_path: Path) -> None:
    names = ("=cmd()", "@SUM(1)", "+1-2", "-5+x")
    write_class(tmp_path / "class", {f"{name}.py": agent(20 + n) for n, name in enumerate(names)})
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    roster = "name,adjust,reason,section\n=cmd(),1,@late,-x\n@Z,0,,\n"
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    words = ("report", "marks.db", "--out", "out", "--records", "--feedback-zip", "out/pages.zip")
    assert grader(*words, cwd=tmp_path).returncode == 0
    assert grader(*words, "--roster", "roster.csv", cwd=tmp_path).returncode == 0
    files = sorted(path.name for path in (tmp_path / "out").rglob("*.csv"))
    assert files == ["changes.csv", "grades.csv", "index.csv", "pages.csv", "unmatched.csv"]
    for path in (tmp_path / "out").rglob("*.csv"):
        for row in rows(path):
            for text in row.values():
                assert not text.startswith(("=", "@", "+", "-")) or text[1:].isdigit(), (path, row)


def test_a_mark_walks_through_few_functions_from_the_results_file_to_the_gradebook(
    tmp_path: Path,
) -> None:
    """So that whoever has to explain one mark can read all of them in an hour."""
    write_class(tmp_path / "class", {"ann.py": agent(20)})
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    walked = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if event == "call" and path.is_relative_to(ROOT) and not code.co_name.startswith("<"):
            walked.add((path.relative_to(ROOT), code.co_qualname))

    with Store(tmp_path / "marks.db", writing=False) as store:
        sys.setprofile(look)
        try:
            text = grades_csv(read_results(store).marks)
        finally:
            sys.setprofile(None)
    assert ",26.00," in text
    own = {(path, name) for path, name in walked if path.parts[0] in ("connect4", "grader")}
    assert len(own) <= 167, sorted(map(str, own))
    assert len({path for path, _ in own}) <= 23


def test_a_namesake_who_joins_the_class_changes_nobody_elses_mark(tmp_path: Path) -> None:
    for count in (1, 2):
        files = {f"Kim Lee_{n}_assignsubmission_file_/ai.py": agent(10 + n) for n in (1, 2)[:count]}
        write_class(tmp_path / "class", files)
        grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
        done = grader("report", "marks.db", "--out", "out", cwd=tmp_path)
        assert ("1 mark differs" in done.stderr) == (count == 2), done.stderr
    (row,) = rows(tmp_path / "out" / "changes.csv")
    assert (row["Name"], row["Why"]) == ("Kim Lee (participant 2)", "new in the class")


@pytest.mark.parametrize(
    ("status", "memory", "by_itself"),
    [
        (-9, True, True), (-11, False, True), (-6, False, True), (1, False, True),
        (-9, False, False), (-15, True, False), (-1, False, False), (None, True, False),
    ],
)  # fmt: skip
def test_a_worker_that_somebody_kills_proves_nothing(
    status: int | None, memory: bool, by_itself: bool
) -> None:
    assert death(status, memory).by_itself is by_itself


def simulated(seed: int, thrown: float = 0.0) -> list[tuple[int, int, float]]:
    """Return a class of twelve on three boards; player 7 throws its games against player 2."""
    draw = np.random.default_rng(seed)
    strength = draw.normal(0, 60, 12)
    found = []
    for one in range(12):
        for two in range(one + 1, 12):
            meets = strength[one] - strength[two] + draw.normal(0, 15)
            meets += thrown * ((one, two) == (2, 7))
            found += [(one, two, meets + draw.normal(0, 30)) for _ in range(3)]
    return found


def test_friends_who_throw_games_are_listed_and_honest_classes_hardly_ever() -> None:
    listed = [unlikely(simulated(seed), range(12)) for seed in range(100)]
    assert sum(map(bool, listed)) <= 10
    caught = [unlikely(simulated(seed, 200.0), range(12)) for seed in range(100)]
    assert sum(bool(found) and (found[0].one, found[0].two) == (2, 7) for found in caught) >= 95
    (first, *_) = unlikely(simulated(1, 200.0), range(12))
    assert first.games == 6
    assert first.margin - first.expected > 100
    assert unlikely(simulated(1, 200.0), range(7)) == []  # player 7 is a rung, say
    few = [pair for pair in simulated(1, 200.0) if 2 not in pair[:2] or 7 in pair[:2]]
    assert unlikely(few, range(12)) == []  # player 2 has played 6 games


OTHER_POINTS = """
from connect4 import config
config.win_pts[:] = [0, 0, 1, 3, 9]
import sys
from grader.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_other_points_are_other_games_and_a_record_says_so(tmp_path: Path) -> None:
    write_class(tmp_path / "class", {"ann.py": agent(20)})
    grade_without_playing(tmp_path / "class", tmp_path / "marks.db")
    words = ("grade", "class", "--rubric", "rubric.toml", "--results", "marks.db", "--dry-run")
    assert "0 games to play (4 have results)" in grader(*words, cwd=tmp_path).stderr
    done = subprocess.run(
        [sys.executable, "-c", OTHER_POINTS, *words], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "4 games to play (0 have results)" in done.stderr
    golden = ROOT / "tests" / "data" / "golden" / "extended.json"
    code = OTHER_POINTS.replace(
        "grader.__main__ import main", "connect4.analysis.__main__ import main"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(golden)], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "a run of 0, 1, 2 ... tokens was worth [0, 0, 2, 5, 20] in this game" in done.stderr

"""`python3 -m grader grade` on a small class: marks, files, resumption, refusals."""

import html
import json
import os
import re
import signal
import stat
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from connect4 import record as records
from connect4.games.extended import EXTENDED
from connect4.players.base import Setup
from connect4.players.registry import parse_agent
from grader.commands.grade import quick_rubric
from grader.output.gradebooks import TITLE
from grader.play.schedule import grade_games, limits_key, submitted, worth
from grader.rubric import reading as rubrics
from grader.rubric.model import AgentLimits
from tests.browser import Browser
from tests.command import assert_refused, environment, run, run_with_files_up_to
from tests.grading import (
    COMMAND,
    SEED,
    alive,
    all_records,
    class_of,
    count,
    descendants,
    execute,
    games,
    hand_in,
    hand_in_each,
    id_of,
    rubric,
    searcher,
    start,
    wait_for_games,
    wait_until_gone,
)
from tests.hostile import source_of
from tests.marked import rows as table_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs Linux")

SCHEMA = Path(__file__).parent / "data" / "gradescope_results.schema.json"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of four, graded with `--out marks`: two can play, one fails, one cannot be read."""
    folder = tmp_path_factory.mktemp("grade")
    rubric(folder)
    hand_in(folder / "class", "=Ann <b>", searcher(2))
    hand_in(folder / "class", "bo", searcher(1), report=None)
    hand_in(folder / "class", "cy", source_of("raises"))
    (folder / "class" / "eve.py").write_bytes(b"\xff")
    done = grade(folder)
    assert done.returncode == 0, done.stderr
    (folder / "stdout").write_text(done.stdout, encoding="utf-8")
    (folder / "stderr").write_text(done.stderr, encoding="utf-8")
    return folder


def grade(folder: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `grade` on the class in a folder."""
    named = ("grade", "class", "--rubric", "rubric.toml", "--out", "marks", "--records")
    return run(COMMAND, *named, "--isolation", "process", *more, cwd=folder)


def test_it_says_what_is_ahead_and_the_table_has_points_faults_and_remarks(graded: Path) -> None:
    said = (graded / "stderr").read_text(encoding="utf-8")
    assert "eve: 0 points: not UTF-8 (line 1, byte 0); save the file as UTF-8\n" in said
    assert "12 games to play (0 have results): about " in said
    assert re.search(r"12 of 12 games, [\d.]+ a minute, 0 s left\n", said)
    table = (graded / "stdout").read_text(encoding="utf-8")
    rows = {line.split("  ")[0]: line for line in table.splitlines()}
    assert "0.00" in rows["cy"]
    assert re.search(r"\ncy: \d+ errors; ", table)
    assert "\nbo: no report.txt\n" in table
    assert "\neve: not UTF-8" in table
    assert "=Ann <b>: " not in table
    assert max(map(len, table.splitlines())) <= 80


def test_points_follow_from_the_stored_scores(graded: Path) -> None:
    rows = {row["Submission"]: row for row in gradebook(graded)}
    for name in ("'=Ann <b>", "bo", "cy"):
        own = other = margin = 0
        id_ = id_of(graded / "grade.db", name.lstrip("'"))
        for game in games(graded / "grade.db").values():
            players, scores = game[:2], game[2:4]
            if id_ not in players:
                continue
            side = players.index(id_)
            if "random" in players:
                own, other = own + scores[side], other + scores[1 - side]
            else:
                margin += scores[side] - scores[1 - side]
        percent = 100 * (own - other) / max(other, 1)
        part_a = max(0.0, 40 * min(percent, 50) / 50)
        part_b = 10 * min(1, max(0, (margin / 2 + 10) / 20))
        assert rows[name]["Part A"] == f"{part_a:.2f}"
        assert rows[name]["Part B"] == f"{part_b:.2f}"
        assert float(rows[name]["Total"]) == pytest.approx(part_a + part_b, abs=0.01)


def gradebook(folder: Path) -> list[dict[str, str]]:
    return table_of(folder / "marks" / "grades.csv")


def test_the_gradebook_is_a_csv_that_no_spreadsheet_runs(graded: Path) -> None:
    rows = gradebook(graded)
    assert [row["Name"] for row in rows] == ["'=Ann <b>", "bo", "cy", "eve"]
    assert rows[3]["Total"] == "0.00"
    assert int(rows[2]["Errors"]) > 0
    assert rows[0]["SHA-256"] != ""
    assert (graded / "marks" / "grades.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # for Excel


def test_results_json_is_gradescopes(graded: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema, of the extra `test`")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    paths = list((graded / "marks" / "results").iterdir())
    assert len(paths) == 4
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(document, schema)
        listed = sum(test["score"] for test in document["tests"])
        assert document["score"] == pytest.approx(listed, abs=0.05)
    single = json.loads((graded / "marks" / "results" / "cy.json").read_text(encoding="utf-8"))
    assert [(test["name"], test["status"]) for test in single["tests"]] == [
        ("A: random", "failed"),
        ("B: ai:baseline.py", "failed"),
        ("form", "failed"),
    ]
    assert "Points: 40 x 0.00 / 50 = 0.00 of 40" in single["tests"][0]["output"]
    assert "AttributeError: 'AIPlayer' object has no attribute" in single["tests"][0]["output"]
    assert "IndexError" in single["tests"][1]["output"]
    assert "AIPlayer has no get_expectimax_move" in single["tests"][2]["output"]
    assert len(single["leaderboard"]) == 2


def test_every_game_has_a_record_that_replays_and_can_be_asked_again(graded: Path) -> None:
    paths = sorted((graded / "marks" / "records").rglob("*.json"))
    assert len(paths) == 12
    for path in paths:
        record = records.read(path)
        assert record.isolation in ("process", "strong")
        assert "connect4-" not in path.read_text(encoding="utf-8").replace("connect4-record", "")
    bo = id_of(graded / "grade.db", "bo")[:32]
    first = next(path for path in paths if path.parent.name == bo)
    turn = 1 if records.read(first).players[0].sha256 else 2
    again = f"{first.relative_to(graded / 'marks')}:{turn}"
    run("connect4.ConnectFour", "--replay-turn", again, cwd=graded / "marks", status=0)


def test_a_page_shows_what_was_lost_and_no_markup_of_students(graded: Path) -> None:
    pages = graded / "marks" / "feedback"
    assert len(list(pages.iterdir())) == 4
    page = (pages / "_Ann _b_.html").read_text(encoding="utf-8")
    assert '<h1 id="name">Feedback for =Ann &lt;b&gt;</h1>' in page
    failing = (pages / "cy.html").read_text(encoding="utf-8")
    assert "Lost turns" in failing
    assert "in ai.py, line " in failing
    assert failing.count("<pre>Traceback") == 1  # the same one, turn after turn
    assert "<pre>0 0 0 0\n0 0 0 0</pre><figcaption>Before turn 1: " in failing
    titles = re.findall(r"<h3>(\d+) turns lost: (\w+)", failing)
    assert sorted(name for _, name in titles) == ["AttributeError", "IndexError"]
    errors = sum(int(row["Errors"]) for row in gradebook(graded))
    assert sum(int(count) for count, _ in titles) == errors
    assert failing.index("Lost turns") < failing.index("Where the points come from")
    assert "Points: 40 \u00d7 0.00 / 50 = 0.00 of 40" in failing, "a sum has its signs"
    assert "isolation level" in failing
    unplayed = (pages / "eve.html").read_text(encoding="utf-8")
    assert "isolation level" not in unplayed, "it has played no game"


def test_the_class_page_shows_the_teacher_marks_and_faults(graded: Path, tmp_path: Path) -> None:
    page = (graded / "marks" / "class.html").read_text(encoding="utf-8")
    assert "4 of 4 submissions have a mark: from 0.00 to" in page
    assert "=Ann &lt;b&gt;</a>" in page
    rows = [re.sub("<[^>]*>", "|", line) for line in page.splitlines() if line.startswith("<tr")]
    rows = [re.sub(r"\|+", "|", row) for row in rows]
    errors = sum(int(row["Errors"]) for row in gradebook(graded))
    assert any(row.startswith("|cy|") and f"|{errors} errors|" in row for row in rows)
    reason = "not UTF-8 (line 1, byte 0); save the file as UTF-8"
    assert f"|eve|0.00|0.00|0.00|{reason}|" in rows
    for target in re.findall(r'href="([^"#]+)', page):
        if not target.startswith("data:"):
            assert (graded / "marks" / unquote(target)).is_file(), target
    (tmp_path / "equal.db").write_bytes((graded / "grade.db").read_bytes())
    execute(
        tmp_path / "equal.db",
        "INSERT INTO author (name, people, place, sha256, report, problem, present) SELECT 'bo2', "
        "replace(people, 'bo', 'bo2'), place, sha256, report, problem, 1 FROM author "
        "WHERE name = 'bo'",
    )
    assert run(COMMAND, "report", "equal.db", "--out", "marks", cwd=tmp_path).returncode == 0
    assert '"bo"' not in (tmp_path / "marks/feedback/bo2.html").read_text(encoding="utf-8")


MARGINS = "tr:has(.whole-row) td[data-label=Margin]"


def test_the_page_replays_games_in_a_browser(graded: Path, browser: Browser) -> None:
    from selenium.webdriver import Keys

    browser.open(graded / "marks" / "feedback" / "cy.html")
    assert browser.text("h1") == "Feedback for cy"
    assert browser.text(".total") == "0.00 / 50"
    assert "AttributeError" in browser.text(".lost-turn h3")
    cells = "return [...document.querySelector(arguments[0]).querySelectorAll('td')]"
    cells += ".map((cell) => cell.textContent)"
    position = browser.run(cells, ".lost-turn")
    assert browser.find_all(".lost-turn .board .plate"), "the position is drawn"
    lost = browser.find(".lost-turn a")
    place = lost.get_attribute("href").partition("#")[2]
    game, turn = place.split(".")
    assert browser.find("#slider").get_property("value") == turn, "it opens at the lost turn"
    browser.press(Keys.HOME)
    lost.click()
    assert browser.find("#slider").get_property("value") == turn
    assert browser.find("#game").get_property("value") == str(int(game) - 1)
    assert "AttributeError" in browser.text("#detail"), "the reason beside the position"
    browser.press(Keys.ARROW_LEFT)
    assert position == browser.run(cells, "#cells"), "the position before the lost turn"
    rows = browser.find_all(".report tbody a")
    for row in rows:
        browser.run("arguments[0].click()", row)
        place = row.get_attribute("href").partition("#")[2]
        shown = int(browser.find("#game").get_property("value")) + 1
        assert f"{shown}.{browser.find('#slider').get_property('value')}" == place
    assert rows
    browser.assert_quiet()
    browser.open(graded / "marks" / "feedback" / "bo.html")
    margins = [int(cell.text.replace("\u2212", "-")) for cell in browser.find_all(MARGINS)]
    shown = int(browser.find("#game").get_property("value"))
    assert margins.index(min(margins)) == shown, "without lost turns, it opens at the worst game"


def test_the_same_command_plays_nothing_again(graded: Path) -> None:
    before = games(graded / "grade.db")
    files = {path: path.stat().st_mtime_ns for path in (graded / "marks").rglob("*.json")}
    page = graded / "marks" / "feedback" / "bo.html"
    made = page.stat().st_mtime_ns
    done = grade(graded)
    assert "0 games to play (12 have results)" in done.stderr
    assert done.stdout == (graded / "stdout").read_text(encoding="utf-8")
    assert games(graded / "grade.db") == before
    assert page.stat().st_mtime_ns == made
    for path, stamp in files.items():
        if "records" in path.parts:
            assert path.stat().st_mtime_ns == stamp


def test_report_tells_the_same_without_the_submissions_and_details_every_board(
    graded: Path, tmp_path: Path
) -> None:
    report = ("report", graded / "grade.db", "--out", "again")
    done = run(COMMAND, *report, cwd=tmp_path, status=0)
    assert done.stdout == (graded / "stdout").read_text(encoding="utf-8")
    for name in ("grades.csv", "results/bo.json", "tables.txt"):
        ours = (tmp_path / "again" / name).read_text(encoding="utf-8")
        assert ours == (graded / "marks" / name).read_text(encoding="utf-8")
    done = run(COMMAND, *report, "--details", cwd=tmp_path)
    assert done.stdout.count("tiny.txt") == 6
    total = next(row for row in gradebook(graded) if row["Name"] == "bo")["Total"]
    assert f"\ntotal {total} of 50\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "mean margin" in done.stdout


@pytest.mark.slow
def test_a_dry_run_says_how_much_is_ahead_and_keeps_only_what_it_asked(graded: Path) -> None:
    done = grade(graded, "--dry-run", "--results", "new.db")
    assert done.stdout.startswith("rubric.toml takes 0.023 core-hours if submissions use all")
    assert "4 of 4 files asked for a move" in done.stderr
    assert "files asked" not in grade(graded, "--dry-run", "--results", "new.db").stderr
    before = games(graded / "grade.db")
    assert games(graded / "new.db") == {} != before
    done = grade(graded, "--dry-run", "--time", "3")
    assert "12 games to play (0 have results): about " in done.stderr
    assert grade(graded, "--dry-run").stderr.count("0 games to play (12 have results)") == 1
    assert games(graded / "grade.db") == before
    done = run(COMMAND, "report", "grade.db", cwd=graded)
    assert done.stdout == (graded / "stdout").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_out_that_is_lost_on_the_way_costs_no_game(tmp_path: Path) -> None:
    """The first result cannot be written: a folder stands in its place."""
    class_of(tmp_path, "ann")
    (tmp_path / "marks" / "results.json" / "in the way").mkdir(parents=True)
    done = grade(tmp_path)
    assert done.returncode == 2
    told = [line for line in done.stderr.splitlines() if "results.json: cannot be written" in line]
    assert len(told) == 2, done.stderr
    assert told[0].endswith("; the games go on")
    assert told[1].startswith("error: ")
    assert "Traceback" not in done.stderr
    (tmp_path / "marks" / "results.json" / "in the way").rmdir()
    (tmp_path / "marks" / "results.json").rmdir()
    assert "0 games to play (4 have results)" in grade(tmp_path).stderr


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_the_same_command_goes_on(tmp_path: Path) -> None:
    rubric(tmp_path, match="repeats = 3\n")
    hand_in(tmp_path, "ann", searcher(1))
    arguments = ("grade", "ann", "--rubric", "rubric.toml", "--isolation", "process")
    done = run_with_files_up_to(100, COMMAND, *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "error: grade.db: cannot be written: " in done.stderr
    assert run(COMMAND, *arguments, cwd=tmp_path).returncode == 0
    assert count(tmp_path / "grade.db") == 12


@pytest.mark.slow
@pytest.mark.parametrize("table", ["meta", "author", "game"])
def test_results_with_a_damaged_table_are_refused(graded: Path, tmp_path: Path, table: str) -> None:
    data = bytearray((graded / "grade.db").read_bytes())
    ((size,),) = execute(graded / "grade.db", "PRAGMA page_size")
    named = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    ((page,),) = execute(graded / "grade.db", named, table)
    data[(page - 1) * size : page * size] = bytes(size)
    (tmp_path / "bad.db").write_bytes(data)
    hand_in(tmp_path, "ann", searcher(1))
    for arguments in (("report", "bad.db"), ("grade", "ann", "--results", "bad.db", "--yes")):
        done = run(COMMAND, *arguments, cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        last = done.stderr.splitlines()[-1]
        why = "damaged or unreadable: database disk image is malformed;"
        assert last.startswith(f"error: bad.db: {why}")
        assert last.endswith("--results and the name of a new file")


def test_a_damaged_or_lost_record_names_itself_and_stops_nobody_else(
    graded: Path, tmp_path: Path
) -> None:
    """One student's record of a game is lost, another one's damaged."""
    bad = tmp_path / "bad.db"
    bad.write_bytes((graded / "grade.db").read_bytes())
    for name, damage in (
        ("=Ann <b>", "DELETE FROM record"),
        ("bo", "UPDATE record SET zlib = x'00', page_zlib = x'00'"),
    ):
        of_random = "(SELECT key FROM game WHERE player1 = ? AND player2 = 'random')"
        execute(bad, f"{damage} WHERE key = {of_random}", id_of(bad, name))
    done = run(COMMAND, "report", "bad.db", "--out", "marks", "--records", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    where = "A: random, tiny.txt, as player 1, round 1"
    for name in ("=Ann <b>", "bo"):
        assert f"{name}, {where}: its record cannot be shown: damaged or lost\n" in done.stderr
    assert len(list((tmp_path / "marks" / "records").rglob("*.json"))) == 10
    before, after = gradebook(graded), gradebook(tmp_path)
    assert [row["Total"] for row in after] == [row["Total"] for row in before]
    page = (tmp_path / "marks" / "feedback" / "bo.html").read_text(encoding="utf-8")
    assert page.count("record damaged") == 1
    assert page.count("&quot;turns&quot;") + page.count('"turns"') >= 1


STORED = Path(__file__).parent / "data" / "results"
"""A class of two, played when the format was new."""


def test_a_file_of_another_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes((STORED / "class-of-two.db").read_bytes())
    execute(path, "UPDATE meta SET value = 'connect4-results/2' WHERE name = 'format'")
    before = path.read_bytes()
    hand_in(tmp_path, "ann", searcher(1))
    why = "results of another version of the kit; `report` of that version shows them, --results "
    for arguments in (("report", "old.db"), ("grade", "ann", "--results", "old.db")):
        done = run(COMMAND, *arguments, cwd=tmp_path)
        assert_refused(done, f"old.db: {why}names a new file to play to")
    assert path.read_bytes() == before


def test_results_in_a_folder_that_cannot_be_written_are_reported(
    graded: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "grade.db").write_bytes((graded / "grade.db").read_bytes())
    folder.chmod(0o555)
    unwritable = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    as_root = unwritable if os.access(folder, os.W_OK) else []
    done = subprocess.run(
        [*as_root, sys.executable, "-m", COMMAND, "report", "archive/grade.db"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (graded / "stdout").read_text(encoding="utf-8")
    assert [path.name for path in folder.iterdir()] == ["grade.db"]


def test_github_actions_show_what_cost_points_beside_the_file(
    graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run(COMMAND, "report", graded / "grade.db", cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if line.startswith("::error file=")]
    assert [line.partition("line=")[0] for line in lines] == [
        "::error file=class/bo/ai.py,",  # no report
        *["::error file=class/cy/ai.py,"] * 3,  # each opponent, and a method that is missing
        "::error file=class/eve.py,",
    ]
    assert "::A: random: " in lines[1]
    assert "AttributeError" in lines[1]


def commands(log: str) -> list[str]:
    """Return the lines that GitHub Actions obeys, as its runner reads a log.

    `::NAME ...::` begins a line; `##[NAME ...]` stands anywhere in one. While commands are stopped,
    only the token of the stop is obeyed.
    """
    found, token = [], ""
    for line in log.splitlines():
        command = re.match(r"\s*::([^ :]+)[^:]*::(.*)", line) or re.search(
            r"##\[([^\] ]+)[^\]]*\](.*)", line
        )
        if token and (command is None or command[1] != token):
            continue
        if command:
            found.append(line)
            token = command[2] if command[1] == "stop-commands" and not token else ""
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", ["grade", "check"])
def test_no_text_of_a_student_is_a_command_to_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Also not if `##[` is in the middle of a line. The grader's annotations are obeyed."""
    text = "##[add-mask]points\n::add-mask::ann\n::error::all is lost\n::stop-commands::0"
    hand_in(tmp_path, "eve ##[group]", f"raise ValueError({text!r})\n{searcher()}")
    mine = rubric(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run(COMMAND, command, "eve ##[group]", "--rubric", mine, cwd=tmp_path)
    assert "##[add-mask]points" in done.stdout
    obeyed = [line.lstrip() for line in commands(done.stdout)]
    assert not done.stderr  # in the same pipe, so that the order is certain
    assert obeyed[0].startswith("::stop-commands::")
    assert obeyed[-1] == f"::{obeyed[0].removeprefix('::stop-commands::')}::"
    told = [line for line in obeyed if obeyed[-1][2:-2] not in line]
    assert told
    assert all(line.startswith("::error file=eve ##[group]/ai.py,line=") for line in told)


@pytest.mark.slow
def test_a_ctrl_c_leaves_results_and_says_how_to_go_on(tmp_path: Path) -> None:
    """Before that no other grader may write to the results file."""
    rubric(tmp_path, match="repeats = 20\n")
    hand_in(tmp_path, "ann", searcher(1))
    arguments = ("grade", "ann", "--rubric", "rubric.toml", "--out", "marks", "--jobs", "1")
    running = start(*arguments, cwd=tmp_path)
    wait_for_games(tmp_path / "grade.db", 2)
    assert_refused(run(COMMAND, *arguments, cwd=tmp_path), "another grader is at work")
    below = descendants(running.pid)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 3, err
    assert "games to go, the same command continues where it stopped" in err
    assert "games missing" in out
    assert wait_until_gone(below) == set() == alive(below)
    document = json.loads((tmp_path / "marks" / "results.json").read_text(encoding="utf-8"))
    assert "Not finished" in document["tests"][0]["output"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_network_drive_without_locks_is_refused(tmp_path: Path) -> None:
    rubric(tmp_path)
    hand_in(tmp_path, "ann", searcher(1))
    grade = ("grade", "ann", "--rubric", "rubric.toml", "--jobs", "1", "--isolation", "process")
    without_locks = ("locks", "--", sys.executable, "-m", COMMAND)
    assert_refused(
        run("tests.denied", *without_locks, *grade, cwd=tmp_path),
        "grade.db: cannot be locked: No locks available; on a network drive without locks, name a "
        "file on a local disk with --results",
    )


def test_stored_results_report_the_same_marks(tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes((STORED / "class-of-two.db").read_bytes())
    done = run(COMMAND, "report", "old.db", "--out", "marks", cwd=tmp_path, status=0)
    assert done.stderr == "Everything is in marks\n"
    marked = (STORED / "class-of-two.csv").read_text(encoding="utf-8")
    assert (tmp_path / "marks" / "grades.csv").read_text(encoding="utf-8") == marked


def test_a_limit_with_its_usual_value_is_in_no_key_so_that_a_new_one_replays_no_class() -> None:
    game = grade_games([submitted("ann", "1" * 64)], rubrics.read())[0]
    assert replace(game, limits=AgentLimits(10, 1024, 0.005, "game")).key == game.key
    assert replace(game, limits=AgentLimits(10.0, 2048, 0.005, "game")).key != game.key
    assert limits_key(rubrics.read().limits) == {}


def test_the_points_of_a_match_with_missing_games_are_withheld(
    graded: Path, tmp_path: Path
) -> None:
    """A mean of some of its games is no mark: the table, the gradebook and the page say so."""
    data = (graded / "grade.db").read_bytes()
    (tmp_path / "part.db").write_bytes(data)
    execute(
        tmp_path / "part.db",
        "UPDATE game SET status = 'INFRA', fault = 'no luck', score1 = NULL, score2 = NULL, "
        "attempts = 3 WHERE player1 = ? AND player2 = 'random'",
        id_of(tmp_path / "part.db", "bo"),
    )
    done = run(COMMAND, "report", "part.db", "--out", "marks", "--details", cwd=tmp_path, status=3)
    assert done.stderr.endswith("1 game has no result yet (no luck)\n")
    told = " ".join(done.stdout.split())
    assert "bo: incomplete: 1 game missing, points of A: random are withheld" in told
    assert "withheld" in next(line for line in done.stdout.splitlines() if "1 of 2" in line)
    row = next(row for row in gradebook(tmp_path) if row["Name"] == "bo")
    whole = next(row for row in gradebook(graded) if row["Name"] == "bo")
    assert (row["Part A"], row["Total"]) == ("", "")
    assert row["Part B"] == whole["Part B"] != "0.00"
    assert row["Remark"].startswith("incomplete: 1 game missing")
    page = (tmp_path / "marks" / "feedback" / "bo.html").read_text(encoding="utf-8")
    assert "<b>incomplete</b> / 50" in page
    whole_class = (tmp_path / "marks" / "class.html").read_text(encoding="utf-8").split("<tr")
    assert "incomplete" in next(part for part in whole_class if ">bo<" in part)
    assert f"Part A withheld, part B {whole['Part B']}. " in page
    test = json.loads((tmp_path / "marks" / "results" / "bo.json").read_text())["tests"][0]
    assert (test["score"], test["status"]) == (0.0, "failed")
    assert "Not finished: 1 of 2 games are played; the points are withheld" in test["output"]


@pytest.mark.slow
def test_no_file_or_a_broken_one_is_0_points_for_one_reason_everywhere(tmp_path: Path) -> None:
    """The folder where the command is given has an `ai.py`, which nobody handed in."""
    rubric(tmp_path)
    (tmp_path / "ai.py").write_text(searcher(1), encoding="utf-8")
    hand_in(tmp_path / "class", "good", searcher(1))
    module = f"import no_such_module\n{searcher(1)}"
    for name, source in {"empty": "", "module": module, "syntax": "def (\n"}.items():
        hand_in(tmp_path / "class", name, source)
    (tmp_path / "class" / "missing").mkdir()
    with zipfile.ZipFile(tmp_path / "class" / "zipped.zip", "w") as file:
        file.writestr("report.txt", "Ann, 1\n")
    why = {
        "empty": "cannot be loaded: ai.py: the file is empty",
        "missing": "no ai.py and no other .py file in it",
        "module": "cannot be loaded: ModuleNotFoundError: no_such_module is not part of "
        "what a submission may import: the standard library, numpy, connect4.utils and "
        "connect4.config",
        "syntax": "cannot be loaded: SyntaxError: invalid syntax (ai.py, line 1)",
        "zipped": "no ai.py and no other .py file in it",
    }
    students = "".join(f"{name},,{name},{name}@x.y\n" for name in ("good", *why))
    export = tmp_path / "moodle.csv"
    export.write_text(f"First name,Last name,ID number,Email address\n{students}", encoding="utf-8")
    done = grade(tmp_path, "--gradebook", export)
    assert done.returncode == 0, done.stderr
    assert "4 games to play (0 have results)" in done.stderr
    assert run(COMMAND, "report", "grade.db", cwd=tmp_path).stdout == done.stdout
    marks = tmp_path / "marks"
    for file in ("feedback/module.html", "results/module.json"):
        text = (marks / file).read_text(encoding="utf-8")
        assert "line 1, in &lt;module&gt;" in text.replace("<module>", "&lt;module&gt;"), file
    rows = {row["Name"]: row for row in gradebook(tmp_path)}
    book = {row["First name"]: row[TITLE] for row in table_of(marks / "moodle.csv")}
    page = (marks / "class.html").read_text(encoding="utf-8")
    assert "6 of 6 submissions have a mark" in page
    shown = [re.sub(r"(<[^>]*>)+", "|", line) for line in page.splitlines()]
    assert min(float(rows["good"]["Total"]), float(book["good"])) > 0
    for name, reason in why.items():
        assert f"{name}: 0 points: {reason}\n" in done.stderr
        told = " ".join(done.stdout.split())
        assert f" {name} 0.00 0.00 0.00 50 " in told
        assert f"{name}: {reason}" in told
        assert (rows[name]["Total"], rows[name]["Remark"]) == ("0.00", reason)
        assert book[name] == "0.00"
        shown_reason = html.escape(reason)
        assert f"|{name}|0.00|0.00|0.00|{shown_reason}|" in shown
        own = (marks / "feedback" / f"{name}.html").read_text(encoding="utf-8")
        assert f'<b>0.00</b> / 50</p>\n<p class="warning">{shown_reason}</p>' in own


@pytest.mark.slow
def test_who_was_not_loaded_in_time_is_tried_again_by_the_next_run(tmp_path: Path) -> None:
    """The machine may have been busy; what a source raises itself it raises again."""
    class_of(tmp_path, "ann", "bo")
    first = grade(tmp_path)
    assert first.returncode == 0, first.stderr
    for problem, tried in (
        ("ai.py was not loaded within 20 s\nin line 3", True),
        ("ValueError: never on Sundays", False),
    ):
        noted = "UPDATE note SET text = ? WHERE kind = 'load' AND subject = ?"
        execute(tmp_path / "grade.db", noted, problem, id_of(tmp_path / "grade.db", "bo"))
        told = run(COMMAND, "report", "grade.db", cwd=tmp_path)
        assert f"cannot be loaded: {problem.splitlines()[0]}" in told.stdout
        again = grade(tmp_path)
        assert (again.stdout == first.stdout) is tried
        assert ("bo: 0 points: cannot be loaded" in again.stderr) is not tried


@pytest.mark.parametrize("time_limit", [5.0, 10.0, 0.1])
def test_a_quick_rubric_takes_two_minutes_at_most(time_limit: float) -> None:
    whole = rubrics.read()
    whole = rubrics.from_values(
        {**whole.values, "match": {**whole.values["match"], "time_limit": time_limit}}, "", None
    )
    short, note = quick_rubric(whole, None)
    games = {game.key: game for game in grade_games([submitted("a", "1" * 64)], short)}
    seconds = sum(map(worth, games.values()))
    assert seconds <= 122
    assert seconds > 100 or short.match.time_limit == time_limit
    names = {game.match.two.name for game in games.values()}
    assert names == {"random", *(step.agent.name for step in whole.part_b.baselines)}
    assert f"{short.match.time_limit:g} s a move instead of {time_limit:g}" in note
    for board in (*whole.part_a.boards, *whole.part_b.boards):
        played = board in (*short.part_a.boards, *short.part_b.boards)
        assert (board.name in note) != played


SECRET = "SELECT value FROM meta WHERE name = 'secret'"


def seedless(folder: Path, seed: str = "") -> None:
    """Write the tiny rubric with another seed, or none."""
    path = rubric(folder)
    text = path.read_text(encoding="utf-8").replace(f"seed = {SEED}\n", seed)
    path.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_class_has_a_secret_seed_that_a_later_run_uses_again(tmp_path: Path) -> None:
    seedless(tmp_path)
    hand_in_each(tmp_path / "class", "ann", "\u6f22" * 83)  # a long name costs nobody anything
    done = grade(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "seed" not in done.stderr
    assert len(list((tmp_path / "marks" / "feedback").iterdir())) == 2
    assert len(list((tmp_path / "marks" / "records").rglob("*.json"))) == 8
    assert stat.S_IMODE((tmp_path / "grade.db").stat().st_mode) == 0o600
    assert "0 games to play (8 have results)" in grade(tmp_path).stderr
    ((secret,),) = execute(tmp_path / "grade.db", SECRET)
    assert len(secret) == 64
    paths = (tmp_path / "marks" / "records").rglob("*.json")
    seeds = {str(json.loads(path.read_text(encoding="utf-8"))["seed"]) for path in paths}
    assert len(seeds) == 2  # one board, once, from two sides
    other = grade(tmp_path, "--results", "other.db")
    assert "8 games to play (0 have results)" in other.stderr
    assert not games(tmp_path / "grade.db").keys() & games(tmp_path / "other.db").keys()


SPY = """import gc
import os
import sys


def found():
    yield from (sys.argv, sys.path, sys.prefix, dict(os.environ), os.getcwd(), __file__)
    yield [item for item in gc.get_objects() if isinstance(item, dict) and "seed" in item]
    for place in ("/proc/self/cmdline", "/proc/self/environ", "/proc/mounts", ".."):
        try:
            yield open(place).read() if place[0] == "/" else os.listdir(place)
        except Exception as error:
            yield repr(error)


class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_expectimax_move(self, state):
        print("SECRET", state[0])
        raise ValueError(f"SECRET {state[0].tolist()} {[*found()]!r:.3000}")

    get_intelligent_move = get_expectimax_move
"""


@pytest.mark.slow
def test_no_student_reads_a_seed_a_hidden_board_or_a_path(tmp_path: Path) -> None:
    """Not by putting whatever the agent finds, and the position, into its exceptions and prints."""
    seedless(tmp_path, 'hidden = ["cellar.txt"]\n')
    path = tmp_path / "rubric.toml"
    text = path.read_text(encoding="utf-8").replace('["tiny.txt"]', '["tiny.txt", "cellar.txt"]')
    path.write_text(text, encoding="utf-8")
    (tmp_path / "cellar.txt").write_text("0\n0 1 2 1\n1 2 1 2\n2 1 2 1\n", encoding="utf-8")
    hand_in(tmp_path / "class", "ann", SPY)
    hand_in(tmp_path / "class", "bo", searcher(1))
    hand_in(tmp_path / "class", "cy", SPY + "\nraise ImportError([*found()])\n")
    done = grade(tmp_path, "--details")
    assert done.returncode == 0, done.stderr
    texts = {"stdout": done.stdout, "stderr": done.stderr}
    for file in (tmp_path / "marks").rglob("*"):
        if file.is_file() and "hidden-boards" not in file.parts:
            texts[str(file)] = file.read_text(encoding="utf-8")
    ((secret,),) = execute(tmp_path / "grade.db", SECRET)
    seeds = {int(secret, 16), *(one["seed"] for one in all_records(tmp_path / "grade.db").values())}
    secrets = [form for seed in seeds for form in (str(seed), f"{seed:x}")]
    secrets += [str(tmp_path), sys.prefix, sys.base_prefix, "site-packages/"]
    for place, text in texts.items():
        assert "cellar" not in text, place
        assert not re.search("012112122121|2, 1, 2, 1|2 1 2 1", text), place
        if "feedback" in place or "/results" in place:
            assert not [one for one in secrets if one in text], place
    page = texts[str(tmp_path / "marks" / "feedback" / "ann.html")]
    assert "SECRET [[0, 0, 0, 0]" in page  # of the board that is shown
    assert len(re.findall("<td[^>]*>hidden board 1</td>", page)) >= 4
    assert "ImportError: [[" in html.unescape(texts[str(tmp_path / "marks/feedback/cy.html")])
    assert "hidden board 1" in texts["stdout"]
    ann = id_of(tmp_path / "grade.db", "ann")[:32]
    hidden = list((tmp_path / "marks" / "records" / "hidden-boards" / ann).iterdir())
    assert len(hidden) == 4


@pytest.mark.slow
def test_the_practice_seed_is_for_ones_own_file(tmp_path: Path) -> None:
    seedless(tmp_path)
    hand_in(tmp_path / "class", "ann", searcher(1))
    done = grade(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "practice: the random player plays the same moves in every run (seed 20240)" in done.stderr
    )
    seedless(tmp_path, "seed = 20240\n")
    assert "can be guessed" not in grade(tmp_path, "--dry-run").stderr
    hand_in(tmp_path / "class", "bo", searcher(1, note="bo"))
    assert_refused(grade(tmp_path), "rubric.toml: match.seed 20240 is the practice seed")
    foreseen = grade(tmp_path, "--dry-run")
    assert "4 games to play (4 have results)" in foreseen.stderr
    assert foreseen.returncode == 2
    assert "match.seed 20240 is the practice seed" in foreseen.stderr
    tournament = ("tournament", "class", "--rubric", "rubric.toml")
    assert_refused(run(COMMAND, *tournament, cwd=tmp_path), "match.seed 20240 is the practice seed")
    seedless(tmp_path, "seed = 7\n")
    assert "match.seed 7 can be guessed" in grade(tmp_path).stderr


def test_no_side_is_given_what_the_random_player_draws_from() -> None:
    """Neither in the same game nor in any other one."""
    name, random_player = parse_agent("greedy"), parse_agent("random")
    own, drawn = set(), set()
    for game in grade_games([submitted("ann", "1" * 64)], rubrics.read()):
        assert game.seed >= 2**64
        own.add(Setup(name, game.side, EXTENDED, 1.0, game.seed).derived_seed())
        side = 3 - game.side
        drawn.add(Setup(random_player, side, EXTENDED, 1.0, game.seed).derived_seed())
    assert not own & drawn


def suspect(results: Path, name: str, machine: str, deaths: int = 0) -> None:
    """Make a results file that a grader left when it was ended during a game of `name`."""
    named = "SELECT key FROM game WHERE player1 = ? AND player2 = 'random'"
    ((key,),) = execute(results, named, id_of(results, name))
    for table in ("game", "record"):
        execute(results, f"DELETE FROM {table} WHERE key = ?", key)
    execute(results, "INSERT INTO begun VALUES (?, 1, ?, ?)", key, deaths, machine)


@pytest.mark.slow
def test_a_grader_that_ends_again_and_again_convicts_nobody(tmp_path: Path) -> None:
    """Three power cuts in the games and the trial of one student are no proof."""
    class_of(tmp_path, "ann", "luckless")
    assert grade(tmp_path).returncode == 0
    results = tmp_path / "grade.db"
    suspect(results, "luckless", "another boot 0")
    once = grade(tmp_path)
    assert "the last run was ended by the machine during luckless, A: random" in once.stderr
    assert "1 games to play (7 have results)" in once.stderr
    suspect(results, "luckless", "another boot 0", deaths=1)
    trial = f"proof {id_of(results, 'luckless')}"
    execute(results, "INSERT INTO begun VALUES (?, 1, 0, 'another boot 0')", trial)
    for _ in range(2):
        twice = grade(tmp_path)
        assert twice.returncode == 3
        assert "0 games to play (7 have results)" in twice.stderr
        assert "set aside" not in twice.stdout + twice.stderr
        assert "no trial proves that a file does it; the points" in twice.stderr
        assert "`--try-again luckless` does" in twice.stderr
    rows = {row["Name"]: row for row in gradebook(tmp_path)}
    assert (rows["luckless"]["Total"], rows["ann"]["Remark"]) == ("", "")
    last = grade(tmp_path, "--try-again", "luckless")
    assert last.returncode == 0, last.stderr
    assert "1 games to play (7 have results)" in last.stderr

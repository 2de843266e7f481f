"""The playground in a real browser: a plain web server, Python inside, a student's file in it."""

import json
import os
import re
import shutil
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import connect4
from connect4.games import GAMES, load_start
from connect4.players.base import Outcome, Turn
from connect4.utils import get_pts
from grader.solved import Answer, Practice, read
from grader.solved.report import page
from tests.browser import PHONE, WIDE, Browser
from tests.command import ROOT, run
from tests.needs import PYODIDE
from tests.test_first_agent import CODE
from tests.test_web import violations

pytestmark = [
    *(pytest.mark.browser, pytest.mark.web, pytest.mark.pyodide),
    pytest.mark.timeout(300),
]

STUB = (ROOT / "grader" / "handout" / "ai_stub.py").read_text(encoding="utf-8")
FIRST_MOVE = "return get_valid_actions(self.player_number, state)[0]"
ENTER, TAB, ESCAPE, CONTROL = "\ue007", "\ue004", "\ue00c", "\ue009"
PATIENCE = 90

ASKED: list[str] = []


class Quiet(SimpleHTTPRequestHandler):
    """A plain web server, whose requests go to `ASKED`."""

    def log_message(self, format: str, *args: object) -> None:
        ASKED.append(self.path)


def serving(folder: Path, kind: type[Quiet] = Quiet) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(kind, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def end(server: ThreadingHTTPServer) -> None:
    server.shutdown()
    server.server_close()


class Desk:
    """The page, loaded once for all tests of this file."""

    def __init__(self, browser: Browser, address: str, folder: Path) -> None:
        self.browser, self.address, self.folder = browser, address, folder
        browser.devtools("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        browser.resize()
        browser.driver.get(address)
        browser.driver.get_log("browser")  # what an earlier page said
        self.until("!document.querySelector('#state').textContent")

    def until(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.browser.run(f"return {condition}"):
            assert time.monotonic() < end, (condition, self.browser.text("#state"))
            time.sleep(0.05)

    def choose(self, **values: str) -> None:
        for name, value in values.items():
            script = "const [id, value] = arguments, field = document.getElementById(id);"
            script += "field.value = value; field.dispatchEvent(new Event('input'));"
            script += "field.dispatchEvent(new Event('change', {bubbles: true}))"
            self.browser.run(script, name if name == "source" else f"set-{name}", value)

    def begin(self, **values: str) -> None:
        usual = {"game": "extended", "board": "case1", "player1": "ai", "player2": "random"}
        self.choose(**{**usual, "seconds": "20", "seed": "7", "source": STUB, **values})
        self.browser.find("#go").click()

    def over(self) -> None:
        self.until("!document.querySelector('#go').disabled")
        assert self.browser.text("#state") == ""
        self.until("!document.querySelector('#outcome').hidden")

    def play(self, **values: str) -> list[str]:
        """Play a game; return its moves."""
        self.begin(**values)
        self.over()
        script = "return [...document.querySelectorAll('#moves .text')].map((e) => e.textContent)"
        return list(self.browser.run(script))[1:]

    def turn(self, number: int) -> str:
        """Go to a turn; return what is said about its fault, or what was printed in it."""
        self.browser.run(f"document.querySelectorAll('#moves button')[{number}].click()")
        return self.browser.text("#detail") or self.browser.text("#printed")

    def check(self, source: str) -> str:
        self.choose(source=source)
        self.browser.find("#check").click()
        self.until("!document.querySelector('#check').disabled")
        return self.browser.text("#state") + "\n" + self.browser.text("#findings")

    def practice(self, source: str) -> str:
        self.choose(source=source)
        self.browser.find("#practice").click()
        self.until("!document.querySelector('#practice').disabled")
        return self.browser.text("#practised")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    done = run("grader", "playground", str(folder / "site"), "--runtime", str(PYODIDE), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def desk(site: Path, browser: Browser) -> Iterator[Desk]:
    server = serving(site)
    try:
        yield Desk(browser, f"http://127.0.0.1:{server.server_port}/", site.parent)
    finally:
        end(server)


def test_the_site_has_the_students_edition_only(site: Path) -> None:
    (kit,) = site.glob("kit-*.zip")
    with zipfile.ZipFile(kit) as archive:
        names = archive.namelist()
        assert archive.read("connect4/players/ai.py").decode() == STUB
    assert not [name for name in names if "reference" in name or "handout" in name]
    assert "reference" not in re.findall('"kind":"([a-z]+)"', (site / "index.html").read_text())


def test_the_page_says_the_task_with_the_code_of_the_documents(desk: Desk) -> None:
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
    apply, explain = desk.browser.run(script, "#task pre")
    assert apply in CODE
    assert explain in (ROOT / "docs" / "students.md").read_text(encoding="utf-8")
    points = [get_pts(1, np.ones((1, length), int)) for length in range(1, 13)]
    assert desk.browser.run(script, "#task tr:last-child td") == list(map(str, points))


def test_the_stub_plays_the_same_game_as_on_a_machine(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "ai.py"
    file.write_text(STUB, encoding="utf-8")
    for name, options in (("random", ""), ("alphabeta", "depth=2"), ("mcts", "iterations=9")):
        opponent = f"{name}:{options}".rstrip(":")
        record = connect4.play(f"ai:{file}", opponent, "case1", seconds=20, seed=7)
        moves = desk.play(player2=name, options2=options)
        assert moves == [turn.text for turn in record.turns]
        assert str(record.scores[1]) in desk.browser.text("#outcome")
    desk.play(player1="greedy")
    assert desk.browser.text("#outcome") == "greedy won 234:98", "as in the API's example"


def test_an_edited_file_plays_and_its_faults_are_shown_with_their_line(desk: Desk) -> None:
    broken = STUB.replace(FIRST_MOVE, "print('thinking')\n        return 1 / 0")
    assert set(desk.play(source=broken)[::2]) == {"error"}
    line = broken[: broken.index("1 / 0")].count("\n") + 1
    assert f'File "ai.py", line {line}, in get_expectimax_move' in desk.turn(1)
    assert desk.browser.text("#findings") == f"Line {line}: ZeroDivisionError: division by zero"
    assert desk.browser.text("#printed") == "thinking"
    desk.play(source="x = (")
    assert desk.browser.text("#findings").startswith("Line 1: SyntaxError")
    assert desk.browser.text("#lines b") == "\u25b81"


def test_an_endless_loop_loses_its_turn_and_the_next_turn_is_played(desk: Desk) -> None:
    loop = f"while np.count_nonzero(state[0]) == 2: pass\n        {FIRST_MOVE}"
    moves = desk.play(source=STUB.replace(FIRST_MOVE, loop), board="", seconds="2")
    assert moves.index("too late") == 2
    assert "no answer within 2 s" in desk.turn(3)
    assert "no answer within 2 s" in desk.browser.text("#findings"), "beside the editor, too"
    assert "too late" not in moves[3:]
    found = desk.check(STUB.replace(FIRST_MOVE, "while True: pass", 1))
    line = STUB[: STUB.index("def get_expectimax_move")].count("\n") + 1
    assert f"Line {line}: smoke: get_expectimax_move on 10 rows" in found, "of its method"
    assert "no answer within 5 s, nor in the 10 s after that; does it end?" in found
    newer = 'type Cells = list\nNAMES = {}\ntext = lambda: f"{NAMES["a"]}"\n'
    found = desk.check(STUB.replace(FIRST_MOVE, f"input(); {FIRST_MOVE}") + newer)
    assert "input() and breakpoint() have nobody to ask" in found
    assert found.count("(advice)") - 1 == found.count("needs Python 3.12") == 2


def test_check_advises_against_sockets_and_there_are_none(desk: Desk) -> None:
    elsewhere = serving(desk.folder)
    reach = f"return socket.create_connection(('127.0.0.1', {elsewhere.server_port}))"
    source = STUB.replace("import numpy", "import socket\nimport numpy").replace(FIRST_MOVE, reach)
    assert "uses 'socket': a submission talks to nobody" in desk.check(source)
    desk.play(source=source, player2="greedy")
    assert "Error" in desk.turn(1)
    assert "well formed" in desk.check(STUB)
    elsewhere.shutdown()


def test_a_file_reaches_neither_the_network_nor_the_page(desk: Desk) -> None:
    elsewhere = serving(desk.folder)
    ASKED.clear()
    address = f"http://127.0.0.1:{elsewhere.server_port}/spy"
    attack = f"""
def attack():
    import gc, urllib.request
    said = []
    for name in ("js", "pyodide_js", "pyodide.http", "connect4.referee", "grader"):
        try:
            said.append(__import__(name))
        except ImportError:
            pass
    owners = [one for one in gc.get_objects() if isinstance(one, dict)]
    proxies = [v for one in owners for v in list(one.values()) if type(v).__name__ == "JsProxy"]
    for proxy in proxies:
        for name in ("fetch", "postMessage", "XMLHttpRequest", "WebSocket", "indexedDB"):
            said += [name] * hasattr(proxy, name)
        try:
            said.append(proxy.constructor.constructor("return fetch('{address}')")())
        except Exception:
            pass
    try:
        said.append(urllib.request.urlopen("{address}", timeout=1))
    except OSError:
        pass
    print("reached:", said if proxies else "no proxy to try")
"""
    source = STUB.replace(FIRST_MOVE, f"state[0].any() or attack()\n        {FIRST_MOVE}")
    desk.play(source=source + attack, board="")
    assert desk.turn(1).startswith("reached: []")
    assert ASKED == []
    elsewhere.shutdown()


@pytest.mark.parametrize("game", ["extended", "classic", "popout", "dynamic"])
def test_a_person_plays_by_key_and_resigns(game: str, desk: Desk) -> None:
    desk.begin(game=game, board="", player1="human")
    mine = "document.querySelector('#clock1:not([hidden]) .yours')"
    desk.until(mine)
    if game != "dynamic":
        desk.browser.press("3")
        desk.until("document.querySelector('#said').textContent.includes('Turn 2:')")
        desk.until(mine)
    desk.browser.press(*("11N" if game == "dynamic" else "9"))
    desk.until("document.querySelector('#answer').textContent")
    desk.browser.find("#resign").click()
    desk.browser.find("#resign").click()
    desk.over()
    assert "a player resigned" in desk.browser.text("#said")


def test_the_tree_of_explain_and_of_an_agent_open_beside_the_game(desk: Desk) -> None:
    row = '(0, None, "MAX", 1, -9, 9, ""), (1, (0, False), "MIN", 1, -9, 9, "best")'
    explains = f"{STUB}\n    def explain(self, state):\n        return [{row}]\n"
    desk.play(source=explains, player2="minimax", options2="depth=1")
    first = desk.browser.driver.current_window_handle
    for turn, text in ((1, "2 nodes"), (2, "1 plies deep")):
        desk.turn(turn)
        desk.browser.run(
            "[...document.querySelectorAll('#save button')].find((button) =>"
            " button.textContent === 'Search tree').click()"
        )
        desk.until("document.querySelector('#made a')")
        desk.browser.find("#made a").click()
        desk.browser.driver.switch_to.window(desk.browser.driver.window_handles[-1])
        desk.until("document.readyState === 'complete'")
        assert text in desk.browser.text("header")
        desk.browser.driver.close()
        desk.browser.driver.switch_to.window(first)


def test_the_text_is_kept_and_downloaded_as_it_is(desk: Desk) -> None:
    text = STUB + "\n# zwölf ☃\n"
    desk.choose(source=text)
    source = desk.browser.find("#source")
    desk.browser.run("arguments[0].focus(); arguments[0].setSelectionRange(0, 0)", source)
    source.send_keys(TAB)
    text = "    " + text
    desk.browser.find("#download").click()
    place = desk.folder / "ai.py"
    end = time.monotonic() + 20
    while not place.is_file():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert place.read_text(encoding="utf-8") == text
    ASKED.clear()
    desk.browser.driver.get_log("performance")
    desk.browser.driver.refresh()
    desk.until("!document.querySelector('#state').textContent")
    assert ASKED == ["/", "/offline.js"], "the browser has the rest"
    rows = [json.loads(row["message"]) for row in desk.browser.driver.get_log("performance")]
    sent = [row["message"] for row in rows if row["message"]["method"].endswith("WillBeSent")]
    addresses = [message["params"]["request"]["url"] for message in sent]
    assert addresses
    own = (desk.address, "blob:", "data:", "about:")
    assert [address for address in addresses if not address.startswith(own)] == []
    assert desk.browser.find("#source").get_property("value") == text
    source = desk.browser.find("#source")
    source.send_keys(ESCAPE, TAB)
    assert desk.browser.run("return document.activeElement.id") != "source"
    long = "".join(f"a{number} = {number}\n" for number in range(2000))
    desk.choose(source=long)
    desk.browser.find("#reset").click()
    assert source.get_property("value") == STUB
    desk.browser.run("arguments[0].focus()", source)
    source.send_keys("x", CONTROL + "zz")
    assert source.get_property("value") == long
    source.send_keys(CONTROL + "y")
    assert source.get_property("value") == STUB
    desk.browser.find("#reset").click()  # once too often
    for text in (long, STUB):
        desk.browser.find("#before").click()
        assert source.get_property("value") == text, "on a phone, too"
    limit = 5 * 2**20
    desk.browser.run(f"localStorage.setItem('x', 'y'.repeat({limit - 2 * len(STUB) - 200_000}))")
    desk.choose(source="z" * 200_000)
    assert "Download ai.py before you leave" in desk.browser.text("#unsaved")
    desk.browser.run("localStorage.removeItem('x')")
    desk.choose(source=STUB)
    assert desk.browser.text("#unsaved") == ""


def test_of_two_tabs_one_writes_and_the_other_takes_over(desk: Desk) -> None:
    driver = desk.browser.driver
    desk.choose(source="one")
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(desk.address)
    desk.until("!document.querySelector('#elsewhere').hidden")
    desk.browser.find("#source").send_keys("lost")
    second = driver.current_window_handle
    driver.switch_to.window(first)
    desk.browser.find("#source").send_keys(", two")
    driver.switch_to.window(second)
    desk.browser.find("#take").click()
    desk.until("!document.querySelector('#source').readOnly")
    desk.browser.find("#source").send_keys(", three")
    kept = "Object.values(localStorage)"
    assert "one, two, three" in desk.browser.run(f"return {kept}")
    driver.switch_to.window(first)
    desk.until("!document.querySelector('#elsewhere').hidden")
    desk.browser.find("#source").send_keys("lost")
    driver.switch_to.window(second)
    driver.close()
    driver.switch_to.window(first)
    desk.browser.find("#take").click()
    desk.until("!document.querySelector('#source').readOnly")
    assert desk.browser.find("#source").get_property("value") == "one, two, three"


def test_a_file_that_was_opened_by_mistake_costs_no_text(desk: Desk, tmp_path: Path) -> None:
    desk.choose(source="my work")
    value = "document.querySelector('#source').value"
    for name, text in (("old.py", "old = 1\r\r"), ("right.py", "right = 1\n" * 30)):
        tmp_path.joinpath(name).write_bytes(text.encode())
        desk.browser.find("#file").send_keys(str(tmp_path / name))
        desk.until(f"{value} === {text!r}.replaceAll('\\r', '\\n')")
    source = desk.browser.find("#source")
    source.send_keys(CONTROL + "a")
    source.send_keys(TAB)
    assert source.get_property("value").startswith("    right")
    for text in ("right = 1\n" * 30, "old = 1\n\n", "my work"):
        source.send_keys(CONTROL + "z")
        assert source.get_property("value") == text
    source.send_keys(CONTROL + "yyy")
    assert source.get_property("value").startswith("    right")
    desk.browser.find("#before").click()
    assert source.get_property("value") == "my work"
    desk.choose(source="right = 1\n" * 30)
    source.send_keys(CONTROL + "a")
    source.send_keys("x")  # a slip
    desk.browser.find("#before").click()
    assert source.get_property("value") == "right = 1\n" * 30


def test_a_tab_that_stood_still_overwrites_nothing(desk: Desk) -> None:
    """As on a phone, where a tab behind others hears of none that was opened since."""
    driver, newer = desk.browser.driver, "written in another tab"
    keep = f"localStorage.setItem('connect4-playground:/', {newer!r}); return localStorage.length"
    kept = "return localStorage.getItem('connect4-playground:/')"
    source = desk.browser.find("#source")
    desk.choose(source="old")
    desk.browser.run(keep)
    source.send_keys("x")
    assert "another tab" in desk.browser.text("#elsewhere")
    assert desk.browser.run(kept) == newer
    desk.browser.find("#take").click()
    desk.until("!document.querySelector('#source').readOnly")
    assert source.get_property("value") == newer
    source.send_keys(CONTROL + "z")
    assert source.get_property("value") == "oldx", "nor is its own text lost"

    desk.browser.run(keep)
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(desk.address)
    desk.until("!document.querySelector('#source').readOnly")
    assert desk.browser.find("#source").get_property("value") == newer
    driver.close()
    driver.switch_to.window(first)
    assert "another tab" in desk.browser.text("#elsewhere")
    desk.browser.find("#take").click()
    desk.until("!document.querySelector('#source').readOnly")


def test_the_editor_indents_pairs_brackets_and_finds(desk: Desk) -> None:
    desk.choose(source="")
    source = desk.browser.find("#source")
    source.send_keys(f"def f(a):{ENTER}return (a[0]{ENTER}# )")
    assert source.get_property("value") == "def f(a):\n    return (a[0]\n# )"
    source.send_keys("\ue013\ue011" + "\ue014" * 12)  # up, home, right: behind `(`
    desk.until("document.querySelector('#colours .alone')")
    source.send_keys("\ue014" * 3)
    marked = (
        "[...document.querySelectorAll('#colours .pair')].map((one) => one.textContent).join('')"
    )
    desk.until(f"{marked} === '[]'")
    assert desk.browser.text("#colours .comment") == "# )"
    lines = "".join(f"    place{number} = 'x'\n" for number in range(2000))
    desk.choose(source=lines)
    desk.browser.find("#find").send_keys("PLACE1999")
    desk.until("document.querySelector('#colours .found')")
    assert desk.browser.text("#count") == "1 of 1"
    tops = "['#colours .found', '#lines'].map((each) => document.querySelector(each)"
    found, numbers = desk.browser.run(f"return {tops}.getBoundingClientRect())")
    place = desk.browser.text("#lines").split().index("2000")
    assert abs(numbers["y"] + 8 + 20 * place - found["y"]) < 5, "the number is beside its line"


def test_stop_ends_every_state_and_says_so(desk: Desk) -> None:
    loop = STUB.replace(FIRST_MOVE, "while True: pass")
    begun = "document.querySelector('#said').textContent.startsWith('The start')"
    kit = {"player1": "mcts", "player2": "mcts", "board": "", "seconds": "900"}
    for values in ({"source": loop, "seconds": "900"}, {"source": loop.split()[-2]}, kit):
        desk.begin(**values)
        desk.until(begun)
        desk.browser.run("document.getElementById('stop').click()")
        desk.until("document.querySelector('#state').textContent === 'Stopped.'")
    desk.until("document.querySelector('#outcome').textContent === 'Stopped, 0:0.'")
    desk.choose(source=loop)
    for name in ("#check", "#practice"):
        desk.browser.find(name).click()
        desk.browser.run("document.getElementById('stop').click()")
        desk.until("document.querySelector('#state').textContent === 'Stopped.'")
    desk.play(source=STUB)
    desk.until("document.querySelector('#outcome').textContent.includes(' won ')")


def test_a_game_goes_on_from_a_turn_with_the_file_as_it_is_now(desk: Desk) -> None:
    moves = desk.play(player2="alphabeta", options2="depth=2")
    desk.turn(4)
    last = STUB.replace(FIRST_MOVE, FIRST_MOVE.replace("[0]", "[-1]"))
    desk.choose(source=last)
    desk.browser.run(
        "[...document.querySelectorAll('#save button')].find((button) =>"
        " button.textContent === 'Play on from this turn').click()"
    )
    desk.over()
    script = "return [...document.querySelectorAll('#moves .text')].map((e) => e.textContent)"
    again = list(desk.browser.run(script))[1:]
    state = load_start(GAMES["extended"], "case1")
    for move in moves[:4]:
        state = state.apply(state.game.parse_action(move))
    file = desk.folder / "last.py"
    file.write_text(last, encoding="utf-8")
    played = connect4.play(f"ai:{file}", "alphabeta:depth=2", state, seconds=20, seed=7)
    assert again == [turn.text for turn in played.turns]


def test_practice_says_what_the_command_says(desk: Desk, tmp_path: Path) -> None:
    margin = "get_pts(me, board) - get_pts(opponent, board)"
    source = CODE.replace(margin, f"-({margin})")
    (tmp_path / "ai.py").write_text(source, encoding="utf-8")
    done = run("grader", "practice", "ai.py", "--seconds", "10", cwd=tmp_path, status=0)
    asked = re.search("A question: Prefers what is worst for it.*", done.stdout)
    assert asked
    found = desk.practice(source)
    assert asked[0] in found
    assert "A browser is about three times slower" in found
    first = desk.browser.driver.current_window_handle
    desk.browser.find("#practised a").click()
    desk.browser.driver.switch_to.window(desk.browser.driver.window_handles[-1])
    desk.until("document.querySelectorAll('figure svg').length > 200")
    desk.browser.driver.close()
    desk.browser.driver.switch_to.window(first)


def test_a_link_of_practice_begins_a_game_with_its_position(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "ai.py").write_text(STUB, encoding="utf-8")
    solved = next(solved for solved in read() if solved.state.mover == 2)
    answer = Answer(solved, Turn(Outcome.TIMEOUT))
    (link,) = re.findall('href="(http.*?)"', page(Practice("", 1, (), (answer,)), desk.address))
    desk.browser.driver.get(link)
    moves = desk.play(board="linked")
    played = connect4.play(f"ai:{tmp_path / 'ai.py'}", "random", solved.state, seconds=20, seed=7)
    assert moves == [turn.text for turn in played.turns]
    assert desk.play(board="linked") == moves, "the address has a turn of the game by now"
    desk.browser.run("location.hash = '#6_8_mine'")
    desk.begin(board="linked")
    desk.until("document.querySelector('#state').textContent.endsWith('no position: #6_8_mine')")
    desk.browser.run("location.hash = ''")
    desk.play()
    desk.choose(game="extended")
    assert not desk.browser.find_all("#set-board [value=linked]"), "a turn is no position"


def test_stop_ends_practice_with_the_result_so_far(desk: Desk) -> None:
    desk.choose(source=STUB.replace(FIRST_MOVE, "while len(state[0]) == 6: print(state)"))
    desk.browser.find("#practice").click()
    desk.until("/^[3-9] of/.test(document.querySelector('#findings').textContent)")
    desk.browser.run("document.getElementById('stop').click()")
    desk.until("document.querySelector('#state').textContent === 'Stopped.'")
    found = desk.browser.text("#practised")
    assert re.search(r"^ai\.py: \d+ of 1,\d+ positions, with 0\.2 s a move$", found, re.M)
    assert "without a valid action: timeout, no answer within 0.2 s" in found
    assert "without a valid action: invalid, " in found


def test_axe_finds_nothing_and_the_console_is_empty(desk: Desk) -> None:
    for size, dark in product((WIDE, PHONE), (False, True)):
        desk.browser.resize(size, dark)
        assert violations(desk.browser) == []
        assert desk.browser.run("return document.documentElement.scrollWidth") <= size[0]
    assert desk.browser.driver.get_log("browser") == []


def test_a_page_from_the_disk_and_a_folder_without_pyodide_say_what_is_needed(
    site: Path, browser: Browser, tmp_path: Path
) -> None:
    browser.driver.get((site / "index.html").as_uri())
    browser.wait("return document.querySelector('#state').textContent.includes('http.server')")

    done = run(
        "grader", "playground", str(tmp_path / "site"), "--runtime", str(tmp_path), cwd=tmp_path
    )
    assert done.returncode == 2
    assert "no pyodide.js; name the folder of Pyodide 0.27.7" in done.stderr


KEPT = """
const done = arguments[0];
caches.open('connect4-playground:/').then((one) => one.keys()).then((all) =>
  done(all.map(({url}) => url.split('/').pop()).filter((name) => !name || name.endsWith('zip'))))
"""


def test_a_second_visit_loads_a_new_kit_and_a_third_needs_no_network(
    site: Path, browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    (old,) = folder.glob("kit-*.zip")
    page = folder / "index.html"
    month = time.time() - 30 * 86400
    os.utime(page, (month, month))  # the browser would show such a page for days without asking
    server = serving(folder)
    first = Desk(browser, f"http://127.0.0.1:{server.server_port}/", folder)
    kept = set(browser.driver.execute_async_script(KEPT))
    assert kept == {"", old.name, "python_stdlib.zip"}
    new = old.rename(folder / "kit-0123456789ab.zip")
    page.write_text(page.read_text(encoding="utf-8").replace(old.name, new.name), encoding="utf-8")
    os.utime(page, (month + 1, month + 1))
    for is_online in (True, False):
        browser.driver.get(first.address)
        first.until("!document.querySelector('#state').textContent")
        first.play()
        first.until("document.querySelector('#outcome').textContent.includes(' won ')")
        kept = set(browser.driver.execute_async_script(KEPT))
        assert kept == {"", new.name, "python_stdlib.zip"}
        if is_online:
            end(server)


def test_a_visit_that_failed_leaves_nothing_broken(site: Path, browser: Browser) -> None:
    class Broken(Quiet):
        """Only what it answers wrongly may stay in the cache of the browser."""

        name, status, kind = "", 0, ""

        def do_GET(self) -> None:
            self.is_whole = not self.path.endswith(self.name)
            if self.is_whole:
                return super().do_GET()
            self.send_response(self.status)
            self.send_header("Content-Type", self.kind)
            self.end_headers()
            self.wfile.write(b"no such file, or a page to sign in")
            return None

        def end_headers(self) -> None:
            if self.is_whole:
                self.send_header("Cache-Control", "no-store")
            super().end_headers()

    server = serving(site, Broken)
    address = f"http://127.0.0.1:{server.server_port}/"
    (kit,) = (path.name for path in site.glob("kit-*.zip"))
    for name, status, kind, said in (
        (kit, 404, "text/html", f"{kit} cannot be loaded: the server says 404. Load this page"),
        (kit, 200, "text/html", f"{kit} cannot be loaded: the server sends a page in its place"),
        (kit, 200, "application/zip", "Python does not start in this browser"),
        (".wasm", 200, "application/wasm", "Python does not start in this browser"),
        ("nothing", 404, "text/html", ""),
    ):
        Broken.name, Broken.status, Broken.kind = name, status, kind
        browser.driver.get(address)
        browser.wait(
            "const said = document.querySelector('#state').textContent;"
            f"return {said!r} ? said.includes({said!r}) : !said"
        )
    end(server)
    browser.driver.get("about:blank")
    browser.driver.get_log("browser")


def test_a_site_below_a_path_with_a_password_and_the_policy_of_the_document(
    site: Path, browser: Browser, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "classroom.md").read_text(encoding="utf-8")
    policy = re.search("default-src 'self'; script-src .*", text)
    assert policy
    shutil.copytree(site, tmp_path / "course" / "pg")

    class Strict(Quiet):
        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", policy[0])
            super().end_headers()

        def do_GET(self) -> None:
            if self.headers.get("Authorization") == "Basic YW5uOnNlY3JldA==":  # ann:secret
                super().do_GET()
            else:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="course"')
                self.end_headers()

    server = serving(tmp_path, Strict)
    place = f"127.0.0.1:{server.server_port}/course/pg/"
    desk = Desk(browser, f"http://ann:secret@{place}", tmp_path)
    desk.play()
    end(server)
    browser.driver.get(f"http://{place}index.html")
    desk.until("!document.querySelector('#state').textContent")
    desk.play()
    desk.until("document.querySelector('#outcome').textContent.includes(' won ')")


def test_the_text_is_there_after_the_tab_has_crashed(site: Path, browser: Browser) -> None:
    from selenium.common.exceptions import WebDriverException

    server = serving(site)
    driver = browser.driver
    desk = Desk(browser, f"http://127.0.0.1:{server.server_port}/", site.parent)
    driver.get("about:blank")
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(desk.address)
    desk.until("!document.querySelector('#source').readOnly")
    browser.find("#source").send_keys("# the last line")
    with pytest.raises(WebDriverException, match="crashed"):
        driver.get("chrome://crash")
    driver.switch_to.window(first)
    driver.get(desk.address)
    desk.until("!document.querySelector('#source').readOnly")
    text = browser.find("#source").get_property("value")
    assert text.endswith("# the last line")
    assert browser.run("return document.querySelector('#elsewhere').hidden")
    end(server)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("default-src 'self'", "This page's script does not run."),
        ("default-src 'self' 'unsafe-inline'", "(script-src)"),
        ("default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'", "(worker-src)"),
        ("connect-src 'none'", "(connect-src)"),
        ("sandbox allow-scripts", "(sandbox)"),
    ],
)
def test_a_policy_that_forbids_python_is_said(
    site: Path, browser: Browser, policy: str, said: str
) -> None:
    class Strict(Quiet):
        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", policy)
            super().end_headers()

    server = serving(site, Strict)
    browser.driver.get(f"http://127.0.0.1:{server.server_port}/")
    browser.wait(f"return document.querySelector('#state').textContent.includes({said!r})")
    assert "docs/classroom.md" in browser.text("#state")
    if "sandbox" in policy:  # it denies the browser's storage, too
        browser.wait("return !document.querySelector('#unsaved').hidden")
        assert "This browser keeps the text" not in browser.text("#keys")
    end(server)
    browser.driver.get("about:blank")
    browser.driver.get_log("browser")

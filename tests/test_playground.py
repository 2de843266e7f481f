"""The playground in a real browser: a plain web server, Python inside, a student's file in it."""

from __future__ import annotations

import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import pytest

import connect4
from tests.browser import PHONE, WIDE, Browser
from tests.command import ROOT, run
from tests.needs import PYODIDE
from tests.test_web import violations

pytestmark = [
    *(pytest.mark.browser, pytest.mark.web, pytest.mark.pyodide),
    pytest.mark.timeout(300),
]

STUB = (ROOT / "grader" / "handout" / "ai_stub.py").read_text(encoding="utf-8")
FIRST_MOVE = "return get_valid_actions(self.player_number, state)[0]"
ENTER, TAB, ESCAPE = "\ue007", "\ue004", "\ue00c"
PATIENCE = 90

ASKED: list[str] = []


class Quiet(SimpleHTTPRequestHandler):
    """A plain web server, whose requests go to `ASKED`."""

    def log_message(self, format: str, *args: object) -> None:
        ASKED.append(self.path)


def serving(folder: Path) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


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
        server.shutdown()
        server.server_close()


def test_the_site_has_the_students_edition_only(site: Path) -> None:
    (kit,) = site.glob("kit-*.zip")
    with zipfile.ZipFile(kit) as archive:
        names = archive.namelist()
        assert archive.read("connect4/players/ai.py").decode() == STUB
    assert not [name for name in names if "reference" in name or "handout" in name]
    assert "reference" not in re.findall('"kind":"([a-z]+)"', (site / "index.html").read_text())


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
    assert desk.browser.text("#outcome") == "greedy won 234 : 98", "as in the API's example"


def test_an_edited_file_plays_and_its_faults_are_shown_with_their_line(desk: Desk) -> None:
    broken = STUB.replace(FIRST_MOVE, "print('thinking')\n        return 1 / 0")
    assert set(desk.play(source=broken)[::2]) == {"error"}
    line = broken[: broken.index("1 / 0")].count("\n") + 1
    assert f'File "ai.py", line {line}, in get_expectimax_move' in desk.turn(1)
    assert desk.browser.text("#printed") == "thinking"
    desk.play(source="x = (")
    assert 'File "ai.py", line 1' in desk.browser.text("#detail")
    assert desk.browser.text("#lines b") == "\u25b81"


def test_an_endless_loop_loses_its_turn_and_the_next_turn_is_played(desk: Desk) -> None:
    loop = f"while np.count_nonzero(state[0]) == 2: pass\n        {FIRST_MOVE}"
    moves = desk.play(source=STUB.replace(FIRST_MOVE, loop), board="", seconds="2")
    assert moves.index("too late") == 2
    assert "no answer within 2 s" in desk.turn(3)
    assert "too late" not in moves[3:]
    found = desk.check(STUB.replace(FIRST_MOVE, "while True: pass"))
    assert "no answer within 2 s; does it end?" in found


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
    assert ASKED == ["/"], "the browser has the rest"
    rows = [json.loads(row["message"]) for row in desk.browser.driver.get_log("performance")]
    sent = [row["message"] for row in rows if row["message"]["method"].endswith("WillBeSent")]
    addresses = [message["params"]["request"]["url"] for message in sent]
    assert len(addresses) > 6
    own = (desk.address, "blob:", "data:", "about:")
    assert [address for address in addresses if not address.startswith(own)] == []
    assert desk.browser.find("#source").get_property("value") == text
    source = desk.browser.find("#source")
    source.send_keys(ESCAPE, TAB)
    assert desk.browser.run("return document.activeElement.id") != "source"
    desk.browser.find("#reset").click()
    desk.browser.driver.switch_to.alert.accept()
    assert source.get_property("value") == STUB


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

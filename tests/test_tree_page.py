"""The search-tree page in a real Chromium."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connect4 import record as records
from connect4.games import GAMES, load_start
from connect4.games.base import State
from connect4.players.base import Setup
from connect4.players.registry import build, parse_agent
from connect4.search.trace import Flag, Kind, Node
from connect4.views.tree import main, tree_page
from tests.browser import PHONE, Browser
from tests.command import assert_refused, environment, run
from tests.games import classic_record

UP, DOWN, LEFT, RIGHT, BACKSPACE = "\ue013", "\ue015", "\ue012", "\ue014", "\ue003"


def searched(state: State, depth: int) -> list[Node]:
    """Return the nodes of an alpha-beta search without a table."""
    name = parse_agent(f"alphabeta:depth={depth},heuristic=margin,order=ascending,tt=off")
    player: Any = build(Setup(name, state.mover, GAMES["extended"], 60.0, 1))
    found: list[Node] = player.explain(state)
    return found


START = load_start(GAMES["extended"], "mid8x10")


@pytest.fixture(scope="module")
def nodes() -> list[Node]:
    return searched(START, 4)


@pytest.fixture(scope="module")
def file(nodes: list[Node], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tree") / "tree.html"
    path.write_text(tree_page(GAMES["extended"], START, "alphabeta", nodes), encoding="utf-8")
    return path


def show(browser: Browser, folder: Path, start: State, nodes: list[Node]) -> None:
    """Write the page of these nodes and open it."""
    file = folder / "tree.html"
    file.write_text(tree_page(start.game, start, "minimax", nodes), encoding="utf-8")
    browser.open(file)


def children(nodes: list[Node], parent: int) -> list[int]:
    """Return the indices of a node's children."""
    found = []
    for index in range(parent + 1, len(nodes)):
        if nodes[index].depth <= nodes[parent].depth:
            break
        if nodes[index].depth == nodes[parent].depth + 1:
            found.append(index)
    return found


def text_of(node: Node) -> str:
    return GAMES["extended"].format_action(node.move) if node.depth else "start"


def drawn(browser: Browser) -> list[int]:
    """Return the nodes drawn as rows, from top to bottom."""
    found: list[int] = browser.run(
        "return [...document.querySelectorAll('.row')]"
        ".sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))"
        ".map(row => Number(row.id.slice(1)))"
    )
    return found


def selected(browser: Browser) -> int:
    return int(browser.find(".row.selected").get_attribute("id")[1:])


def path(browser: Browser) -> list[str]:
    return [step.text.split()[-1] for step in browser.find_all("#path button")]


def shown_board(browser: Browser) -> list[int]:
    classes = browser.run(
        "return [...document.querySelectorAll('#board .tokens > g')]"
        ".map(token => token.getAttribute('class'))"
    )
    return [int(name[1]) for name in classes]


def test_the_root_and_its_children_stand_in_search_order(
    browser: Browser, file: Path, nodes: list[Node]
) -> None:
    browser.open(file)
    line = [index for index, node in enumerate(nodes) if Flag.BEST in node.flags]
    opened = sorted({0, *(child for index in line for child in children(nodes, index))})
    shown = drawn(browser)
    assert shown == opened[: len(shown)], "at first it is open along the principal variation"
    browser.find("#none").click()
    browser.press(RIGHT)
    assert drawn(browser) == [0, *children(nodes, 0)]
    for row, index in zip(browser.find_all(".row"), drawn(browser), strict=True):
        node = nodes[index]
        assert row.find_element("css selector", ".text").text == text_of(node)
        value = row.find_element("css selector", ".value").text.replace("−", "-")
        assert float(value) == node.value
        low, high = row.find_element("css selector", ".window").text.replace("−", "-").split(" .. ")
        assert float(low.replace("∞", "inf")) == node.alpha
        assert float(high.replace("∞", "inf")) == node.beta
        badge = row.find_element("css selector", ".kind").text
        assert badge == ("▲ MAX" if node.kind is Kind.MAX else "▼ MIN")
    browser.assert_quiet()


def test_a_click_descends_and_the_path_leads_back(
    browser: Browser, file: Path, nodes: list[Node]
) -> None:
    browser.open(file)
    child = children(nodes, 0)[1]
    browser.find(f"#n{child}").click()
    assert selected(browser) == child
    assert set(children(nodes, child)) <= set(drawn(browser))
    grandchild = next(
        index for index in children(nodes, child) if Flag.PRUNED not in nodes[index].flags
    )
    browser.find(f"#n{grandchild}").click()
    assert path(browser) == ["start", text_of(nodes[child]), text_of(nodes[grandchild])]
    browser.find_all("#path button")[1].click()
    assert selected(browser) == child
    browser.find("#up").click()
    assert selected(browser) == 0
    assert path(browser) == ["start"]
    browser.assert_quiet()


def test_the_board_is_that_of_the_node_under_the_pointer(
    browser: Browser, file: Path, nodes: list[Node]
) -> None:
    from selenium.webdriver import ActionChains

    browser.open(file)
    for child in children(nodes, 0)[:3]:
        ActionChains(browser.driver).move_to_element(browser.find(f"#n{child}")).perform()
        after = START.apply(nodes[child].move)
        assert shown_board(browser) == after.board().ravel().tolist()
    ActionChains(browser.driver).move_to_element(browser.find("#title")).perform()
    assert shown_board(browser) == START.board().ravel().tolist()


def test_keys_walk_the_tree(browser: Browser, file: Path, nodes: list[Node]) -> None:
    browser.open(file)
    browser.find("#none").click()
    browser.press(RIGHT)
    first, second = children(nodes, 0)[:2]
    browser.press(DOWN)
    assert selected(browser) == first
    browser.press(DOWN)
    assert selected(browser) == second
    browser.press(RIGHT, RIGHT)
    assert selected(browser) == children(nodes, second)[0]
    browser.press(BACKSPACE)
    assert selected(browser) == second
    browser.press(LEFT)
    assert drawn(browser) == [0, *children(nodes, 0)]
    browser.press(LEFT, UP)
    assert selected(browser) == 0
    assert browser.find("#n0").get_attribute("aria-expanded") == "true"
    assert browser.find("#tree").get_attribute("aria-activedescendant") == "n0"
    browser.assert_quiet()


def test_the_principal_variation_is_marked(browser: Browser, file: Path, nodes: list[Node]) -> None:
    browser.open(file)
    browser.press("v")
    best = [index for index, node in enumerate(nodes) if Flag.BEST in node.flags]
    assert selected(browser) == best[-1]
    assert path(browser) == [text_of(nodes[index]) for index in best]
    starred = {row.get_attribute("id") for row in browser.find_all(".row:has(.star)")}
    assert starred <= {f"n{index}" for index in best}
    assert f"n{best[-1]}" in starred


@pytest.mark.parametrize("kind", [Kind.MAX, Kind.MIN])
def test_a_pruned_branch_says_which_bound_cut_it(
    browser: Browser, file: Path, nodes: list[Node], kind: Kind
) -> None:
    browser.open(file)
    cut = next(
        index for index, node in enumerate(nodes) if Flag.CUT in node.flags and node.kind is kind
    )
    while selected(browser) != cut:
        browser.press("c")
    sign, name, bound = (
        ("≥", "β", nodes[cut].beta) if kind is Kind.MAX else ("≤", "α", nodes[cut].alpha)
    )
    minus = f"value {nodes[cut].value:g} {sign} {name} {bound:g}".replace("-", "−")
    assert browser.find(f"#n{cut} .chip").text == f"cut: {minus}"
    pruned = [index for index in children(nodes, cut) if Flag.PRUNED in nodes[index].flags]
    row = browser.find(f"#n{pruned[0]}")
    assert "pruned" in row.get_attribute("class")
    assert row.find_element("css selector", ".window").text == "", "it was never searched"
    browser.run("arguments[0].scrollIntoView({block: 'center'})", row)
    browser.find(f"#n{pruned[0]}").click()
    why = browser.text("#why")
    assert why.startswith("Pruned: its parent")
    assert minus in why
    browser.assert_quiet()


def test_a_phone_shows_the_mark_of_a_cut_off_whole(browser: Browser, file: Path) -> None:
    browser.open(file, size=PHONE)
    browser.press("c")
    cut = browser.find(".row.selected .chip").rect
    lead = browser.find(".row.selected .lead").rect
    assert cut["x"] + cut["width"] <= lead["x"] + lead["width"]


def test_a_large_tree_draws_only_what_is_in_sight(browser: Browser, tmp_path: Path) -> None:
    start = load_start(GAMES["extended"], "empty10x10")
    nodes = searched(start, 5)[:30_000]
    show(browser, tmp_path, start, nodes)
    browser.find("#all").click()
    assert browser.run("return document.getElementById('rows').clientHeight / 30") == len(nodes)
    assert len(drawn(browser)) < 100
    browser.run("document.getElementById('tree').scrollTop = 1e9")
    browser.wait(f"return document.getElementById('n{len(nodes) - 1}') !== null")
    assert len(drawn(browser)) < 100
    browser.find("#none").click()
    assert drawn(browser) == [0]
    browser.assert_quiet()


STUDENT = """
class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_expectimax_move(self, state):
        return 0, False

    get_intelligent_move = get_expectimax_move
"""


def explaining(folder: Path, body: str) -> Path:
    """Write a student's file whose `explain` has that body."""
    file = folder / "agent.py"
    file.write_text(f"{STUDENT}\n    def explain(self, state):\n        {body}\n", encoding="utf-8")
    return file


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("connect4.views.tree", *arguments, "-o", "tree.html", cwd=folder)


Here = Callable[..., tuple[object, str, str]]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Return what runs the command in this process: its exit status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[object, str, str]:
        status: object
        try:
            status = main([*arguments, "-o", "tree.html"])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return command


def test_the_command_prints_the_published_counts_and_a_table_saves_nodes(here: Here) -> None:
    classic = ("--game", "classic-full", "--agent", "alphabeta:depth=4,heuristic=v1")
    counts = "61 cut-offs, 351 branches pruned, 4 plies deep, best move 3, value 0\n"
    _, without, _ = here(*classic[:3], f"{classic[3]},tt=off")
    assert without == f"tree.html: 210 nodes, {counts}"
    assert int(here(*classic)[1].split()[1]) < 210


def test_the_time_holds_for_a_fixed_depth_and_the_last_whole_depth_is_shown(here: Here) -> None:
    agent = ("--agent", "minimax:depth=9")
    _, output, _ = here("--game", "classic-full", *agent, "--time", "0.3")
    counts, note = output.splitlines()
    reached = int(re.search(r"(\d) plies deep", counts)[1])  # type: ignore[index]
    nodes = int(counts.split()[1].replace(",", ""))
    assert nodes == sum(7**ply for ply in range(reached + 1)), "a whole depth"
    assert note == f"the time ended before depth 9; this is depth {reached}"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return the record of a game of two different searches, and of a person's first move."""
    names = "minimax:depth=2", "human"
    path = tmp_path / "game.json"
    records.write(classic_record((2, 2, 3, 1, 5), (5, 6), names), path)
    return path


def test_a_turn_of_a_record_shows_the_search_of_who_played_it(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    done = make(tmp_path, "game.json:5")
    assert done.stdout.startswith("tree.html: "), done
    browser.open(tmp_path / "tree.html")
    assert browser.text("#title") == "Connect 4: minimax:depth=2"
    cells = shown_board(browser)
    assert (cells.count(1), cells.count(2)) == (2, 2), "the position before the turn"
    done = make(tmp_path, "game.json:4", "--agent", "alphabeta:depth=1")
    assert done.stdout.startswith("tree.html: 7 nodes, "), done


def test_a_ctrl_c_stops_the_search_without_a_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "connect4.views.tree", "--game", "classic-full",
         "--agent", "minimax:depth=9", "--time", "60", "-o", "tree.html"],
        cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    while "connect4.views.words" not in process.stderr.readline():
        pass  # loaded last
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert errors.splitlines()[-1] == "stopped; no page was written"
    assert "Traceback" not in errors
    assert process.returncode == 130
    assert not (tmp_path / "tree.html").exists()


def test_expectimax_shows_chance_nodes(browser: Browser, tmp_path: Path) -> None:
    done = make(tmp_path, "--agent", "expectimax:depth=2", "case4")
    assert done.returncode == 0, done.stderr
    browser.open(tmp_path / "tree.html")
    badges = {badge.text for badge in browser.find_all(".row .kind")}
    assert badges == {"▲ MAX", "◆ CHANCE"}
    assert browser.find("#chance-key").is_displayed()
    assert "cut-offs" not in done.stdout, "a search without bounds cannot prune"
    assert "Probability" in browser.text(".columns")
    assert "Window" not in browser.text("#values")
    browser.find("#all").click()
    odds = {row.text for row in browser.find_all(".window") if row.text}
    assert odds and all(re.fullmatch("1/[0-9]+", text) for text in odds), odds
    assert not browser.find("#cut").is_displayed()
    browser.assert_quiet()


def test_a_students_own_tree_is_shown(browser: Browser, tmp_path: Path) -> None:
    explaining(
        tmp_path,
        "import numpy; print('not seen');"
        "return [(0, None, 'MAX', 7, -9, float('inf'), 'best'),"
        "[1, (numpy.int64(0), numpy.bool_(0)), 'MIN', numpy.float64(7), -9, 9, 'best cut'],"
        "(2, (0, False), 'MAX', 7, -9, 9, 'best'), (2, (1, False), 'MAX', None, -9, 7, 'pruned')]",
    )
    done = make(tmp_path, "--agent", "ai:agent.py", "case4")
    assert "3 nodes, 1 cut-offs, 1 branches pruned, 2 plies deep" in done.stdout, done
    browser.open(tmp_path / "tree.html")
    browser.press("v")
    assert path(browser) == ["start", "0", "0"]
    browser.assert_quiet()


def test_a_value_that_is_not_the_best_of_its_children_is_marked_in_a_student_s_tree(
    browser: Browser, nodes: list[Node], tmp_path: Path
) -> None:
    broken = next(number for number in range(1, len(nodes)) if len(children(nodes, number)) > 1)
    assert nodes[broken].value is not None
    nodes = [*nodes]
    file = tmp_path / "tree.html"
    for more in (0, 1000):
        nodes[broken] = nodes[broken]._replace(value=nodes[broken].value + more)
        file.write_text(tree_page(START.game, START, "ai:ai.py", nodes), encoding="utf-8")
        browser.open(file)
        assert browser.find("#wrong").is_displayed() == (more > 0), "alpha-beta's bounds are right"
    visited = set[int]()
    while selected(browser) not in visited:
        visited.add(selected(browser))
        browser.press("w")
    assert broken in visited
    assert "Wrong: the best of its children's values is" in browser.text("#why")
    assert browser.find_all(".row.selected .wrong")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("return []", "explain returned no nodes"),
        ("return 1 / 0", "failed in explain: ZeroDivisionError"),
        (
            "return [[]] * 3_000_000",  # more lists than a tree has, which take 64 bytes each
            "'ai:agent.py': a tree of more than 1000000 nodes; search less deep",
        ),
        ("raise ValueError('\\x1b[2J')", "failed in explain: ValueError('\\x1b[2J')"),
        ("return [(1, None, 'MAX', 7, -9, 9, '')]", "node 0 of its tree: depth 1 does not follow"),
        (
            "return [(0, None, 'BIG', 7, -9, 9, '')]",
            "node 0 of its tree: kind 'BIG'; expected MAX, MIN, CHANCE",
        ),
        (
            "return [(0, None, 'MAX', float('nan'), -9, 9, '')]",
            "node 0 of its tree: value nan is no number",
        ),
        ("self.nodes = []", "explain returned None; expected a list"),
        (
            "return [(0, None, 'MAX', 7, -9, 9)]",
            "node 0 of its tree: expected [depth, move, kind, value, alpha, beta, note], not [0",
        ),
        (
            "return [(0, None, 'MAX', 7, -9, 9, ''), (1, 3, 'MIN', 7, -9, 9, '')]",
            "node 1 of its tree: move 3; expected (column, is_popout), such as (3, False)",
        ),
        (
            "return [(0, None, 'MAX', self, -9, 9, '')]",
            "0 of its tree: value 'a AIPlayer' is no num",
        ),
        (
            "return [(0, None, 'MAX', 7, -9, 9, 'nice')]",
            "node 0 of its tree: note 'nice'; expected best, pruned",
        ),
        (
            "return [(0, None, 'MAX', 7, -9, 9, ''), (1, (9, False), 'MIN', 7, -9, 9, '')]",
            "the tree holds an illegal action: column 9 is outside 0..5",
        ),
    ],
)
def test_a_students_tree_that_cannot_be_drawn_is_refused(
    tmp_path: Path, body: str, part: str
) -> None:
    explaining(tmp_path, body)
    assert_refused(make(tmp_path, "--agent", "ai:agent.py", "case4"), part)


@pytest.mark.sandbox
def test_a_students_explain_reads_no_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    explaining(tmp_path, f"return open({str(tmp_path / 'secret.txt')!r}).read()")
    refused = make(tmp_path, "--agent", "ai:agent.py", "case4")
    assert_refused(refused, "failed in explain: FileNotFoundError")

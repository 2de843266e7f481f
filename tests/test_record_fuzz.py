"""Records and trees as damaged and hostile as a seeded generator makes them end in one line."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connect4 import ConnectFour
from connect4 import record as records
from connect4.analysis.costs import analyse
from connect4.errors import InputError
from connect4.games import GAMES
from connect4.players.base import split_name
from connect4.views import page as pages
from connect4.views import tree as trees
from connect4.views.tree import read_nodes
from tests.games import classic_record, played

NUMBERS = (
    *(0, 1, 2, 3, -1, 7, 42, 100_001, 2**31, 2**63, 2**70, 10**18, 10**80, 10**400, -(10**400)),
    *(0.5, -0.0, 1e-320, 1e6, 1e9, 1e18, 1e308, -1e308, float("inf"), float("-inf"), float("nan")),
    *(True, False, None),
)
TEXTS = (
    *("", " ", "\0", "~\0/x", "~\ud800", "\ud800", "\u202e", "\x1b[2J", "3" * 5000, "é", "1e5"),
    *("0", "1", "3P", "0p", "77W", "pass", "played", "error", "timeout", "invalid", "stalled"),
    *("left", "forfeit", "line", "not_loaded", "classic", "dynamic", "popout", "wasm", "move"),
    *("human", "ai", "ai:", "ai:/proc/kmsg", "ai:/dev/zero", "ai:/dev/tty", "ai:/", "ai:x" * 99),
    *("ai:nowhere.py", "env:os:getcwd", "kaggle:/dev/zero.py", "greedy"),
    *("alphabeta:depth=1", "minimax:depth=999999999999", "reference:nodes=1", "mcts:c=1e9,c=2"),
)
SHAPES = (
    *("[]", "{}", "[[]]", "[0]", "[0, 1]", "[1, 2, 3]", '{"a": 1}'),
    *("[" * depth + "]" * depth for depth in (45, 60, 800)),
)


def mutated(rng: random.Random, document: Any) -> Any:
    """Return a copy of a document in which up to three of its values are others."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(places_in(document))
        holder, key = rng.choice(places)
        choice = rng.randrange(8)
        if choice == 0:
            del holder[key]
        elif choice == 1:
            other, name = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[name]))
        elif choice == 2 and isinstance(holder, list):
            holder[key:key] = json.loads(json.dumps([holder[key]] * rng.choice((1, 3, 50))))
        elif choice == 3 and isinstance(holder[key], str) and holder[key]:
            text = list(holder[key])
            text[rng.randrange(len(text))] = rng.choice("\0 -1:9,=PWx\ud800\n")
            holder[key] = "".join(text)
        else:
            shape = json.loads(rng.choice(SHAPES))
            holder[key] = rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS), shape))
        if not list(places_in(document)):
            break
    return document


def places_in(value: Any, depth: int = 6) -> Iterator[tuple[Any, Any]]:
    """Yield each list or object below a value with each of its keys."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys if depth else ():
        yield value, key
        yield from places_in(value[key], depth - 1)


def good_records() -> list[dict[str, Any]]:
    """Return a small record of each game, with lost turns, fuel, a history and an analysis."""
    plain, _ = played("alphabeta:depth=1", "greedy", GAMES["extended"].start(2, 4), seconds=0.1)
    plain.extra["analysis"] = analyse(plain, 0.002, 0).to_json()
    first = GAMES["classic"].start(4, 4)
    classic, _ = played("alphabeta:depth=1", "random", first, game="classic", seconds=0.1)
    lost = classic_record((3, 3, 2), names=("greedy", "minimax:depth=1")).to_json()
    late = {"player": 2, "action": None, "outcome": "timeout", "seconds": 1.6, "starved": True}
    lost["turns"].append({**late, "detail": "no answer within 1.5 s", "fuel": 5})
    lost["result"] = {"scores": [0, 0], "ending": "forfeit", "winner": 1, "detail": "late"}
    popout, _ = played("greedy", "random", GAMES["popout"].start(4, 4), game="popout", seconds=0.1)
    sliding = GAMES["dynamic"].read("O,O, , \nX,X, , \n , , , \nrepetition=1\nmax_turns=9\n", "")
    dynamic, _ = played("alphabeta:depth=1", "random", sliding, game="dynamic", seconds=0.1)
    return [
        plain.to_json(),
        lost,
        {**classic.to_json(), "isolation": "wasm", "fuel": 10**9, "fuel_per_second": 25 * 10**9},
        popout.to_json(),
        dynamic.to_json(),
    ]


def tried(work: Callable[[], object]) -> bool:
    """Return whether some work is refused, in one line; any other error is the test's."""
    try:
        work()
    except InputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 20_000
        return True
    return False


def use(text: str, folder: Path, rng: random.Random) -> bool:
    """Do everything with the text of a record that commands do; return whether it is one."""
    path = folder / "game.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    place = f"{path}:{rng.randrange(1, 9)}"
    turn = ["--replay-turn", place, "--isolation", "none", "--time", "0.05"]
    asked_again = ConnectFour.main(turn)
    drawn = trees.main([place, "--time", "0.05", "-o", str(folder / "tree.html")])
    if tried(lambda: records.loads(text)):
        assert (asked_again, drawn) == (2, 2)
        return False
    record = records.loads(text)
    assert repr(record).isprintable()
    assert records.dumps(records.loads(records.dumps(record))) == records.dumps(record)
    if not tried(lambda: pages.page([record])):
        assert pages.main([str(path), "-o", str(folder / "game.html")]) == 0
    if not tried(lambda: record.extra.update(analysis=analyse(record, 0.002, 0).to_json())):
        pages.page([record])
    return True


@pytest.mark.parametrize(
    "count", [15, pytest.param(1500, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_a_damaged_record_ends_in_one_line_everywhere(
    tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    good = good_records()
    for document in good:
        assert use(json.dumps(document), tmp_path, random.Random(1))
    capsys.readouterr()
    kept = 0
    for number in range(count):
        rng = random.Random(number)
        text = json.dumps(mutated(rng, rng.choice(good)))
        try:
            kept += use(text, tmp_path, rng)
        except BaseException:
            print(f"mutation {number}: {text[:2000]}")
            raise
        said = "".join(capsys.readouterr()).replace("\t", " ").split("\n")
        assert all(line.isprintable() and "Traceback" not in line for line in said), (number, said)
    assert 0 < kept < count * 19 / 20


TREE = [
    [0, None, "MAX", 7, -1000, 1000, "best"],
    [1, [0, False], "MIN", 7.5, -9, 9, "best cut"],
    [2, [0, False], "MAX", 7, -9, float("inf"), "best"],
    [2, [1, False], "CHANCE", None, -9, 7, "pruned"],
    [1, [3, False], "MIN", 2, -9, 9, "known"],
]


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_tree_of_a_student_is_refused_in_one_line(count: int) -> None:
    game = GAMES["extended"]
    start = game.read("1\n0 0 0 0\n0 0 0 0\n0 0 0 2\n", "start")
    start = start.apply((1, False)).apply((3, True))
    drawn = 0
    for number in range(count):
        rng = random.Random(number)
        tree: Any = mutated(rng, TREE) if number else TREE
        key = rng.choice(("answer", "answer", "answer", "failed", "", "missing", "other"))

        def draw(key: str = key, value: Any = tree) -> None:
            nodes = read_nodes(split_name("ai:x.py"), game, key, value)
            trees.tree_page(game, start, "ai:x.py", nodes)

        try:
            drawn += not tried(draw)
        except BaseException:
            print(f"mutation {number}: {key} {tree!s:.2000}")
            raise
    assert count / 200 < drawn < count / 2

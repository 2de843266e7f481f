"""What games by fuel cost: start, turns, slowdown: `python3 -m benchmarks.fuel`.

Native times are processor times, so that a busy machine changes little.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from connect4.config import ALLOWED_MODULES
from connect4.games import load_start
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import open_seat
from connect4.isolation.wasm import images, package
from connect4.players.base import Setup
from connect4.players.registry import build, parse_agent

NODES = 20_000

QUICK = """
class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self, state):
        return 3, False
"""


def setup(text: str, seconds: float) -> Setup:
    with tempfile.TemporaryDirectory() as folder:  # the name of the file is part of the game
        path = Path(folder, "ai.py")
        path.write_text(text, encoding="utf-8")
        name = parse_agent(f"ai:{path}")
    return Setup(name, 1, EXTENDED, seconds, 7, "intelligent", text.encode())


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def starts() -> None:
    print(f"module, compiled already: {timed(package.compiled):.2f} s")
    print(f"image, from the cache:    {timed(lambda: images.start(ALLOWED_MODULES)):.2f} s")
    image, tree = images.start(ALLOWED_MODULES)
    print(f"image, {len(image) / 1e6:.1f} MB; {len(tree.files)} files")

    def opened() -> None:
        open_seat(setup(QUICK, 1.0), "wasm").close()

    def copied() -> None:
        images.copy(ALLOWED_MODULES, 1 << 30, lambda data: None)[0].close()

    copies = sorted(timed(copied) * 1000 for _ in range(20))
    agents = sorted(timed(opened) * 1000 for _ in range(20))
    print(f"copy of a started Python: median {copies[10]:.0f} ms (5th {copies[1]:.0f})")
    print(f"start of an agent:        median {agents[10]:.0f} ms (5th {agents[1]:.0f})")


def turns() -> None:
    for board in ("case1", "empty12x12"):
        state = load_start(EXTENDED, board)
        with closing(open_seat(setup(QUICK, 1.0), "wasm")) as seat:
            replies, walls = [], []
            for _ in range(50):
                began = time.monotonic()
                replies.append(seat.ask(state, 1.0))
                walls.append((time.monotonic() - began) * 1000)
        fuel = statistics.median(reply.fuel or 0 for reply in replies)
        print(
            f"turn that does nothing on {board}: median {statistics.median(walls):.2f} ms, "
            f"{fuel / 1e6:.2f}M fuel: {fuel / 1e7:.2f} % of 1G"
        )


def slowdown() -> None:
    name = parse_agent(f"reference:nodes={NODES}")
    reference = Setup(name, 1, EXTENDED, 1000.0, 7, "intelligent")
    for board in ("case1", "case3"):
        state = load_start(EXTENDED, board)
        times = []
        for _ in range(3):
            agent = build(reference)
            began = time.thread_time()
            agent.choose(state, 1000.0)
            times.append(time.thread_time() - began)
        with closing(open_seat(reference, "wasm")) as seat:
            reply = seat.ask(state, 1000.0)
        assert reply.fuel is not None
        native = min(times)
        print(
            f"reference, {NODES} nodes on {board}: native {NODES / native / 1000:.0f}k, "
            f"wasm {NODES / reply.cpu_seconds / 1000:.0f}k nodes a second "
            f"({reply.cpu_seconds / native:.1f} times as long); "
            f"{reply.fuel / native / 1e9:.0f}G fuel a native second"
        )


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    package.compiled(print)
    for part in (starts, turns, slowdown):
        part()


if __name__ == "__main__":
    main()

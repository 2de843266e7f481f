"""Move on time on a busy machine: `python3 -m benchmarks.under_load --time 1 --moves 2000`.

Two games run at once on each core, each agent (`--agent`) in its own process. The referee judges
every turn.
Exits with status 1 if a turn was late, invalid or failed, or if a process took more than 512 MB.
Run nothing else at the same time: a late turn that had less than `FAIR` of a core is counted as
`starved`.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter

from benchmarks.games import empty, play_game

BOARDS = ["6x8+6", "8x10+4", "12x12", "10x10+10", "12x12+10"]
MEMORY_LIMIT = 512
FAIR = 0.3


def work(options: argparse.Namespace) -> None:
    """Play games on one core until this worker's moves or minutes are used up."""
    os.sched_setaffinity(0, {options.core})
    rng = random.Random(options.seed)
    until = time.monotonic() + 60 * options.minutes
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    while sum(outcomes.values()) < options.moves and time.monotonic() < until:
        names = {1: options.agent, 2: options.agent}
        if rng.random() < 0.25:
            names[rng.choice((1, 2))] = "random"
        start = empty(rng.choice(options.boards))
        seed = rng.randrange(2**32)
        _, turns = play_game(start, names, options.time, {1: options.time, 2: options.time}, seed)
        turns = [turn for turn in turns if names[turn.player] == options.agent]
        outcomes.update(
            "starved"
            if turn.overrun and turn.cpu_seconds < FAIR * turn.seconds
            else turn.outcome.value
            for turn in turns
        )
        slowest = max(slowest, *(turn.seconds for turn in turns))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"outcomes": outcomes, "slowest": slowest, "memory": memory}))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--time", type=float, default=1, help="seconds a move (default: 1)")
    parser.add_argument("--moves", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--agent", default="reference")
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.core is not None:
        return work(options)
    cores = sorted(os.sched_getaffinity(0)) * 2
    command = [sys.executable, "-m", "benchmarks.under_load", f"--minutes={options.minutes}"]
    command += [f"--time={options.time}", f"--moves={math.ceil(options.moves / len(cores))}"]
    command += ["--agent", options.agent, "--boards", *options.boards]
    workers = [
        subprocess.Popen(
            [*command, f"--seed={options.seed + number}", f"--core={core}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, core in enumerate(cores)
    ]
    outcomes: Counter[str] = Counter()
    slowest = memory = 0.0
    for worker in workers:
        report = json.loads(worker.communicate()[0])
        outcomes.update(report["outcomes"])
        slowest, memory = max(slowest, report["slowest"]), max(memory, report["memory"])
    print(f"{len(workers)} games at once on {len(workers) // 2} cores, {options.time:g} s a move")
    print(f"turns: {dict(outcomes)}; slowest {slowest:.3f} s; memory {memory:.0f} MB")
    sys.exit(set(outcomes) != {"played"} or memory > MEMORY_LIMIT)


if __name__ == "__main__":
    main()

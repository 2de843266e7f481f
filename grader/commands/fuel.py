"""The command `fuel`: measures how fast this machine runs games by fuel."""

from __future__ import annotations

import argparse
import statistics

from connect4.isolation.wasm import images, package
from connect4.isolation.wasm.level import seconds_of, shown
from grader.commands.common import DONE, say
from grader.output.tables import text_table

BUDGETS = (1_000_000_000, 5_000_000_000, 20_000_000_000)

TURNS = 40
"""Turns of a typical game in which both agents search: an 8x6 board with a few pop-outs."""


def run_fuel(arguments: argparse.Namespace) -> int:
    """Measure this machine and print how many seconds each budget takes here."""
    package.compiled(say)
    rounds, median = images.measure_speed()
    medians = [statistics.median(values) for values in rounds.values()]
    rows = [
        (name, *(f"{value / 1e9:.2f}" for value in (sorted(values)[i] for i in (0, 2, -1))))
        for name, values in rounds.items()
    ]
    print(text_table(rows, ("what runs", "slowest", "median", "fastest")))
    print(f"\nGigafuel a second, {images.ROUNDS} rounds. Median of all: {median / 1e9:.2f}.\n")
    budgets = sorted({*BUDGETS, *([arguments.budget] if arguments.budget else [])})
    games = f"games of {TURNS} full turns an hour, a core"
    rows = [
        (
            shown(fuel),
            f"{seconds_of(fuel):g}",
            f"{fuel / max(medians):.1f} to {fuel / min(medians):.1f}",
            f"{3600 / (TURNS * fuel / median):.0f}",
        )
        for fuel in budgets
    ]
    print(text_table(rows, ("budget", "virtual s", "seconds a move here", games)))
    print("\nMarks do not depend on these figures. --dry-run estimates hours from them.")
    print(f"What counts here: {images.identity_text()}")
    return DONE

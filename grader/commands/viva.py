"""The command `viva`: a page for a talk with the author of a hand-in."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from connect4.players.base import Method
from grader.commands.common import DONE
from grader.commands.publish_game import games_of
from grader.output.files import write
from grader.output.results import Results, read_results
from grader.output.viva import GAMES, Question, analysed, branch, questions, viva_page
from grader.play.schedule import PART_A, PlannedGame
from grader.results.store import Store

OUTPUTS: Final = ("class.html", "grades.csv", "standings.html", "index.html")
"""Files of a folder that students may see."""


def run_viva(arguments: argparse.Namespace) -> int:
    """Write the page about one student's games."""
    name, place = arguments.name, arguments.o
    _check_private(place)
    with Store(arguments.results, writing=False) as store:
        chosen = chosen_games(name, read_results(store), arguments.results)
        played = []
        for count, (number, game) in enumerate(chosen.items(), 1):
            print(f"\ranalysing game {count} of {len(chosen)}", end="", file=sys.stderr, flush=True)
            text = store.record(game.key)
            if text is not None:
                side = game.side if game.match.one.name == name else 3 - game.side
                played.append(analysed(number, game.title, text, side, os.cpu_count() or 1))
        print(file=sys.stderr)
        asked = questions(played)
        if not asked:
            raise InputError(f"{arguments.results}: {name} played no turn that can be asked about")
        sources = {number: _source(name, game, store) for number, game in chosen.items()}

    def branches(item: Question) -> str:
        game = chosen[item.game.number]
        method: Method = "expectimax" if game.match.part == PART_A else "intelligent"
        return branch(item, sources[item.game.number], method, game.time_limit)

    write(place, viva_page(name, asked, branches))
    place.chmod(0o600)
    print(f"{place}: {len(asked)} positions, then the key; only you can read it", file=sys.stderr)
    return DONE


def chosen_games(name: str, results: Results, path: Path) -> dict[int, PlannedGame]:
    """Return games of a student by their numbers on the student's page.

    Half of them were lost by most, the others were the closest. Raises `InputError` if the student
    has no game with a result.
    """
    there = {
        number: game
        for number, game in enumerate(games_of(name, results, path), 1)
        if game.key in results.played and not game.board.hidden
    }

    def margin(number: int) -> int:
        game, scores = there[number], results.played[there[number].key].scores
        side = game.side if game.match.one.name == name else 3 - game.side
        return scores[side - 1] - scores[2 - side]

    worst = sorted(there, key=margin)[: GAMES // 2]
    close = sorted(there.keys() - set(worst), key=lambda number: (abs(margin(number)), number))
    return {number: there[number] for number in [*worst, *close[: GAMES - len(worst)]]}


def _source(name: str, game: PlannedGame, store: Store) -> str:
    sha256 = next(player.sha256 for player in game.players if player.name == name)
    return store.source(str(sha256)) or ""


def _check_private(place: Path) -> None:
    """Raise `InputError` if a page would stand below a folder that students may see."""
    for folder in place.absolute().parents:
        shown = next((name for name in OUTPUTS if (folder / name).is_file()), None)
        if shown is not None:
            raise InputError(
                f"-o {place}: {folder} holds {shown}, so students may see it; choose another folder"
            )

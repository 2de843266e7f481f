"""The command `publish-game`: gives a student the record of a marked game, with its seed.

With the seed, a student can compute the random player's moves. Every game that is played with it
later carries a remark.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.extended import EXTENDED
from connect4.isolation.wasm.budget import fuel_of
from grader.commands.common import DONE, FAILED, agreed, named_few, say
from grader.handin.submission import file_name, without_folders
from grader.output.evidence import source_path, with_sources
from grader.output.files import write
from grader.output.results import Results, read_results
from grader.play.schedule import PlannedGame
from grader.results.store import Store


def run_publish_game(arguments: argparse.Namespace) -> int:
    """Write records, boards and commands that repeat the games of one student."""
    path: Path = arguments.results
    if not path.is_file():
        raise InputError(f"{path}: no results file there")
    with Store(path, writing=True) as store:
        results = read_results(store)
        name = arguments.name
        own = games_of(name, results, path)
        chosen = [_chosen(number, own, results) for number in arguments.games]
        records = [_public_record(game, store) for game in chosen]
        if not arguments.yes and not _agreed(arguments, chosen, results):
            say("nothing is published")
            return FAILED
        store.publish(game.seed for game in chosen)  # before anybody can see them
        for number, game, document in zip(arguments.games, chosen, records, strict=True):
            _write(arguments.out, f"{file_name(name)}-game{number}", game, document)
            say(f"game {number} ({game.title}) is in {arguments.out}")
        for player in {player for game in chosen for player in game.players}:
            source = store.source(str(player.sha256))
            if player.name == name and source is not None:
                place = arguments.out / source_path(player.name, str(player.sha256))
                write(place, source)
    say(f"{path}: games played with these seeds from now on say so")
    return DONE


def games_of(name: str, results: Results, path: Path) -> list[PlannedGame]:
    """Return a student's games, numbered as on the student's page; `InputError` without any."""
    if name not in results.games_by_name:
        known = named_few(sorted(results.games_by_name))
        raise InputError(f"{path}: {name!r} has no games there; {known} have")
    return results.games_by_name[name]


def _agreed(arguments: argparse.Namespace, chosen: Sequence[PlannedGame], results: Results) -> bool:
    """Show the games, and return whether the teacher wants to give their seeds away."""
    told = []
    for number, game in zip(arguments.games, chosen, strict=True):
        own, other = (
            results.played[game.key].scores[side - 1] for side in (game.side, 3 - game.side)
        )
        told.append(f"game {number}: {game.title}: {own} to {other}")
    if results.missing:
        games = "1 game has" if results.missing == 1 else f"{results.missing} games have"
        told.append(f"{games} no result yet")
    return agreed(
        told,
        "A published seed stays public. Publish?",
        "a published seed stays public; without a terminal, give --yes",
    )


def _chosen(number: int, own: Sequence[PlannedGame], results: Results) -> PlannedGame:
    """Return the game with a number; raises `InputError` if it has no result or stays secret."""
    if number > len(own):
        raise InputError(f"game {number}: there are {len(own)}, numbered as on the student's page")
    game = own[number - 1]
    if game.board.hidden:
        raise InputError(f"game {number}: its board is hidden, and its record would show it")
    if game.key not in results.played:
        raise InputError(f"game {number} ({game.title}): it has no result yet")
    return game


def _public_record(game: PlannedGame, store: Store) -> dict[str, Any]:
    """Return the record of a game without the paths of the machine that played it."""
    text = store.record(game.key)
    if text is None:
        raise InputError(f"{game.title}: its record is damaged or lost")
    document = with_sources(json.loads(text), game.players)
    for player, contestant in zip(document["players"], game.players, strict=True):
        if not contestant.is_submission:
            player["agent"] = without_folders(player["agent"])
    for part in (*document["turns"], document["result"]):
        if part.get("detail"):
            part["detail"] = without_folders(part["detail"])
    return document


def _write(folder: Path, name: str, game: PlannedGame, document: dict[str, Any]) -> None:
    """Write the record, the board, and the command that plays the game again."""
    agents = [player["agent"] for player in document["players"]]
    words = [*agents, f"{name}.txt", "--seed", str(document["seed"])]
    if game.limits.require == "wasm":
        words += ["--fuel", str(fuel_of(document["time_limit"]))]
    else:
        words += ["--time", f"{document['time_limit']:g}"]
    if document["game"] != EXTENDED.name:
        words += ["--game", document["game"]]
    write(folder / f"{name}.json", json.dumps(document) + "\n")
    start = GAMES[document["game"]].from_json(document["start"])
    write(folder / f"{name}.txt", start.to_text())
    write(
        folder / f"{name}-repeat.txt",
        f"{game.title}\n\n"
        "This command plays the game again. The random player makes the same moves as long as you "
        "do:\n"
        f"python3 -m connect4.ConnectFour {shlex.join(words)}\n\n"
        "This one repeats a single turn, here the first:\n"
        f"python3 -m connect4.ConnectFour --replay-turn {shlex.quote(name)}.json:1\n",
    )

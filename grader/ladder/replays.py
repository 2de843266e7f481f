"""The pages that replay the games of one pairing; they show no part of a student's source."""

from __future__ import annotations

import builtins
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from connect4 import record as records
from connect4.errors import InputError, headline
from connect4.isolation.measuring import NO_PLAYER
from connect4.views import document
from grader.ladder.book import Book, GameRow
from grader.ladder.pages import PARTS, REPLAYS, linked, page, shared_files
from grader.play.one_game import MADE_BY, replay_data, without_folders

ERROR: Final = re.compile(r"[A-Za-z]+(?=:|$)")
"""The type of an exception at the start of its last line, if Python itself has it."""

USED_UP: Final = re.compile(f"{NO_PLAYER}its loading time of [0-9.]+ s was used up")

GAMES: Final = "the games go here"

UP: Final = "../"


def public_reason(outcome: str, detail: str) -> str:
    """Return why a turn was lost, in words that the agent's author cannot choose.

    An exception is reduced to its type, if it is one of Python's own. Its text, the name of another
    type and an answer that is not a move may contain anything.
    """
    line = without_folders(headline(detail))
    if outcome == "invalid":
        return "not a valid move"
    if outcome != "error" or USED_UP.fullmatch(line):
        return line
    found = ERROR.match(line)
    return found[0] if found and hasattr(builtins, found[0]) else "an exception"


def replay(book: Book, key: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Return the data of a game for the replay page; None if its record is damaged or lost."""
    stored = book.page(key)
    try:
        if stored is None or not stored.startswith(MADE_BY):
            text = book.record(key)
            if text is None:
                return None
            stored = replay_data(records.loads(text), names)
        data: dict[str, Any] = json.loads(stored.partition(" ")[2])
    except (InputError, ValueError):
        return None
    return {**data, "names": list(names)}


def made_public(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a game with `public_reason` in place of each reason."""
    outcomes = {turn[-1]: turn[2] for turn in data["turns"] if turn[-1] is not None}
    details = [
        public_reason(outcomes.get(number, "error"), text)
        for number, text in enumerate(data["details"])
    ]
    return {**data, "details": details, "why": data["why"] and public_reason("error", data["why"])}


def pairing_digest(games: Sequence[GameRow], names: Sequence[str]) -> str:
    """Return a hash of everything on the page of a pairing."""
    files = list(shared_files(PARTS))  # those of a page without records
    text = json.dumps([MADE_BY, _frame(), *files, *names, *(game.key for game in games)])
    return hashlib.sha256(text.encode()).hexdigest()


def _frame() -> str:
    return linked("", REPLAYS, document.content(REPLAYS, {"games": [GAMES]}), UP)


def pairing_page(
    book: Book, games: Sequence[GameRow], names: tuple[str, str], one: str, before: str, digest: str
) -> str:
    """Return the page of the games between `names`; the first is player `one`."""
    shown = []
    for number, game in enumerate(games, 1):
        first = (game.side == 1) == (game.one == one)
        data = replay(book, game.key, names if first else names[::-1])
        if data is not None:
            label = f"Game {number}: {names[0]} {'first' if first else 'second'}"
            shown.append({"label": label, **made_public(data)})
    title, comment = f"{names[0]} against {names[1]}", f"ladder {digest}"
    if not shown:
        text = '<section class="card box"><p>The results file has no records of these games, so '
        text += "they cannot be replayed. Their results count.</p></section>"
        return page(title, [], text, {"curves": [], "cells": []}, f"{UP}index.html", comment)
    body = document.content(REPLAYS, {"games": [GAMES]}, before)
    body = body.replace(json.dumps(GAMES), ",".join(map(document.json_in_html, shown)))
    return linked(title, REPLAYS, body, UP, comment)

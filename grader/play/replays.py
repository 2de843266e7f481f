"""Prepares the data of the replay page for a game, on the machine that plays the game."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from connect4.record import Record
from connect4.views import board_data
from connect4.views.document import json_in_html
from connect4.views.page import analysis_data, page, run_data

Replay: TypeAlias = str
"""`MADE_BY`, a blank, and the data of one game for the replay page: JSON that is safe in HTML."""

NAMES: Final = re.compile(r'"names":\["(?:[^"\\]|\\.)*","(?:[^"\\]|\\.)*"\]')

FOLDERS: Final = re.compile(r"(?<![\w./])(?:/[^\s/\"'<>|:*?]+)+/(?=[^\s/\"'<>|:*?])")
"""The folders of an absolute path."""

MADE_BY: Final = hashlib.sha256(
    ("".join(map(inspect.getsource, (page, board_data, run_data, analysis_data))) + "3").encode()
).hexdigest()[:16]
"""Data from another version of the replay page's code are computed again."""


def replay_data(record: Record, names: Sequence[str]) -> Replay:
    """Return a record's data for the replay page, with names in place of agents' files.

    The data are computed on the machine that plays the game, so that writing many pages is fast.
    Students see them, so they do not contain the seed.
    """
    one, two = (
        replace(player, agent=name) for player, name in zip(record.players, names, strict=True)
    )
    data = page.game_data(replace(record, players=(one, two)))
    data["facts"] = [fact for fact in data["facts"] if not fact.startswith("seed ")]
    data["details"] = list(map(without_folders, data["details"]))
    data["why"] = data["why"] and without_folders(data["why"])
    return f"{MADE_BY} {json_in_html(data)}"


def renamed(replay: Replay, names: Sequence[str]) -> Replay:
    """Return a replay with these names: submissions with equal content share a stored game."""
    return NAMES.sub(lambda _: f'"names":{json_in_html(list(names))}', replay, count=1)


def without_folders(text: str) -> str:
    """Return a text with the folders of paths removed, so that students do not see them."""
    return FOLDERS.sub("", text)

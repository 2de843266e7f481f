"""Pages with replays of games that several people may see: their frame, and what they may say.

The pages of a site share their style sheet and script, so that each of them is small.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from connect4 import record as records
from connect4.views import page as replay_page
from connect4.views.document import Json, Page, json_in_html
from grader.play.one_game import MADE_BY, as_seen_by, replay_data
from grader.results.store import Store

REPLAYS: Final = (*replay_page.PARTS, "report")
"""The parts of a page of games."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A game on a page: its key, its label, and the names of player 1 and player 2."""

    key: str
    label: str
    names: tuple[str, str]


def replay_text(store: Store, key: str, names: Sequence[str]) -> Json | None:
    """Return the data of a game for the replay page; None if its record is damaged or lost.

    A stored game names files. `names` are what the page shows for player 1 and player 2.
    """
    stored = store.page(key)
    try:
        if stored is None or not stored.startswith(MADE_BY):
            stored = replay_data(records.loads(store.record(key) or ""))
    except ValueError:
        return None
    return with_keys({"names": list(names)}, Json(stored.partition(" ")[2]))


def with_keys(keys: Mapping[str, Any], text: Json) -> Json:
    """Return an object of JSON with these keys before its own."""
    return Json(f"{json_in_html(dict(keys))[:-1]},{text[1:]}")


def replay(store: Store, key: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Return the data that `replay_text` has as JSON."""
    text = replay_text(store, key, names)
    data: dict[str, Any] | None = None if text is None else json.loads(text)
    return data


def all_games(games: Iterable[tuple[dict[str, Any], Json]]) -> Json:
    """Return the data of a page of games: for each the keys that it has there, and its own data."""
    return Json(f'{{"games":[{",".join(with_keys(*game) for game in games)}]}}')


def public_replay(store: Store, key: str, names: Sequence[str]) -> dict[str, Any] | None:
    """Return the data of `replay` as everybody may see them.

    What a player answered and said in a lost turn is left out; each has a `public_reason`.
    """
    data = replay(store, key, names)
    if data is None or not (data["why"] or store.lost(key)):
        return data
    try:
        record = as_seen_by(records.loads(store.record(key) or ""), ())
    except ValueError:
        return None
    shown: dict[str, Any] = json.loads(replay_data(record).partition(" ")[2])
    return {"names": list(names), **shown}


def digest(games: Sequence[Shown], more: Sequence[str] = ()) -> str:
    """Return a hash of everything on a page of games; `more` is what else it depends on."""
    frame = Page("", REPLAYS, data={"games": []}).beside("../")
    listed = [[game.key, game.label, *game.names] for game in games]
    return hashlib.sha256(json.dumps([MADE_BY, frame, listed, *more]).encode()).hexdigest()


def games_page(
    store: Store, title: str, games: Sequence[Shown], back: tuple[str, str], comment: str
) -> str:
    """Return a page one folder below its site that replays games; empty if none has a record.

    `back` is a page of the site and the text of the link to it.
    """
    shown = []
    for game in games:
        data = public_replay(store, game.key, game.names)
        if data is not None:
            shown.append({"label": game.label, **data})
    if not shown:
        return ""
    place, text = back
    link = f'<nav class="report" aria-label="Site"><a href="../{place}">{text}</a></nav>\n'
    return Page(title, REPLAYS, link, {"games": shown}, comment).beside("../")

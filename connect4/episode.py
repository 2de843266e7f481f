"""An episode of Kaggle's ConnectX, a JSON file, as the document of a record of classic."""

from itertools import pairwise
from typing import Any, Final

from connect4 import safe
from connect4.errors import InputError
from connect4.games.classic import CLASSIC
from connect4.games.falling import MAX_SIDE

MAX_STEPS: Final = MAX_SIDE**2 + 1

OUTCOMES: Final = {"TIMEOUT": "timeout", "ERROR": "error"}
"""The outcome of a lost turn for the status of its agent, if it is not `invalid`."""


def document_of(episode: dict[str, Any]) -> dict[str, Any]:
    """Return a document without a result, which the replay gives.

    An episode does not say how long a turn took. Raises `InputError`, or an error that reading a
    value of another form raises.
    """
    given = episode["configuration"]
    names = ("rows", "columns", "inarow")
    rows, columns, line = (safe.whole(given[name], name, MAX_SIDE) for name in names)
    turns = []
    for before, after in pairwise(safe.items(episode["steps"], "steps", MAX_STEPS)):
        place = [agent["status"] for agent in before].index("ACTIVE")
        action, status = after[place]["action"], safe.text(after[place]["status"], "status")
        played = status in ("ACTIVE", "INACTIVE", "DONE")
        lost = {} if played else {"detail": f"Kaggle's status of the turn: {status}"}
        outcome = "played" if played else OUTCOMES.get(status, "invalid")
        turns.append({"player": place + 1, "action": str(action), "outcome": outcome, **lost})
    if not turns:
        raise InputError("the episode has no turn")
    teams = episode.get("info", {}).get("TeamNames", ("agent 1", "agent 2"))
    return {
        "game": CLASSIC.name,
        "rules_version": CLASSIC.rules_version,
        "start": {"board": [[0] * columns] * rows, "line": line},
        "time_limit": given["actTimeout"],
        "seed": 0,
        "players": [{"agent": f"{team} (at Kaggle)"} for team in teams],
        "turns": turns,
        "episode": episode.get("id"),
    }

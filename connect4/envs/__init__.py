"""The games as standard environments: PettingZoo here, OpenSpiel in `connect4.envs.openspiel`.

`from connect4.envs import extended_v1; env = extended_v1.env(start="case1")` creates one. The other
games are `classic_v1`, `classic_full_v1`, `dynamic_v1` and `popout_v1`. Requires the extra `env`.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from connect4.games import GAMES

VERSION = "_v1"


def __getattr__(name: str) -> Any:
    game = GAMES.get(name.removesuffix(VERSION).replace("_", "-"))
    if game is None or not name.endswith(VERSION):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from connect4.envs.aec import RawEnv, env

    made = {"env": partial(env, game.name, name), "raw_env": partial(RawEnv, game.name, name)}
    return SimpleNamespace(**made)


def __dir__() -> list[str]:
    return sorted({*globals(), *(game.replace("-", "_") + VERSION for game in GAMES)})

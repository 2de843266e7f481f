"""Constants that the game, the commands and the files of students share."""

from typing import Final

win_pts = [0, 0, 2, 5, 20]
"""Points of a run of 0..4 tokens; `utils.get_pts` describes longer runs."""

debug_mode = False
"""Whether `utils.Integer` refuses to count below 0, or above its initial value."""

MAX_CONSECUTIVE_SKIPS = 6
"""A game of ExtendedConnect4 is stopped (`stalled`) after this many skipped turns in a row."""

DEFAULT_SECONDS = 20.0
"""Seconds per move without `--time`."""

ALLOWED_MODULES: Final = ("connect4.utils", "connect4.config")
"""Modules that a submission may import besides the standard library and numpy."""

VERSION: Final = "3.0.0"
"""The version of the kit."""

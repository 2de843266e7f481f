"""Detect whether there is a display, before Tk is imported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from connect4.errors import InputError

if TYPE_CHECKING:
    from connect4.views.window.window import Window


def open_window() -> Window:
    """Return an empty window; raises `InputError` with the reason if there can be none."""
    everywhere = sys.platform in ("win32", "darwin")
    if not everywhere and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise InputError("no window: there is no display here (DISPLAY is not set)")
    try:
        import tkinter

        from connect4.views.window.window import Window
    except ImportError:
        raise InputError(
            "no window: this Python has no tkinter (Debian and Ubuntu: sudo apt install python3-tk)"
        ) from None
    try:
        root = tkinter.Tk(className="Connect4")
    except tkinter.TclError as error:
        raise InputError(f"no window: {error}") from None
    return Window(root)

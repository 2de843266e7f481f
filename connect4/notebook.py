"""Display objects in Jupyter: a position as a picture, a record and a search tree as a page.

`import connect4` registers this in a notebook. Only the required modules are loaded.
"""

from __future__ import annotations

import html
import sys
from typing import Any, Final

HEIGHT: Final = 760
"""Height of a page's frame in pixels."""

SVG: Final = "image/svg+xml"
HTML: Final = "text/html"


def register() -> None:
    """Register formatters for the kit's objects in the running IPython shell, if there is one."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    formatters[SVG].for_type_by_name("connect4.games.base", "State", picture)
    formatters[HTML].for_type_by_name("connect4.record", "Record", replay)
    formatters[HTML].for_type_by_name("connect4.api", "SearchTree", tree)


def picture(state: Any) -> str:
    """Return a position as SVG."""
    from connect4.views.picture import svg

    return svg(state)


def replay(record: Any) -> str | None:
    """Return a record as its replay page in a frame; None before the game has ended."""
    from connect4.views.page.page import page

    return None if record.result is None else frame(page([record]))


def tree(found: Any) -> str:
    """Return a search tree as its page in a frame."""
    return frame(found.to_html())


def frame(document: str) -> str:
    """Return an HTML document in a sandboxed frame."""
    return (
        f'<iframe srcdoc="{html.escape(document)}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0; border-radius: 8px"></iframe>'
    )

"""What the grader's pages share: style, frame, tables. Nothing that a student wrote is markup."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote

STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
table { border-collapse: collapse; font-size: .9rem; } th, td { padding: .2rem .6rem; }
th { text-align: left; border-bottom: 2px solid #888; } tr:nth-child(even) { background: #f3f5f8; }
td { font-variant-numeric: tabular-nums; } svg { max-width: 100%; height: auto; }
iframe { width: 100%; height: 60rem; border: 1px solid #bbb; }
.points { font-size: 1.3rem; } pre { overflow: auto; background: #f3f5f8; padding: .5rem; }
.wide { overflow-x: auto; }
@media (prefers-color-scheme: dark) { body { color: #e6e9ee; background: #15181c; }
  a { color: #8ab8ff; } tr:nth-child(even), pre { background: #20252b; } }
"""


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to a file below `--out`."""

    text: str
    path: str
    anchor: str = ""


Cell: TypeAlias = str | int | Link


def whole(title: str, body: str, head: str = "", note: str = "") -> str:
    """Return a page; `head` are more lines of its head, `note` a comment at its begin."""
    comment = f"<!-- {note} -->\n" if note else ""
    return f"""<!DOCTYPE html>
{comment}<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{head}<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def table(headers: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table; a wide one scrolls by itself."""
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    lines = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n'
        "</table></div>"
    )


def _cell(cell: Cell) -> str:
    if isinstance(cell, Link):
        anchor = f"#{cell.anchor}" if cell.anchor else ""
        return f'<td><a href="{quote(cell.path)}{anchor}">{html.escape(cell.text)}</a></td>'
    return f"<td>{html.escape(str(cell))}</td>"

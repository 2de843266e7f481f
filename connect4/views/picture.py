"""Draw a position as one SVG picture for notebooks: the replay page's board, not animated."""

from __future__ import annotations

import html
import re
from typing import Any, Final

from connect4.games.base import State
from connect4.views import palette
from connect4.views.board_data import shape_data

CELL: Final = 40
EDGE: Final = 12
WIDEST: Final = 480
"""Pixels of a picture in its usual size."""

COLOURS: Final = (
    *("background", "card", "muted", "text", "line", "plate", "hole"),
    *("player1", "player1-ink", "player2", "player2-ink"),
)


def svg(state: State) -> str:
    """Return the picture, in the light or the dark colours of whatever shows it."""
    shape = shape_data(state)
    rows, columns = shape["rows"], shape["columns"]
    left = EDGE + (20 if shape["rowLabels"] else 0)
    width = columns * CELL + left + EDGE
    height = rows * CELL + EDGE + (66 if shape["owners"] else 50)
    said = re.sub(r" \(\S\)", "", str(state).splitlines()[-1])
    said = said[:1].upper() + said[1:]
    shown = min(width * 1.0, WIDEST)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="connect4" role="img" '
            f'width="{shown:.0f}" height="{shown * height / width:.0f}" '
            f'viewBox="{-left} {-EDGE} {width} {height}">',
            f"<title>{html.escape(f'{rows} by {columns} board. {said}.')}</title>",
            f"<style>{_style()}</style>",
            f'<rect class="card" x="{-left + 0.5}" y="{-EDGE + 0.5}" '
            f'width="{width - 1}" height="{height - 1}" rx="10"/>',
            *_cells(shape),
            *_tokens(state),
            *_labels(shape),
            *_said(state, said, height - EDGE - 14),
            "</svg>",
        ]
    )


def _style() -> str:
    """Return the style sheet; every rule is for the picture alone, for a notebook is one page."""
    light, dark = (palette.properties(theme, COLOURS) for theme in ("light", "dark"))
    own = {
        ".card": "fill: var(--background); stroke: var(--line)",
        ".plate": "fill: var(--plate)",
        ".hole": "fill: var(--hole)",
        ".field": "fill: var(--card); stroke: var(--line)",
        ".lines": "fill: none; stroke: var(--line)",
        ".p1": "fill: var(--player1)",
        ".p2": "fill: var(--player2)",
        ".dot": "fill: var(--player1-ink)",
        ".ring": "fill: none; stroke: var(--player2-ink); stroke-width: 3.5",
        "text": "fill: var(--muted); font: 12px system-ui, sans-serif",
        ".label": "text-anchor: middle; dominant-baseline: central",
        ".said": "fill: var(--text); font-size: 13px; dominant-baseline: central",
    }
    return "\n".join(
        [
            f".connect4 {{ {light} }}",
            f"@media (prefers-color-scheme: dark) {{ .connect4 {{ {dark} }} }}",
            f'[data-jp-theme-light="true"] .connect4, .vscode-light .connect4 {{ {light} }}',
            f'[data-jp-theme-light="false"] .connect4, .vscode-dark .connect4 {{ {dark} }}',
            *(f".connect4 {name} {{ {rule} }}" for name, rule in own.items()),
        ]
    )


def _cells(shape: dict[str, Any]) -> list[str]:
    """Return the empty board: a plate with holes, or a field of squares."""
    rows, columns = shape["rows"], shape["columns"]
    width, height = columns * CELL, rows * CELL
    if not shape["plate"]:
        lines = "".join(f"M0 {row * CELL}h{width}" for row in range(1, rows))
        lines += "".join(f"M{column * CELL} 0v{height}" for column in range(1, columns))
        return [
            f'<rect class="field" width="{width}" height="{height}"/>',
            f'<path class="lines" d="{lines}"/>',
        ]
    holes = [
        f'<circle class="hole" cx="{_middle(column)}" cy="{_middle(row)}" r="15.5"/>'
        for row in range(rows)
        for column in range(columns)
    ]
    size = f'x="-4" y="-4" width="{width + 8}" height="{height + 8}"'
    return [f'<rect class="plate" {size} rx="12"/>', *holes]


def _tokens(state: State) -> list[str]:
    """Return the tokens on the board."""
    return [
        _token(player, _middle(column), _middle(row))
        for row, cells in enumerate(state.board().tolist())
        for column, player in enumerate(cells)
        if player
    ]


def _token(player: int, x: float, y: float, size: float = 1.0) -> str:
    """Return a token: with a dot for player 1, with a ring for player 2."""
    mark = '<circle class="dot" r="4.5"/>' if player == 1 else '<circle class="ring" r="7"/>'
    place = f'transform="translate({x} {y}) scale({size})"'
    return f'<g {place}><circle class="p{player}" r="15.5"/>{mark}</g>'


def _said(state: State, said: str, y: float) -> list[str]:
    """Return the line below the board, with the token of whoever moves or has won."""
    winner = state.winner()
    player = state.mover if winner is None else winner
    token = [_token(player, 8, y, 0.5)] if player else []
    x = 22 if player else 0
    return [*token, f'<text class="said" x="{x}" y="{y}">{html.escape(said)}</text>']


def _labels(shape: dict[str, Any]) -> list[str]:
    """Return the numbers of columns and rows, and whose pop-outs each column is for."""
    bottom = shape["rows"] * CELL
    found = []
    for column, label in enumerate(shape["columnLabels"]):
        x = _middle(column)
        found.append(f'<text class="label" x="{x}" y="{bottom + 16}">{label}</text>')
        if shape["owners"]:
            owner = shape["owners"][column]
            found.append(f'<path class="p{owner}" d="M{x - 6} {bottom + 27}h12l-6 8z"/>')
    for row, label in enumerate(shape["rowLabels"] or ()):
        found.append(f'<text class="label" x="-13" y="{_middle(row)}">{label}</text>')
    return found


def _middle(place: int) -> float:
    return (place + 0.5) * CELL

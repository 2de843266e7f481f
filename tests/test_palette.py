"""The one palette: readable in both themes, and the same in pages and terminal."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from connect4.views import document, palette

VIEWS = Path(palette.__file__).parent


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb` as WCAG 2 defines it."""
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_what_it_stands_on(theme: str) -> None:
    colour = {name: getattr(pair, theme) for name, pair in palette.COLOURS.items()}
    for text, ground in product(
        ("text", "muted", "accent", "fault", "good"), ("background", "card", "hover")
    ):
        assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    for part, ground in product(("player1", "player2"), ("card", "plate", "hole")):
        least = 3 if ground != "plate" else 1.9  # a hole lies between a token and the plate
        assert contrast(colour[part], colour[ground]) >= least, (part, ground)
    for player in ("player1", "player2"):
        assert contrast(colour[player], colour[f"{player}-ink"]) >= 3


def test_the_palette_is_the_only_place_that_names_a_colour() -> None:
    for path in VIEWS.rglob("*"):
        if path.suffix in (".py", ".css", ".js") and path.name != "palette.py":
            found = re.findall(r"#[0-9a-fA-F]{3,8}(?=[;,)\"'])", path.read_text(encoding="utf-8"))
            assert found == [], path
    used = set(re.findall(r"var\(--([\w-]+)\)", document.assets(("base", "page", "tree"), "css")))
    assert used - {"columns", "depth", "indent", "share"} <= set(palette.COLOURS)

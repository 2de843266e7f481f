"""Every colour of the kit, for the pages and the terminal.

Player 1 is vermilion with a dot, player 2 is blue with a ring. These are Okabe and Ito's colours,
which people with any kind of colour blindness can distinguish.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class Colour(NamedTuple):
    """One colour as `#rrggbb` in both themes."""

    light: str
    dark: str


COLOURS: Final[dict[str, Colour]] = {
    "background": Colour("#f3f4f7", "#12151c"),
    "card": Colour("#ffffff", "#1b202a"),
    "text": Colour("#1a2130", "#e8ebf2"),
    "muted": Colour("#586174", "#9aa4b8"),
    "line": Colour("#d9dde6", "#323a49"),
    "hover": Colour("#e6eaf3", "#262d3a"),
    "disabled": Colour("#9aa4b8", "#586174"),
    "accent": Colour("#3a4fbf", "#9db0ff"),
    "accent-hover": Colour("#2e3f99", "#b4c2ff"),
    "plate": Colour("#2c3a5a", "#313d58"),
    "made": Colour("#ffd23f", "#ffd23f"),
    "mark-ink": Colour("#1a2130", "#1a2130"),
    "mark-fault": Colour("#a3123f", "#a3123f"),
    "plate-mark": Colour("#ffffff", "#ffffff"),
    "hole": Colour("#f3f4f7", "#12151c"),
    "player1": Colour("#d55e00", "#ff8b3d"),
    "player1-ink": Colour("#ffffff", "#2b1200"),
    "player2": Colour("#0072b2", "#4fb2f2"),
    "player2-ink": Colour("#ffffff", "#00203a"),
    "fault": Colour("#a3123f", "#ff7d9c"),
    "good": Colour("#177245", "#6fd6a1"),
}
"""`ink` is the dot or the ring on a player's token; `plate` is the board's front; `plate-mark`,
`made` (a run that a move made), `mark-ink` and `mark-fault` are drawn over it and its tokens."""

TERMINAL: Final = ("1;38;5;166", "1;38;5;32")
"""The players in a terminal, as ANSI codes of 256 colours: legible on black and on white."""


def style_sheet() -> str:
    """Return the colours as CSS custom properties.

    The system's setting chooses the theme, unless `data-theme` of the root element names one;
    paper is light. Browsers before 2024 do not support `light-dark()`.
    """
    dark = f"color-scheme: dark; {properties('dark')}"
    return (
        f":root {{ color-scheme: light; {properties('light')} }}\n"
        "@media screen {\n"
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f':root[data-theme="dark"] {{ {dark} }}\n'
        "}\n"
    )


def properties(theme: Literal["light", "dark"]) -> str:
    """Return the colours of a theme as CSS custom properties."""
    return " ".join(f"--{name}: {getattr(pair, theme)};" for name, pair in COLOURS.items())

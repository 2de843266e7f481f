"""Pages: one file that fetches nothing, one of a site that shares files, or one that is served.

They share one palette with the terminal: player 1 is vermilion with a dot, player 2 is blue with a
ring. These are Okabe and Ito's colours, which people with any kind of colour blindness can
distinguish.

The data is in a JSON block without any `<`, and the scripts insert it only as text. A content
security policy allows the page's own style and script, and no requests.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

ASSETS: Final = Path(__file__).parent / "assets"

ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)

SHARED: Final = "assets"
"""The folder of the files that the pages of a site share."""


COLOURS: Final = {
    "background": ("#f3f4f7", "#12151c"),
    "card": ("#ffffff", "#1b202a"),
    "text": ("#1a2130", "#e8ebf2"),
    "muted": ("#586174", "#9aa4b8"),
    "line": ("#d9dde6", "#323a49"),
    "hover": ("#e6eaf3", "#262d3a"),
    "disabled": ("#9aa4b8", "#586174"),
    "accent": ("#3a4fbf", "#9db0ff"),
    "accent-hover": ("#2e3f99", "#b4c2ff"),
    "plate": ("#2c3a5a", "#313d58"),
    "made": ("#ffd23f", "#ffd23f"),
    "mark-ink": ("#1a2130", "#1a2130"),
    "mark-fault": ("#a3123f", "#a3123f"),
    "plate-mark": ("#ffffff", "#ffffff"),
    "hole": ("#f3f4f7", "#12151c"),
    "player1": ("#d55e00", "#ff8b3d"),
    "player1-ink": ("#ffffff", "#2b1200"),
    "player2": ("#0072b2", "#4fb2f2"),
    "player2-ink": ("#ffffff", "#00203a"),
    "fault": ("#a3123f", "#ff7d9c"),
    "good": ("#177245", "#6fd6a1"),
    "lost": ("#7b3294", "#d3a4ec"),
}
"""Each colour in the light and in the dark theme.

`ink` is the dot or the ring on a player's token; `plate` is the board's front; `plate-mark`,
`made` (a run that a move made), `mark-ink` and `mark-fault` are drawn over it and its tokens."""

TERMINAL: Final = ("1;38;5;166", "1;38;5;32")
"""The players in a terminal, as ANSI codes of 256 colours: legible on black and on white."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page made of the assets named `parts` (.css, .html and .js, in this order).

    `body` is HTML that precedes theirs, `after` follows it. The scripts read `data`. `comment` is
    one in the source.
    """

    title: str
    parts: tuple[str, ...]
    body: str = ""
    data: Any = None
    comment: str = ""
    after: str = ""

    def alone(self, styles: Iterable[str] = (), scripts: Iterable[str] = (), more: str = "") -> str:
        """Return the page as one file, which can load nothing but what it contains.

        `styles` and `scripts` are others that it may use: frames and documents that it makes itself
        have the same policy. `more` follows the scripts in the policy, and can add
        rules to it.
        """
        style, script = style_sheet(self.parts), script_of(self.parts)
        policy = _policy(
            " ".join(map(digest, (style, *styles))),
            " ".join(map(digest, (script, *scripts))) + more,
        )
        return self._document(policy, f"<style>{style}</style>", f"<script>{script}</script>")

    def beside(self, up: str) -> str:
        """Return the page of a site with its `shared_files`; `up` leads to the site's folder.

        It can load files from the disk or from its own web server, and nothing else.
        """
        style, script = shared_files(self.parts)
        return self._linked(_policy("'self' file:", "'self' file:"), up + style, up + script)

    def served(self) -> dict[str, str]:
        """Return the files for a web server by name; that of the page is empty.

        The server's header has the content security policy.
        """
        return {
            "": self._linked("", "page.css", "page.js"),
            "page.css": style_sheet(self.parts),
            "page.js": script_of(self.parts),
        }

    def _linked(self, policy: str, style: str, script: str) -> str:
        link = f'<link rel="stylesheet" href="{html.escape(style)}">'
        return self._document(policy, link, f'<script src="{html.escape(script)}"></script>')

    def _document(self, policy: str, style: str, script: str) -> str:
        remark = f"<!-- {self.comment} -->\n" if self.comment else ""
        rule = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
        return f"""<!DOCTYPE html>
{remark}<html lang="en">
<head>
<meta charset="utf-8">
{rule}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(self.title.encode(errors="replace").decode())}</title>
<link rel="icon" href="data:,">
{style}
</head>
<body>
{self.body}{assets(self.parts, "html")}{self.after}
<script type="application/json" id="data">{json_in_html(self.data)}</script>
{script}
</body>
</html>
"""


@cache
def shared_files(parts: tuple[str, ...]) -> dict[str, str]:
    """Return the style sheet and the script that pages of the same parts share, by their places.

    A hash of the content is part of the name, so that no browser shows an old one.
    """
    texts = style_sheet(parts), script_of(parts)
    both = hashlib.sha256("".join(texts).encode()).hexdigest()[:12]
    name = f"{SHARED}/{'replay' if 'page' in parts else 'site'}-{both}"
    return {f"{name}.css": texts[0], f"{name}.js": texts[1]}


def _policy(styles: str, scripts: str) -> str:
    """Return the content security policy of a page with styles and scripts of that origin."""
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def assets(parts: tuple[str, ...], suffix: str) -> str:
    """Return the assets named `parts` of one kind, in this order; a part may have none."""
    paths = (ASSETS / f"{part}.{suffix}" for part in parts)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())


def style_sheet(parts: tuple[str, ...]) -> str:
    """Return the colours as CSS custom properties, and the style sheets of `parts`.

    The system's setting chooses the theme, unless `data-theme` of the root element names one;
    paper is light. Browsers before 2024 do not support `light-dark()`.
    """
    dark = f"color-scheme: dark; {properties('dark')}"
    colours = (
        f":root {{ color-scheme: light; {properties('light')} }}\n"
        "@media screen {\n"
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f':root[data-theme="dark"] {{ {dark} }}\n'
        "}\n"
    )
    return colours + assets(parts, "css")


def properties(theme: Literal["light", "dark"]) -> str:
    """Return the colours of a theme as CSS custom properties."""
    place = ("light", "dark").index(theme)
    return " ".join(f"--{name}: {pair[place]};" for name, pair in COLOURS.items())


def script_of(parts: tuple[str, ...]) -> str:
    """Return the scripts of `parts` as one block, so that none of their names is global."""
    return f'"use strict";\n{{\n{assets(parts, "js")}\n}}\n'


def digest(text: str) -> str:
    """Return the source of a content security policy that allows this style or script."""
    encoded = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{encoded}'"


class Json(str):
    """JSON that `json_in_html` has returned, or that consists of such texts."""


def json_in_html(data: Any) -> Json:
    """Return JSON in ASCII that cannot end the block that contains it."""
    return data if isinstance(data, Json) else Json(ENCODER.encode(data).replace("<", "\\u003c"))


def heading(title: str, more: str = "") -> str:
    """Return the top of a page: its title and the button for dark and light, `more` before it."""
    button = '<button type="button" class="theme"></button>'
    return f'<header class="top"><h1 id="name">{html.escape(title)}</h1>{more}{button}</header>'


def card(body: str, kind: str = "") -> str:
    """Return a frame around a part of a page."""
    return f'<div class="{" ".join(filter(None, ("card box", kind)))}">\n{body}\n</div>'


def frame(document: str) -> str:
    """Return an HTML document in a sandboxed frame, for Jupyter."""
    return (
        f'<iframe srcdoc="{html.escape(document)}" sandbox="allow-scripts" '
        'style="width: 100%; height: 760px; border: 0; border-radius: 8px"></iframe>'
    )

"""Build one self-contained HTML file: it includes styles, scripts and data, and fetches nothing.

The data is in a JSON block without any `<`, and the scripts insert it only as text. A content
security policy allows the file's own style and script by hash, and no requests.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from connect4 import atomic
from connect4.errors import InputError
from connect4.views import palette

ASSETS: Final = Path(__file__).parent / "assets"

ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a document may use beside its own style and script.

    `policy` follows the scripts' sources in the content security policy, and can add rules to it.
    Frames and documents that the document makes itself have the same policy.
    """

    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    policy: str = ""


NOTHING: Final = Allowed()


def build(
    title: str,
    parts: tuple[str, ...],
    data: Any,
    before: str = "",
    comment: str = "",
    after: str = "",
) -> str:
    """Return the document made of the assets named `parts` (.css, .html and .js, in this order).

    `before` is HTML that precedes theirs, `after` follows it; `comment` is one in the source.
    """
    body = content(parts, data, before, after)
    return whole(title, style_sheet(parts), body, script(parts), comment)


def script(parts: tuple[str, ...]) -> str:
    """Return the scripts of `parts` as one block, so that none of their names is global."""
    return f'"use strict";\n{{\n{assets(parts, "js")}\n}}\n'


def content(parts: tuple[str, ...], data: Any, before: str = "", after: str = "") -> str:
    """Return `before`, the HTML of `parts`, `after`, and the data for their scripts."""
    block = f'<script type="application/json" id="data">{json_in_html(data)}</script>'
    return f"{before}{assets(parts, 'html')}{after}\n{block}"


def whole(
    title: str, style: str, body: str, script: str = "", comment: str = "", more: Allowed = NOTHING
) -> str:
    """Return a document with a style sheet, HTML and a script; it can load nothing else.

    `more` is what it may use beside them.
    """
    styles = " ".join(map(digest, (style, *more.styles)))
    scripts = " ".join(map(digest, filter(None, (script, *more.scripts)))) or "'none'"
    policy = _policy(styles, scripts + more.policy)
    run = f"<script>{script}</script>\n" if script else ""
    return _document(title, policy, f"<style>{style}</style>", body, run, comment)


def linked(title: str, style: str, body: str, script: str, comment: str = "") -> str:
    """Return a document whose style sheet and script are files, given by their addresses.

    The address of the script may be empty. The document can load files from the disk or from its
    own web server, and nothing else.
    """
    own = "'self' file:"
    policy = _policy(own, own if script else "'none'")
    link = f'<link rel="stylesheet" href="{html.escape(style)}">'
    run = f'<script src="{html.escape(script)}"></script>\n' if script else ""
    return _document(title, policy, link, body, run, comment)


def served(title: str, body: str) -> str:
    """Return a document for a web server, with `page.css` and `page.js` beside it.

    The server's header has the content security policy.
    """
    link = '<link rel="stylesheet" href="page.css">'
    run = '<script src="page.js"></script>\n'
    return _document(title, "", link, body, run, "")


def _policy(styles: str, scripts: str) -> str:
    """Return the content security policy of a document with styles and scripts of that origin."""
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _document(title: str, policy: str, style: str, body: str, run: str, comment: str) -> str:
    remark = f"<!-- {comment} -->\n" if comment else ""
    rule = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
    return f"""<!DOCTYPE html>
{remark}<html lang="en">
<head>
<meta charset="utf-8">
{rule}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title.encode(errors="replace").decode())}</title>
<link rel="icon" href="data:,">
{style}
</head>
<body>
{body}
{run}</body>
</html>
"""


@cache
def assets(parts: tuple[str, ...], suffix: str) -> str:
    """Return the assets named `parts` of one kind, in this order; a part may have none."""
    paths = (ASSETS / f"{part}.{suffix}" for part in parts)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())


def style_sheet(parts: tuple[str, ...]) -> str:
    """Return the colours of `palette` and the style sheets of `parts`."""
    return palette.style_sheet() + assets(parts, "css")


def digest(text: str) -> str:
    """Return the source of a content security policy that allows this style or script."""
    encoded = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{encoded}'"


class Json(str):
    """JSON that `json_in_html` has returned, or that consists of such texts."""


def json_in_html(data: Any) -> Json:
    """Return JSON in ASCII that cannot end the block that contains it."""
    return data if isinstance(data, Json) else Json(ENCODER.encode(data).replace("<", "\\u003c"))


def frame(document: str) -> str:
    """Return an HTML document in a sandboxed frame, for Jupyter."""
    return (
        f'<iframe srcdoc="{html.escape(document)}" sandbox="allow-scripts" '
        'style="width: 100%; height: 760px; border: 0; border-radius: 8px"></iframe>'
    )


def write(text: str, path: Path) -> None:
    """Write a document; raises `InputError` if the file cannot be written."""
    try:
        atomic.write_text(path, text)
    except OSError as error:
        raise InputError(f"{path}: the page cannot be written: {error.strerror}") from None

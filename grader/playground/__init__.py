"""A static site on which students write their file and play it, with nothing installed.

The site is one page, the kit as a zip, and optionally a copy of Pyodide (Python for browsers).
`referee` and `agent` run in the browser. The site contains the students' edition only.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from connect4 import safe
from connect4.errors import InputError
from connect4.games import GAMES
from connect4.games.base import Game
from connect4.views import document
from connect4.views.document import Page
from connect4.views.page import PARTS
from connect4.views.tree import PARTS as TREE
from connect4.views.web_pages import offered
from grader.handout import STARTS, STUB, library_files, student_files, write_zip
from grader.solved import report

HERE: Final = Path(__file__).resolve().parent

TITLE: Final = "Connect 4 playground"

VERSION: Final = "0.27.7"
"""The version of Pyodide; `WHEEL` and `playground_worker.js` belong to it."""

PUBLIC: Final = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
"""The public copy of Pyodide."""

WHEEL: Final = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"

RUNTIME: Final = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", WHEEL)
"""The files of Pyodide that the page loads."""

ASSETS: Final = (*PARTS, "play", "editor", "workers", "playground")

OFFLINE: Final = "offline.js"
"""The service worker, by which the page opens without a network after the first visit."""

KIT: Final = (
    *("connect4/", "grader/__init__.py", "grader/handin/", "grader/rubric", "grader/solved/"),
)
"""The parts of the students' edition that run in the browser, as beginnings of their paths."""


def playground(out: Path, runtime: str | None = None) -> int:
    """Write the site below a folder; `runtime` is a folder or an address of Pyodide."""
    files = dict(site_files())
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name} {len(data)}\n".encode() + data)
    kit = f"kit-{digest.hexdigest()[:12]}.zip"
    try:
        out.mkdir(parents=True, exist_ok=True)
        page = out / "index.html"
        mark = f"<title>{TITLE}</title>".encode()
        if page.is_file() and mark not in page.read_bytes():
            raise InputError(f"{page} is another page; name a folder of its own for the playground")
        zips = [path for path in out.glob("kit-*.zip") if path.name != kit]
        old = [path for path in zips if re.fullmatch(r"kit-[0-9a-f]{12}\.zip", path.name)]
        address = runtime_address(runtime, out)
        write_zip(files, out / kit)
        text = site_page(address, kit, files)
        safe.write_text(page, text)
        safe.write_text(out / OFFLINE, document.assets(("playground_offline",), "js"))
        for path in old:
            path.unlink()
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from None
    size = (len(text.encode()) + (out / kit).stat().st_size) / 1000
    written = f"index.html, {OFFLINE} and {kit}, {size:.0f} kB"
    print(f"{out}: {written}; Python for browsers from {address}")
    return 0


def site_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files for the browser: those of the students' edition, a library, and these."""
    for name, data in student_files():
        if name.startswith(KIT):
            yield name, data
    yield from library_files("").items()
    yield "grader/playground/__init__.py", b""
    for name in ("referee.py", "practice.py", "agent.py"):
        yield f"grader/playground/{name}", HERE.joinpath(name).read_bytes()


def runtime_address(given: str | None, out: Path) -> str:
    """Return where the page finds Pyodide; copy it into the site if `given` is a folder.

    The folder of the copy has the version in its name, because browsers keep its files.
    """
    if given is None or re.fullmatch(r"https?://[\w.:-]+(/[\w.~-]*)*", given):
        return f"{(given or PUBLIC).rstrip('/')}/"
    missing = [name for name in RUNTIME if not Path(given, name).is_file()]
    if missing:
        raise InputError(
            f"--runtime {given}: no {missing[0]}; name the folder of Pyodide {VERSION} "
            "(its full distribution), or the address of one"
        )
    copy = out / f"pyodide-{VERSION}"
    copy.mkdir(exist_ok=True)
    if copy.resolve() != Path(given).resolve():
        for name in RUNTIME:
            shutil.copyfile(Path(given, name), copy / name)
    return f"{copy.name}/"


def site_page(runtime: str, kit: str, files: Mapping[str, bytes]) -> str:
    """Return the page; it may load its own site and the runtime, and no other address."""
    frame_script = document.assets(("playground_frame",), "js")
    rule = f"default-src 'none'; script-src {document.digest(frame_script)} 'wasm-unsafe-eval'"
    data = {
        "games": [],
        "offer": [choices(game, files) for game in GAMES.values()],
        "stub": STUB.read_text(encoding="utf-8"),
        "runtime": runtime,
        "wheel": WHEEL,
        "kit": kit,
        "frame": f'<!DOCTYPE html><html lang="en"><head><title>Python</title><meta http-equiv='
        f'"Content-Security-Policy" content="{rule}; worker-src blob:; connect-src \'none\'">'
        f"</head><body><script>{frame_script}</script></body></html>",
        "worker": document.assets(("playground_worker",), "js"),
    }
    origin = "/".join(runtime.split("/")[:3]) if "://" in runtime else ""
    more = f" 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self' {origin}".rstrip()
    made = TREE, report.PARTS  # of the pages that this page makes
    styles, own = map(document.style_sheet, made), map(document.script_of, made)
    return Page(TITLE, ASSETS, data=data).alone([*styles], (frame_script, *own), more)


def choices(game: Game, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what the page offers for a game: only starts and agents that the site has."""
    found = offered(game)
    names = {Path(name).stem for name in files if name.startswith(STARTS)}
    return {
        **found,
        "starts": [start for start in found["starts"] if start in names],
        "agents": [agent for agent in found["agents"] if agent["kind"] != "reference"],
    }

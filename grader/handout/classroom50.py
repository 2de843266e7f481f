"""The autograder of Classroom 50: `autograder.py` with the kit and its libraries beside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from connect4.errors import InputError

SCRIPT: Final = Path(__file__).resolve().parent.with_name("classroom50") / "autograder.py"
LIBRARY: Final = "tabulate"
"""What the grader needs beside numpy; it is Python alone, so that a copy works everywhere."""


def classroom50_files() -> Iterator[tuple[str, bytes]]:
    """Yield the script, and the library that its runner would have to install."""
    yield "autograder.py", SCRIPT.read_bytes()
    found = importlib.util.find_spec(LIBRARY)
    if found is None or not found.submodule_search_locations:
        raise InputError(f"{LIBRARY} is not installed as a folder: pip install {LIBRARY}")
    folder = Path(found.submodule_search_locations[0])
    for path in sorted(folder.rglob("*.py")):
        yield f"libraries/{LIBRARY}/{path.relative_to(folder).as_posix()}", path.read_bytes()
    for item in metadata.files(LIBRARY) or ():
        if item.name.upper().startswith("LICENSE"):
            yield f"libraries/{LIBRARY}/LICENSE", item.read_binary()

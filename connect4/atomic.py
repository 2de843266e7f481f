"""Write files completely or not at all: a new file next to the old one replaces it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8 without changing its line ends; raises `OSError`.

    A lone surrogate, which UTF-8 cannot encode, is written as its escape.
    """
    with writing(path) as file:
        file.write(text.encode(errors="backslashreplace"))


@contextlib.contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end of the block; raises `OSError`.

    A link stays a link; a device or a pipe is written directly.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:  # with the usual permissions, unlike `tempfile`
            yield file
        os.replace(temporary, path)
    except BaseException:  # also on Ctrl-C: remove an incomplete file
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise

"""The one way to name an agent: `KIND`, `KIND:key=value,...`, `ai:FILE`, `ai:FILE,key=value`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError

NEWLINE: Final = re.compile("\r\n|\r|\n")

MAX_SOURCE: Final = 50_000_000
"""More bytes than any agent's file has."""

NO_FILES: Final = ("/proc/", "/sys/")
"""What the system shows as files there may block a reader."""


@dataclass(frozen=True, slots=True)
class AgentName:
    """The parts of an agent's name.

    `rest` is the part after the colon without the options `key=value` (a file, an address), or
    empty.
    """

    text: str
    kind: str
    rest: str = ""
    options: dict[str, str] = field(default_factory=dict)


def split_name(text: str) -> AgentName:
    """Split a name into its parts, without checking that such an agent exists.

    Raises `InputError` if an option is given twice or has the wrong form.
    """
    kind, colon, rest = text.strip().partition(":")
    if colon and not rest:
        raise InputError(f"agent {text!r}: nothing follows the colon")
    positional: list[str] = []
    options: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not (equals and key.isidentifier()):
            if options:
                raise InputError(f"agent {text!r}: {part!r} is not an option; expected key=value")
            positional.append(part)
        elif key in options:
            raise InputError(f"agent {text!r}: option {key!r} is given twice")
        else:
            options[key] = value.strip()
    return AgentName(text.strip(), kind, ",".join(positional), options)


def source_text(data: bytes) -> str:
    """Return the text of a student's file; raises `InputError` if it is not UTF-8.

    The text is what runs, so an encoding that it declares has no effect. UTF-16 can be valid UTF-8
    too, but has null bytes.
    """
    try:
        text = data.decode("utf-8")
        if "\0" in text:
            raise UnicodeDecodeError("utf-8", data, data.index(0), len(data), "a null byte")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"not UTF-8 (line {line}, byte {error.start}); save the file as UTF-8"
        ) from None
    if text.lstrip().startswith("{") and '"nbformat"' in text:
        raise InputError("a Jupyter notebook; save its code as ai.py (File > Save and Export As)")
    return text


def read_source(path: Path) -> bytes:
    """Return the content of an agent's file.

    A record may name any path, so only a regular file is opened, and no reader waits. Raises
    `InputError`, whose text goes on after the name of the file.
    """
    at_once = getattr(os, "O_NONBLOCK", 0)
    try:
        held = os.stat(path)
        if not stat.S_ISREG(held.st_mode) or os.path.realpath(path).startswith(NO_FILES):
            raise InputError("is no regular file")
        if held.st_size > MAX_SOURCE:
            raise InputError(f"is larger than {MAX_SOURCE // 1_000_000} MB")
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once)) as file:
            return file.read(held.st_size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None


def source_lines(data: bytes) -> list[str]:
    """Return the lines of a student's file, numbered as in Python; invalid bytes are replaced."""
    return NEWLINE.split(data.decode("utf-8-sig", "replace"))


def importable_sentence(allowed: Sequence[str]) -> str:
    """Return one sentence that lists what a submission may import; `allowed` are module names."""
    named = ["the standard library", "numpy", *(f"`{name}`" for name in allowed)]
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"A submission may import {listed}, nothing else of the kit."


STUDENT_FILE = Path(__file__).parent / "ai.py"
"""The file of the agent `ai`."""


def student_file(name: AgentName) -> Path:
    """Return the file of an `ai`, `ai:FILE` or `kaggle:FILE` agent.

    Expands `~`, which the shell does not.
    """
    try:
        return Path(os.path.expanduser(name.rest)) if name.rest else STUDENT_FILE
    except ValueError:  # a null byte, or half of a character
        return Path(name.rest)


def policy_folder(name: AgentName) -> str | None:
    """Return the folder from which an `env` or `kaggle` agent imports; None for other kinds."""
    if name.kind == "kaggle":
        return str(student_file(name).resolve().parent)
    return os.getcwd() if name.kind == "env" else None

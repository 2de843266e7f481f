"""The one way to name an agent: `KIND`, `KIND:key=value,...`, `ai:FILE`, `ai:FILE,key=value`."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError

NEWLINE: Final = re.compile("\r\n|\r|\n")
ENCODING: Final = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.DOTALL)
SLOW: Final = ("punycode", "idna")
"""Encodings for which the decoding time grows with the square of the size."""

NO_CODE: Final = re.compile(rb"[ \t\f]*(#|\r|$)")


@dataclass(frozen=True, slots=True)
class AgentName:
    """An agent's name, taken apart.

    `rest` is the part after the colon that is no `key=value` (a file, an address), or empty.
    """

    text: str
    kind: str
    rest: str = ""
    options: dict[str, str] = field(default_factory=dict)


def split_name(text: str) -> AgentName:
    """Take a name apart; whether there is such an agent is not judged here.

    Raises `InputError` where an option is given twice or follows no pattern.
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
    """Return the text of a student's file; raises `InputError` where Python would read another.

    The file is UTF-8, and an encoding that it declares reads the same text: else the code that runs
    is not the code that anybody sees. Text of two bytes a letter may pass for UTF-8, but for its
    null bytes.
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
    for encoding in _declared_encodings(data):
        try:
            is_same = codecs.lookup(encoding).name not in SLOW and (
                data.decode(encoding).removeprefix("\ufeff") == text.removeprefix("\ufeff")
            )
        except (LookupError, ValueError):
            is_same = False
        if not is_same:
            raise InputError(
                f"not UTF-8: it declares the encoding {encoding[:40]!r}; "
                "save the file as UTF-8 and delete that comment"
            )
    return text


def source_lines(data: bytes) -> list[str]:
    """Return the lines of a student's file as Python numbers them; bad bytes raise nothing."""
    return NEWLINE.split(data.decode("utf-8-sig", "replace"))


def _declared_encodings(data: bytes) -> list[str]:
    """Return the encodings that the first two lines declare (PEP 263).

    Python's compiler ends a line at a carriage return too, its `tokenize` module at a newline
    alone; so both readings count.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = []
    for one, *rest in (data.split(b"\n", 2)[:2], re.split(b"\r\n|\r|\n", data, maxsplit=2)[:2]):
        lines += [one, *rest] if NO_CODE.match(one) else [one]
    return [match[1].decode("ascii") for line in lines if (match := ENCODING.match(line))]


def importable_sentence(allowed: Sequence[str]) -> str:
    """Return what a submission may import, in one sentence; `allowed` are modules' names."""
    named = ["the standard library", "numpy", *(f"`{name}`" for name in allowed)]
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"A submission may import {listed}, nothing else of the kit."


STUDENT_FILE = Path(__file__).parent / "ai.py"
"""The file behind the plain name `ai`."""


def student_file(name: AgentName) -> Path:
    """Return the file of an `ai` or `ai:FILE` agent; no shell expands a `~` behind the colon."""
    return Path(os.path.expanduser(name.rest)) if name.rest else STUDENT_FILE

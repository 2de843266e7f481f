"""What was handed in: a hand-in as a value, and the names of files made of it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from grader.handin.people import Person

FOLDER: Final = "submissions"
"""Folder of the students' files, beside the records that name them."""

RESERVED: Final = re.compile(
    r"(CON|PRN|AUX|NUL|(COM|LPT)[0-9¹²³])\s*(\.|$)|(index\.csv|hidden-boards)$", re.IGNORECASE
)
"""Names that Windows reserves for devices, with any suffix, and those of the kit's own entries
beside the students' folders of records."""


class Missing(StrEnum):
    """Why a student of the class has no hand-in; students read it, so it names nobody."""

    ABSENT = "nothing was handed in"
    UNDECIDED = "not decided"
    """Nobody can tell which hand-in is the student's, or which one counts."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One hand-in. If `problem` is set it cannot be graded, and `source` may be None."""

    name: str
    place: str
    """The path, for messages."""
    source: bytes | None = None
    report: str | None = None
    """The text of `report.txt`, None if there is none."""
    problem: str | None = None
    people: tuple[Person, ...] = ()
    """Who handed it in."""
    path: Path | None = None
    """The path of the file if it is on disk, for annotations."""
    entry: str = ""
    """The file or folder that a teacher or a platform named, without what a student named in it."""
    missing: Missing | None = None
    """Why there is no hand-in, if this stands for a student without one."""
    stored_sha256: str | None = None
    """The hash of a source that is no longer held, because its author was forgotten."""

    @property
    def sha256(self) -> str | None:
        """Return the SHA-256 of the source's bytes in hexadecimal."""
        if self.source is None:
            return self.stored_sha256
        return hashlib.sha256(self.source).hexdigest()


def sources_of(found: Iterable[Submission]) -> dict[str, bytes]:
    """Return the sources of hand-ins, by their hash."""
    return {str(item.sha256): item.source for item in found if item.source is not None}


def file_name(name: str) -> str:
    """Return a student's name as a file name that is safe on every system: at most 200 bytes."""
    kept = "".join(
        letter if letter.isalnum() or letter in " -_().@+" else "_"
        for letter in unicodedata.normalize("NFC", name)
    ).strip(" .")
    kept = f"_{kept}" if RESERVED.match(kept) else kept
    return kept[:100].encode()[:200].decode(errors="ignore") or "_"


def told_apart(found: list[Submission]) -> list[Submission]:
    """Number submissions that would get the same file name."""
    taken: set[str] = set()
    apart = []
    for submission in found:
        name, number = submission.name, 1
        begin = name[:80].encode(errors="ignore")[:180].decode(errors="ignore")
        while on_disk(name) in taken:
            number += 1
            name = f"{begin} ({number})"
        taken.add(on_disk(name))
        apart.append(replace(submission, name=name))
    return apart


def on_disk(name: str) -> str:
    """Return the name of a student's files, as a disk treats it that ignores case and accents."""
    return unicodedata.normalize("NFC", file_name(name).casefold())


FOLDERS: Final = re.compile(r"(?<![\w./])(?:/[^\s/\"'<>|:*?]+)+/(?=[^\s/\"'<>|:*?])")
"""The folders of an absolute path."""


def without_folders(text: str) -> str:
    """Return a text with the folders of paths removed, so that students do not see them."""
    return FOLDERS.sub("", text)

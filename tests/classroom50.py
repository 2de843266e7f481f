"""A validator of `result.json` for Classroom 50, written from its contract (Advanced Autograding).

`python3 -m tests.classroom50 result.json` prints what is wrong and ends with status 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXTS = ("classroom", "assignment", "submission", "commit", "release", "review")
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?Z")


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def problems(document: Any) -> Iterator[str]:
    """Yield every breach of the contract."""
    if not isinstance(document, dict):
        yield "the document is no object"
        return
    if document.get("schema") != "classroom50/result/v1":
        yield f"schema is {document.get('schema')!r}"
    for name in TEXTS:
        if not isinstance(document.get(name), str) or not document[name]:
            yield f"{name} is {document.get(name)!r}, expected a text"
    if not isinstance(document.get("datetime"), str) or not TIME.fullmatch(document["datetime"]):
        yield f"datetime is {document.get('datetime')!r}, expected UTC with a Z"
    yield from points(document, "the document")
    tests = document.get("tests")
    if not isinstance(tests, list):
        yield "tests is no list"
        return
    for number, test in enumerate(tests, 1):
        if not isinstance(test, dict):
            yield f"test {number} is no object"
            continue
        if not isinstance(test.get("test-name"), str) or not test["test-name"]:
            yield f"test {number} has no test-name"
        if not isinstance(test.get("passed"), bool):
            yield f"test {number}: passed is {test.get('passed')!r}"
        yield from points(test, f"test {number}")


def points(values: dict[str, Any], where: str) -> Iterator[str]:
    """Yield what is wrong with a score and the most that it can be."""
    for name in ("score", "max-score"):
        if not is_whole(values.get(name)) or values[name] < 0:
            yield f"{where}: {name} is {values.get(name)!r}, expected a whole number"
            return
    if values["score"] > values["max-score"]:
        yield f"{where}: score {values['score']} is above max-score {values['max-score']}"


if __name__ == "__main__":
    FOUND = list(problems(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    print("\n".join(FOUND) or "valid")
    sys.exit(bool(FOUND))

"""`python3 -m grader` without a command: where a class stands, and what the next command is.

It reads the results files of the current folder, and changes nothing.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.commands import UNMATCHED
from grader.handin import Missing
from grader.ladder import LADDER
from grader.output.gradebooks import FILLED
from grader.output.results import GRADE, TOURNAMENT, Results, read_results
from grader.output.tables import clipped
from grader.output.writing import OUT, changed_marks
from grader.results.database import is_busy
from grader.results.store import COMMAND, Store

CALL: Final = "python3 -m grader"

MOST_DECISIONS: Final = 4


def desk() -> bool:
    """Print where things stand in the current folder; return whether there is anything."""
    found = [_results_lines(path) for path in sorted(Path().glob("*.db"))]
    found.sort(key=lambda lines: not lines[0].endswith(f": {GRADE}"))
    print(*(line for lines in found for line in lines), sep="\n", end="\n" if found else "")
    return bool(found)


def _counted(subject: str, counts: Mapping[str, int]) -> str:
    """Return a line with counts by what they count."""
    shown = ", ".join(f"{number} {name}" for name, number in counts.items())
    return f"  {subject}: {shown or 'none'}"


def _results_lines(path: Path) -> list[str]:
    """Return where a results file stands, or why it cannot be read."""
    try:
        with Store(path, writing=False) as store:
            kind = store.meta("kind")
            words = [word for word in store.meta_json(COMMAND) or () if word != "--dry-run"]
            again = f"{CALL} {shlex.join(words)}" if words else "the command that began it goes on"
            again = "wait; a grader is at work on it" if is_busy(path) else again
            if kind in (LADDER, None):  # a dry run has only asked for moves
                known = {"files": len(store.versions()), "games played": len(store.played())}
                title = f"{path}: {kind or (words or [GRADE])[0]}"
                return [title, _counted("known", known), f"  next: {again}"]
            results = read_results(store)
            games = {game.key for game in results.games}
            done, failed = games & results.played.keys(), games & results.faults.keys()
            counts = {"planned": len(games), "played": len(done), "failed": len(failed)}
            lines, following = [f"{path}: {kind}", _counted("games", counts)], ""
            stages = results.rubric.tournament.stages if kind == TOURNAMENT else ()
            if stages:
                begun = {"begun": len(results.stages), "planned": len(stages)}
                lines.append(_counted("stages", begun))
            else:
                more, following = _marks_lines(results, store)
                lines += more
            if results.missing or len(results.stages) != len(stages):
                following = again
            return [*lines, f"  next: {following}"] if following else lines
    except InputError as error:
        return [f"{path}: {str(error).removeprefix(f'{path}: ')}"]


def _marks_lines(results: Results, store: Store) -> tuple[list[str], str]:
    """Return in lines whose hand-ins there are, with what marks and files; and what is next."""
    owners = results.owners
    assert owners is not None
    absent = Counter(item.missing for item in owners.submissions)
    unplayable = sum(bool(item.problem and not item.missing) for item in results.submissions)
    found = {"found": len(store.submissions()), "unplayable": unplayable}
    lines = [_counted("hand-ins", found)]
    if results.has_roster:
        matched = {"matched": len(owners.matching.pairs), "not in it": len(owners.unknown)}
        nobody = {why.name.lower(): absent[why] for why in Missing}
        lines.append(_counted("roster", {**matched, **nobody}))
    marks = [(mark.submission, mark.known(own)) for mark in results.marks for own in mark.students]
    known = [(item, value) for item, value in marks if value is not None]
    lines.append(_counted("marks", {"known": len(known), "open": len(marks) - len(known)}))
    why = Counter(
        "absent" if item.missing else "unplayable" if item.problem else "played"
        for item, value in known
        if value == 0
    )
    lines.append(_counted("zeros", why))
    out = Path(os.path.relpath(store.meta(OUT) or "marks"))
    following = f"{CALL} report {shlex.quote(str(store.path))} --out {shlex.quote(str(out))}/"
    decide = [f"whose is the hand-in of {each}" for each in owners.unknown if each.may_be]
    decide += [line for line in owners.told if " is newer than " not in line]
    files = books = "none"
    if store.meta(OUT) is not None and (out / "grades.csv").is_file():
        changed, _ = changed_marks(results, store)
        began = (out / "grades.csv").stat().st_mtime
        filled = {
            book.name: "filled" if book.stat().st_mtime >= began else "of earlier marks"
            for book in sorted(out.iterdir())
            if FILLED.fullmatch(book.name)
        }
        files = f"below {out}/, {len(changed)} changed since"
        books = ", ".join(map(" ".join, filled.items())) or "none"
        if decide and not changed:
            following += " --roster ROSTER.csv   (with what decides)"
        elif changed or {*filled.values()} != {"filled"}:
            following += " --gradebook EXPORT.csv"
        else:
            following = ""
    lines += [f"  files: {files}", f"  gradebooks: {books}"]
    lines += [f"  to decide: {clipped(line)}" for line in decide[:MOST_DECISIONS]]
    if (more := len(decide) - MOST_DECISIONS) > 0:
        lines.append(f"  to decide: {more} more; {UNMATCHED} has all")
    return lines, following

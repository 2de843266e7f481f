"""`python3 -m grader` without a command: where a class stands, and what the next command is.

It reads the results files and the hand-ins of the current folder, and changes nothing.
"""

import contextlib
import io
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from connect4.errors import InputError
from grader.handin import Missing, Submission, lists
from grader.handin import find as submissions
from grader.handin.roster import Owners, Student, assign
from grader.ladder import LADDER
from grader.output.explain import OUT, changed_marks
from grader.output.gradebooks import FILLED, read_gradebook
from grader.output.results import GRADE, TOURNAMENT, Results, read_results
from grader.output.tables import clipped
from grader.results.database import is_busy
from grader.results.store import COMMAND, Store
from grader.rubric import reading as rubrics

CALL: Final = "python3 -m grader"

MOST_LINES: Final = 20
MOST_DECISIONS: Final = 4


@dataclass
class Standing:
    """Where one results file stands, or hand-ins that no grading has."""

    place: str
    kind: str
    """`hand-ins`, `grade`, `tournament`, `ladder`, or why a results file cannot be read."""
    facts: dict[str, Mapping[str, int | str]] = field(default_factory=dict)
    """By subject: counts by what they count, texts by their names."""
    decide: list[str] = field(default_factory=list)
    """What only the teacher can decide."""
    next: str = ""
    """The next command; empty if nothing is left to do."""

    def lines(self) -> list[str]:
        """Return this in words."""
        found = [f"{self.place}: {self.kind}"]
        for subject, known in self.facts.items():
            shown = [
                f"{n} {name}" if isinstance(n, int) else f"{name} {n}" for name, n in known.items()
            ]
            found.append(f"  {subject}: {', '.join(shown) or 'none'}")
        found += [f"  to decide: {clipped(line)}" for line in self.decide[:MOST_DECISIONS]]
        if (more := len(self.decide) - MOST_DECISIONS) > 0:
            found.append(f"  to decide: {more} more; `{CALL} --json` has all")
        return found + ([f"  next: {self.next}"] if self.next else [])


def desk(as_json: bool) -> bool:
    """Print where things stand in the current folder; return whether there is anything."""
    found = [_of_results(path) for path in sorted(Path().glob("*.db"))]
    found.sort(key=lambda one: one.kind != GRADE)
    if not any("hand-ins" in one.facts for one in found):
        found = [*_hand_ins(found), *found]
    lines = [line for one in found for line in one.lines()]
    if as_json:
        print(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2))
    elif found:
        more = [*lines[: MOST_LINES - 1], "... `--json` has the rest"]
        print("\n".join(lines if len(lines) <= MOST_LINES else more))
    else:
        print("Here is no results file, and no folder or zip of several hand-ins.\n")
    return as_json or bool(found)


def _of_results(path: Path) -> Standing:
    try:
        with Store(path, writing=False) as store:
            kind = store.meta("kind")
            words = [word for word in store.meta_json(COMMAND) or () if word != "--dry-run"]
            again = f"{CALL} {shlex.join(words)}" if words else "the command that began it goes on"
            again = "wait; a grader is at work on it" if is_busy(path) else again
            if kind in (LADDER, None):  # a dry run has only asked for moves
                facts = {"files": len(store.versions()), "games played": len(store.played())}
                return Standing(
                    str(path), kind or (words or [GRADE])[0], {"known": facts}, [], again
                )
            results = read_results(store)
            games = {game.key for game in results.games}
            done, failed = games & results.played.keys(), games & results.faults.keys()
            facts = {"planned": len(games), "played": len(done), "failed": len(failed)}
            one = Standing(str(path), results.kind, {"games": facts})
            stages = results.rubric.tournament.stages if kind == TOURNAMENT else ()
            if stages:
                one.facts["stages"] = {"begun": len(results.stages), "planned": len(stages)}
            else:
                _add_marks(one, results, store)
            changed = _rubric_changes(words, store)
            one.decide[:0] = [f"whether marks follow the new rubric: {line}" for line in changed]
            is_over = not results.missing and len(results.stages) == len(stages)
            one.next = one.next if is_over and not changed else again
            return one
    except InputError as error:
        return Standing(str(path), str(error).removeprefix(f"{path}: "))


def _rubric_changes(words: Sequence[str], store: Store) -> list[str]:
    """Return how the rubric that a command names differs from the stored one."""
    words = [part for word in words for part in word.split("=", word.startswith("--rubric="))]
    if "--rubric" not in words:
        return []
    try:
        rubric = rubrics.read(Path(words[words.index("--rubric") + 1]))
    except InputError as error:
        return [str(error)]
    now = json.loads(json.dumps(rubrics.stored_values(rubric)))
    found = rubrics.changes(store.meta_json("rubric") or {}, now)
    return [line for line in found if not line.startswith("match.seed ")]


def _add_marks(one: Standing, results: Results, store: Store) -> None:
    """Add whose hand-ins there are, their marks, what is written of them, and what comes next."""
    owners = results.owners
    unplayable = sum(bool(item.problem and not item.missing) for item in results.submissions)
    one.facts["hand-ins"] = {"found": len(store.submissions()), "unplayable": unplayable}
    _add_owners(one, owners, results.has_roster)
    marks = [(mark.submission, mark.known(own)) for mark in results.marks for own in mark.students]
    known = [(item, value) for item, value in marks if value is not None]
    one.facts["marks"] = {"known": len(known), "open": len(marks) - len(known)}
    zeros = [item for item, value in known if value == 0]
    why = [
        "absent" if item.missing else "unplayable" if item.problem else "played" for item in zeros
    ]
    one.facts["zeros"] = dict(Counter(why))
    out = Path(os.path.relpath(store.meta(OUT) or "marks"))
    grades = out / "grades.csv"
    one.next = f"{CALL} report {shlex.quote(one.place)} --out {shlex.quote(str(out))}/"
    one.facts["files"] = one.facts["gradebooks"] = {}
    if store.meta(OUT) is None or not grades.is_file():
        return
    changed, _ = changed_marks(results, store)
    ages = {
        book.name: book.stat().st_mtime for book in out.iterdir() if FILLED.fullmatch(book.name)
    }
    old = [name for name, age in ages.items() if age < grades.stat().st_mtime]
    since = {} if results.missing else {"changed since": len(changed)}
    one.facts["files"] = {"below": f"{out}/", **since}
    states = {name: "of earlier marks" if name in old else "filled" for name in sorted(ages)}
    one.facts["gradebooks"] = states
    if one.decide and not changed:
        here = _rosters()
        one.next += f" --roster {shlex.quote(here[0]) if len(here) == 1 else 'ROSTER.csv'}"
        one.next += "  # when its column hand_in says it"
    else:
        exports = []
        for path in sorted(map(str, Path().glob("*.csv"))):
            if path not in _rosters():  # which may have the columns of an export
                with contextlib.suppress(InputError):
                    read_gradebook(Path(path))
                    exports.append(path)
        export = shlex.quote(exports[0]) if len(exports) == 1 else "EXPORT.csv"
        one.next = f"{one.next} --gradebook {export}" if changed or old or not ages else ""


def _add_owners(one: Standing, owners: Owners, has_roster: bool) -> None:
    """Add who is found in the roster and who is not, and what is to be decided."""
    if has_roster:
        absent = Counter(item.missing for item in owners.submissions)
        nobody = {why.name.lower(): absent[why] for why in Missing}
        matched, unknown = len(owners.matching.pairs), len(owners.unknown)
        one.facts["roster"] = {"matched": matched, "not in it": unknown, **nobody}
    one.decide += [f"whose is the hand-in of {each}" for each in owners.unknown if each.may_be]
    one.decide += [line for line in owners.told if " is newer than " not in line]


def _rosters() -> list[str]:
    """Return the files of this folder that are rosters by their names."""
    return sorted(map(str, Path().glob("roster*.csv")))


def _hand_ins(of_results: Sequence[Standing]) -> Iterator[Standing]:
    """Yield the folders and archives here of which most files are students' agents.

    If a results file has a next command for them, they need none of their own.
    """
    more = [f"--rubric {path}" for path in Path().glob("*.toml") if path.stem != "pyproject"]
    more = more if len(more) == 1 else []
    more += [f"--roster {shlex.quote(path)}" for path in _rosters()]
    roster: Sequence[Student] = ()
    if len(_rosters()) == 1:  # several complete each other, which `grade` does
        with contextlib.suppress(InputError):
            roster, _ = lists.read_roster(Path(_rosters()[0]))
    is_begun = any(one.kind == GRADE for one in of_results)
    for path in sorted(Path().iterdir()):
        is_packed = path.name.lower().endswith(".zip")
        if path.name[0] in "._" or not (path.is_dir() or is_packed):
            continue
        found: list[Submission] = []
        with contextlib.suppress(InputError), contextlib.redirect_stderr(io.StringIO()):
            found = submissions.find([path], rubrics.read(None).submission)
        agents = [one for one in found if b"class AIPlayer" in (one.source or b"")]
        if len(found) > 1 and 2 * len(agents) >= len(found):
            unread = [f"{one.name}: {one.problem}" for one in found if one.problem]
            facts = {"found": len(found), "not read": len(unread)}
            words = " ".join([shlex.quote(str(path)), *more])
            command = f"{CALL} grade {words} --results marks.db --out marks/ --dry-run"
            one = Standing(str(path), "hand-ins", {"hand-ins": facts}, unread)
            one.next = "" if is_begun else command
            if roster:
                _add_owners(one, assign(found, roster), has_roster=True)
            yield one

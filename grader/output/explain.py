"""Explains the points of a mark and its lost turns, in sentences with the numbers in them.

Pages, Gradescope and GitHub show the same text, so that nobody has to ask how a mark was
computed. Then the file that Gradescope reads; last which marks have changed, and why.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from connect4.errors import headline
from connect4.games import GAMES
from connect4.games.base import FaultPolicy
from connect4.views.words import kind_of_fault
from grader.handin import Person, without_folders
from grader.handin import match as who_is_who
from grader.handin.lists import csv_text
from grader.handin.roster import Student
from grader.marks import Mark, MatchMark
from grader.marks.tally import FEW_PAIRS, Tally, baseline_of, few_games, full_points
from grader.output import write
from grader.output.results import NEVER, Results
from grader.output.tables import faults_text, finding_text, level_text, match_table
from grader.play.schedule import PART_A, PlannedGame
from grader.results import LostTurn, Written, utc_now
from grader.results.store import Store
from grader.rubric import reading as rubrics
from grader.rubric.model import Rubric

MAX_REASONS: Final = 20

CLIPPED: Final = 1500
"""Maximum characters of a reason in files that others show; of a traceback, the end is kept."""


def explained(match: MatchMark, rubric: Rubric) -> list[str]:
    """Return the whole explanation of the points of a match, one sentence per line."""
    lines, total = told_plainly(match, rubric), match.tally
    if not total.complete:
        return lines
    if not total.counts_points:
        lines.append(
            f"A win counts 1, a draw 0, a loss -1: a mean of {total.mean_margin:+.2f} a game."
        )
    if match.match.part == PART_A:
        sums = f"({total.own} - {total.other}) / {max(total.other, 1)}"
        how = f"Margin in percent of the opponent's points: 100 x {sums}"
        if not total.counts_points:
            counts = f"({total.wins} - {total.losses}) / {total.games}"
            how = f"Wins less losses in percent of all games: 100 x {counts}"
        elif total.hidden_games:
            how = (
                "Margin in percent: the mean margin of all games over the opponent's mean points "
                f"on the boards that are not hidden, 100 x {total.mean_margin:.2f} / "
                f"{total.unit:.2f}"
            )
        lines.append(f"{how} = {total.percent:+.2f} %.")
    lines.append(formula(match, rubric))
    if match.bounds is None:
        return [*lines, "Too few games for an interval."]
    low, high = match.bounds
    pairs = len(total.pairs)
    few = f" Few games: with fewer than {FEW_PAIRS} pairs this is rough."
    return [
        *lines,
        f"With other pairs of games like these the points would lie between {low:.2f} and "
        f"{high:.2f} ({level_text(rubric.statistics)} confidence interval of {pairs} pairs)."
        f"{few if few_games(pairs) else ''}",
    ]


def told_plainly(match: MatchMark, rubric: Rubric) -> list[str]:
    """Return what happened in a match and what its points require, without the formula."""
    total = match.tally
    if not total.complete:
        played = f"{total.games} of {total.planned} games are played"
        lines = [f"Not finished: {played}; the points are withheld until all are."]
        return [*lines, *([f"{without_folders(match.withheld)}."] if match.withheld else [])]
    lines = [_happened(total)]
    if match.points >= match.max_points:
        lines.append(f"These are all {match.max_points:g} points.")
    else:
        kind, value, low, high, unit = _scale(match, rubric)
        digits = 1 if unit else total.digits
        lines.append(
            f"Points start above a {kind} of {_signed(low)}{unit}; all {match.max_points:g} need "
            f"{_signed(high)}{unit}. Yours is {value:+.{digits}f}{unit}."
        )
    if total.shown_faults.total:
        skips = GAMES[rubric.match.game].on_fault is FaultPolicy.SKIP
        cost = "the opponent then moves twice in a row" if skips else "each loses its game"
        lines.append(f"You lost turns ({faults_text(total.shown_faults)}); {cost}.")
    return lines


def _happened(total: Tally) -> str:
    """Return the results of a match as a student would tell them."""
    counts = {"won": total.wins, "drew": total.draws, "lost": total.losses}
    parts = [f"{verb} {count}" for verb, count in counts.items() if count]
    told = f"You {' and '.join([', '.join(parts[:-1]), parts[-1]] if parts[1:] else parts)}"
    told += f" of {total.games} games" if total.games > 1 else " game"
    if len(parts) == 1 and total.games > 1:
        told = f"You {parts[0].split()[0]} all {total.games} games"
    if not total.counts_points:
        return f"{told}."
    mean = total.mean_margin
    if not mean:
        return f"{told}, with equal points on average."
    return f"{told}, {'ahead' if mean > 0 else 'behind'} by {abs(mean):.1f} points on average."


def _scale(match: MatchMark, rubric: Rubric) -> tuple[str, float, float, float, str]:
    """Return what earns points: its name, its value, both ends of the scale, and its unit."""
    if match.match.part == PART_A:
        return "margin", match.tally.percent, 0.0, rubric.part_a.cap_percent, " %"
    step = baseline_of(match.match, rubric)
    return "mean margin", match.tally.mean_margin, step.low, step.high, ""


def formula(match: MatchMark, rubric: Rubric) -> str:
    """Return the rubric's formula with the numbers of a complete match in it."""
    kind, value, low, high, unit = _scale(match, rubric)
    counted = min(max(value, low), high)
    show, start = "{:g}".format if unit else _signed, f"{low:g}" if low >= 0 else f"({low:g})"
    share = f"({counted:.2f} - {start}) / ({high:g} - {start})"
    share = f"{counted:.2f} / {high:g}" if unit else share
    limits = f"a {kind} counts from {show(low)}{unit} to {show(high)}{unit}"
    if counted != value:
        limits += f", so {value:+.2f}{unit} counts as {show(counted)}{unit}"
    full = match.max_points
    return f"Points: {full:g} x {share} = {match.points:.2f} of {full:g} ({limits})."


def _signed(number: float) -> str:
    return f"{number:+g}" if number else "0"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why turns of a player were lost: the first such turn, its game, and how many there are."""

    game: PlannedGame
    turn: LostTurn
    count: int = 1

    @property
    def title(self) -> str:
        """Return the game, the turn and the outcome."""
        return f"{self.game.title}, turn {self.turn.number}: {self.turn.outcome}"

    @property
    def cause(self) -> str:
        """Return why the turns were lost, in one line."""
        return headline(self.turn.detail) if self.turn.detail else self.turn.outcome

    @property
    def where(self) -> str:
        """Return the place of the exception, as `ai.py, line 10`; empty if there is none."""
        places = re.findall(r'^ *File "([^"\n]*)", line (\d+)', self.turn.detail, re.MULTILINE)
        return f"{places[-1][0]}, line {places[-1][1]}" if places else ""

    @property
    def text(self) -> str:
        """Return the reason with the position, in several lines; a long reason is cut."""
        detail = self.turn.detail
        if len(detail) > CLIPPED:
            detail = "...\n" + detail[-CLIPPED:].partition("\n")[2]
        position = ("the position (0: empty, 1 and 2: the players):", self.turn.board)
        others = f"and {self.count - 1} more like it" if self.count > 1 else ""
        parts = (self.title, detail, *position, self.turn.pop_outs, others)
        return "\n".join(filter(None, parts))


Lost: TypeAlias = Mapping[str, Sequence[Reason]]
"""The reasons for lost turns, by submission."""


def reasons(games: Sequence[PlannedGame], lost: Mapping[str, Sequence[LostTurn]]) -> list[Reason]:
    """Return the reasons for which the player `match.one` of each game lost turns.

    `lost` has the lost turns of both players, by the key of the game. Games on hidden boards are
    left out: a program may tell its author about the board by what it loses, and why.
    """
    found: dict[tuple[str, str], list[tuple[PlannedGame, LostTurn]]] = {}
    for game in games:
        for turn in lost.get(game.key, ()) if not game.board.hidden else ():
            if turn.player == game.side:
                quoted = turn.detail if turn.outcome == "invalid" else ""
                kind = kind_of_fault(turn.outcome, turn.detail), quoted
                found.setdefault(kind, []).append((game, turn))
    return [Reason(*turns[0], len(turns)) for turns in found.values()]


def gradescope(mark: Mark, rubric: Rubric, lost: Sequence[Reason]) -> dict[str, Any]:
    """Return the `results.json` of a submission as Gradescope's autograder reads it.

    It has a test for each match and one for the form. The fields are those of
    https://gradescope-autograders.readthedocs.io/en/latest/specs/.
    """
    margins = [(match.match.two.name, match.tally.mean_margin) for match in mark.matches]
    return {
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {**test, "number": str(place)}
            for place, test in enumerate(_tests(mark, rubric, lost), 1)
        ],
        "leaderboard": [
            {"name": f"margin against {name}", "value": round(margin, 2)}
            for name, margin in margins
        ],
        "score": round(mark.final(), 2),
    }


def _tests(mark: Mark, rubric: Rubric, lost: Sequence[Reason]) -> Iterator[dict[str, Any]]:
    """Yield the tests of a submission: its matches, then the findings of `check`."""
    if mark.submission.problem:
        texts = (mark.submission.problem, mark.detail)
        output = "\n\n".join(map(without_folders, filter(None, texts)))
        yield _test("submission", 0.0, full_points(rubric), False, output)
    for match in mark.matches:
        total = match.tally
        lines = [*explained(match, rubric), "", match_table([match], rubric, details=True)]
        lines += [f"\n{turn.text}" for turn in of_match(lost, match)]
        whole = match.points >= match.max_points
        passed = total.complete and (whole or (match.points > 0 and not total.shown_faults.total))
        points = round(match.points, 2)
        test = _test(match.name, points, match.max_points, passed, "\n".join(lines))
        if match.withheld:
            test["extra_data"] = {"withheld": without_folders(match.withheld)}
        yield test
    if mark.findings:
        output = "\n".join(map(finding_text, mark.findings))
        passed = not any(found.required for found in mark.findings)
        yield _test("form", 0.0, 0.0, passed, output)


def _test(name: str, score: float, of: float, passed: bool, output: str) -> dict[str, Any]:
    return {
        "name": name,
        "score": score,
        "max_score": of,
        "status": "passed" if passed else "failed",
        "output": output,
        "visibility": "visible",
    }


def of_match(lost: Sequence[Reason], match: MatchMark) -> list[Reason]:
    """Return the first reasons for lost turns in a match."""
    return [turn for turn in lost if turn.game.match == match.match][:5]


def to_json(document: dict[str, Any]) -> str:
    """Return a document as the text of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


CHANGES: Final = ("Name", "Before", "After", "Why")

RUBRIC: Final = "written"
"""The name in a results file of the rubric with which marks were written last."""

OUT: Final = "out"
"""The name in a results file of the folder to which the marks were written last."""

WAITS: Final = "waits"
"""The name in a results file of whether those of an unfinished run still stand in `changes.csv`."""


def written_marks(results: Results) -> list[tuple[Person, Written]]:
    """Return the mark of each student, and what it is made of."""
    return [
        (
            Person(one.name, one.keys),
            Written(
                *(mark.known(one), mark.total - mark.placement),
                *(mark.final(one) - mark.total, mark.placement),
            ),
        )
        for mark in results.marks
        for one in mark.students
    ]


def _same(before: Sequence[Person], after: Sequence[Person]) -> Mapping[int, int]:
    """Return the places of the same persons; a roster writes names in other ways."""
    known = {str(person): place for place, person in enumerate(after)}
    pairs = [(n, known[str(person)]) for n, person in enumerate(before) if str(person) in known]
    return who_is_who(before, after, pairs).pairs


def note_written(results: Results, store: Store, out: Path) -> None:
    """Keep the marks that were written, and where, for the next comparison."""
    before, after = store.written(), written_marks(results)
    waits = bool(before and results.missing)
    place = os.path.relpath(out, store.path.parent)  # so that a copy of both has its own
    store.set_meta({OUT: place, WAITS: json.dumps(waits)})
    if waits:  # the end of this run is compared with what was before it
        return
    if len(results.submissions) > 1 and not results.missing and results.told == NEVER:
        store.set_meta({"told": utc_now()})
    if len(results.submissions) == 1:  # one is no class
        same = _same([one for one, _ in before], [one for one, _ in after])
        after += [one for place, one in enumerate(before) if place not in same]
    store.set_written(after)
    store.set_meta({RUBRIC: json.dumps(rubrics.stored_values(results.rubric), sort_keys=True)})


def changed_marks(results: Results, store: Store) -> tuple[list[list[str]], float]:
    """Return the lines of `changes.csv`, and by how much a mark differs at most."""
    before, after = store.written(), written_marks(results)
    earlier, gone = _earlier(before, after)
    students = [one for mark in results.marks for one in mark.students]
    found: list[tuple[Student, Written | None, Written | None]] = [
        (one, earlier.get(n), after[n][1]) for n, one in enumerate(students)
    ]
    if len(results.submissions) > 1:
        found += [(Student(one.name, one.keys), mark, None) for one, mark in gone]
    names = Counter(one.name for one, _, _ in found)
    changes = rubrics.changes(store.meta_json(RUBRIC), results.rubric)
    changes = [one for one in changes if not one.startswith(("compare.", "ladder.", "tournament."))]
    rubric = f"rubric: {'; '.join(changes)}" if changes else ""
    rows, most = [], 0.0
    for one, old, new in found if before else ():
        if _shown(old) == _shown(new):
            continue
        name = str(one) if names[one.name] > 1 else one.name
        rows.append([name, _shown(old), _shown(new), _why(old, new, one, rubric)])
        if old and new and old.total is not None and new.total is not None:
            most = max(most, abs(new.total - old.total))
    return rows, most


def _earlier(
    before: Sequence[tuple[Person, Written]], after: Sequence[tuple[Person, Written]]
) -> tuple[dict[int, Written], list[tuple[Person, Written]]]:
    """Return the earlier marks by their places in `after`, and those of who is there no more.

    As long as it was not clear whose a hand-in is, it and the line of the roster stood there both.
    """
    same = _same([one for one, _ in before], [one for one, _ in after])
    found: dict[int, list[Written]] = {}
    gone = []
    for n, (person, mark) in enumerate(before):
        keys = set(person.keys)
        places = [same[n]] if n in same else []
        places = places or [n for n, (one, _) in enumerate(after) if keys & set(one.keys)]
        if len(places) == 1:
            found.setdefault(places[0], []).append(mark)
        else:
            gone.append((person, mark))
    earlier = {
        place: replace(
            max(marks, key=lambda one: one.games),
            total=None if any(one.total is None for one in marks) else marks[0].total,
        )
        for place, marks in found.items()
    }
    return earlier, gone


def tell_changes(results: Results, store: Store, out: Path) -> str:
    """Write `changes.csv` if marks differ from those written last; return a line about them."""
    rows, most = changed_marks(results, store)
    if not rows:
        if store.meta_json(WAITS):
            (out / "changes.csv").unlink(missing_ok=True)
        return ""
    write(out / "changes.csv", csv_text(CHANGES, rows))
    marks = "1 mark differs" if len(rows) == 1 else f"{len(rows)} marks differ"
    by = f", by {most:.2f} at most" if most else ""
    return f"{marks} from those written last{by}: see {out / 'changes.csv'}"


def _shown(mark: Written | None) -> str:
    """Return a mark; empty if it is not there or incomplete."""
    return "" if mark is None or mark.total is None else f"{mark.total:.2f}"


def _why(old: Written | None, new: Written | None, student: Student, rubric: str) -> str:
    if old is None or new is None:
        return "not in the class any more" if new is None else "new in the class"
    found = []
    if abs(old.games - new.games) > 1e-6:  # both are differences, and so rounded
        found.append(rubric or "new games or another hand-in")
    elif (old.total is None) != (new.total is None):
        found.append("it was open" if old.total is None else rubric or "it is open")
    if abs(old.roster - new.roster) > 1e-6:
        found += map(str, student.corrections) if student.corrections else [rubric or "roster"]
    if old.placement != new.placement:
        found.append("placement")
    return "; ".join(dict.fromkeys(found))

"""What is said of an agent's answers: the text of the command, and the page with all positions."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from tabulate import tabulate

from connect4.games.falling import format_action
from connect4.views.board import shape_data
from connect4.views.document import Page, card, heading
from connect4.views.words import OWN_FRAME, changed_text, first_line, kind_of_fault
from grader.handin.positions import METHOD_OF, Part
from grader.solved import KILLS, REGRET, Answer, Practice, pairs_of, text_of
from grader.solved.questions import FEW, Seen, questions

PARTS: Final = ("base", "report", "theme", "board", "figures", "practice")
"""The assets of the page."""

WORST: Final = 3
"""The worst positions that are printed of each part."""

SKILLS: Final[dict[tuple[Part, str], str]] = {
    ("b", "take_row"): "takes a four in a row",
    ("b", "take_column"): "takes a four in a column",
    ("b", "take_diagonal"): "takes a four on a diagonal",
    ("b", "bigger_gain"): "takes the bigger of two gains",
    ("b", "block_four"): "blocks a four",
    ("b", "no_gift"): "gives no four away",
    ("b", "pop_break"): "pops out to break a four",
    ("b", "only_pops"): "chooses a pop-out where no drop is left",
    ("b", "last_moves"): "plays the last moves right",
    ("b", "combination"): "sees the gain of its move after next",
    ("a", "take_points"): "takes points",
    ("a", "pop_out"): "pops out for points",
    ("a", "last_moves"): "plays the last moves right",
    ("a", "fearless"): "dares what random play seldom punishes",
}
"""The skills of the kit's positions in words; another kind is shown as it is written."""

FAR: Final = 0.4
"""The shares of both players are shown apart if they differ by more, each of `FEW` answers."""


NAMED: Final = 3
"""The skills that a line of a class names."""


PROGRESS: Final = (
    "Did a change help? Keep the old file: practice NEW.py --against OLD.py --all\n"
    "asks both the same positions. --page practice.html shows the positions as pictures."
)
"""What is said of a next step."""


INTERVAL: Final = "± is a 95 % interval; --all asks every position and narrows it. "

KNOWN: Final = (
    ("the stub", "7.2", "7.3"),
    ("greedy", "3.2", "4.8"),
    ("README's first agent", "3.2", "4.8"),
    ("minimax:depth=2", "2.0", "3.2"),
    ("alphabeta:depth=4", "1.6", "2.5"),
    ("a strong search, 0.1 s", "0.5", "1.1"),
)
"""Points that a move of known agents gives away in part A and B, over all positions.

By `python3 -m benchmarks.regret AGENT ... --time 0.1 --part a` (and `b`), on one core of an AMD
EPYC; the strong search is the teachers' `ai`.
"""


def lines(practice: Practice) -> Iterator[str]:
    """Yield what the command prints of one agent."""
    yield from summary(practice)
    for part in METHOD_OF:
        for answer in costly(practice, part)[:WORST]:
            yield f"\nPart {part.upper()}: {cost(answer)}"
            yield from _position_lines(answer)


def costly(practice: Practice, part: Part) -> list[Answer]:
    """Return the valid answers that gave points away, those that gave most first."""
    found = sorted(practice.regrets(part), key=lambda answer: -answer.regret)
    return [answer for answer in found if answer.action and answer.regret > 0]


def summary(practice: Practice) -> Iterator[str]:
    """Yield what was asked and what is right, points, questions and descriptions."""
    yield from _opening(practice)
    if not practice.plays:
        return
    yield from ("", _skill_table(practice))
    yield from _sides_lines(practice.answers)
    if any(practice.regrets(part) for part in METHOD_OF):
        yield from ("", _points_table(practice), INTERVAL + PROGRESS)


def _opening(practice: Practice) -> Iterator[str]:
    """Yield what stands above the tables."""
    asked, most = len(practice.answers), len(practice.positions)
    head = f"{practice.agent}: {asked:,} of {most:,} positions"
    yield f"{head}, with {practice.seconds:g} s a move"
    if practice.remark:
        yield practice.remark
    yield from _fault_lines(practice.answers)
    turns = [replace(answer.turn, number=0) for answer in practice.answers]
    if told := changed_text("The file", turns):
        yield told
    for question in questions(practice.answers):
        yield f"\nA question: {question.text}"
        if practice.plays:  # else the position stands above
            yield from _position_lines(question.evidence)
    if not practice.plays:
        yield f"\nIt has to answer first: python3 -m grader check {practice.agent} looks at that."
    for text in descriptions(practice.answers):
        yield f"\n{text}."


def _sides_lines(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a line if an agent is often right from one side only, and no question says why."""
    pairs = pairs_of(answers)
    one_sided = sum(one.is_right != two.is_right for one, two in pairs)
    if one_sided > 1 and not questions(answers):
        yield (
            f"{one_sided} of {len(pairs)} positions are answered right from one side only, not "
            "with players and columns exchanged;\n"
            "a search without random choices has 1 at most: is a direction left out, or a player "
            "mixed up?"
        )


def _fault_lines(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each reason why there was no valid action, and the first position."""

    def kind(answer: Answer) -> str:
        return kind_of_fault(answer.turn.outcome, answer.turn.detail)

    faults = sorted((answer for answer in answers if answer.action is None), key=kind)
    for _, group in groupby(faults, kind):
        same = list(group)
        yield f"  {len(same)} without a valid action: {_fault(same[0])}"
        yield from _position_lines(same[0])


def _fault(answer: Answer) -> str:
    """Return why there was no valid action, and in which line of the file."""
    turn = answer.turn
    where = [f"({frame.strip()})" for frame in OWN_FRAME.findall(turn.detail or "")[-1:]]
    return " ".join([f"{turn.outcome}, {first_line(turn.detail)}", *where])


def _position_lines(answer: Answer) -> Iterator[str]:
    solved = answer.solved
    part, mover = solved.part.upper(), solved.state.mover
    yield f"    {played(answer)} (part {part}, player {mover} to move; as a state file):"
    for line in solved.state.to_text().splitlines():
        yield f"      {line}"


def played(answer: Answer) -> str:
    """Return what was played, and what is right."""
    own = "no valid action" if answer.action is None else format_action(answer.action)
    better = " or ".join(map(format_action, answer.solved.right))
    return f"played {own}" if answer.is_right else f"played {own}, better {better}"


def cost(answer: Answer) -> str:
    """Return what an answer gives away, and both values."""
    best = max(answer.solved.values)
    values = f"{best - answer.regret:+.3g} in place of {best:+.3g}"
    return f"{answer.regret:.3g} points given away: a final margin of {values}"


def _skill_table(practice: Practice, form: str = "simple") -> str:
    """Return the table of skills in one of the forms of `tabulate`."""
    rows = []
    for part, kind in practice.skills:
        answers = practice.skill(part, kind)
        own = [[a for a in answers if a.solved.state.mover == player] for player in (1, 2)]
        is_known = min(map(len, own)) >= FEW
        apart = is_known and abs(_share(own[0]) - _share(own[1])) > FAR
        notes = [f"player {n}: {_count(side)}" for n, side in enumerate(own, 1)] if apart else []
        if left := practice.skills[part, kind] - len(answers):
            notes.append(f"{left} not asked")
        rows.append([part.upper(), name_of(part, kind), _count(answers), ", ".join(notes)])
    text: str = tabulate(
        rows, ["part", "skill", "right", "remark"], tablefmt=form, disable_numparse=True
    )
    return text


def name_of(part: Part, kind: str) -> str:
    """Return a skill in words."""
    return SKILLS.get((part, kind), kind.replace("_", " "))


def title_of(part: Part, kind: str) -> str:
    """Return a skill in words, with its part."""
    return f"{part.upper()} {name_of(part, kind)}"


def _share(answers: Sequence[Answer]) -> float:
    return sum(answer.is_right for answer in answers) / len(answers)


def _count(answers: Sequence[Answer]) -> str:
    return f"{sum(answer.is_right for answer in answers)} of {len(answers)}"


def _points_table(practice: Practice, form: str = "simple") -> str:
    lost = [practice.points_lost(part) for part in METHOD_OF]
    name = f"this file ({lost[0].count} positions in part A, {lost[1].count} in part B)"
    rows = [(name, *map(str, lost)), *KNOWN]
    head = ["points that a move gives away; less is better", "part A", "part B"]
    text: str = tabulate(rows, head, tablefmt=form, disable_numparse=True)
    return text


def difference(new: Practice, old: Practice) -> Iterator[str]:
    """Yield the skills that changed, and how many points a move of the new agent is better."""
    for part, kind in new.skills:
        before, now = old.skill(part, kind), new.skill(part, kind)
        if abs(sum(a.is_right for a in now) - sum(a.is_right for a in before)) > 1:
            said = f"{_count(before)} right before, {_count(now)} now"
            yield f"part {part.upper()}: {name_of(part, kind)}: {said}"
    for part in METHOD_OF:
        won = new.points_won(old, part)
        if won.count < 2:
            yield f"part {part.upper()}: too few positions"
            continue
        better = "better" if won.value >= 0 else "worse"
        clear = "" if abs(won.value) > won.half else "; that may be chance"
        said = f"{abs(won.value):.2f} ± {won.half:.2f} points a move {better} than {old.agent}"
        yield f"part {part.upper()}: {said} ({won.count} positions{clear})"


def class_line(practice: Practice) -> str:
    """Return the line of one file of a class: of a question what was seen, up to its colon."""
    faults = [answer for answer in practice.answers if answer.action is None]
    if faults and not practice.plays:
        return f"{practice.agent}: {len(faults)} positions, no valid action: {_fault(faults[0])}"
    lost = [
        f"{part.upper()} {practice.points_lost(part)}"
        for part in METHOD_OF
        if practice.regrets(part)
    ]
    unseen = [title_of(*skill) for skill in practice.unseen]
    seen = [question.text.partition(":")[0] for question in questions(practice.answers)]
    few = ", ".join(unseen[:NAMED]) + (f" and {len(unseen) - NAMED} more" if unseen[NAMED:] else "")
    parts = [
        f"{len(practice.answers)} positions",
        *([f"{len(faults)} without a valid action: {_fault(faults[0])}"] if faults else []),
        *([f"points a move gives away: {', '.join(lost)}"] if lost else []),
        *([f"lacks: {few}"] if unseen else []),
        *seen,
    ]
    return f"{practice.agent}: {'; '.join(parts)}"


def descriptions(answers: Sequence[Answer]) -> list[str]:
    """Return what describes the search of a file that is no fault: its depth, its opponent."""
    seen, found = Seen(answers), []
    blocks, sees = seen.right("b", "block_four"), seen.right("b", "combination")
    if seen.right("b", "take_row", "take_column", "take_diagonal") >= 0.9:
        if blocks <= 0.2 and seen.right("b", "no_gift") <= 0.5 and not questions(answers):
            found.append(
                "looks one move ahead: it sees no reply, or the opponent in its search does not "
                "choose the smallest value of all"
            )
        elif blocks >= 0.8 and sees <= 0.4:
            found.append("looks two moves ahead: it sees the reply to its move")
        elif blocks >= 0.8 and sees >= 0.8:
            found.append("looks three moves ahead or more")
    said = [f"get_intelligent_move {text}" for text in found]
    if seen.right("a", "fearless") <= 0.3 and seen.right("a", "take_points") >= 0.7:
        said.append(
            "get_expectimax_move fears what a random player seldom does: a minimum in place of a "
            "mean does that, or an evaluation that counts threats"
        )
    return said


# -- the page

SHOWN: Final = 40
"""The positions of a part that the page shows of those in which a move gave points away."""


def page(practice: Practice, playground: str = "") -> str:
    """Return the page: what the command prints, then the positions as pictures, by skill.

    The weakest skill stands first, and is open if the agent mostly lacks it; in each, mistakes are
    first. With the address of a playground each position is a link that plays from it there.
    """
    groups: dict[str, list[Answer]] = {}
    for answer in practice.answers:
        part, kind = answer.solved.part, answer.solved.kind
        if kind != REGRET:
            name = "tells one mistake" if kind.startswith(KILLS) else name_of(part, kind)
            groups.setdefault(f"Part {part.upper()}: {name}", []).append(answer)
    groups = dict(sorted(groups.items(), key=lambda group: _share(group[1])))
    for part in METHOD_OF:
        if answers := costly(practice, part)[:SHOWN]:
            groups[f"Part {part.upper()}: points given away"] = answers
    number, parts = 0, [heading(f"Practice: {practice.agent}"), card(_summary_html(practice))]
    for title, answers in groups.items():
        answers.sort(key=lambda answer: answer.is_right)
        figures = "".join(
            _figure(answer, number, playground) for number, answer in enumerate(answers, number + 1)
        )
        number += len(answers)
        is_skill = all(answer.solved.kind != REGRET for answer in answers)
        own = [answer for answer in answers if not answer.solved.is_twin]
        more = len(answers) - len(own)
        twins = f", {more} more with players exchanged" if more else ""
        count = f"{_count(own)} right{twins}" if is_skill else f"the first {len(answers)}"
        is_worst = is_skill and len(parts) == 2 and _share(answers) < 0.5
        parts.append(
            f"<details{' open' if is_worst else ''}>"
            f"<summary><h2>{html.escape(f'{title}: {count}')}</h2></summary>\n"
            f'<div class="figures">{figures}</div></details>'
        )
    body = "\n".join(['<main class="report practice">', *parts, "</main>"])
    data = [shape_data(answer.solved.state) for answers in groups.values() for answer in answers]
    return Page(f"Practice: {practice.agent}", PARTS, body, data).alone()


def _summary_html(practice: Practice) -> str:
    """Return what the command prints above the positions, its tables as tables."""
    text, sides = "\n".join(_opening(practice)), " ".join(_sides_lines(practice.answers))
    if not practice.plays:
        return f"<pre>{html.escape(text)}</pre>"
    scroll = '<div class="scroll" tabindex="0">{}</div>'
    parts = [f"<pre>{html.escape(text)}</pre>", scroll.format(_skill_table(practice, "html"))]
    parts += [f"<p>{html.escape(sides)}</p>"] if sides else []
    if any(practice.regrets(part) for part in METHOD_OF):
        more = html.escape(INTERVAL + PROGRESS.partition(" --page")[0].replace("\n", " "))
        parts += [scroll.format(_points_table(practice, "html")), f"<p>{more}</p>"]
    return "\n".join(parts)


def _figure(answer: Answer, number: int, playground: str) -> str:
    """Return a position with what was played; the script draws the board in place of its text."""
    solved, state = answer.solved, answer.solved.state
    left = "player 1 has {} pop-outs left, player 2 {}".format(*state.popouts)
    said = f"Player {state.mover} moves; {left}. It {played(answer)}."
    said += " Here players and columns are exchanged." if solved.is_twin else ""
    said += f" {cost(answer)}." if solved.kind == REGRET else ""
    said += f" {_fault(answer)}" if answer.action is None else ""
    kind = "right" if answer.is_right else "wrong"
    place = html.escape(f"{playground}#{text_of(state).replace(' ', '_')}")
    link = f' <a href="{place}" target="_blank">in the playground</a>' if playground else ""
    return (
        f'<figure id="position-{number}" class="{kind}"><pre>{html.escape(state.to_text())}</pre>'
        f"<figcaption>{html.escape(said)}{link}</figcaption></figure>\n"
    )

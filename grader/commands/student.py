"""What a teacher does for one student: `correct` changes a mark, `publish-game` gives a game away.

Corrections have a reason and a day. They are the log of appeals: the class page, the student's page
and `grades.csv` show them. With the seed of a published game, a student can compute the random
player's moves; every game that is played with it later carries a remark.
"""

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from connect4 import record as records
from connect4.cli import agreed
from connect4.errors import InputError, printable
from connect4.games.extended import EXTENDED
from connect4.isolation.seat import level_named
from grader.commands import DONE, FAILED, say
from grader.handin import FOLDER, Person, Submission, file_name, match, without_folders
from grader.handin.roster import NOT_SET, Change, Correction, find
from grader.output import write
from grader.output.results import GRADE, Results, read_results
from grader.play.one_game import as_seen_by, source_path
from grader.play.schedule import PlannedGame
from grader.results.store import Store


def correct(
    path: Path,
    text: str,
    reason: str,
    adjust: float | None = None,
    percent: float | None = None,
    mark: float | None = None,
) -> int:
    """Enter a correction of the mark of one student, found by name, number, login or address.

    It adds points, adds percent, or sets the mark. Raises `InputError` if no student fits, or more
    than one.
    """
    kinds = ((Change.ADJUST, adjust), (Change.PERCENT, percent), (Change.MARK, mark))
    given = [(kind, amount) for kind, amount in kinds if amount is not None]
    if len(given) != 1:
        raise InputError("give one of --adjust, --percent and --mark")
    kind, amount = given[0]
    is_wrong = not math.isfinite(amount) or (kind is Change.MARK and amount < 0)
    if is_wrong and amount != NOT_SET:
        raise InputError(f"{kind} {amount}: expected a number{' from 0' * (kind is Change.MARK)}")
    if not path.is_file():
        raise InputError(f"{path}: no results file there")
    with Store(path, writing=True) as store:
        results = read_results(store)
        if results.kind != GRADE:
            raise InputError(f"{path}: holds a {results.kind}; corrections are for a grading")
        marked = [(one, student) for one in results.marks for student in one.students]
        people = [
            [student, *([Person(one.submission.name)] if len(one.students) == 1 else [])]
            for one, student in marked
        ]
        place = find(text, people, path)
        student = marked[place][1]
        wanted = [Person(student.name, student.keys)]
        if match(wanted, [one for _, one in marked]).pairs.get(0) != place:
            what = "cannot be told from another student; a roster with numbers tells who is who"
            raise InputError(f"{path}: {student} {what}")
        entry = Correction(kind, amount, printable(reason), date.today().isoformat())
        store.correct(Person(student.name, student.keys), entry)
        before = marked[place][0].known(student)
        again = read_results(store).marks
        now = [(one, student) for one in again for student in one.students][place]
        after = now[0].known(now[1])
    shown = ["no mark yet" if one is None else f"{one:.2f}" for one in (before, after)]
    stays = kind is not Change.MARK and now[0].set_to(now[1]) is not None
    told = f"{student.name}: {shown[0]} -> {shown[1]} ({entry}){'; the mark stays set' * stays}"
    say(f"{told}; `report` writes the files again")
    return DONE


def publish_game(
    path: Path, text: str, numbers: Sequence[int], out: Path, yes: bool = False
) -> int:
    """Write records, boards and commands that repeat the games of one student."""
    if not path.is_file():
        raise InputError(f"{path}: no results file there")
    with Store(path, writing=True) as store:
        results = read_results(store)
        item = results.find(text, path)
        own = games_of(item, results, path)
        chosen = {number: _chosen(number, own, results) for number in numbers}
        published = [_public_record(game, item, store) for game in chosen.values()]
        told = []
        for number, game in chosen.items():
            scores = results.played[game.key].scores[:: 1 if game.side == 1 else -1]
            told.append(f"game {number}: {game.title}: {scores[0]} to {scores[1]}")
        question = "A published seed stays public. Publish?"
        without = "a published seed stays public; without a terminal, give --yes"
        if not yes and not agreed(told, question, without):
            say("nothing is published")
            return FAILED
        store.publish(game.seed for game in chosen.values())  # before anybody can see them
        for (number, game), record in zip(chosen.items(), published, strict=True):
            _write(out, f"{file_name(item.name)}-game{number}", game, record)
            say(f"game {number} ({game.title}) is in {out}")
        source = store.source(str(item.sha256))
        if source is not None:
            write(out / source_path(str(item.sha256)), source)
    say(f"{path}: games played with these seeds from now on say so")
    return DONE


def games_of(item: Submission, results: Results, path: Path) -> list[PlannedGame]:
    """Return a student's games, numbered as on the student's page; `InputError` without any."""
    games = results.games_of(item)
    if not games:
        raise InputError(f"{path}: {item.name} has no games there ({item.problem or 'none yet'})")
    return games


def _chosen(number: int, own: Sequence[PlannedGame], results: Results) -> PlannedGame:
    """Return the game with a number; raises `InputError` if it has no result or stays secret."""
    if number > len(own):
        raise InputError(f"game {number}: there are {len(own)}, numbered as on the student's page")
    game = own[number - 1]
    if game.board.hidden:
        raise InputError(f"game {number}: its board is hidden, and its record would show it")
    if game.key not in results.played:
        raise InputError(f"game {number} ({game.title}): it has no result yet")
    return game


def _public_record(game: PlannedGame, item: Submission, store: Store) -> records.Record:
    """Return the record of a game as its student may see it, without the machine's folders."""
    text = store.record(game.key)
    if text is None:
        raise InputError(f"{game.title}: its record is damaged or lost")
    record = records.loads(text)
    own = [n for n, player in enumerate(game.players, 1) if player.id == item.sha256]
    record = as_seen_by(record, own)
    one, two = (
        player
        if player.agent.startswith(f"ai:{FOLDER}/")
        else replace(player, agent=without_folders(player.agent))
        for player in record.players
    )
    turns = [
        replace(one, detail=one.detail and without_folders(one.detail)) for one in record.turns
    ]
    return replace(record, players=(one, two), turns=turns)


def _write(folder: Path, name: str, game: PlannedGame, record: records.Record) -> None:
    """Write the record, the board, and the command that plays the game again."""
    agents = [player.agent for player in record.players]
    words = [*agents, f"{name}.txt", "--seed", str(record.seed)]
    words += level_named(game.limits.require).option(record.time_limit)
    if record.game is not EXTENDED:
        words += ["--game", record.game.name]
    write(folder / f"{name}.json", json.dumps(record.to_json()) + "\n")
    write(folder / f"{name}.txt", record.start.to_text())
    write(
        folder / f"{name}-repeat.txt",
        f"{game.title}\n\n"
        "This command plays the game again. The random player makes the same moves as long as you "
        "do:\n"
        f"python3 -m connect4.ConnectFour {shlex.join(words)}\n\n"
        "This one repeats a single turn, here the first:\n"
        f"python3 -m connect4.ConnectFour --replay-turn {shlex.quote(f'{name}.json:1')}\n",
    )

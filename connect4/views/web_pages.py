"""The pages of this machine: one on which people play, and the start page that opens others.

The referee runs in the thread that plays, the server in threads of its own.
"""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from connect4 import record as records
from connect4.config import DEFAULT_SECONDS
from connect4.errors import IllegalAction, InputError, IsolationError
from connect4.games import GAMES, load_start, own_starts
from connect4.games.base import Ending, Game
from connect4.players.base import PlayerLeftError, Reply, TakenBackError
from connect4.players.human import late_reply
from connect4.players.registry import PLAYERS, PlayerKind, words_for
from connect4.record import Record
from connect4.referee import Result, TurnBegun
from connect4.search.heuristics import heuristic_of
from connect4.search.mcts import EXPLORATION
from connect4.table import Table, TablePlan
from connect4.views.board import cells_text
from connect4.views.document import Page
from connect4.views.live import Feed, SentSeat, turns_to_send
from connect4.views.page import PARTS, page, result_text
from connect4.views.web_server import Content, Events, RefusedError, Server

FIRST_PAGE: Final = 10.0
"""Seconds that the first game waits for a page."""

LAST_WORD: Final = 5.0
"""Seconds that the command waits at its end until the page has received everything."""

AWAY: Final = 60.0
"""Seconds without any page after which a game with a person ends."""

TICK: Final = 0.2

TEXT_BROWSERS: Final = ("w3m", "lynx", "links", "elinks", "www-browser")

LIVE: Final = (*PARTS, "play", "served")
"""The assets of a page on which people play."""

KIT: Final = Path(__file__).resolve().parents[2]

EMPTY: Final = float(os.environ.get("CONNECT4_PAGE_SECONDS", "60"))
"""Seconds after which the start page's server ends when its last page has gone."""

START_PAGE: Final = 600.0
"""Seconds that the start page waits to be opened: over SSH, people must first forward a port."""

PORT: Final = 4404
"""The default port: a browser remembers the last choices by port."""


class GamePage:
    """The page of a game, or of both games with `--swap`, below `path` of a server."""

    def __init__(self, server: Server, path: str = "") -> None:
        self.events = Events()
        self._feed = Feed(self.events.add)
        self._moves: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self._received = threading.Event()
        self.games: list[Record] = []
        self._running: Record | None = None
        server.add_page(path, Page("Connect 4", LIVE, data={"games": []}))
        server.streams[f"{path}events"] = self.events
        server.posts[f"{path}move"] = self._take
        server.posts[f"{path}received"] = lambda _: self._received.set()

    def _take(self, asked: dict[str, Any]) -> None:
        """Take a person's move; one for another turn, such as a second click, is refused."""
        text, turn = str(asked["text"])[:100], int(asked["turn"])
        if turn != self._feed.turn:
            raise RefusedError("this turn is over")
        self._moves.put((turn, text))

    def play(self, plan: TablePlan) -> tuple[Record, list[str], KeyboardInterrupt | None]:
        """Play a game; return its record, the agents' output, and the Ctrl-C that ended it."""
        stopped = None
        terms = plan.terms
        with Table(plan.game, plan.start, plan.agents, terms, lambda _: SentSeat()) as table:
            self._feed.begin(table.record)
            self._running = table.record
            if plan.is_person(1) or plan.is_person(2):
                self.events.wait_for_page(AWAY)
            try:
                self._run(table, plan)
            except KeyboardInterrupt as stop:
                table.abandon(Ending.LEFT)
                stopped = stop
            logs = [table.log(player) for player in (1, 2)]
        self.games.append(table.record)
        self._feed.over(table.record)
        return table.record, logs, stopped

    def play_all(self, plans: Sequence[TablePlan]) -> None:
        """Play games one after the other; the page stays open after the last one."""
        try:
            for plan in plans:
                self.play(plan)
        except (InputError, IsolationError) as error:
            self.events.add("note", str(error))
        self.events.add("stay", {"again": True})  # its server keeps running

    def show(self, record: Record) -> None:
        self._feed.begin(record)
        self.games.append(record)
        self._feed.over(record)
        self.events.add("stay", {"again": False})

    def record_of(self, game: int, turn: int) -> Record:
        """Return the record of a game; one that goes on is broken off after that turn.

        What the agents thought is left out of that: a person may still play against them.
        """
        if game < len(self.games) or self._running is None:
            return self.games[game]
        turns = [replace(played, thought=None) for played in self._running.turns[:turn]]
        record = replace(self._running, turns=turns)
        scores = records.replay(record)[-1].scores()
        return replace(record, result=Result(scores, Ending.ABORTED, 0))

    def _run(self, table: Table, plan: TablePlan) -> None:
        turns = turns_to_send(table, plan, self._feed, plan.is_person)
        with suppress(StopIteration):
            begun = next(turns)
            while True:
                try:
                    reply = self._reply(begun, plan)
                except (PlayerLeftError, TakenBackError) as error:
                    begun = turns.throw(error)
                else:
                    begun = turns.send(reply)

    def _reply(self, begun: TurnBegun, plan: TablePlan) -> Reply:
        """Return a person's move; raises `PlayerLeftError` or `TakenBackError`."""
        began = time.monotonic()
        while True:
            took = time.monotonic() - began
            if begun.limit is not None and took > begun.limit:
                return late_reply(took, begun.limit)
            if self.events.empty_for > AWAY:
                raise PlayerLeftError("the page was closed")
            try:
                turn, text = self._moves.get(timeout=TICK)
            except Empty:
                continue
            if turn != begun.number:  # a second click, that came before the turn was over
                continue
            try:
                reply = self._feed.typed(text, begun, plan, time.monotonic() - began)
            except IllegalAction as error:
                self.events.add("note", str(error))
                continue
            if reply is not None:
                return reply

    def end(self) -> None:
        """Send the page that people can save, and wait until a page has received it."""
        self.events.add("end", {"page": page(self.games) if self.games else ""})
        if not self.events.empty_for:
            self._received.wait(LAST_WORD)


def play_on_page(
    plans: list[TablePlan], port: int, over: Callable[[Record, list[str]], object]
) -> KeyboardInterrupt | None:
    """Play games on a page in a browser; pass each to `over`; return the Ctrl-C that ended them.

    The first game begins when a page connects, or after `FIRST_PAGE` seconds.
    """
    stopped = None
    with Server(port) as server, opened(server.address):
        page = GamePage(server)
        if not page.events.wait_for_page(FIRST_PAGE) and no_browser() is None:
            print(f"no page has opened yet; the game is at {server.address}", file=sys.stderr)
        for plan in plans:
            record, logs, stopped = page.play(plan)
            over(record, logs)
            if stopped or record.result is None or record.result.ending.undecided:
                break
        page.end()
    return stopped


def no_browser() -> str | None:
    """Return why no browser can show a page here; None if one can."""
    if named := os.environ.get("BROWSER"):
        is_text = Path(named.split()[0]).name in TEXT_BROWSERS
        return "the browser is one for text" if is_text else None
    if os.environ.get("SSH_CONNECTION"):
        return "this is a session over SSH"
    if sys.platform not in ("win32", "darwin") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return "there is no display"
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return "there is no browser"
    text = getattr(found, "name", "")
    return "the browser is one for text" if text in TEXT_BROWSERS else None


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open an address in a browser, or print it if there is no browser.

    The address contains the token, and other users can see a program's arguments. So the browser
    opens a file that only its owner can read, which redirects to the address.
    """
    why = no_browser()
    if why is not None:
        hint = "; over SSH, forward its port" if "SSH" in why else ""
        print(f"open {address} in a browser ({why}{hint})", file=sys.stderr)
        yield
        return
    if os.environ.get("CODESPACES"):  # its browser is on another machine, which has no such file
        open_address(address)
        yield
        return
    home = os.path.expanduser("~")  # browsers from a snap see no other folder
    folder = home if os.access(home, os.W_OK) else None
    handle, name = tempfile.mkstemp(".html", "connect4-", folder)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="0;url={address}">')
        open_address(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)


def open_address(address: str) -> None:
    """Open an address in a browser, in a separate process.

    A command in `BROWSER` may run until its window is closed; it inherits no pipes of this command.
    """
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class StartServer:
    """The start page with the pages of its games and records."""

    def __init__(self, port: int | None, planned: Callable[[list[str]], list[TablePlan]]) -> None:
        """Begin to serve; None is `PORT` if it is free, else any port. Raises `InputError`.

        `planned` returns the games of a command line, without the command; raises `InputError`.
        """
        try:
            self.server = Server(PORT if port is None else port)
        except InputError:
            self.server = Server(port or 0)
        self._planned = planned
        self._temporary = tempfile.TemporaryDirectory(prefix="connect4-")  # gone with the command
        self._folder = Path(self._temporary.name)
        self._lock = threading.Lock()
        offer = {
            "games": [{**offered(game), "boards": boards(game)} for game in GAMES.values()],
            "seconds": DEFAULT_SECONDS,
            "playground": os.environ.get("CONNECT4_PLAYGROUND", ""),
        }
        self.server.add_page("", Page("Connect 4", ("base", "theme", "start"), data=offer))
        self.server.streams["here"] = events = Events()
        self._pages = [events]
        self.server.posts["play"] = self._play
        self.server.posts["open"] = self._open

    def serve(self, patience: float = EMPTY) -> None:
        """Serve until no page has been open for a while, or until Ctrl-C."""
        self._pages[0].wait_for_page(START_PAGE)
        while min(events.empty_for for events in self._pages) < patience:
            time.sleep(0.2)

    def open_record(self, record: Record) -> str:
        """Return the path of a page that shows a record."""
        path, page = self._game_page()
        page.show(record)
        return path

    def _game_page(self) -> tuple[str, GamePage]:
        with self._lock:
            path = f"game{len(self._pages)}/"
            page = GamePage(self.server, path)
            self._pages.append(page.events)
        self.server.posts[f"{path}make"] = lambda asked: self._make(page, asked)
        page.events.add("make", None)
        return path, page

    def _play(self, asked: dict[str, Any]) -> dict[str, str]:
        """Begin the game of a command line; `file` is a state file that was dropped."""
        words = [str(word) for word in asked["words"]]
        try:
            if asked.get("file"):
                name, text = Path(str(asked["file"]["name"])).name, str(asked["file"]["text"])
                place = self._folder / name
                place.write_text(text, encoding="utf-8")
                words = [str(place) if word == asked["file"]["name"] else word for word in words]
            plans = self._planned(words)
            rows, columns = plans[0].start.board().shape
            if max(rows, columns) > 12:
                size = f"this board has {rows} rows and {columns} columns"
                raise InputError(f"{size}; the page plays boards of up to 12 rows and 12 columns")
        except (InputError, OSError) as error:
            raise RefusedError(str(error).replace(f"{self._folder}{os.sep}", "")) from None
        return self._begin(plans)

    def _begin(self, plans: list[TablePlan]) -> dict[str, str]:
        """Play on a page of its own; the start page lists the game."""
        path, page = self._game_page()
        again = plans[-1]
        self.server.posts[f"{path}again"] = lambda asked: self._again(again, bool(asked["swap"]))
        names = " against ".join(agent.text for agent in again.agents)

        def tell(result: str) -> None:
            self._pages[0].add("game", {"path": path, "names": names, "result": result})

        def play() -> None:
            tell("being played")
            page.play_all(plans)
            tell(result_text(page.games[-1]) if page.games else "not played")

        threading.Thread(target=play, daemon=True).start()
        return {"path": path}

    def _again(self, plan: TablePlan, swap: bool) -> dict[str, str]:
        """Begin a rematch, with another seed."""
        terms = replace(plan.terms, seed=random.SystemRandom().randrange(2**31))
        agents = plan.agents[::-1] if swap else plan.agents
        return self._begin([replace(plan, agents=agents, terms=terms)])

    def _open(self, asked: dict[str, Any]) -> dict[str, str]:
        """Show a record that was dropped."""
        try:
            return {"path": self.open_record(records.loads(str(asked["text"])))}
        except InputError as error:
            raise RefusedError(str(error)) from None

    def _make(self, page: GamePage, asked: dict[str, Any]) -> None:
        """Make the search tree of a turn, or the analysis of a game, in another process."""
        game, turn = int(asked["game"]), int(asked["turn"])
        made = self._folder / f"made-{len(os.listdir(self._folder))}.json"
        records.write(page.record_of(game, turn), made)
        if asked["what"] == "tree":
            module, out = "connect4.views.tree", made.with_suffix(".html")
            words = [f"{made}:{turn}", "-o", str(out)]
        else:
            module, out, words = "connect4.analysis", made, [str(made)]
        python_path = os.pathsep.join(filter(None, [str(KIT), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env={**os.environ, "PYTHONPATH": python_path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

        def wait() -> None:
            said = ""
            assert process.stderr is not None
            for line in process.stderr:
                said = line.strip().removeprefix("error: ")
                page.events.add("making", said)
            if process.wait():
                page.events.add("making", said or "it ended without a word")
            elif out == made:
                page.events.add("made", self.open_record(records.read(made)))
            else:
                text = out.read_text(encoding="utf-8")
                self.server.gets[f"{out.stem}/"] = lambda: Content("text/html", text, "")
                page.events.add("made", f"{out.stem}/")

        threading.Thread(target=wait, daemon=True).start()


def boards(game: Game) -> dict[str, list[Any]]:
    """Return `[columns, cells, pop-outs]` of each start, from the top row; "" is the usual one."""
    starts = {path.stem: load_start(game, str(path)) for path in own_starts(game)}
    starts[""] = game.start(None, None)
    return {name: [s.grid.columns, cells_text(s), s.pop_outs_left] for name, s in starts.items()}


def usual(kind: PlayerKind, option: str, game: Game) -> str:
    """Return an option's value if it is not given; empty if it is then not used."""
    if option == "heuristic":
        return heuristic_of(game).name
    if option == "c":
        return f"{EXPLORATION.get(game.name, 2.0):g}"
    return kind.usual.get(option, "")


def offered(game: Game) -> dict[str, Any]:
    """Return what the form offers for a game."""
    rows, columns = game.start(None, None).board().shape
    return {
        "name": game.name,
        "title": game.title,
        "about": (sys.modules[game.start.__module__].__doc__ or "").partition("\n")[0],
        "size": [rows, columns] if game.resizable else None,
        "starts": [path.stem for path in own_starts(game)],
        "agents": [
            {
                "kind": name,
                "file": bool(kind.rest),
                "options": {option: words_for(option, game.name) for option in kind.options},
                "usual": {option: usual(kind, option, game) for option in kind.options},
                "about": kind.about.format(**kind.usual),
            }
            for name, kind in PLAYERS.items()
            if kind.about and (kind.games is None or game.name in kind.games)
        ],
        "options": [
            {"name": option.name, "help": option.help, "switch": option.kind is bool}
            for option in game.options
        ],
    }

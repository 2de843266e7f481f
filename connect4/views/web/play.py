"""Play games on a page: the referee runs in this thread, the server in threads of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from connect4.errors import IllegalAction, InputError, IsolationError
from connect4.games.base import Ending
from connect4.players.base import PlayerLeftError, Reply
from connect4.players.human import late_reply
from connect4.record import Record
from connect4.referee import TurnBegun
from connect4.table import Table, TablePlan
from connect4.views.document import Page
from connect4.views.page import PARTS, page
from connect4.views.web.feed import Feed, SentSeat, turns_to_send, typed_reply
from connect4.views.web.server import Events, RefusedError, Server

FIRST_PAGE: Final = 10.0
"""Seconds that the first game waits for a page."""

LAST_WORD: Final = 5.0
"""Seconds that the command waits at its end until the page has received everything."""

AWAY: Final = 60.0
"""Seconds without any page after which a game with a person ends."""

TICK: Final = 0.2

TEXT_BROWSERS: Final = ("w3m", "lynx", "links", "elinks", "www-browser")


class GamePage:
    """The page of a game, or of both games with `--swap`, below `path` of a server."""

    def __init__(self, server: Server, path: str = "") -> None:
        self.events = Events()
        self._feed = Feed(self.events.add)
        self._moves: SimpleQueue[tuple[int, str]] = SimpleQueue()
        self._received = threading.Event()
        self.games: list[Record] = []
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
        person = any(agent.kind == "human" for agent in plan.agents)
        with Table(
            plan.game, plan.start, plan.agents, plan.terms, lambda player: SentSeat()
        ) as table:
            self._feed.begin(table.record)
            if person:
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
        self.events.add("stay", None)  # its server keeps running

    def show(self, record: Record) -> None:
        """Show a finished game."""
        self._feed.begin(record)
        self.games.append(record)
        self._feed.over(record)
        self.events.add("stay", None)

    def _run(self, table: Table, plan: TablePlan) -> None:
        turns = turns_to_send(table, plan, self._feed, plan.is_person)
        with suppress(StopIteration):
            begun = next(turns)
            while True:
                try:
                    reply = self._reply(begun, plan)
                except PlayerLeftError as error:
                    begun = turns.throw(error)
                else:
                    begun = turns.send(reply)

    def _reply(self, begun: TurnBegun, plan: TablePlan) -> Reply:
        """Return a person's move; raises `PlayerLeftError` if the person has left."""
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
                return typed_reply(text, begun, plan, time.monotonic() - began)
            except IllegalAction as error:
                self.events.add("note", str(error))

    def end(self) -> None:
        """Send the page that people can save, and wait until a page has received it."""
        self.events.add("end", {"page": page(self.games) if self.games else ""})
        if not self.events.empty_for:
            self._received.wait(LAST_WORD)


LIVE: Final = (*PARTS, "play", "served")
"""The assets of a page on which people play."""


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

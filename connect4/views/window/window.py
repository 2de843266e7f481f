"""The window: a start page, live games and replays, one at a time; it stays responsive.

Tk runs in the main thread. Every few milliseconds it reads the messages of the game's own thread
(`session.py`). Nothing here waits for an agent.
"""

from __future__ import annotations

import gc
import time
import tkinter as tk
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from tkinter import filedialog, messagebox
from types import TracebackType
from typing import Final, TypeAlias

from connect4 import record as records
from connect4.errors import Connect4Error, InputError
from connect4.record import Record
from connect4.referee import Over, Started
from connect4.views.tree.job import TreeJob
from connect4.views.window import theme
from connect4.views.window.choices import Choices, load_choices, save_choices
from connect4.views.window.controls import PACES, USUAL_PACE
from connect4.views.window.game_page import Buttons, GamePage, Heading
from connect4.views.window.session import GameFailed, Message, MoveAsked, Notice, Session, TablePlan
from connect4.views.window.start_page import StartPage

POLL: Final = 15
"""Milliseconds between two looks at the game."""

BUSY: Final = 0.008
"""Seconds after which the window takes a breath, however many turns are waiting to be shown."""

BREAK: Final = 2000
"""Milliseconds between the two games of a pair with sides swapped."""

SIZE: Final = (1040, 780)
SMALLEST: Final = (800, 710)

Ended: TypeAlias = Callable[[Record, Sequence[str]], None]
"""Gets a game's record and what each player's agent has printed."""

RECORD_FILES: Final = [("Records of games", "*.json"), ("All files", "*")]


class Window:
    """Shows one `page` at a time in `root`. Show something, then `run()` until it is closed."""

    def __init__(self, root: tk.Tk) -> None:
        self.root = root
        self._session: Session | None = None
        self._waiting: deque[Message] = deque()
        self._record: Record | None = None
        self._over: Ended | None = None
        self._upcoming: Sequence[TablePlan] = ()
        self._tree: TreeJob | None = None
        self._pace = USUAL_PACE
        self.page: StartPage | GamePage | None = None
        self._error: BaseException | None = None
        self._timers: dict[str, str] = {}
        root.title("Connect-4")
        theme.apply_theme(root)
        width = min(SIZE[0], root.winfo_screenwidth())
        height = min(SIZE[1], root.winfo_screenheight() - 60)
        root.geometry(f"{width}x{height}")
        root.minsize(*SMALLEST)
        root.protocol("WM_DELETE_WINDOW", self.close)
        root.report_callback_exception = self._crashed
        root.bind("<Control-q>", lambda _: self.close())
        self._poll()

    def run(self) -> None:
        """Keep the window until it is closed; raises what went wrong inside, also a Ctrl-C."""
        try:
            self.root.mainloop()
        except KeyboardInterrupt as stop:
            self._error = stop
        self._end_game()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the window, whatever goes on in it."""
        self.root.withdraw()
        for timer in self._timers.values():
            self.root.after_cancel(timer)
        try:
            self._end_game()
        finally:
            self.root.destroy()

    # --- what is shown --------------------------------------------------------------------

    def show_start_page(self, message: str = "") -> None:
        """Show the form that begins a game, filled in as the last time."""
        self._end_game()
        page = StartPage(self.root, load_choices(), self._chosen, self.open_record)
        self._change_page(page)
        page.say(message)

    def play(self, games: Sequence[TablePlan], over: Ended | None = None) -> None:
        """Play the planned games one after the other; `over` is told of each once it has ended.

        A game that is left early is the last.
        """
        self._end_game()
        planned, *self._upcoming = games
        self._over = over
        heading = Heading(
            planned.game,
            planned.title,
            (planned.agents[0].text, planned.agents[1].text),
            planned.record_name,
        )
        session = Session(planned, PACES[self._pace])
        page = GamePage(self.root, heading, self.buttons(session), self._pace)
        self._session = session
        self._change_page(page)
        session.start()
        if planned.is_person(1) and planned.is_person(2):
            page.controls.without_pause()
        page.say("The agents start.")

    def replay(self, record: Record, title: str) -> None:
        """Show a finished game."""
        self._end_game()
        one, two = (player.agent for player in record.players)
        heading = Heading(record.game, f"{record.game.title}, {title}", (one, two))
        page = GamePage(self.root, heading, self.buttons(None), self._pace)
        self._record = record
        self._change_page(page)
        page.load(record)

    def new_game(self) -> None:
        """Show the form that begins a game, unless a running game is to go on."""
        if self._may_leave("New game"):
            self.show_start_page()

    def _may_leave(self, title: str) -> bool:
        """Return whether no game is running, or the person agrees to leave it."""
        if self._session is None:
            return True
        question = "A game is running. Leave it? It cannot be taken up again."
        return messagebox.askyesno(title, question, parent=self.root, default="no")

    def open_record(self) -> None:
        """Ask for a record and show it, unless a running game is to go on."""
        if not self._may_leave("Open a record"):
            return
        name = filedialog.askopenfilename(
            parent=self.root, title="Open a record", filetypes=RECORD_FILES
        )
        if not name:
            return
        try:
            record = records.read(Path(name))
        except InputError as error:
            messagebox.showerror("Open a record", str(error), parent=self.root)
            return
        self.replay(record, Path(name).name)

    def _change_page(self, page: StartPage | GamePage) -> None:
        if self.page is not None:
            for key in self.page.shortcuts:
                self.root.unbind(key)
            if isinstance(self.page, GamePage):
                self._pace = self.page.controls.pace_name
            self.page.destroy()
        gc.collect()  # here: Tk's objects must not be collected in the game's thread
        self.page = page
        self.root.title("Connect-4")
        for key, act in page.shortcuts.items():
            self.root.bind(key, act)
        page.pack(fill="both", expand=True)
        self.root.focus_set()

    def buttons(self, session: Session | None) -> Buttons:
        """Return what a game page's buttons do, for the live game `session` if there is one."""
        return Buttons(
            new_game=self.new_game,
            open_record=self.open_record,
            save_record=self._save_record,
            show_tree=self._show_tree,
            answer=session.answer if session else lambda _: None,
            pause=session.pause if session else lambda _: None,
            step=session.step if session else lambda: None,
            pace=session.set_pace if session else lambda _: None,
        )

    def _chosen(self, choices: Choices, planned: TablePlan) -> None:
        save_choices(choices)
        self.play([planned])

    def _record_shown(self) -> Record | None:
        """Return the record of the game on the page, which may still grow."""
        return self._session.record() if self._session is not None else self._record

    def _save_record(self) -> None:
        page, record = self.page, self._record_shown()
        if not isinstance(page, GamePage) or record is None:
            return
        name = filedialog.asksaveasfilename(
            parent=self.root, title="Save the record", initialfile="game.json",
            defaultextension=".json", filetypes=RECORD_FILES,
        )  # fmt: skip
        if not name:
            return
        try:
            records.write(page.record_of(record), Path(name))
        except InputError as error:
            messagebox.showerror("Save the record", str(error), parent=self.root)
        else:
            page.say(f"The record is in {name}.")

    def _show_tree(self) -> None:
        """Open the tree of the search behind the shown move in the browser."""
        page, record = self.page, self._record_shown()
        if not isinstance(page, GamePage) or record is None:
            return
        searched = page.searched()
        if searched is None:
            page.say("No search tree: no agent has moved yet.")
            return
        state, turn = searched
        agent = record.players[turn.player - 1].agent
        options = {"game": record.game.name, "agent": agent, "seed": str(record.seed)}
        self._stop_tree()
        self._tree = TreeJob(self.root, state, options, record.time_limit, page.say)

    def _stop_tree(self) -> None:
        if self._tree is not None:
            self._tree.stop()
            self._tree = None

    # --- the live game --------------------------------------------------------------------

    def _poll(self) -> None:
        """Show what the game has to say, not too much at a time."""
        until = time.monotonic() + BUSY
        if self._session is not None:
            self._waiting.extend(self._session.messages())
        while self._waiting and self._session is not None and time.monotonic() < until:
            self._take(self._waiting.popleft())
        self._timers["poll"] = self.root.after(POLL, self._poll)

    def _take(self, message: Message) -> None:
        page = self.page
        assert isinstance(page, GamePage)
        if isinstance(message, MoveAsked):
            page.ask(message.player)
        elif isinstance(message, Notice):
            page.say(message.line)
        elif isinstance(message, GameFailed):
            self._broken(message.error)
        else:
            page.see(message)
            if isinstance(message, Started):
                self.root.title(f"Connect-4: {page.title}")
            if isinstance(message, Over):
                self._game_over()

    def _game_over(self) -> None:
        """The game has ended by itself: leave it on the board."""
        assert self._session is not None
        session, self._session = self._session, None
        record = session.stop()
        self._record = record
        over, upcoming = self._over, self._upcoming
        if record is not None and over is not None:
            over(record, session.logs())
            if upcoming:
                self._timers["next"] = self.root.after(BREAK, lambda: self.play(upcoming, over))

    def _end_game(self) -> None:
        """Stop the game where it is; who asked for it gets its record."""
        if "next" in self._timers:
            self.root.after_cancel(self._timers.pop("next"))
        session, self._session = self._session, None
        self._waiting.clear()
        over, self._over = self._over, None
        self._upcoming = ()
        self._stop_tree()
        if session is not None:
            record = session.stop()
            if record is not None and over is not None:
                over(record, session.logs())

    def _broken(self, error: Exception) -> None:
        """The game could not go on: say why where it was asked for."""
        if self._over is not None or not isinstance(error, Connect4Error):
            raise error
        self.show_start_page(str(error))

    def _crashed(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Close the window after an error or a Ctrl-C inside it; `run` raises it."""
        if self._error is None:
            self._error = error
        self.close()

"""A person's seat: it prompts again after an invalid move, and lets the person leave."""

import time
from collections.abc import Callable

from connect4.errors import IllegalAction
from connect4.games.base import Game, Seconds, State
from connect4.players.base import Outcome, PlayerLeftError, Reply

LEAVE = frozenset({"q", "quit", "exit"})
HELP = frozenset({"?", "help"})


def reply_to(text: str, state: State, game: Game, strict: bool, took: Seconds) -> Reply:
    """Return the reply for what a person typed.

    Raises `IllegalAction` if it is no move or, unless `strict`, if the move is illegal.
    """
    action = game.parse_action(text)
    if not strict:
        state.apply(action)
    return Reply(Outcome.PLAYED, action, game.format_action(action), seconds=took)


def late_reply(took: Seconds, limit: Seconds) -> Reply:
    """Return the reply of a person whose time was over."""
    detail = f"no answer within {limit:g} s"
    return Reply(Outcome.TIMEOUT, seconds=took, overrun=took - limit, detail=detail)


def help_line(game: Game, state: State) -> str:
    """Return how to type a move; it names a pop-out only if one is legal in this position."""
    typed = map(game.format_action, state.legal_actions())
    legal = next((text for text in typed if text.endswith("P")), None)
    drop, _, out = game.action_help.partition(", 3P ")
    pop_out = f", {legal} {out.replace('3', legal[:-1])}" if legal else ""
    return f"Type {drop}{pop_out}; q leaves, ? helps."


class HumanSeat:
    """Reads moves with `read_line(prompt)`, which raises `EOFError` at the end of input.

    `say(line)` shows why a text is not a move or not legal, and the person may try again. With
    `strict` an illegal move goes to the referee, as an agent's does. A late move is a lost turn,
    but only if the referee sets a limit. `show` displays each position before the prompt.
    """

    log = ""
    load_failure = None

    def __init__(
        self,
        game: Game,
        player: int,
        read_line: Callable[[str], str],
        say: Callable[[str], None],
        strict: bool = False,
        show: Callable[[State], None] = lambda state: None,
    ) -> None:
        self._game = game
        self._strict = strict
        self._player = player
        self._is_new = True
        self._read_line = read_line
        self._say = say
        self._show = show

    def ask(self, state: State, seconds: Seconds | None) -> Reply:
        """Return the person's move; prompts until there is a valid one."""
        began = time.monotonic()
        self._show(state)
        if self._is_new:
            self._say(help_line(self._game, state))
            self._is_new = False
        prompt = self._game.prompt.format(player=self._player, last=state.grid.columns - 1)
        while True:
            try:
                text = self._read_line(prompt).strip()
            except EOFError:
                raise PlayerLeftError("end of input") from None
            if text.lower() in LEAVE:
                raise PlayerLeftError("left the game")
            if text in HELP:
                self._say(help_line(self._game, state))
                continue
            took = time.monotonic() - began
            try:
                reply = reply_to(text, state, self._game, self._strict, took)
            except IllegalAction as error:
                self._say(str(error))
                continue
            return late_reply(took, seconds) if seconds is not None and took > seconds else reply

    def close(self) -> None:
        """Do nothing; a person needs no cleanup."""

"""Keep what an agent prints, for the referee."""

from __future__ import annotations


class Log:
    """The first and the last half of a limit; what is between is counted.

    A line `[turn 7]` stands before what was printed in turn 7, once `begin_turn` was told.
    """

    def __init__(self, limit: int) -> None:
        self._first_room = limit // 2
        self._last_room = limit - self._first_room
        self._first = bytearray()
        self._last = bytearray()
        self._size = 0
        self._turn: int | None = None
        self._begins: dict[int, int] = {}
        """The turns in which something was printed, with the byte where that begins."""

    def begin_turn(self, number: int) -> None:
        """Take what comes from now on as printed in that turn."""
        self._turn = number

    def add(self, data: bytes) -> None:
        """Keep the beginning and the end."""
        if data and self._turn is not None:
            self._begins.setdefault(self._turn, self._size)
        room = self._first_room - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        self._size += len(data)
        if len(self._last) > 2 * self._last_room:  # not each time: it moves the bytes
            self._last = self._end()

    def _end(self) -> bytearray:
        return self._last[max(0, len(self._last) - self._last_room) :]

    def text(self) -> str:
        """Return what was kept, and how much was not."""
        last = self._end()
        after = self._size - len(last)
        left_out = after - len(self._first)
        if not left_out:
            return self._marked(self._first + last, 0)
        first = self._marked(self._first, 0)
        return f"{first}\n... ({left_out} bytes left out)\n{self._marked(last, after)}"

    def _marked(self, data: bytearray, begin: int) -> str:
        """Return the bytes from `begin` on as text, with the lines that name the turns."""
        cuts: dict[int, int] = {}
        for turn, place in self._begins.items():
            if place < begin + len(data):
                cuts[max(0, place - begin)] = turn
        text, done = "", 0
        for place, turn in cuts.items():
            text += data[done:place].decode("utf-8", "replace")
            text += "\n" if text and not text.endswith("\n") else ""
            text += f"[turn {turn}]\n"
            done = place
        return text + data[done:].decode("utf-8", "replace")

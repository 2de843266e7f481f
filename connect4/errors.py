"""The errors that the kit raises on purpose; each is also a built-in error."""


def harmless(text: str) -> str:
    """Return somebody else's text for a terminal: control characters become visible escapes.

    Those that reorder or hide text are among them. Line ends and tabs stay.
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def one_line(text: object) -> str:
    """Return somebody else's text as one harmless line: line ends become visible escapes too."""
    return harmless(str(text)).replace("\n", "\\n").replace("\t", "\\t")


def printable(name: str) -> str:
    """Return a name as one harmless line for any terminal, file and database.

    Different names stay different.
    """
    return one_line(name.replace("\\", "\\\\"))


class Connect4Error(Exception):
    """Anything that this project refuses; its text is one line for the person who caused it.

    The text may quote a foreign file, so it is always `harmless`.
    """

    def __str__(self) -> str:
        return harmless(super().__str__())


class IllegalAction(Connect4Error, ValueError):  # noqa: N818 - the name that the field uses
    """An action that the rules do not allow in the position it was applied to."""


class InputError(Connect4Error, ValueError):
    """A file, a name or an option that cannot be used: what, where, and what would be right."""


class MissingExtraError(InputError, ImportError):
    """Something needs a package that is not installed; the text names the extra to install."""


class AgentError(Connect4Error, RuntimeError):
    """An agent could not be loaded or answered with an exception.

    `detail` is the whole text for the agent's author, the traceback of their own file first.
    """

    def __init__(self, message: str, detail: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail if detail is not None else message


class IsolationError(Connect4Error, RuntimeError):
    """The machine could not run an agent as it was to be run: never the agent's fault."""


def headline(text: str) -> str:
    """Return the first line of a text, or the line of a traceback that names the error.

    Of errors that were raised while others were handled that is the last one.
    """
    lines = [line.removeprefix("  | ") for line in text.strip("\n").splitlines()] or [""]
    heads = ("Traceback (", "Exception Group Traceback (")
    found = [n for n, line in enumerate(lines) if line.lstrip(" +").startswith(heads)]
    if not found or found[0] > 0:
        return lines[0]
    below = (line for line in lines[found[-1] + 1 :] if line and not line.startswith(" "))
    return next(below, lines[-1])

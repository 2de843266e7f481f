"""The errors that the kit raises on purpose; each is also a built-in error."""


def harmless(text: str) -> str:
    """Return untrusted text in a form that is safe for a terminal: control characters are escaped.

    So are characters that reorder or hide text. Line ends and tabs stay.
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def one_line(text: object) -> str:
    """Return untrusted text as one harmless line: line ends are escaped too."""
    return harmless(str(text)).replace("\n", "\\n").replace("\t", "\\t")


def printable(name: str) -> str:
    """Return a name as one harmless line for any terminal, file and database.

    Different names have different results.
    """
    return one_line(name.replace("\\", "\\\\"))


class Connect4Error(Exception):
    """Base class of the errors; the text is one line for the person who caused the error.

    The text may quote a foreign file, so it is always `harmless`.
    """

    def __str__(self) -> str:
        return harmless(super().__str__())


class IllegalAction(Connect4Error, ValueError):  # noqa: N818 - the name that the field uses
    """An action that the rules do not allow in a position."""


class InputError(Connect4Error, ValueError):
    """A file, a name or an option is invalid; the text names the place and what is valid."""


class MissingExtraError(InputError, ImportError):
    """A required package is not installed; the text names the extra to install."""


class AgentError(Connect4Error, RuntimeError):
    """An agent could not be loaded, or raised an exception.

    `detail` is the full text for the agent's author; it begins with the traceback of the agent's
    file.
    """

    def __init__(self, message: str, detail: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail if detail is not None else message


class IsolationError(Connect4Error, RuntimeError):
    """The machine could not run an agent as requested; the agent is never the cause."""


def headline(text: str) -> str:
    """Return the first line of a text; for a traceback, the line with the error.

    Of a chain of tracebacks, this is the last error. A note of the kit as the last line, on a call
    that is denied to agents or on what the agent of a file is, is added.
    """
    lines = [line.removeprefix("  | ") for line in text.strip("\n").splitlines()] or [""]
    heads = ("Traceback (", "Exception Group Traceback (")
    found = [n for n, line in enumerate(lines) if line.lstrip(" +").startswith(heads)]
    head = lines[0]
    if found and found[0] == 0:
        below = (line for line in lines[found[-1] + 1 :] if line and not line.startswith(" "))
        head = next(below, lines[-1])
    notes = "note: agents may not ", "note: the last callable "
    added = len(lines) > 1 and lines[-1].startswith(notes)
    return f"{head}; {lines[-1]}" if added else head

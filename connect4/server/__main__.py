"""Run the command `python3 -m connect4.server`."""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Final

from connect4.cli import Parser, count, fail, port_number, refuse_gone, time_limit
from connect4.errors import InputError
from connect4.games import begin
from connect4.games.dynamic import DYNAMIC
from connect4.server.relay import Connection, Server

EXAMPLES: Final = """
examples:
  python3 -m connect4.server
      relay moves between programs on this machine, port 12345, 10 s a move
  python3 -m connect4.server --host 0.0.0.0 --port 4000 --time 20
      the same for the whole network
  python3 -m connect4.server --strict --records games --max-turns 200
      keep the board: refuse illegal moves, write a record of each game
  printf 'g1 white\\n13E\\n' | nc 127.0.0.1 12345
      play by hand; docs/protocol.md has all lines
"""


def make_parser() -> Parser:
    """Return the command line's parser."""
    parser = Parser(
        prog="python3 -m connect4.server",
        description="Serve games of Dynamic Connect-4 to programs, with a line for each move.",
        epilog=EXAMPLES,
    )
    add = parser.add_argument
    add("--port", type=port_number, default=12345, help="TCP port (default 12345; 0: any free one)")
    add("--time", type=time_limit, default=10.0, help="seconds per move (default 10)")
    add("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    add("--strict", action="store_true", help="keep the board and judge moves and the end")
    add(
        "--records", metavar="DIR", type=Path, help="strict: write the record of each game into DIR"
    )
    add("--start", metavar="START", help="strict: the first position")
    add("--max-turns", type=count, help="strict: a draw after N plies (default 100)")
    add("--line", type=count, help="strict: length of a line that wins, 3 or 4 (default 4)")
    add(
        "--repetition",
        action="store_true",
        default=None,
        help="strict: a third repetition is a draw",
    )
    add(
        "--wait",
        type=time_limit,
        default=60.0,
        help="seconds to wait for a handshake, and for an opponent (default 60)",
    )
    refuse_gone(add, "--idle", "1000 clients without a seat are kept")
    return parser


def make_server(arguments: argparse.Namespace) -> Server:
    """Create the server from the command line; raises `InputError`."""
    start = None
    options = {option.name: getattr(arguments, option.name) for option in DYNAMIC.options}
    if arguments.strict:
        start = begin(DYNAMIC, arguments.start, None, None, options)
    else:
        for name in ("records", "start", *options):
            if getattr(arguments, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} needs --strict: a relay keeps no board"
                )
    if arguments.records is not None:
        try:
            arguments.records.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"--records {arguments.records}: {error.strerror}") from None
    return Server(arguments.time, start, arguments.records, arguments.wait)


async def serve(server: Server, host: str, port: int) -> None:
    """Serve until a SIGTERM or Ctrl-C; raises `InputError` if the port is not available."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    with contextlib.suppress(NotImplementedError):  # on Windows, Ctrl-C cancels this instead
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
    try:
        listener = await loop.create_server(lambda: Connection(server), host, port, backlog=4096)
    except OSError as error:
        raise InputError(f"{host} port {port}: {error.strerror}") from None
    found = listener.sockets[0].getsockname()
    mode = "relay" if server.start is None else "strict"
    print(
        f"listening on {found[0]} port {found[1]} ({mode}, {server.seconds:g} s a move)", flush=True
    )
    try:
        await stopped.wait()
    finally:
        listener.close()
        server.stop()
        await asyncio.sleep(0.1)  # let the last lines be sent


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = make_parser().parse_args(argv)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        asyncio.run(serve(make_server(arguments), arguments.host, arguments.port))
    except InputError as error:
        return fail(error)
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())

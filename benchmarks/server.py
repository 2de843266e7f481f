"""Load the game server: `python3 -m benchmarks.server [--games 500] [--moves 100]`.

A relay runs on one core in its own process and serves all games at once. Scripted clients (in this
process) check that every line returns to its mover and reaches the opponent, in order and complete.
Exits with status 1 if a line is lost or out of order.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
from time import perf_counter

SQUARES = "1234567"
DIRECTIONS = "NSEW"


def moves_of(game, count):
    """Return the lines of a game, each one told apart from every other game's."""
    return [
        f"{SQUARES[ply % 7]}{SQUARES[game % 7]}{DIRECTIONS[ply % 4]} game {game} ply {ply}\n"
        for ply in range(count)
    ]


async def side(port, game, colour, moves, joined):
    """Play one side; return how many lines came as they should, and when the last one came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"game{game} {colour}\n".encode())
    assert await reader.readline() == f"game{game} {colour}\n".encode()
    await joined.wait()  # all games begin together
    right = 0
    for ply, move in enumerate(moves):
        if ply % 2 == (colour == "black"):
            writer.write(move.encode())
        right += await reader.readline() == move.encode()
    writer.close()
    return right


async def play_all(port, games, count):
    """Return the lines that came right, and the seconds that the moves took."""
    joined = asyncio.Barrier(2 * games + 1)
    sides = [
        asyncio.create_task(side(port, game, colour, moves_of(game, count), joined))
        for game in range(games)
        for colour in ("white", "black")
    ]
    await joined.wait()
    began = perf_counter()
    right = sum(await asyncio.gather(*sides))
    return right, perf_counter() - began


def server_time():
    """Return the processor time of the server, which has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m benchmarks.server", description=__doc__)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--moves", type=int, default=100, help="moves of each game")
    arguments = parser.parse_args(argv)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    command = [sys.executable, "-m", "connect4.server", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(server.pid, cores[:1])
    os.sched_setaffinity(0, cores[1:] or cores)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().split()[4])
        right, seconds = asyncio.run(play_all(port, arguments.games, arguments.moves))
    finally:
        server.terminate()
        server.wait()
    expected = 2 * arguments.games * arguments.moves
    print(
        f"{arguments.games} games at once of {arguments.moves} moves: {right:,} of {expected:,} "
        f"lines relayed in order in {seconds:.2f} s, {right / seconds:,.0f} lines a second, "
        f"{expected - right} lost; {server_time():.2f} s of processor time in the server"
    )
    return 0 if right == expected else 1


if __name__ == "__main__":
    sys.exit(main())

"""A screen for the window where there is none: Xvfb, a program that draws into memory."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def screen(size: str = "1280x900") -> Iterator[tuple[str, int]]:
    """Start Xvfb; yield its `DISPLAY` and the number of its process."""
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield f":{server.stdout.readline().strip()}", server.pid
    finally:
        server.terminate()
        server.wait()

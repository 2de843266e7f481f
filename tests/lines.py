"""A game server as a process of its own, and clients that compare every byte."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

from tests.command import ROOT, environment

PATIENCE = 30.0
"""Seconds after which a test gives up on a byte that does not come."""


@contextmanager
def serving(*options, cwd=ROOT, complaint=""):
    """Run a server on a free port; yield the process and the port.

    It must end cleanly, with nothing said but the lines that the pattern `complaint` stands for.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "connect4.server", "--port", "0", *options],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1 port (\d+) \((.*)\)\n", line)
        assert found, (line, process.stderr.read() if process.poll() is not None else "")
        yield process, int(found[1])
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=PATIENCE)
        assert (output, process.returncode) == ("", 0), errors
        assert re.fullmatch(complaint, errors), errors
    finally:
        process.kill()
        process.communicate()


class Client:
    """Sends bytes and expects bytes; whatever else comes is a failure."""

    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))

    @classmethod
    def of(cls, listener):
        """Return the other end of whoever connects to `listener` next."""
        client = cls.__new__(cls)
        listener.settimeout(PATIENCE)
        client.socket, _ = listener.accept()
        client.socket.settimeout(PATIENCE)
        return client

    def send(self, text):
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def expect(self, text):
        """Read exactly as many bytes and compare them."""
        got = b""
        while len(got) < len(text.encode()):
            data = self.socket.recv(len(text.encode()) - len(got))
            if not data:
                break
            got += data
        assert got == text.encode()

    def ask(self, text, answer):
        self.send(text)
        self.expect(answer)

    def rest(self):
        """Return all bytes up to the end of the connection, orderly or not."""
        got = b""
        try:
            while data := self.socket.recv(65536):
                got += data
        except ConnectionError:
            pass
        self.socket.close()
        return got.decode()

    def close(self):
        self.socket.close()


def joined(port, game="g"):
    """Return white and black of a game that has begun."""
    white, black = Client(port), Client(port)
    white.send(f"{game} white\n")
    black.send(f"{game} black\n")
    white.expect(f"{game} white\n")
    black.expect(f"{game} black\n")
    return white, black

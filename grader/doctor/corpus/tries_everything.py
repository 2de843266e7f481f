"""Tries what agents may not do: from its own code, a thread, a child process and a program.

`doctor` fills in TARGETS. Each line that begins with `tried` reports one attempt as JSON.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

TARGETS = {}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def overwrite(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("changed by an agent\n")


def create(path):
    os.close(os.open(f"{path}-{os.getpid()}-{threading.get_ident()}", os.O_CREAT | os.O_WRONLY))


def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(1.0)
        one.connect(address)
        one.send(b"an agent was here")


def processes():
    others = {name for name in os.listdir("/proc") if name.isdigit()} - {str(os.getpid())}
    if str(TARGETS["process"]) not in others:
        raise OSError("the process cannot be seen")


def attempts():
    port = TARGETS["port"]
    yield "read a public file", lambda: read(TARGETS["public"])
    yield "read the seed of a rubric", lambda: read(TARGETS["rubric"])
    yield "read a solution", lambda: read(TARGETS["solution"])
    yield "list a folder", lambda: ", ".join(os.listdir(TARGETS["folder"]))
    yield "overwrite a file", lambda: overwrite(TARGETS["writable"])
    for place in TARGETS["places"]:
        yield "create a file", lambda place=place: create(place)
    yield "connect by TCP", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port))
    yield "send by UDP", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port))
    for name in TARGETS["unix"]:
        yield "connect to a local program", lambda name=name: connect(
            socket.AF_UNIX, socket.SOCK_STREAM, name
        )
    yield "signal a process", lambda: os.kill(TARGETS["process"], signal.SIGUSR1)
    yield "signal its own warden", lambda: os.kill(TARGETS.get("warden", os.getppid()), 0)
    yield "list processes", processes


def try_all(origin):
    for what, attempt in attempts():
        report(origin, what, attempt)


def report(origin, what, attempt):
    try:
        said = {"done": True, "text": str(attempt())}
    except Exception as error:
        said = {"done": False, "text": f"{type(error).__name__}: {error}"}
    print("tried", json.dumps({"from": origin, "what": what, **said}), flush=True)


def in_thread():
    thread = threading.Thread(target=try_all, args=("thread",))
    thread.start()
    thread.join()


def in_child():
    warden = os.getppid()
    child = os.fork()
    if child == 0:
        try:
            TARGETS["warden"] = warden
            try_all("child process")
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def in_program():
    targets = json.dumps({**TARGETS, "warden": os.getppid()})
    command = [sys.executable, "-I", "-S", "-c", TARGETS["source"], targets]
    subprocess.run(command, check=True, timeout=20)


def leave_a_process():
    if os.fork() == 0:
        try:
            os.setsid()
            time.sleep(120)
        finally:
            os._exit(0)


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number
        if TARGETS:
            try_all("constructor")

    def get_intelligent_move(self, state):
        from connect4.utils import get_valid_actions

        if TARGETS:
            try_all("turn")
            report("turn", "start a thread", in_thread)
            report("turn", "start a process", in_child)
            report("turn", "start a program", in_program)
            report("turn", "leave a process", leave_a_process)
        return get_valid_actions(self.player_number, state)[0]


if __name__ == "__main__" and len(sys.argv) == 2:
    TARGETS = json.loads(sys.argv[1])
    try_all("program")

"""Agents for Kaggle's ConnectX, as their authors write them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from connect4.games.classic import CLASSIC
from connect4.isolation import sandbox
from connect4.isolation.seat import Level, choose_level, open_seat
from connect4.players.base import Setup
from connect4.players.registry import parse_agent

LEVELS: list[Level] = ["process", "strong"] if choose_level("auto")[0] == "strong" else ["process"]

FIRST = "    return [c for c in range(config.columns) if obs.board[c] == 0][0]\n"


def may_mount() -> bool:
    """Return whether this user may mount a folder for a process of its own."""
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def details(source: str, folder: Path, level: Level, turns: int = 1) -> list[str | None]:
    """Return why such a file failed in each of its turns; it is loaded anew for each."""
    (folder / "agent.py").write_text(source, encoding="utf-8")
    name = parse_agent(f"kaggle:{folder / 'agent.py'}", "classic")
    seat = open_seat(Setup(name, 1, CLASSIC, 10.0, 1), level, lifetime="move")
    found = [seat.ask(CLASSIC.start(None, None), 10.0).detail for _ in range(turns)]
    seat.close()
    return found


TEMPORARY = """
import os, tempfile
folder = tempfile.mkdtemp()
assert os.listdir(tempfile.gettempdir()) == [os.path.basename(folder)]
def refused(place, mebibytes=1):
    try:
        with open(place, "wb") as file:
            file.write(bytes(mebibytes << 20))
    except OSError:
        return True
with tempfile.TemporaryDirectory() as other:
    assert not refused(other + "/a", 9)
    os.rename(other + "/a", other + "/b")
assert not refused(folder + "/a", 5) and refused(folder + "/b", 6)
assert refused(BESIDE) and refused(SHARED) and refused("/root/here")
def agent(obs, config):
"""


@pytest.mark.skipif(not (sandbox.landlock_abi() and may_mount()), reason="needs Landlock, mounts")
@pytest.mark.parametrize("level", LEVELS)
def test_each_process_has_a_temporary_folder_of_its_own_and_writes_nowhere_else(
    level: Level, tmp_path: Path
) -> None:
    before = os.listdir(sandbox.TEMPORARY)
    places = f"BESIDE, SHARED = {str(tmp_path / 'beside')!r}, '/tmp/shared-by-all'\n"
    assert details(places + TEMPORARY + FIRST, tmp_path, level, turns=2) == [None, None]
    assert os.listdir(sandbox.TEMPORARY) == before

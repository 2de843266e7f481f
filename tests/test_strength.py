"""The benchmark of playing strength, where its two agents are limited in different ways."""

from tests.command import run

ENDLESS = """
class AIPlayer:
    def __init__(self, player_number, time):
        pass

    def get_intelligent_move(self, state):
        while True:
            pass
"""


def test_a_budget_of_one_agent_leaves_the_clock_of_the_other_running(tmp_path):
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS)
    options = ["--games", "2", "--boards", "2x4", "--time", "0.1"]
    done = run("benchmarks.strength", "alphabeta:depth=1", path, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pairs won 1 of 1" in done.stdout

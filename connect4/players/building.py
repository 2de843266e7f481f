"""Create an agent without loading the modules of other kinds, for a fast start of its process."""

from __future__ import annotations

from connect4.games.base import resolve
from connect4.players.base import Agent, Setup
from connect4.players.registry import PLAYERS


def modules_of(kind: str) -> list[str]:
    """Return the modules that a kind of agent requires, to load before its process is forked.

    A student's file requires only the module that runs it.
    """
    factory = PLAYERS[kind].factory
    assert factory is not None, "a person has no process"
    module = factory.partition(":")[0]
    return [module] if kind == "ai" else [module, __name__]


def build(setup: Setup) -> Agent:
    """Return the agent that `setup` names, of any kind but a person.

    Raises `AgentError` if a student's file cannot be loaded or a server cannot be reached.
    """
    factory = PLAYERS[setup.agent.kind].factory
    assert factory is not None, "a person has no process"
    agent: Agent = resolve(factory)(setup)
    return agent

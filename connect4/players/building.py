"""Makes an agent of its kind, loading no other kind's modules: each agent's process starts anew."""

from __future__ import annotations

from connect4.players.base import Agent, Setup


def module_of(kind: str) -> str:
    """Return the module that `build` loads for a kind of agent, to be loaded early."""
    own = kind if kind in ("random", "remote") else "student" if kind == "ai" else "agents"
    return f"connect4.players.{own}"


def build(setup: Setup) -> Agent:
    """Return the agent that `setup` names, one of `registry.PLAYERS` but no person.

    Raises `AgentError` where a student's file cannot be loaded or a server not be reached.
    """
    match setup.agent.kind:
        case "ai":
            from connect4.players.student import StudentAgent

            return StudentAgent(setup)
        case "random":
            from connect4.players.random import RandomPlayer

            return RandomPlayer(setup.player, setup.derived_seed())
        case "remote":
            from connect4.players.remote import RemoteAgent

            return RemoteAgent(setup)
        case kind:
            from connect4.players.agents import SEARCHERS

            return SEARCHERS[kind](setup)

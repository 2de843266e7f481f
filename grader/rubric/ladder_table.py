"""Reads the table `[ladder]` of a rubric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, cast

from grader.rubric.model import Board, KitAgent, LadderRules
from grader.rubric.toml_table import TomlTable

Boards: TypeAlias = Callable[[TomlTable], tuple[Board, ...]]
Agent: TypeAlias = Callable[[TomlTable, object], KitAgent]


def ladder_rules(table: TomlTable, boards: Boards, agent: Agent) -> LadderRules:
    """Return the checked rules of the ladder."""
    rungs = table.list("rungs", lambda item: agent(table, item))
    if len(rungs) < 2 or len({rung.name for rung in rungs}) < len(rungs):
        raise table.wrong("rungs", "expected two or more agents, each with a name of its own")
    rules = LadderRules(
        cast('Literal["best", "latest"]', table.choice("policy", ("best", "latest"))),
        cast(
            'Literal["pseudonym", "real", "own"]',
            table.choice("names", ("pseudonym", "real", "own")),
        ),
        rungs,
        boards(table),
        table.whole("opening_plies", 0),
        table.number("time_limit", above=0),
        table.number("width", above=0),
        table.text("address") if table.has("address") else "",
    )
    table.finish()
    return rules

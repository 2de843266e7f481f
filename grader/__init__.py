"""Check, measure and grade agents: `python3 -m grader`, or from Python.

    import grader
    verdict = grader.compare("ai", "old/ai.py", seconds=0.2, games=40)

compare(new, old)   is one agent better than the other? Returns a Comparison.
practice(agent)     what does it see, and what not? Returns a Practice.

See docs/api.md and help(grader.compare) for details. Modules are loaded on first use.
"""

import connect4  # noqa: F401 - first: then no file in this folder hides a module of Python's

# isort: split
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.commands.compare import Comparison as Comparison
    from grader.commands.compare import Verdict as Verdict
    from grader.commands.compare import compare as compare
    from grader.commands.practice import practice as practice
    from grader.solved import Practice as Practice

__all__ = ["Comparison", "Practice", "Verdict", "compare", "practice"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    practising = name in ("Practice", "practice")
    module = "grader.commands.practice" if practising else "grader.commands.compare"
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

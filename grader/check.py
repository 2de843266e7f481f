"""The form of a submission, judged without running it: one `Finding` a line.

Rules marked required fail the check; the others are advice.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grader.rubric import SubmissionRules
from grader.state import changing_state

ALLOWED: Final = frozenset(sys.stdlib_module_names) | {"numpy", "connect4"}

PARALLEL: Final = frozenset(
    {"threading", "_thread", "multiprocessing", "concurrent", "subprocess", "asyncio", "sched"}
)
NETWORK: Final = frozenset(
    {"socket", "socketserver", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc", "select"}
)
NATIVE: Final = frozenset({"ctypes", "mmap", "pty"})
PROCESS_CALLS: Final = frozenset(
    {"system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "posix_spawnp"}
)

METHODS: Final = {
    "__init__": ("player_number", "time"),
    "get_expectimax_move": ("state",),
    "get_intelligent_move": ("state",),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where, by which rule; `required` ones fail the check."""

    line: int
    rule: str
    text: str
    required: bool = True
    in_report: bool = False


def check(source: str, report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of a source and its report, in the order of their lines."""
    return check_source(source, rules) + check_report(report, rules)


def check_source(source: str, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of a source text."""
    findings = []
    size = len(source.encode())
    if size > rules.max_source_kb * 1000:
        findings.append(
            Finding(1, "size", f"{size / 1000:.0f} kB; at most {rules.max_source_kb} kB count")
        )
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source.encode())  # bytes say their own encoding
    except SyntaxError as error:
        return [*findings, Finding(error.lineno or 1, "syntax", f"{error.msg}; mend this line")]
    except (RecursionError, MemoryError):
        return [*findings, Finding(1, "syntax", "nested too deeply for Python to read")]
    except ValueError as error:
        return [*findings, Finding(1, "syntax", f"cannot be read as Python ({error})")]
    found = [*_class(tree), *_imports(tree), *_calls(tree)]
    found += [Finding(line, "module state", text) for line, text in changing_state(tree)]
    return findings + sorted(found, key=lambda finding: finding.line)


def _class(tree: ast.Module) -> Iterator[Finding]:
    classes = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "AIPlayer"
    ]
    if not classes:
        assigned = any(
            isinstance(name, ast.Name) and name.id == "AIPlayer" and isinstance(name.ctx, ast.Store)
            for name in ast.walk(tree)
        )
        if not assigned:
            text = "no class AIPlayer at the top of the file; the simulator makes one per game"
            yield Finding(1, "class", text)
        return
    player = classes[-1]
    methods = {
        node.name: node
        for node in player.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    second_names = {  # get_intelligent_move = get_expectimax_move
        name.id
        for node in player.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    if player.decorator_list:  # @dataclass makes its own
        second_names.add("__init__")
    for name, expected in METHODS.items():
        signature = f"{name}(self, {', '.join(expected)})"
        if name in methods:
            yield from _signature(methods[name], expected, signature)
        elif not player.bases and name not in second_names:
            yield Finding(player.lineno, "class", f"AIPlayer has no {name}; add {signature}")


def _signature(
    method: ast.FunctionDef | ast.AsyncFunctionDef, expected: tuple[str, ...], signature: str
) -> Iterator[Finding]:
    if isinstance(method, ast.AsyncFunctionDef):
        yield Finding(method.lineno, "signature", f"async; write it as def {signature}")
        return
    arguments = method.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args][1:]
    needed = len(names) - len(arguments.defaults)
    keywords = [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    takes = needed <= len(expected) and (len(names) >= len(expected) or arguments.vararg)
    if not takes or keywords or (method.decorator_list and _is_static(method)):
        yield Finding(method.lineno, "signature", f"{method.name} must be called as {signature}")


def _is_static(method: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod")
        for decorator in method.decorator_list
    )


def _imports(tree: ast.Module) -> Iterator[Finding]:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                bound = name.asname or name.name.partition(".")[0]
                yield from _import(node.lineno, name.name, bound in used)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                text = "a relative import; a submission is one file, so put the code into it"
                yield Finding(node.lineno, "imports", text)
            else:
                names = {name.asname or name.name for name in node.names}
                yield from _import(
                    node.lineno, node.module or "", "*" in names or bool(names & used)
                )


def _import(line: int, module: str, is_used: bool) -> Iterator[Finding]:
    top = module.partition(".")[0]
    if top not in ALLOWED:
        text = f"{module!r} is not there when graded: standard library, numpy and connect4 only"
        yield Finding(line, "imports", text)
    elif top in PARALLEL | NETWORK | NATIVE:
        rule, what = (
            ("threads and processes", "a submission thinks in one thread")
            if top in PARALLEL
            else ("sockets", "a submission talks to nobody")
            if top in NETWORK
            else ("system calls", "a submission is Python and numpy")
        )
        if is_used:
            yield Finding(line, rule, f"uses {module!r}: {what}; do without")
        else:
            text = f"{module!r} is imported but never used; delete the line"
            yield Finding(line, rule, text, required=False)


def _calls(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
            and (node.attr in PROCESS_CALLS or node.attr.startswith(("exec", "spawn")))
        ):
            text = f"os.{node.attr} starts or stops processes, which is refused when graded"
            yield Finding(node.lineno, "threads and processes", text)


def check_report(report: str | None, rules: SubmissionRules) -> list[Finding]:
    """Return the findings of the text of `report.txt`; None stands for a missing one."""
    if report is None:
        text = "no report.txt; describe your ideas in it, the authors in its first line"
        return [Finding(1, "report", text, in_report=True)]
    findings = []
    lines = report.lstrip("\ufeff").splitlines()
    if not lines or not lines[0].strip():
        text = "the first line is empty; it names the authors and their entry numbers"
        findings.append(Finding(1, "report", text, in_report=True))
    length = 0
    for part in report.rstrip().split("\f"):  # a form feed begins a page
        rows = sum(
            max(1, len(textwrap.wrap(line, rules.report_columns))) for line in part.splitlines()
        )
        length += max(1, -(-rows // rules.report_lines))
    if length > rules.report_pages:
        text = (
            f"{length} pages of {rules.report_lines} lines; at most {rules.report_pages} are read"
        )
        findings.append(Finding(len(lines), "report", text, in_report=True))
    return findings

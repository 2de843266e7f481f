"""The rules of form, checked in a submission's text without running it: one `Finding` for each.

A broken required rule fails the check; the others are advice. A text can hide much from this
check; isolation enforces the rules. A separate process reads the text (`worker`). If it uses too
much time or memory, only the check of that submission fails.
"""

import ast
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from connect4.errors import InputError
from connect4.players.base import importable_sentence
from grader.handin import worker

if TYPE_CHECKING:  # a process that only checks does without the games
    from grader.rubric.model import SubmissionRules

ALWAYS: Final = frozenset(sys.stdlib_module_names) | {"numpy"}

FORBIDDEN: Final = (
    (
        "threads and processes",
        "a submission thinks in one thread, and looks at time.monotonic() inside its search",
        {
            *("threading", "_thread", "multiprocessing", "concurrent", "subprocess", "asyncio"),
            *("sched", "_posixsubprocess", "_multiprocessing", "_posixshmem", "_winapi"),
        },
    ),
    (
        "sockets",
        "a submission talks to nobody",
        {
            *("socket", "socketserver", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc"),
            *("select", "selectors", "_socket", "_ssl"),
        },
    ),
    ("system calls", "a submission is Python and numpy", {"ctypes", "_ctypes", "mmap", "pty"}),
)
"""Rules on modules of Python: the rule, its reason, and the modules."""

PROCESS_CALLS: Final = frozenset(
    {"system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "posix_spawnp"}
)

OPENING: Final = frozenset(
    {
        *("io.open", "os.open", "codecs.open", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt"),
        *("numpy.fromfile", "numpy.memmap", "numpy.save", "numpy.savez", "numpy.savetxt"),
    }
)
"""Functions that open files."""

MUTATORS: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
        *("add", "discard", "update", "setdefault", "popitem", "difference_update"),
        *("intersection_update", "symmetric_difference_update", "appendleft", "popleft", "fill"),
    }
)
"""Methods that change a list, a set, a dict, a deque or an array."""


STUB: Final = b"ai.py is still the stub"
"""What the stub of the students' edition prints."""

RUNS_TEXT: Final = "hidden code"
"""The rule on code that is a text in the file, which may be packed; `similar` names such files."""

ARGUMENTS: Final = {
    "__init__": ("player_number", "time"),
    "get_expectimax_move": ("state",),
    "get_intelligent_move": ("state",),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule: what is wrong, where, by which rule; `required` rules fail the check."""

    line: int
    rule: str
    text: str
    required: bool = True
    in_report: bool = False


def source_findings(source: bytes, rules: "SubmissionRules") -> list[Finding]:
    """Return the findings of a source, in the order of their lines.

    A hostile one may use unlimited memory and time.
    """
    if not source.strip():
        return [Finding(1, "class", "the file is empty")]
    if len(source) > rules.max_source_kb * 1000:
        text = f"{len(source) / 1000:.0f} kB; at most {rules.max_source_kb} kB count"
        return [Finding(1, "size", text)]
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source.decode("utf-8-sig"))  # as `players.student` compiles it
    except SyntaxError as error:
        return [
            Finding(error.lineno or 1, "syntax", f"{error.msg}; fix this line or the one above")
        ]
    except (RecursionError, MemoryError):
        return [Finding(1, "syntax", "nested too deeply for Python to read")]
    except ValueError as error:
        return [Finding(1, "syntax", f"cannot be read as Python ({error})")]
    nodes = list(ast.walk(tree))
    bound = _bindings(nodes)
    found = [*_class(tree, nodes), *_imports(nodes, rules.allowed), *_processes(nodes, bound)]
    found += [*_files(nodes, bound), *_changing_state(tree), *_texts_run(nodes)]
    if STUB in source:
        line = source[: source.index(STUB)].count(b"\n") + 1
        text = "this is still the stub of the kit: write your two methods, then delete the line"
        found.append(Finding(line, "stub", text, required=False))
    return sorted(found, key=lambda finding: finding.line)


def _bindings(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return the full names behind imported names: `numpy` for `np`; the last binding counts."""
    bound = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.partition(".")[0]
                bound[name.asname or top] = name.name if name.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                bound[name.asname or name.name] = f"{node.module}.{name.name}"
    return bound


def _class(tree: ast.Module, nodes: Sequence[ast.AST]) -> Iterator[Finding]:
    classes = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "AIPlayer"
    ]
    if not classes and "AIPlayer" in _stored(tree):
        return
    if not classes:
        line, advice = 1, "the simulator makes one per game"
        meant = [node for node in nodes if isinstance(node, ast.ClassDef) and _is_meant(node)]
        if meant:
            line, advice = meant[0].lineno, f"rename class {meant[0].name} to AIPlayer"
            advice += ", at the left margin"
        yield Finding(line, "class", f"no class AIPlayer at the top of the file; {advice}")
        return
    player = classes[-1]
    methods = {
        node.name: node
        for node in player.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    second_names = {  # get_intelligent_move = get_expectimax_move
        name
        for node in player.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for name in _stored(node)
    }
    if player.decorator_list:  # @dataclass makes its own
        second_names.add("__init__")
    for name, expected in ARGUMENTS.items():
        signature = f"{name}(self, {', '.join(expected)})"
        if name in methods:
            yield from _signature(methods[name], expected, signature)
        elif not player.bases and name not in second_names:
            yield Finding(player.lineno, "class", f"AIPlayer has no {name}; add {signature}")


def _is_meant(node: ast.ClassDef) -> bool:
    """Return whether a class is probably meant as AIPlayer."""
    named = node.name.replace("_", "").lower() in ("aiplayer", "player", "ai", "agent", "aiagent")
    return named or any(getattr(item, "name", "") in [*ARGUMENTS][1:] for item in node.body)


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
    decorators = {node.id for node in method.decorator_list if isinstance(node, ast.Name)}
    if not takes or keywords or decorators & {"staticmethod", "classmethod"}:
        yield Finding(method.lineno, "signature", f"{method.name} must be called as {signature}")


def _imports(nodes: Sequence[ast.AST], allowed: Sequence[str]) -> Iterator[Finding]:
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    tried = _tried(nodes)
    for node in nodes:
        found: list[Finding] = []
        if isinstance(node, ast.Import):
            for name in node.names:
                bound = name.asname or name.name.partition(".")[0]
                found += _import(node.lineno, name.name, bound in used, allowed)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                text = "a relative import; a submission is one file, so put the code into it"
                found.append(Finding(node.lineno, "imports", text))
            else:
                names = {name.asname or name.name for name in node.names}
                module = _asked(node, allowed)
                is_used = "*" in names or bool(names & used)
                found += _import(node.lineno, module, is_used, allowed)
        yield from (item for item in found if item.rule != "imports" or node not in tried)


def _is_allowed(module: str, allowed: Sequence[str]) -> bool:
    return any(f"{module}.".startswith(f"{name}.") for name in [*ALWAYS, *allowed])


def _asked(node: ast.ImportFrom, allowed: Sequence[str]) -> str:
    """Return the module that a `from` loads; for a package, the first that is not allowed."""
    package = node.module or ""
    if any(name.startswith(f"{package}.") for name in allowed):
        modules = [f"{package}.{name.name}" for name in node.names]
        refused = [module for module in modules if not _is_allowed(module, allowed)]
        return (refused or modules)[0]
    return package


def _import(line: int, module: str, is_used: bool, allowed: Sequence[str]) -> Iterator[Finding]:
    top = module.partition(".")[0]
    if not _is_allowed(module, allowed):
        what = "is not allowed" if top == "connect4" else "is not there when graded"
        yield Finding(line, "imports", f"{module!r} {what}. {importable_sentence(allowed)}")
        return
    for rule, why, modules in FORBIDDEN:
        if top in modules and is_used:
            yield Finding(line, rule, f"uses {module!r}: {why}; do without")


def _processes(nodes: Sequence[ast.AST], bound: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the uses of names of `os` that start or stop processes."""
    used: list[tuple[int, str, str]] = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            used += [(node.lineno, node.module or "", name.name) for name in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.append((node.lineno, bound.get(node.value.id, ""), node.attr))
    for line, module, call in used:
        starts = call in PROCESS_CALLS or call.startswith(("exec", "spawn"))
        if module in ("os", "posix", "nt") and starts:
            text = f"os.{call} starts or stops processes, which is refused when graded"
            yield Finding(line, "threads and processes", text)


def _files(nodes: Sequence[ast.AST], bound: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the calls that open files, which is denied in play; a script's own part is not run.

    What fails in a `try` with a handler is only advice.
    """
    own_open = any(isinstance(node, ast.FunctionDef) and node.name == "open" for node in nodes)
    of_paths = {"read_text", "read_bytes", "write_text", "write_bytes"}
    of_paths = of_paths if any(name.startswith("pathlib") for name in bound.values()) else set()
    script: set[ast.AST] = set()
    for node in nodes:
        test = node.test if isinstance(node, ast.If) else None
        match test.values[0] if isinstance(test, ast.BoolOp) else test:
            case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
                script.update(ast.walk(node))
    tried = _tried(nodes)
    for node in nodes:
        if not isinstance(node, ast.Call) or node in script:
            continue
        name = ""
        if isinstance(node.func, ast.Name):
            name = bound.get(node.func.id, node.func.id)
        elif isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, node.func.attr
            if name not in of_paths:
                module = bound.get(owner.id, "") if isinstance(owner, ast.Name) else ""
                name = f"{module}.{name}"
        if name in OPENING or name in of_paths or (name == "open" and not own_open):
            text = f"{name}: agents may not open files; put what the file holds into the source"
            yield Finding(node.lineno, "files", text, required=node not in tried)


def _texts_run(nodes: Sequence[ast.AST]) -> Iterator[Finding]:
    """Yield the uses of Python's own `exec` and `eval`: what they run, nobody reads in the file."""
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in {"exec", "eval"} - own:
            text = f"{node.id} runs code that nobody can read in the file; write the code itself"
            if isinstance(node.ctx, ast.Load):
                yield Finding(node.lineno, RUNS_TEXT, text, required=False)


def _tried(nodes: Sequence[ast.AST]) -> set[ast.AST]:
    """Return what stands in a `try` with a handler."""
    return {
        inner
        for node in nodes
        if isinstance(node, ast.Try) and node.handlers
        for part in node.body
        for inner in ast.walk(part)
    }


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _changing_state(tree: ast.Module) -> Iterator[Finding]:
    """Yield each place where a function changes a module-level variable."""
    plain = ast.Assign | ast.AnnAssign | ast.AugAssign
    shared = {name for item in tree.body if isinstance(item, plain) for name in _stored(item)}
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for function in _outer_functions(tree):
        nodes = list(ast.walk(function))
        local = {node.arg for node in nodes if isinstance(node, ast.arg)} | _stored(function)
        local -= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        for node in nodes:
            text = ""
            name, changes = _changed(node)
            if isinstance(node, ast.Global):
                text = f"global {', '.join(node.names)}: keep it on self, which lives for a game"
            elif name is not None and name not in local and (name in shared or name in classes):
                # asked of each set by itself: to subtract them takes long
                kind = "module-level variable" if name in shared else "class"
                text = f"{name} is a {kind} and {changes}: keep it on self"
            if text:
                yield Finding(getattr(node, "lineno", 1), "module state", text)


def _stored(node: ast.AST) -> set[str]:
    """Return the names that assignments below a node bind."""
    names = (name for name in ast.walk(node) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _outer_functions(tree: ast.Module) -> Iterator[Function]:
    """Yield functions of the module and methods of its classes, without nested functions."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, Function):
            yield node
        else:
            pending.extend(ast.iter_child_nodes(node))


def _changed(node: ast.AST) -> tuple[str | None, str]:
    """Return the variable that a node changes in place, and the kind of change."""
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(
        node.ctx, ast.Store | ast.Del
    ):
        return _root(node.value), "is changed here"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MUTATORS
        and isinstance(node.func.value, ast.Name | ast.Subscript)
    ):
        return _root(node.func.value), f"is changed by .{node.func.attr}()"
    return None, ""


def _root(node: ast.expr) -> str | None:
    """Return the variable at the bottom of `a[i].b`."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def report_findings(report: str | None, rules: "SubmissionRules") -> list[Finding]:
    """Return the findings of the text of `report.txt`; None means that the file is missing.

    A rubric with 0 pages asks for none.
    """
    if rules.report_pages == 0:
        return []
    if report is None:
        text = "no report.txt; describe your ideas in it, the authors in its first line"
        return [Finding(1, "report", text, in_report=True)]
    findings = []
    lines = report.lstrip("\ufeff").splitlines()
    if not lines or not lines[0].strip():
        text = "the first line is empty; it names the authors and their entry numbers"
        findings.append(Finding(1, "report", text, in_report=True))
    elif "(ENTRY NUMBER)" in lines[0]:
        text = "the first line is still the placeholder; write your names and entry numbers there"
        findings.append(Finding(1, "report", text, required=False, in_report=True))
    length, wide = 0, rules.report_columns
    for part in report.rstrip().split("\f"):  # a form feed begins a page
        rows = sum(max(1, len(textwrap.wrap(line, wide))) for line in part.splitlines())
        length += max(1, -(-rows // rules.report_lines))
    if length > rules.report_pages:
        pages = f"{length} pages of {rules.report_lines} lines"
        text = f"{pages}; at most {rules.report_pages} are read"
        findings.append(Finding(len(lines), "report", text, in_report=True))
    return findings


READ_SECONDS: Final = 5.0
"""Processor time: reading any source of the allowed size takes less than half of it."""

MAX_FINDINGS: Final = 100


def check(source: bytes, report: str | None, rules: "SubmissionRules") -> list[Finding]:
    """Return the findings of a source and its report, in the order of their lines.

    Reading both takes at most `READ_SECONDS`. Of very many findings the required ones come first,
    and the others are left out.
    """
    given = SimpleNamespace(**asdict(rules))  # the reading process does without their module
    try:
        found: list[Finding] = worker.ask(_first, source, report, given, seconds=READ_SECONDS)
    except InputError as error:
        return [Finding(1, "syntax", f"{error}; make the file smaller and simpler")]
    return found


def _first(source: bytes, report: str | None, rules: "SubmissionRules") -> list[Finding]:
    found = [*source_findings(source, rules), *report_findings(report, rules)]
    if len(found) > MAX_FINDINGS:
        found.sort(key=lambda finding: not finding.required)
    return found[:MAX_FINDINGS]

"""Finds module-level variables that functions change, and names that newer versions lack.

The installed Python and numpy decide whether a name exists; the tables hold the replacements.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import platform
import warnings
from collections.abc import Iterator
from typing import Final

MUTATORS: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
        *("add", "discard", "update", "setdefault", "popitem", "difference_update"),
        *("intersection_update", "symmetric_difference_update", "appendleft", "popleft", "fill"),
    }
)

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def changing_state(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield `(line, text)` for each place where a function changes a module-level variable."""
    shared = _module_names(tree)
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for function in _outer_functions(tree):
        local = _local_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                names = ", ".join(node.names)
                yield node.lineno, f"global {names}: keep it on self, which lives for a game"
                continue
            name, changes = _changed(node)
            if name is None or name in local:
                continue
            if name in shared:  # asked of each set by itself: to subtract them takes long
                text = f"{name} is a module-level variable and {changes}: keep it on self"
                yield node.lineno, text  # type: ignore[attr-defined]
            elif name in classes:
                text = f"{name} is a class and {changes}: keep it on self"
                yield node.lineno, text  # type: ignore[attr-defined]


def _module_names(tree: ast.Module) -> set[str]:
    """Return the names that plain assignments bind at module level."""
    found: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
            targets = [statement.target]
        else:
            continue
        for target in targets:
            found |= {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    return found


def _outer_functions(tree: ast.Module) -> Iterator[Function]:
    """Yield functions of the module and methods of its classes, without nested functions."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, Function):
            yield node
        else:
            pending.extend(ast.iter_child_nodes(node))


def _local_names(function: Function) -> set[str]:
    """Return the names that a function binds, including its parameters."""
    declared: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            declared.update(node.names)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound - declared


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


ABSTRACT: Final = (
    *("Callable", "Container", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator"),
    *("KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet"),
    *("Sequence", "Set", "Sized", "ValuesView"),
)

INSTEAD: Final = {
    "time.clock": "time.perf_counter",
    **{f"collections.{name}": f"collections.abc.{name}" for name in ABSTRACT},
    "asyncio.coroutine": "async def", "base64.decodestring": "base64.decodebytes",
    "base64.encodestring": "base64.encodebytes", "fractions.gcd": "math.gcd",
    "inspect.getargspec": "inspect.getfullargspec", "itertools.ifilter": "filter",
    "itertools.imap": "map", "itertools.izip": "zip",
    "itertools.izip_longest": "itertools.zip_longest", "locale.format": "locale.format_string",
    "operator.isCallable": "callable", "os.getcwdu": "os.getcwd",
    "string.letters": "string.ascii_letters", "string.lowercase": "string.ascii_lowercase",
    "string.maketrans": "str.maketrans", "string.uppercase": "string.ascii_uppercase",
    "sys.maxint": "sys.maxsize", "sys.setcheckinterval": "sys.setswitchinterval",
    "numpy.Inf": "numpy.inf", "numpy.Infinity": "numpy.inf", "numpy.NAN": "numpy.nan",
    "numpy.NINF": "-numpy.inf", "numpy.NaN": "numpy.nan", "numpy.PINF": "numpy.inf",
    "numpy.alltrue": "numpy.all", "numpy.asfarray": "numpy.asarray(..., dtype=float)",
    "numpy.bool": "bool", "numpy.complex": "complex", "numpy.complex_": "numpy.complex128",
    "numpy.cumproduct": "numpy.cumprod", "numpy.float": "float", "numpy.float_": "numpy.float64",
    "numpy.in1d": "numpy.isin", "numpy.infty": "numpy.inf", "numpy.int": "int",
    "numpy.int0": "numpy.intp", "numpy.long": "int", "numpy.mat": "numpy.asmatrix",
    "numpy.msort": "numpy.sort(..., axis=0)", "numpy.object": "object",
    "numpy.product": "numpy.prod", "numpy.round_": "numpy.round",
    "numpy.row_stack": "numpy.vstack", "numpy.sometrue": "numpy.any", "numpy.str": "str",
    "numpy.string_": "numpy.bytes_", "numpy.trapz": "numpy.trapezoid",
    "numpy.unicode_": "numpy.str_",
}  # fmt: skip

MODULES: Final = {
    "ConfigParser": "configparser", "Queue": "queue", "StringIO": "io", "Tkinter": "tkinter",
    "__builtin__": "builtins", "asynchat": "asyncio", "asyncore": "asyncio", "cPickle": "pickle",
    "cStringIO": "io", "cgi": "html", "copy_reg": "copyreg", "distutils": "shutil or sysconfig",
    "dummy_threading": "threading", "imp": "importlib", "parser": "ast", "pipes": "shlex",
    "sets": "set", "symbol": "ast", "urllib2": "urllib.request",
}  # fmt: skip

BUILTINS: Final = {
    "basestring": "str", "cmp": "(a > b) - (a < b)", "execfile": "exec", "long": "int",
    "raw_input": "input", "reduce": "functools.reduce", "reload": "importlib.reload",
    "unichr": "chr", "unicode": "str", "xrange": "range",
}  # fmt: skip

STAYS: Final = frozenset({"numpy.bool", "numpy.long"})
"""Names that some versions lack and later ones have again: they require no replacement."""


@functools.cache
def _is_there(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    with warnings.catch_warnings(action="ignore"):
        return hasattr(importlib.import_module(module), attribute)


def old_name(name: str) -> tuple[str, bool] | None:
    """Return the message on `module.name` and whether it fails here; None for no message."""
    if name not in INSTEAD:
        return None
    instead = INSTEAD[name]
    if _is_there(name):
        text = f"{name} is gone from newer versions; write {instead}"
        return None if name in STAYS else (text, False)
    return f"{name} is not in {_version(name)}; write {instead}", True


def _version(name: str) -> str:
    if name.startswith("numpy."):
        return f"numpy {importlib.import_module('numpy').__version__}"
    return f"Python {platform.python_version()}"


def old_module(module: str) -> tuple[str, bool] | None:
    """Return the message on an imported module and whether it fails here; None for no message."""
    top = module.partition(".")[0]
    if top not in MODULES:
        return None
    if importlib.util.find_spec(top) is None:
        return f"{top!r} is not in {_version(top)}; write {MODULES[top]}", True
    return f"{top!r} is gone from newer versions of Python; write {MODULES[top]}", False


def old_builtin(name: str) -> str | None:
    """Return the message on a name of Python 2 that the file does not define."""
    if name not in BUILTINS or hasattr(builtins, name):
        return None
    return f"{name} is not in {_version(name)}; write {BUILTINS[name]}"

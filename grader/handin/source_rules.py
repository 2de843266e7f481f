"""Finds module-level variables that functions change, and uses of names in imported modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
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
    plain = ast.Assign | ast.AnnAssign | ast.AugAssign
    shared = {name for item in tree.body if isinstance(item, plain) for name in stored(item)}
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


def stored(node: ast.AST) -> set[str]:
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


def _local_names(function: Function) -> set[str]:
    """Return the names that a function binds, including its parameters."""
    nodes = list(ast.walk(function))
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    return (parameters | stored(function)) - shared


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


def uses(
    nodes: Sequence[ast.AST], bound: Mapping[str, str]
) -> Iterator[tuple[ast.ImportFrom | ast.Attribute, str]]:
    """Yield each use of a name in an imported module, and `module.name`."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            for name in node.names:
                yield node, f"{node.module}.{name.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node, f"{bound.get(node.value.id)}.{node.attr}"

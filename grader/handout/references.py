"""Finds references in the students' edition to files and modules that it lacks."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from posixpath import join, normpath
from typing import Final

OURS: Final = ("connect4", "grader", "docs", "tests", "benchmarks")
"""The kit's folders: a path or module that begins with one of them must exist."""

INSTALLED: Final = frozenset(sys.stdlib_module_names) | {"pip", "pytest"}
"""Modules of other projects that a page may run."""

NAMES: Final = "|".join(OURS)
LINK: Final = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
RUN: Final = re.compile(r"(?:\bpython[\d.]*|\bpy) +-m +([\w.]+)(?: +([a-z]+))?")
PATH: Final = re.compile(rf"(?<![\w/.-])(?:(?:{NAMES})/|\.ci/)[\w*?./-]*[\w*?/]")
MODULE: Final = re.compile(rf"(?<!-m )(?<![\w/.-])(?:{NAMES})\.[a-z]\w*(?:\.\w+)*")
MAKE: Final = re.compile(r"(?:`|^)make +[\w-]+", re.MULTILINE)
QUOTED: Final = re.compile(r"`([\w.-]+\.\w+)`")

COMMANDS: Final = {"handout": "grader/handout/__init__.py"}
"""Commands of the grader that not every edition has, with their source files."""


def missing(files: dict[str, bytes], kept_back: Collection[str]) -> list[str]:
    """Return one line for each missing thing that `files` name.

    Paths in `files` start at the kit's root. `kept_back` are paths of the kit that are left out; a
    page must not name those either, even by their last part.
    """
    here = Edition(files, kept_back)
    found: list[str] = []
    for name, data in sorted(files.items()):
        if PurePosixPath(name).suffix == ".md":
            found += here.of_page(name, data.decode())
        elif PurePosixPath(name).suffix == ".py":
            found += here.of_source(name, data.decode())
    return found


class Edition:
    """The files that go out, with checks for references to missing ones."""

    def __init__(self, files: dict[str, bytes], kept_back: Collection[str]) -> None:
        self._files = files
        folders = {str(folder) for name in files for folder in PurePosixPath(name).parents}
        self._there = {*files, *folders}
        self._names = {PurePosixPath(name).name for name in files}
        self._private = {PurePosixPath(name).name for name in kept_back} - self._names

    def of_page(self, page: str, text: str) -> Iterator[str]:
        """Yield the missing things that a Markdown page names, each once, as `PAGE: WHAT`."""
        checks: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
            (LINK, lambda found: self._link(page, found[1])),
            (RUN, lambda found: self._command(found[1], found[2] or "")),
            (PATH, lambda found: self._path(found[0])),
            (MODULE, lambda found: self._module(".".join(found[0].split(".")[:2]))),
            (MAKE, lambda found: "" if "Makefile" in self._there else found[0].lstrip("`")),
            (QUOTED, lambda found: self._name(found[1])),
        )
        seen = set()
        for pattern, problem in checks:
            for found in pattern.finditer(text):
                what = problem(found)
                if what and what not in seen:
                    seen.add(what)
                    yield f"{page}: {what}"

    def of_source(self, name: str, text: str) -> Iterator[str]:
        """Yield the kit's modules that a Python file imports but the edition lacks."""
        for node in ast.walk(ast.parse(text)):
            imported = []
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                module = node.module or ""
                own = self._files.get(f"{module}/__init__.py", b"").decode()
                names = [alias.name for alias in node.names if alias.name not in own]
                imported = [module]
                if module in OURS:  # what its `__init__.py` does not make is a module
                    imported += [f"{module}.{name}" for name in names]
            for module in imported:
                if module.partition(".")[0] in OURS and self._module(module):
                    yield f"{name}: {module}"

    def _link(self, page: str, target: str) -> str:
        path = normpath(join(str(PurePosixPath(page).parent), target))
        return "" if path in self._there else target

    def _command(self, module: str, word: str) -> str:
        top = module.partition(".")[0]
        if module == "grader" and COMMANDS.get(word, "grader") not in self._there:
            return f"python3 -m grader {word}"
        if top in OURS:
            runs = f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__main__.py"
            known = any(path in self._there for path in runs)
        else:
            known = top in INSTALLED
        return "" if known else f"python3 -m {module}"

    def _name(self, name: str) -> str:
        lost = name in self._private or (name.endswith(".md") and name not in self._names)
        return name if lost else ""

    def _path(self, path: str) -> str:
        plain = path.rstrip("/.")
        if any(sign in plain for sign in "*?"):
            known = any(fnmatchcase(there, plain) for there in self._there)
        else:
            known = plain in self._there
        return "" if known else path

    def _module(self, module: str) -> str:
        """Return the module if it is missing and its package defines no such name, else ""."""
        path = module.replace(".", "/")
        package, _, name = module.rpartition(".")
        own = self._files.get(f"{package}/__init__.py", b"").decode()
        defined = re.search(rf"\b{name}\b", own) is not None
        return "" if defined or {path, f"{path}.py"} & self._there else module

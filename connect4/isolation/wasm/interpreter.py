"""One Python in WebAssembly: starts, runs text, and copies its memory for other Pythons."""

from __future__ import annotations

import ctypes
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final

from connect4.errors import IsolationError
from connect4.isolation.wasm import package
from connect4.isolation.wasm.package import STACK_BYTES, Compiled
from connect4.isolation.wasm.system import ROOT, ExitedError, System

UNLIMITED: Final = 1 << 62

PAGE: Final = 1 << 16

CHUNK: Final = 1 << 12
"""Memory is compared in pieces of this size when an image is made."""

THREAD_STACK: Final = STACK_BYTES + (16 << 20)


class End(Enum):
    """How a call ended."""

    RETURNED = "it returned"
    EXHAUSTED = "it used all of its fuel"
    EXITED = "it ended itself"
    TRAPPED = "it broke its Python"
    STOPPED = "it was stopped"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended, the fuel that it used, and its seconds of wall clock and processor."""

    end: End
    fuel: int
    seconds: float = 0.0
    busy: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    """The memory of a started Python, as the pieces that differ from a fresh instance."""

    pages: int
    pieces: tuple[tuple[int, bytes], ...]

    @property
    def size(self) -> int:
        """The size of all pieces, in bytes."""
        return sum(len(data) for _, data in self.pieces)


class Interpreter:
    """One instance of the module, in a separate thread, because the calls need a deep stack.

    Between calls nothing of the program is on a stack, so its memory is its whole state. An `Image`
    of one interpreter therefore starts any number of others.
    """

    def __init__(
        self, compiled: Compiled, system: System, memory_bytes: int, image: Image | None = None
    ) -> None:
        self._compiled = compiled
        self._system = system
        self._budget = UNLIMITED
        self._before = 0
        self._stop = self._closed = False
        self._requests: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        with _stack_size:
            usual = threading.stack_size(THREAD_STACK)
            try:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            finally:
                threading.stack_size(usual)
        system.memory = self
        try:
            self._do(partial(self._open, memory_bytes, image))
        except BaseException:  # also on Ctrl-C, so that no thread stays behind
            self.close()
            raise

    # -- in the caller's thread

    def run(self, text: str, fuel: int | None, patience: float | None = None) -> Ended:
        """Run Python text with a budget of fuel; after `patience` seconds it is stopped.

        After any other end than `RETURNED`, the interpreter cannot be used again.
        """
        self._stop = False
        return self._do(partial(self._run, text.encode(), fuel), patience)  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End the current call, from another thread."""
        self._stop = True
        self._compiled.engine.increment_epoch()

    def image(self) -> Image:
        """Return an image of the memory, for other instances of the same module."""
        return self._do(self._image)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the current call and free the memory."""
        if not self._closed:
            self._closed = True
            self.stop()
            self._requests.put(None)
            self._thread.join()

    def _do(self, work: Callable[[], Any], patience: float | None = None) -> Any:
        """Call a function in the thread and wait for it; Ctrl-C stops the call first."""
        self._requests.put(work)
        deadline = None if patience is None else time.monotonic() + patience
        try:
            while True:
                left = 1.0 if deadline is None else deadline - time.monotonic()
                try:
                    value, error = self._results.get(timeout=max(0.001, min(1.0, left)))
                    break
                except queue.Empty:
                    if deadline is not None and time.monotonic() >= deadline:
                        self.stop()
        except BaseException:  # also on Ctrl-C: stop the agent's code before the caller continues
            self.stop()
            self._results.get()
            raise
        if error is not None:
            raise error
        return value

    # -- in its own thread

    def _serve(self) -> None:
        while (work := self._requests.get()) is not None:
            answer: tuple[Any, BaseException | None]
            try:
                answer = (work(), None)
            except BaseException as error:
                answer = (None, error)
            self._results.put(answer)
            del work, answer
        store = getattr(self, "_store", None)
        if store is not None:
            store.close()
        for name in ("_store", "_exports", "_memory", "_watching", "_compiled"):
            vars(self).pop(name, None)

    def _open(self, memory_bytes: int, image: Image | None) -> None:
        import wasmtime

        self._store = store = wasmtime.Store(self._compiled.engine)
        store.set_limits(memory_size=memory_bytes)
        store.set_fuel(UNLIMITED)
        store.set_epoch_deadline(1)
        self._watching = package.watch(store, lambda: self._stop)
        linker = wasmtime.Linker(self._compiled.engine)
        for needed in self._compiled.module.imports:
            own = needed.module == "wasi_snapshot_preview1"
            function = self._called(needed.name) if own else _no_host
            linker.define_func(needed.module, needed.name, needed.type, function)
        try:
            exports = linker.instantiate(store, self._compiled.module).exports(store)
        except wasmtime.WasmtimeError as error:
            raise IsolationError(f"an agent's Python cannot start: {error}") from None
        self._exports, self._memory = exports, exports["memory"]
        if image is None:
            package.initialize(store, exports)
            return
        missing = image.pages - self._memory.size(store)
        if missing > 0:
            self._memory.grow(store, missing)
        start = ctypes.addressof(self._memory.data_ptr(store).contents)
        for place, data in image.pieces:
            ctypes.memmove(start + place, data, len(data))

    def _called(self, name: str) -> Callable[..., Any]:
        serve = self._system.call
        return lambda *arguments: serve(name, arguments)

    def _run(self, text: bytes, fuel: int | None) -> Ended:
        import wasmtime

        self._budget = UNLIMITED if fuel is None else fuel
        self._store.set_fuel(self._budget)
        self._store.set_epoch_deadline(1)
        began, busy = time.monotonic(), time.thread_time()
        end, detail = End.RETURNED, ""
        try:
            package.run_text(self._store, self._exports, text)
        except ExitedError as error:
            end, detail = End.EXITED, str(error)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            end, detail = self._why(error)
            error.__traceback__ = None
        except IndexError:  # no memory for the text: the program has overwritten its own
            end, detail = End.TRAPPED, "its memory is damaged"
        used = self._budget - self._store.get_fuel()
        self._before += used
        self._budget = self._store.get_fuel()
        seconds, busy = time.monotonic() - began, time.thread_time() - busy
        return Ended(end, used, seconds, busy, detail)

    def _why(self, error: Exception) -> tuple[End, str]:
        import wasmtime

        if self._stop:
            return End.STOPPED, ""
        code = error.trap_code if isinstance(error, wasmtime.Trap) else None
        if code is wasmtime.TrapCode.OUT_OF_FUEL:
            return End.EXHAUSTED, ""
        words = {wasmtime.TrapCode.STACK_OVERFLOW: "its calls were nested too deep"}
        return End.TRAPPED, words.get(code, str(error).splitlines()[0])

    def _image(self) -> Image:
        """Compare the memory with that of a fresh instance; raises `IsolationError`."""
        assert set(self._system.descriptors()) == {ROOT}, "an image keeps no open files"
        own = self._memory.read(self._store, 0, self._memory.data_len(self._store))
        fresh = self._fresh_memory()
        fresh = fresh.ljust(len(own), b"\0")
        pieces: list[tuple[int, bytes]] = []
        begin: int | None = None
        for place in range(0, len(own) + CHUNK, CHUNK):
            differs = own[place : place + CHUNK] != fresh[place : place + CHUNK]
            if differs and begin is None:
                begin = place
            elif not differs and begin is not None:
                pieces.append((begin, bytes(own[begin:place])))
                begin = None
        return Image(len(own) // PAGE, tuple(pieces))

    def _fresh_memory(self) -> bytes:
        import wasmtime

        store = wasmtime.Store(self._compiled.engine)
        store.set_fuel(UNLIMITED)
        linker = wasmtime.Linker(self._compiled.engine)
        linker.define_unknown_imports_as_traps(self._compiled.module)
        memory = linker.instantiate(store, self._compiled.module).exports(store)["memory"]
        data = bytes(memory.read(store, 0, memory.data_len(store)))
        store.close()
        return data

    # -- what the program's `system.System` sees

    def read(self, start: int, size: int) -> bytes:
        """Return bytes of the memory; raises `IndexError` outside it."""
        if start + size > self._memory.data_len(self._store):
            raise IndexError(start)
        return bytes(self._memory.read(self._store, start, start + size))

    def write(self, start: int, data: bytes) -> None:
        """Write bytes to the memory; raises `IndexError` outside it."""
        if start + len(data) > self._memory.data_len(self._store):
            raise IndexError(start)
        self._memory.write(self._store, data, start)

    def spent(self) -> int:
        """Return the fuel that was used since the program started."""
        left: int = self._store.get_fuel()
        return self._before + self._budget - left

    def charge(self, fuel: int) -> bool:
        """Use up fuel; return whether any is left."""
        left: int = max(0, self._store.get_fuel() - fuel)
        self._store.set_fuel(left)
        return left > 0


_stack_size = threading.Lock()


def _no_host(*arguments: int) -> int:
    """Stand in for a function that the module imports and its host lacks."""
    return -1

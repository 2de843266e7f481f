"""One Python in WebAssembly: starts, runs text, and copies its memory for other Pythons."""

import ctypes
import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final, TypeVar

from connect4.errors import IsolationError
from connect4.isolation.wasm import package
from connect4.isolation.wasm.package import STACK_BYTES
from connect4.isolation.wasm.system import ExitedError, System

UNLIMITED: Final = 1 << 62

PAGE: Final = 1 << 16

THREAD_STACK: Final = STACK_BYTES + (16 << 20)

Value = TypeVar("Value")


class Stop(Enum):
    """How a call ended."""

    RETURNED = "it returned"
    EXHAUSTED = "it used all of its fuel"
    EXITED = "it ended itself"
    TRAPPED = "it broke its Python"
    STOPPED = "it was stopped"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended, the fuel that it used, and its seconds of wall clock and processor."""

    end: Stop
    fuel: int
    seconds: float = 0.0
    busy: float = 0.0
    detail: str = ""


class Interpreter:
    """One instance of the module, in a separate thread, because the calls need a deep stack.

    Between calls nothing of the program is on a stack, so its memory is its whole state. The
    `image` of one interpreter therefore starts any number of others.
    """

    def __init__(self, system: System, memory_bytes: int, image: bytes | None = None) -> None:
        self._system = system
        self._budget = UNLIMITED
        self._before = 0
        self._stop = self._closed = False
        self._thread = ThreadPoolExecutor(1)
        system.memory = self
        try:
            with _stack_size:
                usual = threading.stack_size(THREAD_STACK)
                try:  # the first call starts the thread
                    opening = self._thread.submit(self._open, memory_bytes, image)
                finally:
                    threading.stack_size(usual)
            self._result(opening)
        except BaseException:  # also on Ctrl-C, so that no thread stays behind
            self.close()
            raise

    # -- in the caller's thread

    def run(self, text: str, fuel: int | None, patience: float = math.inf) -> Ended:
        """Run Python text with a budget of fuel; after `patience` seconds it is stopped.

        After any other end than `RETURNED`, the interpreter cannot be used again.
        """
        self._stop = False
        return self._result(self._thread.submit(self._run, text.encode(), fuel), patience)

    def stop(self) -> None:
        """End the current call, which runs in the interpreter's own thread."""
        self._stop = True
        package.compiled().engine.increment_epoch()

    def image(self) -> bytes:
        """Return the memory, for other instances of the same module."""
        return bytes(self._memory.read(self._store, 0, self._memory.data_len(self._store)))

    def close(self) -> None:
        """End the current call and free the memory."""
        if not self._closed:
            self._closed = True
            self.stop()
            self._thread.shutdown()
            store = getattr(self, "_store", None)
            if store is not None:
                store.close()
            for name in ("_store", "_exports", "_memory", "_watching"):
                vars(self).pop(name, None)

    def _result(self, call: Future[Value], patience: float = math.inf) -> Value:
        """Wait for a call in the thread; Ctrl-C stops the call first."""
        deadline = time.monotonic() + patience
        try:
            while not wait([call], timeout=1.0).done:  # on Windows, Ctrl-C interrupts no wait
                if time.monotonic() >= deadline:
                    self.stop()
        except BaseException:  # also Ctrl-C: the thread must not run on
            self.stop()
            wait([call])
            raise
        return call.result()

    # -- in its own thread

    def _open(self, memory_bytes: int, image: bytes | None) -> None:
        import wasmtime

        compiled = package.compiled()
        self._store = store = wasmtime.Store(compiled.engine)
        store.set_limits(memory_size=memory_bytes)
        store.set_fuel(UNLIMITED)
        store.set_epoch_deadline(1)
        self._watching = package.watch(store, lambda: self._stop)
        linker = wasmtime.Linker(compiled.engine)
        for needed in compiled.module.imports:
            own = needed.module == "wasi_snapshot_preview1"
            function = partial(self._system.call, needed.name) if own else lambda *arguments: -1
            linker.define_func(needed.module, needed.name, needed.type, function)
        try:
            exports = linker.instantiate(store, compiled.module).exports(store)
        except wasmtime.WasmtimeError as error:
            raise IsolationError(f"an agent's Python cannot start: {error}") from None
        self._exports, self._memory = exports, exports["memory"]
        if image is None:
            exports["_initialize"](store)
            return
        self._memory.grow(store, len(image) // PAGE - self._memory.size(store))
        place = ctypes.addressof(self._memory.data_ptr(store).contents)
        ctypes.memmove(place, image, len(image))  # twice as fast as `write`

    def _run(self, text: bytes, fuel: int | None) -> Ended:
        import wasmtime

        self._budget = UNLIMITED if fuel is None else fuel
        self._store.set_fuel(self._budget)
        self._store.set_epoch_deadline(1)
        began, busy = time.monotonic(), time.thread_time()
        end, detail = Stop.RETURNED, ""
        try:
            package.run_text(self._store, self._exports, text)
        except ExitedError as error:
            end, detail = Stop.EXITED, str(error)
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            end, detail = self._why(error)
            error.__traceback__ = None
        except IndexError:  # no memory for the text: the program has overwritten its own
            end, detail = Stop.TRAPPED, "its memory is damaged"
        used = self._budget - self._store.get_fuel()
        self._before += used
        self._budget = self._store.get_fuel()
        seconds, busy = time.monotonic() - began, time.thread_time() - busy
        return Ended(end, used, seconds, busy, detail)

    def _why(self, error: Exception) -> tuple[Stop, str]:
        import wasmtime

        if self._stop:
            return Stop.STOPPED, ""
        code = error.trap_code if isinstance(error, wasmtime.Trap) else None
        if code is wasmtime.TrapCode.OUT_OF_FUEL:
            return Stop.EXHAUSTED, ""
        words = {wasmtime.TrapCode.STACK_OVERFLOW: "its calls were nested too deep"}
        return Stop.TRAPPED, words.get(code, str(error).splitlines()[0])

    # -- what the program's `system.System` sees

    def read(self, start: int, size: int) -> bytes:
        """Return bytes of the memory; raises `IndexError` outside it."""
        start, size = start & 0xFFFFFFFF, size & 0xFFFFFFFF
        if start + size > self._memory.data_len(self._store):
            raise IndexError(start)
        return bytes(self._memory.read(self._store, start, start + size))

    def write(self, start: int, data: bytes) -> None:
        """Write bytes to the memory; raises `IndexError` outside it."""
        start &= 0xFFFFFFFF
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

"""Isolation level `wasm`: agents run in a Python compiled to WebAssembly, which counts fuel."""

from typing import Final

ANSWERS: Final = 1000
"""The descriptor that an agent's loop writes its answers to."""

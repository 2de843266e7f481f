"""Isolation level `wasm`: agents run in a Python compiled to WebAssembly, which counts fuel."""

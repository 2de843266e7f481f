"""The kinds of players: `registry` lists and builds them, each has its own module.

This file imports nothing: each agent's process imports the package, and loads only the modules of
its own kind.
"""

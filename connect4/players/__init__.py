"""The kinds of players: `registry` lists them, `building` creates them, each has its own module.

Nothing is imported here. An agent's process begins by importing this package, and it loads only the
modules of its own kind.
"""

"""Who can sit at the table: kinds in `registry`, made by `building`, each in a module of its own.

Nothing is imported here: an agent's process begins by importing this package, and loads no more
than its own kind needs.
"""

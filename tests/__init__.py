"""The tests; `tests/data` holds what they read."""

"""The results file (SQLite)."""

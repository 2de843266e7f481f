"""Reproducible figures: each a command, each a ratio measured side by side in one run."""

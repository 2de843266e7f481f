"""Reproducible figures: each is a command, and each ratio is measured side by side in one run."""

"""The game in a window (tkinter)."""

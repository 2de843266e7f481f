"""Analyse the cost of each move of a finished game (`python3 -m connect4.analysis`)."""

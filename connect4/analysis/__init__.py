"""Analyse what each move of a finished game cost (`python3 -m connect4.analysis`)."""

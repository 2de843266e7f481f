"""A game as one HTML file (`python3 -m connect4.views.page`)."""

"""A search tree as one HTML file (`python3 -m connect4.views.tree`)."""

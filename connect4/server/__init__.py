"""The game server of Dynamic Connect-4 (`python3 -m connect4.server`)."""

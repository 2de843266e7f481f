"""The page that shows and plays games in a browser, and the server behind it."""

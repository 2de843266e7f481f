"""Which games are played, and how."""

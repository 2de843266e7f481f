"""Is no Python."""

class AIPlayer
    pass

"""The value of games: points, intervals, tournaments, comparisons."""

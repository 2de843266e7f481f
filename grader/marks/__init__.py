"""What games are worth: points, intervals, tournaments, comparisons."""

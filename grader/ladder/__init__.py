"""The ladder: ratings of every version that a class hands in over a term, and their site."""

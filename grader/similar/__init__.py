"""Screening for copies: pairs of submissions that share more than the assignment explains."""

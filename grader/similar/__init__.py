"""The look for copies: pairs of submissions that share more than the task explains."""

"""Run an agent behind a seat: in a separate process, which is timed, limited and killed."""

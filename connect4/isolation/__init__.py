"""Run an agent behind a seat: in its own process, timed, limited and killed."""

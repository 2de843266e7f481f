"""An agent behind a seat: in a process of its own, timed, limited and killed."""

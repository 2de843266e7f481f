"""The self-proof of a machine: what it guarantees when agents run on it."""

"""The self-test of a machine: what it guarantees when agents run on it."""

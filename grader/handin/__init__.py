"""What students hand in: found, unpacked, its form judged."""

"""Schedules and plays the games."""

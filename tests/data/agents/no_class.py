"""Defines no AIPlayer."""


class MyPlayer:
    pass

"""Imports a module that is not there."""

import a_module_of_my_laptop


class AIPlayer:
    pass

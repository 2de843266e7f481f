"""Imports desktop and network modules without using them."""

import asyncio
import http.client
import multiprocessing
import socket
import sqlite3
import ssl
import subprocess
import urllib.request
import webbrowser
import ctypes
import tempfile
import email

from connect4.utils import get_valid_actions


try:
    import curses
    import tkinter
except ImportError:  # not every Python has them
    pass


class AIPlayer:
    def __init__(self, player_number, time):
        self.player_number = player_number

    def get_intelligent_move(self, state):
        return get_valid_actions(self.player_number, state)[0]

"""The command `python3 -m connect4.server`."""

from connect4 import entry  # first: it speaks for the imports below

# isort: split
import sys

from connect4.server.relay import main

entry.ready()
sys.exit(main())

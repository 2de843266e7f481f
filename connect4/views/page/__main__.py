"""Run the command `python3 -m connect4.views.page`."""

from connect4 import entry  # first: it handles errors of the imports below

# isort: split
import sys

from connect4.views.page.page import main

entry.ready()
sys.exit(main())

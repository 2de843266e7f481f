"""Runs a file with the checkout on the path: `python3 -m tests.run_file FILE [ARGUMENT ...]`."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")

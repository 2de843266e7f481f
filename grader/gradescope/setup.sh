#!/usr/bin/env bash
# Gradescope runs this once, when the autograder's image is built.
set -euo pipefail
apt-get update
apt-get install -y python3 python3-venv bubblewrap
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "the kit needs Python 3.11 or newer: choose Ubuntu 24.04 as the base image" >&2
    exit 1
}
python3 -m venv /opt/connect4
/opt/connect4/bin/pip install numpy tabulate

#!/usr/bin/env bash
# Gradescope runs this once, when the autograder's image is built.
set -euo pipefail
apt-get update
apt-get install -y python3 python3-venv bubblewrap
python3 -m venv /opt/connect4
/opt/connect4/bin/pip install numpy tabulate

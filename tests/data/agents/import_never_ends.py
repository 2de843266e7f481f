"""Is never loaded."""

import time

while True:
    time.sleep(1)

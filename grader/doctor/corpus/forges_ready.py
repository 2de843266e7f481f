"""Reports that it is ready while it is still being loaded."""

import os
import time

for descriptor in range(64):
    try:
        os.write(descriptor, b'{"ready": true}\n')
    except OSError:
        pass
time.sleep(3600)

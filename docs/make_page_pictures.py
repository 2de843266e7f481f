"""Picture pages at three widths in both themes: `PYTHONPATH=. python3 docs/make_page_pictures.py`.

`... FOLDER PAGE.html...` writes PAGE-1400-light.png and so on into FOLDER, to look at before and
after a change; `PAGE.html#1.24` is pictured at that place. Needs Chromium.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.browser import PHONE, Browser, NoBrowserError

SIZES = {"1400": (1400, 1000), "800": (800, 1100), "phone": PHONE}

STILL = "return document.getAnimations().every((motion) => motion.playState !== 'running')"


def main() -> int:
    """Make the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description="Picture pages at three widths in both themes.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the pictures go")
    parser.add_argument("pages", metavar="PAGE", nargs="+", help="an HTML file, with or without #")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    try:
        browser = Browser()
    except NoBrowserError as reason:
        print(f"no pictures: {reason}", file=sys.stderr)
        return 1
    try:
        for page in arguments.pages:
            name, mark, fragment = page.partition("#")
            for width, size in SIZES.items():
                for theme in ("light", "dark"):
                    browser.open(Path(name), mark + fragment, size, theme == "dark")
                    browser.wait(STILL)
                    picture = arguments.folder / f"{Path(name).stem}-{width}-{theme}.png"
                    browser.screenshot(picture)
                    print(picture)
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A real Chromium for the tests of the pages, watched for errors and for requests."""

import importlib.util
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

WIDE = (1280, 900)
PHONE = (390, 844)

FRAME = "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done));"
"""Waits until the page has been painted and has done what it left for after that."""


class NoBrowserError(RuntimeError):
    """This machine has no Chromium that can be driven; the text names what to install."""


STILL = "return document.getAnimations().every((motion) => motion.playState !== 'running')"
"""Returns whether nothing on the page is moving any more."""


def find_programs() -> tuple[str, str]:
    """Return the paths of Chromium and its driver; raises `NoBrowserError`."""
    if importlib.util.find_spec("selenium") is None:
        raise NoBrowserError("no selenium (pip install selenium) to drive a browser")
    found = []
    for names in (("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)):
        paths = [path for name in names if (path := shutil.which(name))]
        if not paths:
            raise NoBrowserError(f"no {names[0]} here (apt-get install chromium chromium-driver)")
        found.append(paths[0])
    return found[0], found[1]


class Browser:
    """One headless Chromium; `open` gives it a page, `assert_quiet` checks what it must not do."""

    def __init__(self) -> None:
        """Start it; raises `NoBrowserError`."""
        chromium, driver = find_programs()
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in (
            "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
            "disable-background-networking", "disable-component-update", "disable-sync",
            "force-device-scale-factor=1", "hide-scrollbars", f"user-data-dir={self._folder.name}",
        ):  # fmt: skip
            options.add_argument(f"--{argument}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self._address = ""

    def resize(self, size: tuple[int, int] = WIDE, dark: bool = False) -> None:
        """Give the window a size, and the system a theme."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics, mobile=size[0] < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def open(
        self, file: Path, fragment: str = "", size: tuple[int, int] = WIDE, dark: bool = False
    ) -> None:
        """Open a file at a window size; what earlier pages left behind is forgotten."""
        self.run("window.name = ''")
        self.driver.get("about:blank")
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.resize(size, dark)
        self._address = file.resolve().as_uri()
        self.driver.get(self._address + fragment)
        self.driver.execute_async_script(FRAME)

    def devtools(self, command: str, **arguments: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element of a CSS selector; fails where there is none."""
        return self.driver.find_element("css selector", selector)

    def find_all(self, selector: str) -> list[Any]:
        """Return all elements of a CSS selector."""
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    def text(self, selector: str) -> str:
        """Return the shown text of an element."""
        return str(self.find(selector).text)

    def press(self, *keys: str, on: str = "body") -> None:
        """Press keys while the element `on` has the focus."""
        for key in keys:
            self.find(on).send_keys(key)

    def wait(self, script: str) -> None:
        """Wait until a script returns something true."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60, 0.05).until(lambda driver: driver.execute_script(script))

    def screenshot(self, file: Path) -> None:
        """Write what the window shows as PNG."""
        assert self.driver.save_screenshot(str(file))

    def assert_quiet(self, shared: Path | None = None) -> None:
        """Check that since `open` nothing went to the console and no request left the page.

        `shared` is the folder of the files that the page may load.
        """
        assert self.driver.get_log("browser") == []
        messages = [json.loads(row["message"]) for row in self.driver.get_log("performance")]
        requests = {
            message["message"]["params"]["request"]["url"]
            for message in messages
            if message["message"]["method"] == "Network.requestWillBeSent"
        }
        allowed = {self._address, "data:,"}
        if shared is not None:
            allowed |= {path.as_uri() for path in shared.iterdir()}
        assert requests <= allowed, requests

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()
        self._folder.cleanup()

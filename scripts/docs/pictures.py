"""Takes the pictures of the page that the documentation shows: `python scripts/docs/pictures.py`.

It needs Chromium, and serves the page itself. Look at what it took before you commit it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE, NARROW = {"width": 1440, "height": 1240}, {"width": 390, "height": 1100}
SHOTS = {  # what is shown, how wide, in which colours, and what must be there before the picture is taken
    "page.png": ("#example=mixed&at=7", WIDE, "light", ".chip.read"),
    "page-dark.png": ("#example=mixed&at=7", WIDE, "dark", ".chip.read"),
    "page-phone.png": ("#example=giving&at=4", NARROW, "light", ".chip.read"),
    "page-race.png": ("#example=race", {"width": 1440, "height": 860}, "light", ".lanes"),
}
RACE_MS = 60_000


@contextmanager
def served() -> Iterator[str]:
    """The address of a server with the default model."""
    line = [sys.executable, "-m", "amn", "serve", "--port", "0", "--store", "memory:"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        try:
            assert found is not None
            yield found[0]
        finally:
            process.kill()


def take(browser: Any, address: str, name: str) -> None:
    """Takes one picture."""
    path, size, scheme, awaited = SHOTS[name]
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/{path}")
    page.locator(awaited).first.wait_for(timeout=RACE_MS)
    page.screenshot(path=IMAGES / name)
    context.close()


def main() -> None:
    """Takes all of them."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name in SHOTS:
            take(browser, address, name)


if __name__ == "__main__":
    main()

"""Takes the pictures of the page that the documentation shows: `python scripts/docs/pictures.py`.

It needs Chromium, and serves the page itself. Look at what it took before you commit it. With a folder it takes every
view there instead, in three widths, light and dark: to be looked at after a change of the page.
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
from urllib.parse import urlencode

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE, NARROW = {"width": 1440, "height": 1290}, {"width": 390, "height": 1100}
SHOTS = {  # what is shown, how wide, in which colours, and what must be there before the picture is taken
    "page.png": ("#example=mixed&at=7", WIDE, "light", ".chip.read"),
    "page-dark.png": ("#example=mixed&at=7", WIDE, "dark", ".chip.read"),
    "page-phone.png": ("#example=giving&at=4", NARROW, "light", ".chip.read"),
    "page-race.png": ("#example=race", {"width": 1440, "height": 860}, "light", ".lanes"),
}
STORY, ASKED = "Mary went to the garden. John met her there.", "Where is John?"
EXAMPLES = "names mixed list unknown path counting time either giving long".split()
VIEWS = {  # every view: its path, and what must be there before the picture is taken
    **{name: (f"#example={name}", ".chip") for name in EXAMPLES},
    "race": ("#example=race", ".lanes"),
    "back": ("#example=mixed&at=3", ".chip.read"),
    "start": ("#example=giving&at=0", ".track"),
    "one": (f"#{urlencode({'story': STORY, 'ask': ASKED})}", ".chip"),
    "guess": (f"#{urlencode({'story': STORY, 'ask': ASKED, 'model': 'qa1', 'at': 1})}", ".chip"),
    "empty": ("#story=", "#story-error"),
    "wrong": (f"#{urlencode({'story': STORY, 'ask': '???'})}", ".asked .error"),
    "docs": ("docs", "h2 code"),
}
WIDTHS = (1440, 820, 390)
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


def take(
    browser: Any, address: str, path: str, file: Path, awaited: str, *, whole: bool = False, **options: Any
) -> None:
    """Takes one picture, of the whole page where that is wanted."""
    context = browser.new_context(reduced_motion="reduce", **options)
    page = context.new_page()
    page.goto(f"{address}/{path}")
    page.locator(awaited).first.wait_for(timeout=RACE_MS)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file, full_page=whole)
    context.close()


def take_every(browser: Any, address: str, folder: Path) -> None:
    """Takes every view in every width, light and dark."""
    for name, (path, awaited) in VIEWS.items():
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                size, file = {"width": width, "height": 900}, folder / f"{name}-{width}-{scheme}.png"
                take(browser, address, path, file, awaited, whole=True, viewport=size, color_scheme=scheme)


def main(folder: str | None = None) -> None:
    """Takes those of the documentation, or every view into a folder."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        if folder is not None:
            take_every(browser, address, Path(folder))
            return
        for name, (path, size, scheme, awaited) in SHOTS.items():
            take(browser, address, path, IMAGES / name, awaited, viewport=size, color_scheme=scheme)


if __name__ == "__main__":
    main(*sys.argv[1:])

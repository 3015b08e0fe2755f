"""The documentation: links lead somewhere, no picture lies unused, and the site builds with its references."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from amn.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
TARGET = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
GENERATED = {DOCS / "tutorial.md", DOCS / "reference" / "cli.md", DOCS / "reference" / "http.md"}  # by scripts/docs


def targets(page: Path) -> set[Path]:
    """The files of this repository that a page links to or shows."""
    found = (first or second for first, second in TARGET.findall(FENCE.sub("", page.read_text(encoding="utf-8"))))
    local = (link.partition("#")[0] for link in found if not re.match(r"[a-z]+:", link))
    return {(page.parent / link).resolve() for link in local if link}


def test_every_relative_link_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in sorted(targets(page))
        if not target.exists() and target not in GENERATED
    ]
    assert not broken


def test_every_picture_is_shown_by_a_page() -> None:
    shown = set[Path]().union(*map(targets, PAGES))
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    kept = {ROOT / line.removeprefix("!") for line in ignored if line.startswith("!")}  # of what a report draws
    assert kept
    assert not (kept | set((DOCS / "images").iterdir())) - shown


def test_the_figure_beside_the_records_is_drawn_from_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts" / "docs")
    picture = import_module("records_picture")
    rows = picture.rows(0.0)
    assert [error for _, error, _ in rows] == sorted(error for _, error, _ in rows)
    assert dict((name, error) for name, error, _ in rows)["AMN, published"] == pytest.approx(2.07, abs=0.005)
    drawn = ElementTree.fromstring("\n".join(picture.drawn(rows)))
    dots = [float(dot.attrib["cx"]) for dot in drawn.iter("{http://www.w3.org/2000/svg}circle")]
    assert dots == sorted(dots) and len(dots) == len(rows)


def test_what_the_report_makes_is_not_kept() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"docs/results/report.html", "docs/results/report.json"} <= set(ignored)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does; any warning, such as of a broken link or anchor, fails."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def words_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_the_references_name_what_the_code_has(site: Path) -> None:
    verbs, routes = words_of(site / "reference" / "cli.html"), words_of(site / "reference" / "http.html")
    assert [verb.name for verb in VERBS if f"amn {verb.name}" not in verbs] == []
    assert "--no-json" not in verbs
    paths = json.loads((site / "reference" / "openapi.json").read_text(encoding="utf-8"))["paths"]
    assert {"/answer", "/memories", "/healthz"} <= paths.keys()
    assert [path for path in paths if f" {path}" not in routes] == []


def test_the_python_reference_names_what_users_import(site: Path) -> None:
    import amn

    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    missing = [name for name in amn._HOMES if not re.search(rf'id="amn\.\w+\.{name}"', page)]
    assert missing == []
    assert 'id="amn.api.QA.__call__"' in page


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"<(?:script|img|link)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]+")
    assert [page.name for page in site.rglob("*.html") if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_no_page_is_wider_than_a_phone_and_every_picture_is_there(site: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium found; set CHROMIUM to its path")
    problems: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
        tab.on("pageerror", lambda error: problems.append(str(error)))
        for page in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # whose links are those of a server
            tab.goto(page.as_uri())
            too_wide = tab.evaluate("document.documentElement.scrollWidth > innerWidth")
            missing = tab.evaluate("[...document.images].filter(one => !one.naturalWidth).map(one => one.src)")
            problems += [f"{page.name}: {problem}" for problem in (["too wide"] if too_wide else []) + missing]
        browser.close()
    assert problems == []

"""What mkdocs makes besides the pages of docs/: references from the code, and the tutorial from its notebook.

Links that leave docs/ lead to the repository where `repo_url` is set in mkdocs.yml; else their text stays.
"""

import json
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebook import notebook_page
from openapi import http_page, openapi_document

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = "notebooks/tutorial.ipynb"
COPIED = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")

_CELL_CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>[^\n]*</td>)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    sys.path.insert(0, str(ROOT / "src"))
    notebook = json.loads((Path(config.docs_dir) / NOTEBOOK).read_text(encoding="utf-8"))
    schema = openapi_document()
    made = {
        "tutorial.md": notebook_page(notebook, NOTEBOOK),
        "reference/cli.md": command_line_page(),
        "reference/http.md": http_page(schema),
        "reference/openapi.json": json.dumps(schema, indent=1),
        **{page: (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](") for name, page in COPIED.items()},
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Files) -> str:
    """Turns links that leave docs/ into links to the copied page, or to the repository, or into their text."""

    def changed(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        folder = posixpath.dirname(page.file.src_uri)
        path = posixpath.normpath(posixpath.join("docs", folder, target))
        if path.startswith("docs/"):
            return link[0]
        if path in COPIED:
            return f"[{text}]({posixpath.relpath(COPIED[path], folder or '.')}{anchor})"
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{path}{anchor})" if config.repo_url else text

    return _LINK.sub(changed, markdown)


def on_page_content(html: str, **_: Page | MkDocsConfig | Files) -> str:
    """Lets long names in tables break after a dot, an underscore or a colon, and nowhere else."""
    return _CELL_CODE.sub(lambda code: re.sub(r"([._]|::)(?=\w)", r"\1<wbr>", code[0]), html)


def command_line_page() -> str:
    """The help of every verb, as cyclopts writes it."""
    from amn.cli.main import build_app

    text = build_app().generate_docs(output_format="markdown")
    text = re.sub(r"## Table of Contents\n.*?(?=\*\*Commands\*\*)", "", text, flags=re.DOTALL)
    text = re.sub(r"^# amn$", "# Command line", text, count=1, flags=re.MULTILINE)
    return re.sub(r"(`--[\w-]+), --no-[\w-]+`", r"\1`", text)  # flags have no negative form here

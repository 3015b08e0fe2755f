"""A notebook as a page: its text, its code and the output that it was saved with."""

from collections.abc import Iterator
from typing import Any


def notebook_page(notebook: dict[str, Any], path: str) -> str:
    """The Markdown of a notebook.

    Args:
        notebook: the document.
        path: where readers find the notebook itself.
    """
    blocks = [block for cell in notebook["cells"] for block in _cell(cell)]
    note = f"!!! tip\n    This page is a notebook that runs: [{path.rpartition('/')[2]}]({path})."
    return "\n\n".join([blocks[0], note, *blocks[1:]]) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        text = "".join(output["text"])
    elif "text/html" in output["data"]:
        return f'<div class="output">{"".join(output["data"]["text/html"])}</div>'
    else:
        text = "".join(output["data"]["text/plain"])
    return f"```{{.text .output}}\n{text.rstrip()}\n```"

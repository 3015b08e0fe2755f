"""The HTTP reference, from the OpenAPI document of the routes."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

Schema = dict[str, Any]
_KINDS = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
}
_BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "to {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
}
_HEAD = """# HTTP

JSON in and out, with the field names of the Python interface. Every error is a problem document (RFC 9457) with one
sentence in `detail`. A running server draws the same at `/docs`, and gives the machine-readable form,
[openapi.json](openapi.json), at `/openapi.json`. How to run one: [Serving](../serving.md).
"""


def openapi_document() -> Schema:
    """The OpenAPI document of all routes."""
    from amn.server import app
    from amn.server.routes import private, public

    return app.openapi_document([*public.routes, *private.routes])


def http_page(document: Schema) -> str:
    """The routes and the shapes of what they take and give."""
    shapes = document["components"]["schemas"]
    routes = [
        _route(path, method, operation, shapes)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    described = [
        _shape(name, shape) for name, shape in sorted(shapes.items()) if not name.endswith(("Body", "Problem"))
    ]
    return "\n\n".join([_HEAD, "## Routes", *routes, "## Shapes", *described]) + "\n"


def _route(path: str, method: str, operation: Schema, shapes: dict[str, Schema]) -> str:
    parts = [f"### {method.upper()} {path}", operation["description"]]
    query = [parameter for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]
    if query:
        needed = [parameter["name"] for parameter in query if parameter["required"]]
        parts.append(_table("query", ((one["name"], one["schema"]) for one in query), needed))
    sample = None
    if "requestBody" in operation:
        shape = shapes[_name(operation["requestBody"]["content"]["application/json"]["schema"])]
        parts.append(_table("body", shape["properties"].items(), shape.get("required", ())))
        sample = _sample(shape)
    parts.append(_curl(path, method.upper(), sample, query))
    replies = (f"| {code} | {_reply(code, reply)} |" for code, reply in sorted(operation["responses"].items()))
    return "\n\n".join([*parts, "\n".join(["| reply | |", "|---|---|", *replies])])


def _table(title: str, fields: Iterable[tuple[str, Schema]], needed: Iterable[str]) -> str:
    rows = (f"| `{name}` | {_kind(field)} | {_notes(field, name in set(needed))} |" for name, field in fields)
    return "\n".join([f"| {title} | | |", "|---|---|---|", *rows])


def _shape(name: str, shape: Schema) -> str:
    fields = shape["properties"].items()
    rows = (f"| `{key}` | {_kind(field)} | {field.get('description', '')} |" for key, field in fields)
    return "\n".join(
        [f"### {_title(name)}", "", shape.get("description", ""), "", "| field | | |", "|---|---|---|", *rows]
    )


def _curl(path: str, method: str, sample: Schema | None, query: list[Schema]) -> str:
    verb = "" if method == "GET" else f" -X {method}"
    asked = "?" + "&".join(f"{one['name']}={one['schema'].get('default', 1)}" for one in query) if query else ""
    data = "" if sample is None else f" \\\n  -H 'content-type: application/json' -d '{json.dumps(sample)}'"
    return f"```sh\ncurl{verb} 'http://127.0.0.1:8000{path}{asked}'{data}\n```"


def _sample(shape: Schema) -> Schema:
    """A body with the fields that are needed."""
    return {name: _example(shape["properties"][name]) for name in shape.get("required", ())}


def _example(field: Schema) -> Any:
    if "examples" in field:
        return field["examples"][0]
    if "anyOf" in field:
        return _example(field["anyOf"][0])
    return [_example(field["items"])] if field.get("type") == "array" else field.get("default", "")


def _kind(field: Schema) -> str:
    """What a field holds, in words; shapes are linked."""
    if "$ref" in field:
        title = _title(_name(field))
        return f"[{title}](#{title.lower()})"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(map(_kind, field["anyOf"])))
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    if field.get("additionalProperties"):
        return f"map of text to {_kind(field['additionalProperties'])}"
    return _KINDS[field["type"]]


def _notes(field: Schema, needed: bool) -> str:
    parts = [field, *field.get("anyOf", ())]
    told = [*_bounds(parts), *(part["description"] for part in parts if "description" in part)]
    return "; ".join([*([] if needed else ["optional"]), *told])


def _bounds(parts: Iterable[Schema]) -> Iterator[str]:
    for part in parts:
        for name, text in _BOUNDS.items():
            if name in part:
                yield text.format(f"{part[name]:g}" if part[name] < 1e6 else part[name])


def _reply(code: str, reply: Schema) -> str:
    """What a reply says and holds; every refusal holds the same, as the head of the page says."""
    told = reply["description"].replace("Successful Response", "Done").removesuffix(".")
    if code >= "400":
        return told
    kinds = [
        _kind(content["schema"]) if kind == "application/json" and content.get("schema") else f"`{kind}`"
        for kind, content in reply.get("content", {}).items()
    ]
    return f"{told}: {' or '.join(kinds)}" if kinds else told


def _name(field: Schema) -> str:
    return field["$ref"].rpartition("/")[2]


def _title(name: str) -> str:
    return name.removesuffix("Out")

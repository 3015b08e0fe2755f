"""Errors as problem documents (RFC 9457), each with one sentence that helps."""

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from amn.errors import AMNError
from amn.server.batching import BusyError
from amn.server.service import UnknownModelError
from amn.server.story_parser import FieldError
from amn.store.memories import ConflictError, FullError, MissingMemoryError, StoreError, StoreFullError

PROBLEM_JSON = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    401: "A token is required",
    403: "This origin may not change anything",
    404: "Not found",
    405: "Method not allowed",
    408: "The request did not arrive in time",
    409: "The memory cannot take the sentences",
    413: "The body is too large",
    421: "This server has another name",
    422: "A field is invalid",
    429: "The server is full or busy",
    500: "The server failed",
    503: "The store of memories cannot be reached",
    507: "The store of memories is full",
}
_SENTENCES = {
    400: "The body cannot be read: send JSON in UTF-8.",
    404: "There is nothing at this path; /docs lists all paths.",
    405: "This path does not allow that method; /docs lists those it allows.",
}
_FRAMEWORK_DETAILS = ("Not Found", "Method Not Allowed", "There was an error parsing the body")
_OTHER_TYPE = ("string_type", "list_type")
_WANTED = {
    "string_pattern_mismatch": "expected text with a word in it, found none",
    "string_type": "expected text",
    "list_type": "expected a list",
    "too_short": "expected at least one, found none",
}


def problem(status: int, detail: str, field: str | None = None) -> bytes:
    """A problem document as JSON: what is wrong, with which field if it is one, and what would help."""
    text = detail if detail.endswith(".") else f"{detail}."
    found = {
        "type": f"/docs#{status}",
        "title": _TITLES.get(status, "The request failed"),
        "status": status,
        "detail": text,
    }
    return json.dumps(found if field is None else {**found, "field": field}).encode()


def responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for the OpenAPI schema."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {code: {"description": _TITLES[code], "content": {PROBLEM_JSON: schema}} for code in codes}


def add_handlers(app: FastAPI) -> None:
    """Makes an application answer with a problem document, whatever the error."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    for kind in (AMNError, BusyError, Exception):
        app.add_exception_handler(kind, _failed)


def _reply(
    status: int,
    detail: str,
    *,
    field: str | None = None,
    retry_after: float | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    further = {} if retry_after is None else {"retry-after": str(max(1, round(retry_after)))}
    return Response(problem(status, detail, field), status, {**(headers or {}), **further}, PROBLEM_JSON)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = list(error.errors())
    if (errors[0]["type"], errors[0]["loc"]) == ("missing", ("body",)):
        return _reply(400, "The body is empty: send a JSON object.")
    if errors[0]["type"] == "json_invalid":
        where = f"{errors[0]['ctx']['error']} at character {errors[0]['loc'][-1]}"
        return _reply(400, f"The body is not JSON: {where}.")
    return _reply(422, describe(errors), field=_field(errors[0]))


def describe(errors: list[dict[str, Any]]) -> str:
    """One sentence about the first invalid field."""
    field = _field(errors[0])
    tried = [error for error in errors if _field(error) == field]
    # Where text or a list is expected and one was sent, errors about the other do not help.
    found = [error for error in tried if error["type"] not in _OTHER_TYPE] or tried
    wanted = (_WANTED.get(error["type"]) or str(error["msg"]) for error in found)
    return f"{field}: {', or '.join(dict.fromkeys(wanted))}."


def _field(error: dict[str, Any]) -> str:
    """The name of the field, without items in it or the types that were tried."""
    place = error["loc"]
    return str(place[1]) if len(place) > 1 else "body"


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    generic = error.detail in _FRAMEWORK_DETAILS
    detail = _SENTENCES.get(error.status_code, error.detail) if generic else error.detail
    headers = {"allow": _allowed(request)} if error.status_code == 405 else dict(error.headers or {})
    return _reply(error.status_code, detail, headers=headers)


def _allowed(request: Request) -> str:
    """The methods of a path; FastAPI names only those of its first route."""
    for path, methods in request.app.openapi()["paths"].items():
        if compile_path(path)[0].match(request.url.path):
            return ", ".join(method.upper() for method in methods)
    return "GET, HEAD"


async def _failed(_: Request, error: Exception) -> Response:
    retry_after: float | None = None
    match error:
        case BusyError():
            return _reply(429, "The server is busy; try again in a second.", retry_after=1)
        case UnknownModelError() | MissingMemoryError():
            status = 404
        case StoreFullError():
            status, retry_after = 507, error.seconds
        case FullError():
            status, retry_after = 409 if error.seconds is None else 429, error.seconds
        case ConflictError():
            status = 409
        case StoreError():
            status, retry_after = 503, 1.0
        case AMNError():
            status = 422
        case _:
            return _reply(500, "The server failed; its log says where.")
    field = error.field if isinstance(error, FieldError) else None
    return _reply(status, str(error), field=field, retry_after=retry_after)

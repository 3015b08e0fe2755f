"""How failures are told: every one is a problem document (RFC 9457) with one helpful sentence."""

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
from amn.server.work import FieldError
from amn.store.memories import ConflictError, FullError, MissingMemoryError, StoreError, StoreFullError

PROBLEM_JSON = "application/problem+json"
_TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This page may not do that",
    404: "There is no such thing",
    405: "There is no such method",
    408: "The request did not arrive in time",
    409: "The memory does not take it",
    413: "The body is too big",
    421: "This is another server",
    422: "A field is wrong",
    429: "The server is full or busy",
    500: "The server failed",
    503: "The store of memories cannot be reached",
    507: "The store of memories is full",
}
_SENTENCES = {
    400: "The body cannot be read: send JSON in UTF-8.",
    404: "There is nothing at this address; /docs lists what there is.",
    405: "This address does not take that method; /docs lists what it takes.",
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
    """A problem document, as JSON: one sentence that says what is wrong, with which field, and what would help."""
    text = detail if detail.endswith(".") else f"{detail}."
    found = {"type": f"/docs#{status}", "title": _TITLES.get(status, "It failed"), "status": status, "detail": text}
    return json.dumps(found if field is None else {**found, "field": field}).encode()


def responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The ways in which a route may refuse, for the schema."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {code: {"description": _TITLES[code], "content": {PROBLEM_JSON: schema}} for code in codes}


def add_handlers(app: FastAPI) -> None:
    """Tells an application how to tell failures."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(AMNError, _not_taken)
    app.add_exception_handler(BusyError, _busy)
    app.add_exception_handler(Exception, _fault)


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
        return _reply(400, "The body holds nothing: send a JSON object.")
    if errors[0]["type"] == "json_invalid":
        where = f"{errors[0]['ctx']['error']} at character {errors[0]['loc'][-1]}"
        return _reply(400, f"The body is not JSON: {where}.")
    return _reply(422, describe(errors), field=_field(errors[0]))


def describe(errors: list[dict[str, Any]]) -> str:
    """One sentence for what is wrong with the first wrong field."""
    field = _field(errors[0])
    tried = [error for error in errors if _field(error) == field]
    # Of what may be text or a list, the other one is no help to whoever sent one of them.
    found = [error for error in tried if error["type"] not in _OTHER_TYPE] or tried
    wanted = (_WANTED.get(error["type"]) or str(error["msg"]) for error in found)
    return f"{field}: {', or '.join(dict.fromkeys(wanted))}."


def _field(error: dict[str, Any]) -> str:
    """The name of the field, without what lies in it or which types of it were tried."""
    place = error["loc"]
    return str(place[1]) if len(place) > 1 else "body"


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    generic = error.detail in _FRAMEWORK_DETAILS
    detail = _SENTENCES.get(error.status_code, error.detail) if generic else error.detail
    headers = {"allow": _allowed(request)} if error.status_code == 405 else dict(error.headers or {})
    return _reply(error.status_code, detail, headers=headers)


def _allowed(request: Request) -> str:
    """The methods of an address; the framework names only those of the first route that has it."""
    for path, methods in request.app.openapi()["paths"].items():
        if compile_path(path)[0].match(request.url.path):
            return ", ".join(method.upper() for method in methods)
    return "GET, HEAD"


async def _not_taken(_: Request, error: Exception) -> Response:
    retry_after: float | None = None
    match error:
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
        case _:
            status = 422
    field = error.field if isinstance(error, FieldError) else None
    return _reply(status, str(error), field=field, retry_after=retry_after)


async def _busy(_: Request, __: Exception) -> Response:
    return _reply(429, "The server is busy; try again in a second.", retry_after=1)


async def _fault(_: Request, __: Exception) -> Response:
    return _reply(500, "The server failed; its log says where.")

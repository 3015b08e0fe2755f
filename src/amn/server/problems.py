"""How failures are told: every one is a JSON object with one helpful sentence."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from amn.errors import AMNError
from amn.server.batching import BusyError
from amn.server.memories import FullError
from amn.server.service import UnknownModelError

_SENTENCES = {
    400: "The body cannot be read: send JSON in UTF-8.",
    404: "There is nothing at this address; /docs lists what there is.",
    405: "This address does not take that method; /docs lists what it takes.",
}
_FRAMEWORK_DETAILS = ("Not Found", "Method Not Allowed", "There was an error parsing the body")


def add_handlers(app: FastAPI) -> None:
    """Tells an application how to tell failures."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(UnknownModelError, _unknown_model)
    app.add_exception_handler(AMNError, _not_understood)
    app.add_exception_handler(BusyError, _busy)
    app.add_exception_handler(FullError, _full)
    app.add_exception_handler(Exception, _fault)


def _problem(status: int, detail: str, retry_after: float | None = None) -> JSONResponse:
    headers = {} if retry_after is None else {"retry-after": str(max(1, round(retry_after)))}
    return JSONResponse({"detail": detail if detail.endswith(".") else f"{detail}."}, status, headers)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _problem(422, describe(list(error.errors())))


def describe(errors: list[dict[str, Any]]) -> str:
    """One sentence for what is wrong with the first wrong field."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"The body is not JSON: {first['ctx']['error']} at character {first['loc'][-1]}."
    field = _field(first)
    wanted = dict.fromkeys(str(error["msg"]) for error in errors if _field(error) == field)
    return f"{field}: {', or '.join(wanted)}."


def _field(error: dict[str, Any]) -> str:
    """The name of the field, without what lies in it or which types of it were tried."""
    place = error["loc"]
    return str(place[1]) if len(place) > 1 else "body"


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    generic = error.detail in _FRAMEWORK_DETAILS
    detail = _SENTENCES.get(error.status_code, error.detail) if generic else error.detail
    headers = {"allow": _allowed(request)} if error.status_code == 405 else error.headers
    return JSONResponse({"detail": detail}, error.status_code, headers)


def _allowed(request: Request) -> str:
    """The methods of an address; the framework names only those of the first route that has it."""
    for path, methods in request.app.openapi()["paths"].items():
        if compile_path(path)[0].match(request.url.path):
            return ", ".join(method.upper() for method in methods)
    return "GET, HEAD"


async def _unknown_model(_: Request, error: Exception) -> JSONResponse:
    return _problem(404, str(error))


async def _not_understood(_: Request, error: Exception) -> JSONResponse:
    return _problem(422, str(error))


async def _busy(_: Request, __: Exception) -> JSONResponse:
    return _problem(429, "The server is busy; try again in a second.", 1)


async def _full(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FullError)
    return _problem(409 if error.seconds is None else 429, str(error), error.seconds)


async def _fault(_: Request, __: Exception) -> JSONResponse:
    return _problem(500, "The server failed; its log says where.")

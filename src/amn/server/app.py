"""The application: routes, pages, middleware and error handlers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.routing import BaseRoute

from amn import __version__
from amn.pretrained import DEFAULT_MODEL
from amn.server.access import Hosts
from amn.server.events import Events
from amn.server.guards import Guard
from amn.server.limits import Limits
from amn.server.problems import PROBLEM_JSON, add_handlers
from amn.server.routes import private, public
from amn.server.schemas import Problem, describe_answers
from amn.server.service import Service
from amn.store.memories import MemoryStore, open_store

WEB = Path(str(files("amn") / "web"))
_DESCRIPTION = "Question answering that sorts what it reads by relevance and reads only what matters."


def create_app(
    model: str = DEFAULT_MODEL,
    *,
    limits: Limits | None = None,
    tokens: Sequence[str] = (),
    store: str | MemoryStore = "memory:",
    hosts: Hosts | None = None,
) -> FastAPI:
    """The application that serves a model.

    Args:
        model: a shipped name, or a directory.
        limits: the limits; by default those of `Limits`.
        tokens: the tokens that give access, each to the memories opened with it; none to admit everybody.
        store: where memories are kept: a store, or its URL.
        hosts: the host names of the server; by default those of this machine only.
    """
    limits = limits or Limits()
    kept = open_store(store, limits.store_bytes) if isinstance(store, str) else store
    service = Service(model, limits, kept, len(tokens))
    app = FastAPI(
        title="amn",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,  # the names of functions in generated clients
    )
    app.state.service, app.state.events, app.state.tokens = service, Events(service), tuple(tokens)
    app.include_router(private, dependencies=[Depends(HTTPBearer(auto_error=False))] if tokens else [])
    app.include_router(public)
    _add_pages(app)
    add_handlers(app)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    app.add_middleware(Guard, limits=limits, metrics=service.metrics, hosts=hosts or Hosts())
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(app.state.service.close)


def _openapi(app: FastAPI) -> dict[str, Any]:
    app.openapi_schema = app.openapi_schema or openapi_document(app.routes)
    return app.openapi_schema


def openapi_document(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """The OpenAPI schema, without the validation errors of FastAPI, which this server never sends."""
    found = get_openapi(title="amn", version=__version__, description=_DESCRIPTION, routes=routes)
    schemas = found["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = Problem.model_json_schema()
    describe_answers(schemas)
    for shape in schemas.values():  # an example from those of its fields
        shape["examples"] = [{name: part["examples"][0] for name, part in shape["properties"].items()}]
    for operation in (operation for methods in found["paths"].values() for operation in methods.values()):
        for reply in operation["responses"].values():
            if PROBLEM_JSON in reply.get("content", {}):
                reply["content"].pop("application/json", None)
    return found


def _add_pages(app: FastAPI) -> None:
    """Adds the page and the documentation of the interface."""
    app.mount("/static", StaticFiles(directory=WEB))
    for path, name in {"/": "index.html", "/docs": "docs.html"}.items():
        app.add_api_route(path, partial(_page, name), methods=["GET", "HEAD"], include_in_schema=False)


async def _page(name: str) -> FileResponse:
    return FileResponse(WEB / name, headers={"cache-control": "no-cache"})

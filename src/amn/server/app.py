"""The application: routes, page, guards, and how failures are told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles

from amn import __version__
from amn.pretrained import DEFAULT_MODEL
from amn.server.guards import Guard
from amn.server.limits import Limits
from amn.server.problems import add_handlers
from amn.server.routes import private, public
from amn.server.service import Service

WEB = Path(str(files("amn") / "web"))
_DESCRIPTION = "Question answering that sorts what it reads by relevance and reads only what matters."


def create_app(model: str = DEFAULT_MODEL, *, limits: Limits | None = None, tokens: Sequence[str] = ()) -> FastAPI:
    """The application for a model.

    Args:
        model: a shipped name, or a directory.
        limits: the bounds; the default ones if left out.
        tokens: whoever sends one of these may ask, and sees the memories opened with it; none lets everybody in.
    """
    limits = limits or Limits()
    service = Service(model, limits, len(tokens))
    app = FastAPI(
        title="amn", version=__version__, description=_DESCRIPTION, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.service, app.state.tokens = service, tuple(tokens)
    app.include_router(public)
    app.include_router(private, dependencies=[Depends(HTTPBearer(auto_error=False))] if tokens else [])
    _add_pages(app)
    add_handlers(app)
    app.add_middleware(Guard, limits=limits, metrics=service.metrics)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await asyncio.to_thread(app.state.service.inference.close)


def _add_pages(app: FastAPI) -> None:
    """The page and the documentation; both are files of this package and load nothing else."""
    app.mount("/static", StaticFiles(directory=WEB))
    for path, name in {"/": "index.html", "/docs": "docs.html"}.items():
        app.add_api_route(path, partial(_page, name), methods=["GET", "HEAD"], include_in_schema=False)


async def _page(name: str) -> FileResponse:
    return FileResponse(WEB / name, headers={"cache-control": "no-cache"})

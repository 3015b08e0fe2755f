"""The verb that serves models over HTTP, with the page."""

import os
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

from amn.cli.output import note
from amn.errors import AMNError, MissingExtraError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from fastapi import FastAPI

TOKEN_VARIABLE = "AMN_TOKEN"


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str = DEFAULT_MODEL,
    token: tuple[str, ...] = (),
    batch: int = 32,
    memories: int = 1000,
    memory_seconds: float = 900.0,
    body_bytes: int = 1 << 20,
    threads: int = 1,
    log: bool = False,
) -> None:
    """Serve the HTTP interface and the web page, on this machine alone unless --host says otherwise.

    Args:
        host: the address to listen on; 0.0.0.0 for all, which calls for a token.
        port: the port; 0 chooses a free one.
        model: the model that answers where a request names none: a shipped name, or a directory.
        token: let in only who sends this token; may be given several times, and each sees its own memories only. The
            variable AMN_TOKEN is the same for one token, and does not show in the list of processes.
        batch: how many waiting requests are answered in one pass; 1 answers each alone.
        memories: how many live memories there may be.
        memory_seconds: how long an unused memory lives.
        body_bytes: how big the body of a request may be.
        threads: how many threads the model runs in; small models gain nothing from several.
        log: print a line for each request.
    """
    import torch

    try:
        from amn.server.app import create_app
        from amn.server.limits import Limits
    except ImportError as error:
        raise MissingExtraError("serve", "amn serve") from error
    limits = Limits(batch=batch, memories=memories, memory_seconds=memory_seconds, body_bytes=body_bytes)
    tokens = token or tuple(filter(None, [os.environ.get(TOKEN_VARIABLE)]))
    torch.set_num_threads(max(1, threads))
    with _listen(host, port) as listening:
        app = create_app(model, limits=limits, tokens=tokens)
        if not tokens and not _is_loopback(host):
            note("everybody who reaches this machine can use the server: --token keeps it to those who know it")
        _run(app, listening, log)


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, so that a port that is taken is told before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise AMNError(f"cannot listen on {host}, port {port} ({error}); --port chooses another") from error
    # Connections inherit it. Without it the body of a reply waits until its head is acknowledged, 40 ms and more, and
    # asyncio sets it only on sockets that name their protocol, which those of create_server do not.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _run(app: "FastAPI", listening: socket.socket, log: bool) -> None:
    """Serves until it is told to stop, then finishes the requests that it took."""
    import uvicorn

    from amn.server.limits import SHUTDOWN_SECONDS

    host, port = listening.getsockname()[:2]
    note(f"amn serves http://{f'[{host}]' if ':' in host else host}:{port} (the page), /docs lists the interface")
    config = uvicorn.Config(
        app, log_level="info" if log else "warning", access_log=log, timeout_graceful_shutdown=SHUTDOWN_SECONDS
    )
    uvicorn.Server(config).run(sockets=[listening])

"""The verb that serves models over HTTP, with the page."""

import gc
import os
import socket
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from amn.cli.output import note
from amn.cli.prompt import state_file
from amn.errors import AMNError, ConfigError, MissingExtraError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from fastapi import FastAPI

    from amn.server.limits import Limits

TOKEN_VARIABLE = "AMN_TOKEN"
SWITCH_SECONDS = 0.0005  # after which the thread of the model yields to that of the connections


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str = DEFAULT_MODEL,
    store: str | None = None,
    token: tuple[str, ...] = (),
    allow_host: tuple[str, ...] = (),
    insecure: bool = False,
    batch: int = 32,
    memories: int = 100_000,
    resident: int = 1000,
    memory_seconds: float = 2_592_000.0,
    body_bytes: int = 1 << 20,
    connections: int = 1000,
    threads: int = 1,
    log: bool = False,
) -> None:
    """Serve the HTTP interface and the web page, by default for this machine only.

    Args:
        host: the address to listen on; 0.0.0.0 for all, which requires a token.
        port: the port; 0 chooses a free one.
        model: the default model of requests: a shipped name, or a directory.
        store: where live memories are kept: sqlite:///FILE, redis://HOST/DB for several servers, or memory: for RAM
            only. By default a file in the user's state directory.
        token: require this token; may be given several times, and each token has its own memories. The environment
            variable AMN_TOKEN sets one token, and does not show in the list of processes.
        allow_host: another host name of the server, such as that of a proxy; may be given several times.
        insecure: allow access without a token from other machines.
        batch: how many waiting requests are answered in one pass; 1 answers each alone.
        memories: the maximum number of live memories.
        resident: how many of them are kept in RAM; the others are only in the store.
        memory_seconds: how long an unused memory is kept; 30 days by default.
        body_bytes: the maximum size of the body of a request.
        connections: the maximum number of connections.
        threads: the number of threads of the model; small models gain nothing from several.
        log: print a line for each request.
    """
    os.environ["OMP_NUM_THREADS"] = str(max(1, threads))  # read when the libraries are loaded, below
    try:
        from amn.server.access import Hosts, is_loopback
        from amn.server.app import create_app
        from amn.server.limits import Limits
        from amn.store.memories import open_store
    except ImportError as error:
        raise MissingExtraError("serve", "amn serve") from error
    limits = Limits(
        batch=batch,
        memories=memories,
        resident=resident,
        memory_seconds=memory_seconds,
        body_bytes=body_bytes,
        connections=connections,
    )
    tokens = token or tuple(filter(None, [os.environ.get(TOKEN_VARIABLE)]))
    if not tokens and not insecure and not is_loopback(host):
        raise ConfigError(
            f"anyone who can reach {host} could use the server: give a --token, or --insecure to allow that"
        )
    with _listen(host, port) as listening:
        url = store or default_store()
        kept = open_store(url, limits.store_bytes)
        app = create_app(model, limits=limits, tokens=tokens, store=kept, hosts=Hosts(host, allow_host))
        name, number = listening.getsockname()[:2]
        note(f"amn serves http://{f'[{name}]' if ':' in name else name}:{number} (the page); /docs lists the interface")
        note(_kept(url, kept.durable))
        _run(app, listening, limits, log)


def default_store() -> str:
    """A file in the user's state directory."""
    return f"sqlite:///{state_file('memories.db')}"


def _kept(url: str, durable: bool) -> str:
    """A message about where live memories are kept."""
    if url == "memory:":
        return "live memories are kept in RAM only, and end with the server"
    if not durable:
        return "the latest sentences may be lost if Redis crashes: set appendonly yes and appendfsync always"
    password = urlsplit(url).password
    return f"live memories are kept in {url.replace(f':{password}@', ':***@', 1) if password else url}"


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, opened first so that a port in use is reported before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise AMNError(f"cannot listen on {host}, port {port} ({error}); --port chooses another") from error
    # Connections inherit it. Without it the body of a reply waits for the acknowledgement of its head, 40 ms and more;
    # asyncio sets it only on sockets with an explicit protocol, which those of create_server do not have.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _run(app: "FastAPI", listening: socket.socket, limits: "Limits", log: bool) -> None:
    """Serves until stopped, then finishes the requests that were taken."""
    from amn.server.connections import server_for

    sys.setswitchinterval(SWITCH_SECONDS)
    # A full garbage collection takes longer than a deadline allows. What is loaded now stays, and memories have no
    # reference cycles, so full collections are made rare.
    gc.freeze()
    gc.set_threshold(2000, 20, 1000)
    server_for(app, limits, log_level="info" if log else "warning", log_requests=log).run(sockets=[listening])

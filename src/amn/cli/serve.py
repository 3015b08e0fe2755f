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
SWITCH_SECONDS = 0.0005  # how long the thread of the model may keep that of the connections waiting


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
    """Serve the HTTP interface and the web page, on this machine alone unless --host says otherwise.

    Args:
        host: the address to listen on; 0.0.0.0 for all, which calls for a token.
        port: the port; 0 chooses a free one.
        model: the model that answers where a request names none: a shipped name, or a directory.
        store: where live memories are kept: sqlite:///FILE, redis://HOST/DB for several servers, or memory: for none
            that outlives the server. By default a file in the user's state directory.
        token: let in only who sends this token; may be given several times, and each sees its own memories only. The
            variable AMN_TOKEN is the same for one token, and does not show in the list of processes.
        allow_host: a further name that the server goes by, such as that of a proxy; may be given several times.
        insecure: let in everybody who reaches an address that is not this machine's alone.
        batch: how many waiting requests are answered in one pass; 1 answers each alone.
        memories: how many live memories there may be.
        resident: how many of them are in RAM; the others wait in the store.
        memory_seconds: how long an unused memory lives; 30 days by default.
        body_bytes: how big the body of a request may be.
        connections: how many connections there may be.
        threads: how many threads the model runs in; small models gain nothing from several.
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
            f"everybody who reaches {host} could use the server: give a --token, or say --insecure if that is meant"
        )
    with _listen(host, port) as listening:
        url = store or default_store()
        kept = open_store(url, limits.store_bytes)
        app = create_app(model, limits=limits, tokens=tokens, store=kept, hosts=Hosts(host, allow_host))
        name, number = listening.getsockname()[:2]
        note(f"amn serves http://{f'[{name}]' if ':' in name else name}:{number} (the page), /docs lists the interface")
        note(_kept(url, kept.durable))
        _run(app, listening, limits, log)


def default_store() -> str:
    """A file in the user's state directory."""
    return f"sqlite:///{state_file('memories.db')}"


def _kept(url: str, durable: bool) -> str:
    """What becomes of live memories."""
    if url == "memory:":
        return "live memories are kept in RAM alone: they go when the server does"
    if not durable:
        return "what was told last may be lost when Redis goes down: set appendonly yes and appendfsync always there"
    password = urlsplit(url).password
    return f"live memories are kept in {url.replace(f':{password}@', ':***@', 1) if password else url}"


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


def _run(app: "FastAPI", listening: socket.socket, limits: "Limits", log: bool) -> None:
    """Serves until it is told to stop, then finishes the requests that it took."""
    from amn.server.connections import server_for

    sys.setswitchinterval(SWITCH_SECONDS)
    # To look through everything for garbage takes longer than a deadline leaves. What is loaded now stays, and of what
    # memories hold nothing refers to itself: so that is rarely done.
    gc.freeze()
    gc.set_threshold(2000, 20, 1000)
    server_for(app, limits, log_level="info" if log else "warning", log_requests=log).run(sockets=[listening])

"""Connections: how many there may be, how long one may take to say what it wants, and what is logged of those that err.

A server has few connections to give. One that does not come to the point is let go, first of all when another waits.
"""

import asyncio
import logging
import resource
import socket
import time
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from amn.server.limits import SHUTDOWN_SECONDS, Limits
from amn.server.problems import PROBLEM_JSON, problem

BACKLOG = 128
_SPARE_FILES = 200  # descriptors for everything but connections
_REPEAT_SECONDS = 1.0  # the same complaint is logged once in so many


class JoinedWrites:
    """A transport that sends at once what is written in one turn of the loop, such as head and body of a reply.

    Whoever sends lets another thread run, and waits for its own turn: so one thing less to send is soon felt.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Sends soon, in the order of writing."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def _flush(self) -> None:
        data = b"".join(self._held)
        self._held.clear()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Ends the connection after what was written."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(H11Protocol):
    """A connection that must ask for something within a time, and makes room for others while it does not."""

    limits = Limits()
    _late: asyncio.TimerHandle | None = None
    _first_byte: float | None = None  # of the request whose head is not there yet
    since = 0.0

    @property
    def idle(self) -> bool:
        """Whether it has no request under way."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes a connection, in the place of one that waits where there are too many."""
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        self.since = time.monotonic()
        if len(self.connections) > most_connections(self.limits):
            waiting = [other for other in self.connections if isinstance(other, Connection) and other.idle]
            oldest = min(waiting, key=lambda other: other.since, default=self)
            oldest.transport.abort()
            self.connections.discard(oldest)
        self._expect_head()

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.limits.header_seconds, self.transport.abort)

    def _stop_expecting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data: bytes) -> None:
        """Takes what came: the clock for the head of a request runs from its first byte to its last."""
        before = self.cycle
        if self.idle and self._first_byte is None:
            self._first_byte = time.monotonic()
        self._expect_head()
        super().data_received(data)
        if self.cycle is not before:
            self.scope["started"], self._first_byte = self._first_byte, None  # type: ignore[typeddict-unknown-key]
        if self.cycle is not before or not self.idle:
            self._stop_expecting()

    def on_response_complete(self) -> None:
        """Waits for the next request; the time without any byte of it is uvicorn's to count."""
        self.since = time.monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go."""
        self._stop_expecting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Says that this was not HTTP, as a problem like any other."""
        body = problem(400, msg)
        headers = [("content-type", PROBLEM_JSON), ("content-length", str(len(body))), ("connection", "close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def most_connections(limits: Limits) -> int:
    """How many connections there may be, by the limits and by how many files this process may open."""
    return max(1, min(limits.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES))


class Server(uvicorn.Server):
    """A server that ends its streams when it is told to stop: a stream would never end by itself."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops, and finishes the requests that it took."""
        app: Any = self.config.app
        app.state.events.stop()
        await super().shutdown(sockets)


class OnceASecond(logging.Filter):
    """Lets the same complaint through once a second, so that nobody can fill the disk by erring often."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        text, now = str(record.msg)[:200], time.monotonic()
        if len(self._said) > 1000:
            self._said.clear()
        if now - self._said.get(text, -_REPEAT_SECONDS) < _REPEAT_SECONDS:
            return False
        self._said[text] = now
        return True


def server_for(app: FastAPI, limits: Limits, *, log_level: str = "warning", log_requests: bool = False) -> Server:
    """A server for an application; `run(sockets=[...])` serves."""
    config = uvicorn.Config(
        app,
        http=type("LimitedConnection", (Connection,), {"limits": limits}),
        ws="none",
        log_level=log_level,
        access_log=log_requests,
        backlog=BACKLOG,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(known, OnceASecond) for known in logger.filters):
            logger.addFilter(OnceASecond())
    return Server(config)

"""Connections: how many there may be, how long a client may take to send a request, and what is logged of errors."""

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
_SPARE_FILES = 200  # file descriptors for everything but connections
_REPEAT_SECONDS = 1.0  # the same message is logged once in this time


class JoinedWrites:
    """A transport that sends what is written in one turn of the event loop at once, such as head and body of a reply.

    Every system call releases the interpreter lock and has to wait for it again, so fewer calls are faster.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Sends at the end of this turn of the loop."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def _flush(self) -> None:
        data = b"".join(self._held)
        self._held.clear()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Closes the connection after sending what was written."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(H11Protocol):
    """A connection that must send the head of a request in time; while it is idle it may be closed for another."""

    limits = Limits()
    _late: asyncio.TimerHandle | None = None
    _first_byte: float | None = None  # when the head of a request began to arrive
    since = 0.0

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accepts a connection; where there are too many, the one that was idle for longest is closed."""
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
        """Receives data; the time limit for the head of a request runs from its first byte to its last."""
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
        """Waits for the next request; uvicorn limits the time until its first byte."""
        self.since = time.monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        self._stop_expecting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answers what is not HTTP with a problem document."""
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
    """The number of connections that the limits and the open files of the process allow."""
    return max(1, min(limits.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES))


class Server(uvicorn.Server):
    """A server that ends its event streams when it stops; they would never end by themselves."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops after finishing the requests that were taken."""
        app: Any = self.config.app
        app.state.events.stop()
        await super().shutdown(sockets)


class OnceASecond(logging.Filter):
    """Logs the same message at most once a second, so that no client can fill the disk with errors."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log a record."""
        text, now = str(record.msg)[:200], time.monotonic()
        if len(self._said) > 1000:
            self._said.clear()
        if now - self._said.get(text, -_REPEAT_SECONDS) < _REPEAT_SECONDS:
            return False
        self._said[text] = now
        return True


def server_for(app: FastAPI, limits: Limits, *, log_level: str = "warning", log_requests: bool = False) -> Server:
    """A server for an application; its `run(sockets=[...])` serves."""
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

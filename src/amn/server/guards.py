"""Middleware before the routes: it bounds bodies, drops stalled clients, and checks hosts and origins."""

import asyncio
import time

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from amn.server.access import Hosts
from amn.server.limits import Limits
from amn.server.metrics import Metrics
from amn.server.problems import PROBLEM_JSON, problem

# The page needs nothing but its own files; the text of a story can never run as a script.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Guard:
    """Checks and measures every request, bounds its body, and drops clients that neither send nor read."""

    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics, hosts: Hosts) -> None:
        self._app, self._limits, self._metrics, self._hosts = app, limits, metrics, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Exchange(self._limits, receive, send)
        started = time.perf_counter()
        scope.setdefault("started", time.monotonic())  # deadlines count from the first byte, where that is known
        try:
            await self._run(request, scope, receive)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.count_request(route, request.status, time.perf_counter() - started)

    async def _run(self, request: "_Exchange", scope: Scope, receive: Receive) -> None:
        try:
            self._check(scope)
            await self._app(scope, request.receive, request.send)
        except _Refused as refused:
            if not request.status:  # else the application has begun to answer
                body = problem(refused.status, refused.detail)
                await Response(body, refused.status, media_type=PROBLEM_JSON)(scope, receive, request.send)
        except _Stalled:
            pass  # the response cannot be completed; the server closes the connection

    def _check(self, scope: Scope) -> None:
        """Checks the head of a request before its body is read."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._hosts.answers_to(host):
            raise _Refused(421, f"This server does not answer to the host {host[:100]!r}; --allow-host adds one.")
        foreign = any(not self._hosts.trusts(origin, host) for origin in headers.getlist("origin"))
        if foreign and scope["method"] not in _SAFE_METHODS:
            raise _Refused(403, "Pages of other origins may not change anything here; --allow-host allows one.")
        if "content-length" in headers and "transfer-encoding" in headers:
            raise _Refused(400, "Send either Content-Length or Transfer-Encoding, not both.")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            raise _Refused(413, too_large(self._limits))


def too_large(limits: Limits) -> str:
    """The detail of the problem for a body that is too large."""
    return f"The body may have at most {limits.body_bytes} bytes; send long stories to a memory in parts."


class _Refused(BaseException):
    """Ends the request from within `receive`; no exception handler of the application may catch it."""

    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


class _Stalled(BaseException):
    """Ends the request from within `send`."""


class _Exchange:
    """One request and its response."""

    def __init__(self, limits: Limits, receive: Receive, send: Send) -> None:
        self._limits, self._receive, self._send = limits, receive, send
        self._received = 0
        self._complete = False
        self._body_ends = time.monotonic() + limits.body_seconds
        self.status = 0

    async def receive(self) -> Message:
        """The next part of the body, within the limits."""
        if self._complete:  # only the end of the connection is still to come, which may take long
            return await self._receive()
        try:
            async with asyncio.timeout(min(self._limits.receive_seconds, self._body_ends - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise _Refused(408, "The body did not arrive in time.") from None
        self._received += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._received > self._limits.body_bytes:
            raise _Refused(413, too_large(self._limits))
        return message

    async def send(self, message: Message) -> None:
        """Sends a part of the response, with the headers of every response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await self._send(message)
        except TimeoutError:
            raise _Stalled from None

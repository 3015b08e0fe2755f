"""Connections that do not come to the point are let go, and make room for those that do."""

import asyncio
import json
import logging
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from amn.server.connections import JoinedWrites, OnceASecond, most_connections
from amn.server.limits import Limits
from server.serving import QUESTION, STORY, WAIT_SECONDS, running, still_answers

HEAD = b"POST /answer HTTP/1.1\r\nhost: localhost\r\n"

REST = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"


def connect(address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), timeout=WAIT_SECONDS)


def ended(client: socket.socket) -> bool:
    """Waits until the other side ends the connection."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_who_never_finishes_a_head_is_let_go(model: Path) -> None:
    with running(model, Limits(header_seconds=1.0)) as address, ExitStack() as stack:
        slow = [stack.enter_context(connect(address)) for _ in range(20)]
        for number, client in enumerate(slow):
            client.sendall(HEAD[: number % len(HEAD)])
        assert all(ended(client) for client in slow)
        assert still_answers(address)


def test_who_trickles_a_head_is_let_go_as_well(model: Path) -> None:
    with running(model, Limits(header_seconds=1.0)) as address, connect(address) as client:
        client.settimeout(0.01)
        for byte in HEAD * 1000:
            try:
                client.sendall(bytes([byte]))
                if client.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            raise AssertionError("it was never let go")


def test_an_idle_connection_is_closed(model: Path) -> None:
    with running(model, Limits(idle_seconds=1)) as address, connect(address) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"".join(iter(lambda: client.recv(4096), b"")).startswith(b"HTTP/1.1 200")  # and then it ends


def test_who_waits_makes_room_for_who_asks(model: Path) -> None:
    """More connections than there may be, all of them half open, and others are still served."""
    with running(model, Limits(connections=10)) as address, ExitStack() as stack:
        idle = [stack.enter_context(connect(address)) for _ in range(50)]
        for client in idle:
            client.sendall(HEAD)
        for _ in range(5):
            assert still_answers(address)
        assert all(ended(client) for client in idle[:40])


def test_the_time_of_a_request_counts_from_its_first_byte(model: Path) -> None:
    body = json.dumps({"story": STORY, "question": QUESTION, "deadline_ms": 60_000}).encode()
    with running(model) as address, connect(address) as client:
        client.sendall(HEAD)
        assert still_answers(address)  # so that this was read
        started = time.monotonic()
        assert still_answers(address)
        waited = time.monotonic() - started
        client.sendall(REST % (len(body), body))
        reply = b"".join(iter(lambda: client.recv(4096), b""))
    [answer] = json.loads(reply.partition(b"\r\n\r\n")[2])["answers"]
    assert answer["milliseconds"] > 1000 * waited


class Recorded(asyncio.Transport):
    """A transport that notes what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[object] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.asked.append(bytes(data))

    def close(self) -> None:
        self.asked.append("close")

    def is_closing(self) -> bool:
        return "close" in self.asked


def test_what_is_written_together_is_sent_together() -> None:
    async def run() -> list[object]:
        below = Recorded()
        joined = JoinedWrites(below, asyncio.get_running_loop())
        for part in (b"head ", b"body"):
            joined.write(part)
        await asyncio.sleep(0)
        for part in (b"next", b"", b" one"):
            joined.write(part)
        joined.close()
        joined.write(b"too late")
        await asyncio.sleep(0)
        return below.asked

    assert asyncio.run(run()) == [b"head body", b"next one", "close"]


def test_there_are_never_more_connections_than_files() -> None:
    assert most_connections(Limits(connections=10**9)) < 10**9
    assert most_connections(Limits(connections=7)) == 7


def test_what_is_no_http_is_answered_as_a_problem(model: Path) -> None:
    with running(model) as address, connect(address) as client:
        client.sendall(b"\x16\x03\x01 what is this\r\n\r\n")
        reply = b"".join(iter(lambda: client.recv(4096), b""))
        assert reply.startswith(b"HTTP/1.1 400") and b"application/problem+json" in reply
        assert httpx.get(f"{address}/healthz").status_code == 200


def test_the_same_complaint_is_logged_once_a_second() -> None:
    said = OnceASecond()
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "socket.accept() out of system resource", None, None)
    other = logging.LogRecord("asyncio", logging.ERROR, "", 0, "another", None, None)
    assert [said.filter(record) for _ in range(1000)].count(True) == 1 and said.filter(other)

"""The command serves until it is told to stop, and then finishes what it took."""

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from amn.cli.serve import _listen
from server.serving import QUESTION, STORY, WAIT_SECONDS, command


def test_a_stop_finishes_what_was_taken(model: Path) -> None:
    body = {"story": STORY * 25, "question": QUESTION, "explain": True}
    with command("--model", str(model)) as (process, address), ThreadPoolExecutor(8) as pool:
        assert httpx.get(f"{address}/healthz", timeout=WAIT_SECONDS).status_code == 200
        asked = [pool.submit(httpx.post, f"{address}/answer", json=body, timeout=WAIT_SECONDS) for _ in range(8)]
        wait_until_taken(address, 1)
        process.send_signal(signal.SIGTERM)
        taken = [reply.result() for reply in asked if not isinstance(reply.exception(), httpx.ConnectError)]
        assert taken and all(reply.status_code == 200 for reply in taken)
        assert process.wait(WAIT_SECONDS) in (0, -signal.SIGTERM)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/healthz")


def wait_until_taken(address: str, count: int) -> None:
    """Until the server has answered that many."""
    with httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
        while not re.search(rf'route="/answer",status="200"}} [{count}-9]', client.get("/metrics").text):
            pass


def test_a_port_that_is_taken_is_said_in_one_line(model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = [sys.executable, "-m", "amn", "serve", "--model", str(model), "--port", str(taken.getsockname()[1])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ended = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 1 and "--port chooses another" in ended.stderr and "Traceback" not in ended.stderr


def test_the_parts_of_a_reply_do_not_wait_for_each_other() -> None:
    with _listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        with listening.accept()[0] as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

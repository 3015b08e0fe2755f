"""A real Redis or Valkey, and processes that are killed while they tell."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WAIT_SECONDS = 20.0


@contextmanager
def redis_server(folder: Path) -> Iterator["RedisProcess"]:
    """A server of its own, on a socket in a folder, that flushes before it acknowledges."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        pytest.skip("neither valkey-server nor redis-server is installed")
    pytest.importorskip("redis", reason="the redis package is not installed")
    with tempfile.TemporaryDirectory() as short:  # the path of a socket may have about a hundred characters
        server = RedisProcess(program, folder, Path(short) / "redis.sock")
        server.start()
        try:
            yield server
        finally:
            server.kill()


class RedisProcess:
    """The process of a server, which can be killed and started again on the same files."""

    def __init__(self, program: str, folder: Path, socket: Path) -> None:
        self._socket = socket
        words = ["--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""]
        self._line = [program, *words, "--appendonly", "yes", "--appendfsync", "always"]
        self.url = f"unix://{socket}"

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        self._process = subprocess.Popen(self._line, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "ready to accept connections" in line.lower():
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """Ends it without a word."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(WAIT_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._socket.unlink(missing_ok=True)


TELLER = """
import sys
from amn.store.memories import open_store
store = open_store(sys.argv[1])
for number in range(10**9):
    store.append(sys.argv[2], [f"{sys.argv[3]} {number} a.", f"{sys.argv[3]} {number} b."], most=10**9)
    print(number, flush=True)
"""


@contextmanager
def telling(url: str, id: str, name: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that tells a memory two sentences at a time, and says so when they are acknowledged."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-c", TELLER, url, id, name]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()

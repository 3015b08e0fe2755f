"""The nginx of docs/serving.md, as it stands there: requests get through, and events come when they happen."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.serving import QUESTION, STORY, WAIT_SECONDS, command

NAME = "amn.example"
PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
AROUND = """daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {site}
}}"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def site(addresses: list[str], port: int, folder: Path) -> str:
    """The example of the page, with the ports and the certificate of this test."""
    text = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    for example, address in zip(("127.0.0.1:8001", "127.0.0.1:8002"), addresses, strict=True):
        assert example in text
        text = text.replace(example, address.removeprefix("http://"))
    text = text.replace("listen 443", f"listen 127.0.0.1:{port}")
    return text.replace("/etc/ssl/amn.pem", f"{folder}/amn.pem").replace("/etc/ssl/amn.key", f"{folder}/amn.key")


@pytest.fixture
def proxy(model: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of two servers behind nginx."""
    nginx, openssl = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin"), shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("there is no nginx, or no openssl to make a certificate with")
    made = f"req -x509 -newkey rsa:2048 -nodes -keyout amn.key -out amn.pem -days 2 -subj /CN={NAME}"
    subprocess.run([openssl, *made.split()], cwd=tmp_path, check=True, capture_output=True)
    store, port, words = f"sqlite:///{tmp_path / 'memories.db'}", free_port(), ("--model", str(model))
    with command(*words, "--allow-host", NAME, store=store) as (_, first):
        with command(*words, "--allow-host", NAME, store=store) as (_, second):
            around = AROUND.format(folder=tmp_path, site=site([first, second], port, tmp_path))
            (tmp_path / "nginx.conf").write_text(around)
            with subprocess.Popen([nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]) as process:
                try:
                    yield from connected(port)
                finally:
                    process.terminate()


def connected(port: int) -> Iterator[httpx.Client]:
    transport = httpx.HTTPTransport(verify=False, retries=50)  # until it listens
    address, headers = f"https://127.0.0.1:{port}", {"host": NAME}
    with httpx.Client(base_url=address, transport=transport, headers=headers, timeout=WAIT_SECONDS) as client:
        client.get("/healthz").raise_for_status()
        yield client


def test_requests_get_through_and_events_come_when_they_happen(proxy: httpx.Client) -> None:
    answer = proxy.post("/answer", json={"story": STORY, "question": QUESTION})
    assert answer.status_code == 200 and answer.json()["answers"]
    path = proxy.post("/memories", json={"questions": [QUESTION]}, headers={"origin": f"https://{NAME}"})
    assert path.status_code == 201
    told = f"{path.headers['location']}/sentences"
    with proxy.stream("GET", f"{path.headers['location']}/events", headers={"last-event-id": "0"}) as stream:
        lines = stream.iter_lines()
        assert proxy.post(told, json={"sentences": STORY[:1]}).status_code == 200
        found = event(lines)  # the stream is still open: a proxy that holds back would never give it
        assert found["id"] == "1" and found["event"] == "change"
    assert proxy.get("/", headers={"host": "evil.example"}).status_code == 421


def event(lines: Iterator[str]) -> dict[str, Any]:
    found = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if not line:
            break
        found[name] = value
    return found

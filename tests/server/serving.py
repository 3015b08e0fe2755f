"""A small model to serve, and a server that runs while a test does."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import torch

from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.server.app import create_app
from amn.server.connections import server_for
from amn.server.limits import Limits
from amn.store.model_directory import save_model

STORY = ["Mary moved to the bathroom.", "John went to the hallway.", "Mary went to the garden.", "John got the milk."]
QUESTION = "Where is Mary?"
WAIT_SECONDS = 20.0


def save_small_model(directory: Path) -> Path:
    """A model with random weights, none of them zero: its answers are nonsense, but always the same nonsense."""
    vocabulary = Vocabulary.of(generate(1, questions=200, seed=0))
    model = build_model("amn", vocabulary, {"hidden": 16, "heads": 2, "pointer": True}, seed=3)
    draws = torch.Generator().manual_seed(10)  # this one makes several banks
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=draws))
    save_model(directory, TrainedModel.of(architecture="amn", model=model, vocabulary=vocabulary))
    return directory


@contextmanager
def running(
    model: Path, limits: Limits | None = None, tokens: tuple[str, ...] = (), store: str = "memory:"
) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    app = create_app(str(model), limits=limits, tokens=tokens, store=store)
    listening = socket.create_server(("127.0.0.1", 0))
    server = server_for(app, limits or Limits(), log_level="critical")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def command(*words: str, store: str = "memory:") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`amn serve` on a free port, and its address."""
    line = [sys.executable, "-m", "amn", "serve", "--port", "0", "--store", store, *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        try:
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()


def still_answers(address: str) -> bool:
    """Whether a server serves others, whatever happened to it."""
    reply = httpx.post(f"{address}/answer", json={"story": STORY, "question": QUESTION}, timeout=WAIT_SECONDS)
    return reply.status_code == 200 and bool(reply.json()["answers"][0]["answer"])

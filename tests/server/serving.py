"""A small model to serve, and a server that runs while a test does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import torch
import uvicorn

from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.server.app import create_app
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
def running(model: Path, limits: Limits | None = None, tokens: tuple[str, ...] = ()) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    app = create_app(str(model), limits=limits, tokens=tokens)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def still_answers(address: str) -> bool:
    """Whether a server serves others, whatever happened to it."""
    reply = httpx.post(f"{address}/answer", json={"story": STORY, "question": QUESTION}, timeout=WAIT_SECONDS)
    return reply.status_code == 200 and bool(reply.json()["answers"][0]["answer"])

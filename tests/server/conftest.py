from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import amn
from amn.api import QA
from amn.server.app import create_app
from amn.server.limits import Limits
from server.serving import save_small_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="session")
def qa(model: Path) -> QA:
    return amn.load(model)


@pytest.fixture
def serve(model: Path) -> Iterator[Callable[..., TestClient]]:
    """Opens applications with the limits and tokens that a test wants, and closes them after it."""
    with ExitStack() as stack:

        def opened(tokens: tuple[str, ...] = (), store: str = "memory:", **limits: Any) -> TestClient:
            app = create_app(str(model), limits=Limits(**limits), tokens=tokens, store=store)
            return stack.enter_context(TestClient(app, "http://localhost", raise_server_exceptions=False))

        yield opened


@pytest.fixture
def client(serve: Callable[..., TestClient]) -> TestClient:
    return serve()

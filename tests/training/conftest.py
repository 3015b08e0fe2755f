from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from amn.training.precision import computes_bfloat16
from training.small import write_data


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("babi"))


@pytest.fixture(scope="session")
def bfloat16() -> None:
    """For tests that compute in bfloat16: not every processor survives it."""
    if not computes_bfloat16():
        pytest.skip("products in bfloat16 fail on this processor")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

"""The device to compute on."""

import platform

import torch

from amn.core.boundary import described
from amn.errors import ConfigError


def choose_device(name: str, threads: int | None = None) -> torch.device:
    """The device of a name: cpu, cuda, or auto for a GPU if there is one.

    Also sets the number of threads of torch on a CPU, unless it is None.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device must be auto, cpu or cuda, not {name!r}") from None
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {name!r} cannot be used here ({reason}): give --device cpu") from error
    return device


def processor() -> str:
    """The name of this machine's processor."""
    return described("model name") or platform.processor() or platform.machine()

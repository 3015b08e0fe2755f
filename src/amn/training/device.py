"""Which device to compute on."""

import torch

from amn.errors import ConfigError


def choose_device(name: str) -> torch.device:
    """The device that a name means; auto takes a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device must be auto, cpu or cuda, not {name!r}") from None
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError("torch sees no GPU here: give --device cpu, or install torch for CUDA")
        torch.set_float32_matmul_precision("high")
    return device

"""Whether a processor can train in bfloat16: some report that they can, and crash at the first product."""

import subprocess
import sys
from collections.abc import Sequence
from functools import cache

from amn.config import RunSpec
from amn.errors import ConfigError
from amn.inference.device import choose_device, processor

_PRODUCTS = """
import torch
layer, rows = torch.nn.Linear(64, 64), torch.ones(64, 64, requires_grad=True)
with torch.autocast("cpu", torch.bfloat16):
    states = layer(rows).view(4, 16, 64)
    (states @ states.transpose(1, 2)).float().sum().backward()
"""


def check_precision(specs: Sequence[RunSpec], device: str) -> None:
    """Refuses runs in a precision in which this machine would crash."""
    if not any(spec.train.precision == "bfloat16" for spec in specs) or choose_device(device).type != "cpu":
        return
    if not computes_bfloat16():
        raise ConfigError(
            f"precision: products in bfloat16 fail on this processor ({processor()}): "
            "give --set precision=float32, or train on a GPU"
        )


@cache
def computes_bfloat16() -> bool:
    """Whether products in bfloat16 work on this processor; tried in a subprocess, which may crash."""
    done = subprocess.run([sys.executable, "-c", _PRODUCTS], capture_output=True, check=False)
    return done.returncode == 0

"""CUDA graphs: functions of tensors are recorded on a GPU and replayed.

Reading a story takes hundreds of small operations, and launching them one by one takes longer than running them. A CUDA
graph launches all of them at once; it is made for one shape of its inputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from amn.data.batches import Batch
from amn.models.base import Model, Reading

_MOST = 32  # recordings kept for a model
_READ = ("logits", "entities", "entities_read", "banks", "tokens")  # tokens: where answers may have several

Results = tuple[Tensor, ...]
_Shape = tuple[Any, ...]


class Recording:
    """A function recorded with some inputs, which can be replayed with others of the same shapes.

    Its operations must not depend on the values. Recordings that are never replayed at the same time share a pool.
    """

    def __init__(self, function: Callable[..., Results], inputs: Sequence[Tensor], pool: Any = None) -> None:
        self._held = [value.clone() for value in inputs]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):  # libraries allocate what they must not allocate while recording
                function(*self._held)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=pool):
            self._results = function(*self._held)

    @property
    def pool(self) -> Any:
        """Its memory pool, for other recordings to share."""
        return self._graph.pool()

    def __call__(self, *inputs: Tensor) -> Results:
        """The results for other inputs, which may be on any device."""
        for place, value in zip(self._held, inputs, strict=True):
            place.copy_(value)
        self._graph.replay()
        return tuple(result.clone() for result in self._results)


class _Recordings:
    """The recordings of a model, by the shapes of batches."""

    def __init__(self) -> None:
        self._met: set[_Shape] = set()
        self._made: dict[_Shape, Recording] = {}

    def run(
        self, shape: _Shape, function: Callable[..., Results], inputs: Sequence[Tensor], device: torch.device
    ) -> Results:
        """Runs a function; it is recorded when a shape occurs again, as many shapes occur only once."""
        if shape in self._made:
            return self._made[shape](*inputs)
        moved = [value.to(device) for value in inputs]
        if shape not in self._met:
            self._met.add(shape)
            return function(*moved)
        if len(self._made) == _MOST:
            del self._made[next(iter(self._made))]  # the oldest
        pool = next((made.pool for made in self._made.values()), None)
        self._made[shape] = Recording(function, moved, pool)
        return self._made[shape](*moved)


_recordings: WeakKeyDictionary[Model, _Recordings] = WeakKeyDictionary()
_playing = Lock()  # a recording has only one set of inputs


@torch.inference_mode()
def read_recorded(model: Model, batch: Batch, banks: int = 1) -> Reading:
    """The reading of a batch, which may be on any device, by a model on a GPU, from some banks; 0 for all."""
    parts = {f.name: value for f in fields(batch) if (value := getattr(batch, f.name)) is not None}
    weight = next(model.parameters())  # a model that was moved away and back has other weights in another place
    shape = (banks, weight.data_ptr(), *((name, *value.shape) for name, value in parts.items()))

    def read(*values: Tensor) -> Results:
        reading: Reading = model(Batch(**dict(zip(parts, values, strict=True))), banks=banks)
        return tuple(value for name in _READ if (value := getattr(reading, name)) is not None)

    with _playing:
        found = _recordings.setdefault(model, _Recordings()).run(shape, read, list(parts.values()), weight.device)
    logits, entities, entities_read, made, *tokens = found
    return Reading(logits, entities, entities_read, made, tokens=tokens[0] if tokens else None)

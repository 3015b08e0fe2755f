"""New mixed stories every few epochs: other processes generate the next ones while a model trains on the present."""

from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from multiprocessing import get_context

import numpy as np

from amn.config import RunSpec
from amn.data.batches import Dataset, encode
from amn.data.slots import Sizes
from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError
from amn.training.distract import distracted
from amn.training.pool import Pool
from amn.training.prepare import MIXED, Encoded, Part, data_key, load_data, parts_of


class Prefetcher:
    """Replaces the mixed stories of a run every `renew` epochs by new ones, in the room and the words of the first.

    A story that needs more room is left out.
    """

    def __init__(self, spec: RunSpec, data: Encoded, room: Sizes, workers: int) -> None:
        self.every, self.epochs, self.workers = spec.train.renew, spec.train.epochs, workers
        self.parts = parts_of(data_key(spec)._replace(task=MIXED)) if self.every else []
        if self.every and not self.parts:
            raise ConfigError(f"renew is for runs with mixed stories, not for task {spec.task}")
        self._known = data.vocabulary, data.names.get(MIXED, frozenset()), room
        self._round, self._executor = 0, None  # type: int, ProcessPoolExecutor | None
        self._requested: dict[int, list[Future[Dataset]]] = {}  # by round

    def renew(self, pool: Pool, epoch: int) -> None:
        """Writes the stories of an epoch into a pool, and requests those of the next round."""
        if not self.every:
            return
        number = epoch // self.every
        if number != self._round:
            self._request(number)
            pool.renew([future.result() for future in self._requested.pop(number)])
            self._round = number
        if (number + 1) * self.every < self.epochs:
            self._request(number + 1)

    def close(self) -> None:
        """Ends the processes."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor, self._requested = None, {}

    def _request(self, number: int) -> None:
        self._executor = self._executor or ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"))
        if number not in self._requested:
            keys = [part.key._replace(mixed_seed=part.key.mixed_seed + number * len(self.parts)) for part in self.parts]
            parts = [part._replace(key=key) for part, key in zip(self.parts, keys, strict=True)]
            self._requested[number] = [self._executor.submit(_stories, part, *self._known) for part in parts]


def _stories(part: Part, vocabulary: Vocabulary, names: frozenset[str], room: Sizes) -> Dataset:
    """A share of the stories of a round; where some do not fit, others come twice, so that all rounds are as long."""
    key, asked = part.key, load_data(part).training
    if key.distract:
        asked = distracted(asked, key.distract, key.distracted, seed=key.mixed_seed + part.number)
    data = encode(asked, vocabulary, room, named=key.named)
    if replace(data.sizes, sentences=room.sentences) != room:
        fits = [one for one in asked if encode([one], vocabulary, named=key.named).sizes.union(room) == room]
        data = encode(islice(cycle(fits), len(asked)), vocabulary, room, named=key.named)
    return data.with_names(np.array([word in names for word in vocabulary.words]))

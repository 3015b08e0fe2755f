"""One stream, read as users read it, in a separate process: `python -m amn.bench.streaming` with JSON in and out.

That process holds nothing but the model and the memory, so that its memory is what reading needs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from amn.bench.filters import GATE, filter_of
from amn.data.noise import Books, mixed
from amn.data.story import words
from amn.memory import LiveMemory
from amn.store.find import find_model
from amn.store.model_directory import load_model

CHUNK = 512  # sentences that are handed over together


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTask:
    """What to read."""

    model: str  # by name
    filter: str  # in front of the memory
    questions: tuple[str, ...]  # that stand
    facts: tuple[str, ...]  # to be found
    noise: str  # a folder of books
    tokens: int  # how many there are in all
    seed: str  # of the places of the facts


def read_apart(task: StreamTask) -> dict[str, Any]:
    """Reads a stream in another process; gives its answers, counts, speed and memory."""
    line, paths = [sys.executable, "-m", "amn.bench.streaming"], os.pathsep.join(path for path in sys.path if path)
    given, around = json.dumps(asdict(task)), {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(line, input=given, capture_output=True, text=True, check=False, env=around)
    if done.returncode:
        raise RuntimeError(f"reading a stream failed: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def read_stream(task: StreamTask) -> dict[str, Any]:
    """Reads a stream. Seconds are those of the processor, for one core, without those that made the stream."""
    trained = load_model(find_model(task.model))
    own = task.filter == GATE
    gate = None if own else filter_of(task.filter, trained, [words(question) for question in task.questions])
    memory = LiveMemory(trained, list(task.questions), gate=gate)
    stream, started = _Made(task), process_time()
    read = memory.read(stream.chunks())
    seconds = process_time() - started - stream.seconds
    return {
        "answers": [answer.answer for answer in memory.ask()],
        "sentences": read.sentences,
        "sentences_let_in": read.let_in,
        "tokens_read": read.tokens,
        "tokens_per_second": read.tokens / max(seconds, 1e-9),
        "resident_bytes": resident("VmHWM"),
    }


class _Made:
    """A stream that is made while it is read, and how long making it took."""

    def __init__(self, task: StreamTask) -> None:
        self._task, self.seconds = task, 0.0

    def chunks(self) -> Iterator[str]:
        """Its text; a blank line ends each sentence."""
        rng, books = Random(self._task.seed), Books(Path(self._task.noise))
        noise = books.sentences(*books.start(rng))
        sentences = mixed(self._task.facts, noise, self._task.tokens, rng)
        text = " "
        while text:
            started = process_time()
            text = "".join(f"{sentence}\n\n" for sentence in islice(sentences, CHUNK))
            self.seconds += process_time() - started
            yield text


def resident(kind: str) -> int:
    """How many bytes this process has in memory ("VmRSS"), or the most so far ("VmHWM"); 0 where it is not known."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(kind)).split()[1]) << 10
    return 0


if __name__ == "__main__":
    given = json.load(sys.stdin)
    given |= {name: tuple(given[name]) for name in ("questions", "facts")}
    json.dump(read_stream(StreamTask(**given)), sys.stdout)

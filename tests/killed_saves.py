"""Saves a memory in child processes that are killed at any moment; after each, prints how many sentences are saved.

Run as a program of its own: a process without other threads can be forked a thousand times in some seconds.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import amn
from amn.memory import LiveMemory


def save_and_be_killed(memory: LiveMemory, path: Path, seconds: float) -> None:
    """Saves in a child that is killed after some time; it may be done by then."""
    child = os.fork()
    if child == 0:
        memory.save(path)
        os._exit(0)
    time.sleep(seconds)  # the moment is what is tried, and nothing is waited for
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(model: str, path: Path, kills: int) -> None:
    """Saves, in turns, a memory of one sentence and one of two over each other."""
    qa, draws = amn.load(model), random.Random(0)
    memories = {number: qa.memory("Where is Mary?") for number in (1, 2)}
    for number, memory in memories.items():
        memory.tell(["Mary went to the garden."] * number)
    started = time.perf_counter()
    memories[1].save(path)
    longest, there = 3 * (time.perf_counter() - started), 1  # with what it takes to fork
    for _ in range(kills):
        save_and_be_killed(memories[3 - there], path, longest * draws.random())
        there = len(qa.restore(path).sentences)
        print(there)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))

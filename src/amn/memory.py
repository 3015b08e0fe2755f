"""Live memories: told sentence by sentence, asked at any time, saved and restored."""

import json
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from amn.answers import Answer, Bank, Edge, Entity, Explanation, Move, SentenceTrace
from amn.compact import Change, CompactMemory
from amn.data.examples import Example, Words
from amn.data.story import words
from amn.data.text import Text, read_questions, read_story
from amn.errors import CheckpointError
from amn.fast.step import ABSENT
from amn.inference.reading import answers_of, check_limits, groups_of, read_examples
from amn.models import Model
from amn.models.amn import AMN
from amn.store.model_directory import TrainedModel, write_atomically

CERTAIN = 0.9  # with time left, further banks are read while the score is below this
KEPT_TRACES = 1000  # how many of the latest sentences an explanation goes back
SHOWN_ENTITIES = 200  # how many entities of a bank are listed, the most relevant first
FORMAT_VERSION = 2  # the first had the sum of the last bank's states besides, which can be computed
_READABLE = (1, 2)
MEMORY_FILE, TENSORS_FILE = "memory.json", "memory.safetensors"


class LiveMemory:
    """A memory for a set of questions, which guide what it keeps near. It is not safe to use from several threads.

    Where the model was trained on several questions at once, they share one memory; else each has its own inside.

    Args:
        trained: the model.
        questions: what the memory is built for.
        shared: whether the questions share one memory; None to do as in training.
    """

    def __init__(self, trained: TrainedModel, questions: Text, shared: bool | None = None) -> None:
        asked = read_questions(questions)
        self.trained = trained
        self.questions = [text for text, _ in asked]
        self.sentences: list[str] = []
        self._told: list[Words] = []
        self._question_words = [spoken for _, spoken in asked]
        self._groups = groups_of(trained, len(asked), shared)
        self._traces: list[deque[SentenceTrace]] = [deque(maxlen=KEPT_TRACES) for _ in self._groups]
        self._memories: list[CompactMemory] = []  # other models read the whole story when they are asked
        if type(trained.model) is AMN:
            for group in self._groups:
                words_of_group = [self._question_words[i] for i in group]
                self._memories.append(CompactMemory(trained.model, trained.vocabulary, words_of_group))

    def tell(self, text: Text) -> list[SentenceTrace]:
        """Reads further sentences and returns what each of them did, to the memory of the first question."""
        return self._take(read_story(text))

    def _take(self, story: Sequence[tuple[str, Words]]) -> list[SentenceTrace]:
        first, told = len(self.sentences), [spoken for _, spoken in story]
        self.sentences += [sentence for sentence, _ in story]
        self._told += told
        traces = [
            [_trace(memory, first + i, story[i][0], change) for i, change in enumerate(memory.tell(told))]
            for memory in self._memories
        ]
        bare = [
            SentenceTrace(sentence=first + i, text=sentence, depth={}, strengths={})
            for i, (sentence, _) in enumerate(story)
        ]
        traces = traces or [bare] * len(self._groups)
        for kept, new in zip(self._traces, traces, strict=True):
            kept.extend(new)
        return traces[0]

    def ask(self, deadline: float | None = None, explain: bool = False, banks: int | None = None) -> list[Answer]:
        """Answers the questions of the memory from what it was told so far.

        Args:
            deadline: seconds from now. The most relevant bank is always read, further ones while an answer is uncertain
                and time remains; the most certain of these readings is the answer.
            explain: say why.
            banks: how many banks to read, the most relevant first; 0 for all. By default 1, or with a deadline as many
                as it allows.
        """
        started = perf_counter()
        check_limits(banks, deadline)
        if deadline is None:
            answers = self._read(1 if banks is None else banks, range(len(self.questions)))
        else:
            answers = self._read_until(started + deadline, banks or None)
        if explain:
            answers = [replace(answer, explanation=self._explain(i, answer)) for i, answer in enumerate(answers)]
        milliseconds = 1000 * (perf_counter() - started)
        return [replace(answer, milliseconds=milliseconds) for answer in answers]

    def _read(self, banks: int, asked: Sequence[int]) -> list[Answer]:
        wanted = set(asked)
        found: dict[int, Answer] = {}
        for number, group in enumerate(self._groups):
            if wanted.intersection(group):
                found.update(zip(group, self._read_group(number, banks), strict=True))
        return [found[i] for i in asked]

    def _read_group(self, number: int, banks: int) -> list[Answer]:
        """The answers to the questions that share a memory."""
        group = self._groups[number]
        if self._memories:
            found = self._memories[number].read(banks)
        else:
            questions = tuple(self._question_words[i] for i in group)
            example = Example(sentences=tuple(self._told), questions=questions, answers=(None,) * len(questions))
            found = read_examples(self.trained, [example], banks)[0]
        return answers_of(found, self.trained.vocabulary, [self.questions[i] for i in group], banks)

    def _read_until(self, end: float, limit: int | None) -> list[Answer]:
        """Reads bank after bank for the questions whose answers are uncertain, while another reading fits the time."""
        best = self._read(1, range(len(self.questions)))
        most = [min(limit or answer.banks_created, answer.banks_created) for answer in best]
        banks, slowest = 1, 0.0
        while pending := [i for i, answer in enumerate(best) if answer.score < CERTAIN and most[i] > banks]:
            now = perf_counter()
            if now + slowest >= end:
                break
            banks += 1
            for i, answer in zip(pending, self._read(banks, pending), strict=True):
                wider = replace(best[i], banks_read=answer.banks_read, entities_read=answer.entities_read)
                best[i] = answer if answer.score >= best[i].score else wider
            slowest = max(slowest, perf_counter() - now)
        return [replace(answer, stopped_for_deadline=i in pending) for i, answer in enumerate(best)]

    def ask_other(self, question: str, explain: bool = False, banks: int | None = None) -> Answer:
        """Answers a question that the memory was not built for; costs an ingest, as the sentences are read again."""
        started = perf_counter()
        other = LiveMemory(self.trained, [question])
        other._take(list(zip(self.sentences, self._told, strict=True)))
        answer = other.ask(explain=explain, banks=banks)[0]
        return replace(answer, milliseconds=1000 * (perf_counter() - started))

    def snapshot(self, question: int = 0) -> list[Bank]:
        """The banks as they are now, in the memory of a question; a model without banks has none."""
        return self._banks(self._group_of(question), {})

    def _group_of(self, question: int) -> int:
        return next(number for number, group in enumerate(self._groups) if question in group)

    def _banks(self, number: int, attention: dict[int, dict[int, float]]) -> list[Bank]:
        if not self._memories:
            return []
        memory = self._memories[number]
        return [_bank(memory, index, attention.get(index, {})) for index in range(memory.banks)]

    def _explain(self, asked: int, answer: Answer) -> Explanation:
        number = self._group_of(asked)
        attention: dict[int, dict[int, float]] = {}
        if self._memories:
            attention = self._memories[number].attention(answer.banks_read, self._groups[number].index(asked))
        return Explanation(
            banks=tuple(self._banks(number, attention)),
            sentences=tuple(self._traces[number]),
            graph=self._graph(),
            read=tuple(range(answer.banks_created - 1, answer.banks_created - answer.banks_read - 1, -1)),
        )

    def _graph(self) -> tuple[Edge, ...]:
        first = max(0, len(self._told) - KEPT_TRACES)
        latest = {
            pair: number
            for number, sentence in enumerate(self._told[first:], first)
            for pair in zip(sentence, sentence[1:], strict=False)
        }
        return tuple(Edge(before, after, number) for (before, after), number in latest.items())

    def save(self, path: str | Path) -> None:
        """Writes the memory to a directory: JSON and safetensors, without the weights of the model."""
        directory = Path(path)
        directory.mkdir(parents=True, exist_ok=True)
        named = ((f"{i}.{name}", value) for i, memory in enumerate(self._memories) for name, value in memory.tensors())
        tensors = save_tensors(dict(named))
        described = {
            "format_version": FORMAT_VERSION,
            "model": fingerprint(self.trained.model),
            "tensors": sha256(tensors).hexdigest(),
            "questions": self.questions,
            "shared": len(self._groups) < len(self.questions),
            "sentences": self.sentences,
            "banks": [memory.layout() for memory in self._memories],
            "traces": [[trace.to_dict() for trace in kept] for kept in self._traces],
        }
        _write_bytes(directory / TENSORS_FILE, tensors)
        write_atomically(directory / MEMORY_FILE, json.dumps(described) + "\n")

    @classmethod
    def restore(cls, path: str | Path, trained: TrainedModel) -> "LiveMemory":
        """Reads what `save` wrote.

        Raises:
            CheckpointError: where the files cannot be read, or are the memory of another model.
        """
        described, data = _read_directory(Path(path))
        if described["model"] != fingerprint(trained.model):
            raise CheckpointError(f"{path}: this memory was saved by a model with other weights; load that one")
        memory = cls(trained, described["questions"], described["shared"])
        memory.sentences = described["sentences"]
        memory._told = [words(sentence) for sentence in memory.sentences]
        for kept, traces in zip(memory._traces, described["traces"], strict=True):
            kept.extend(SentenceTrace.from_dict(trace) for trace in traces)
        tensors = load_tensors(data)
        for i, (compact, layout) in enumerate(zip(memory._memories, described["banks"], strict=True)):
            own = {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{i}.")}
            compact.resume(memory._told, own, layout)
        return memory


def _trace(memory: CompactMemory, number: int, text: str, change: Change) -> SentenceTrace:
    spelled = memory.words
    moves = ((slot, old, change.after[slot]) for slot, old in change.before.items() if old != change.after[slot])
    return SentenceTrace(
        sentence=number,
        text=text,
        banks=change.banks,
        created=change.created,
        moves=tuple(Move(spelled[slot], None if old == ABSENT else old, new) for slot, old, new in moves),
        depth={spelled[slot]: depth for slot, depth in change.after.items()},
        strengths={spelled[slot]: strength for slot, strength in change.strengths.items()},
    )


def _read_directory(directory: Path) -> tuple[dict[str, Any], bytes]:
    """The files of a saved memory, checked to be whole and to belong together."""
    try:
        described = json.loads((directory / MEMORY_FILE).read_text(encoding="utf-8"))
        tensors = (directory / TENSORS_FILE).read_bytes()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{directory}: not a saved memory ({error})") from error
    version = described.get("format_version") if isinstance(described, dict) else None
    if version not in _READABLE:
        raise CheckpointError(f"{directory}: expected memory format {FORMAT_VERSION}, found {version}")
    if described["tensors"] != sha256(tensors).hexdigest():
        raise CheckpointError(f"{directory}: {TENSORS_FILE} is not the one that {MEMORY_FILE} was saved with")
    return described, tensors


def _write_bytes(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def fingerprint(model: Model) -> str:
    """A name for the weights of a model: the same weights have the same one."""
    digest = sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _bank(memory: CompactMemory, index: int, attention: dict[int, float]) -> Bank:
    """A bank with its most relevant entities first."""
    slots = memory.bank(index)
    shown = memory.most_relevant(slots, SHOWN_ENTITIES)
    entities = (
        Entity(word=memory.words[slot], strength=strength, relevance=relevance, attention=attention.get(slot, 0.0))
        for slot, strength, relevance in shown
    )
    return Bank(index=index, size=len(slots), entities=tuple(entities))

"""Runs exported models: a small host loop over ONNX graphs, with the answers of the model that was exported.

The memory is one table of rows for each story; a sentence gathers the rows that it touches, the step graph gives the
members' new rows, and these are written back. A sentence that several stories tell is encoded once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, overload

import numpy as np

from amn.answers import Answer
from amn.data.batches import encode
from amn.data.examples import Example
from amn.data.text import Text, read_questions, read_story
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError, CheckpointError, MissingExtraError
from amn.fast.decode import Found
from amn.fast.spelling import Spelled, choose, slot_words, spelled
from amn.inference.export import EXTRAS, GRAPHS
from amn.inference.reading import answers_of, check_limits
from amn.store.model_directory import read_description

_RELEVANCE, _IN_LAST, _DEPTH, _VOTE = -4, -3, -2, -1  # columns of a row


@dataclass
class Tables:
    """The memories of some stories, changed in place.

    Args:
        rows: of each slot, its state and then strength, relevance, in_last, depth and vote.
        banks: how many banks there are.
        entities: how many entities there are.
        votes: the sum of the last bank's votes, and how many there are.
        questions: the encoded questions.
    """

    rows: np.ndarray
    banks: np.ndarray
    entities: np.ndarray
    votes: np.ndarray
    questions: np.ndarray


@dataclass(frozen=True)
class Telling:
    """The sentences of some stories, sentence first.

    Args:
        gates: what the words of each distinct sentence tell the update GRU.
        which: the distinct sentence that each is.
        touched: the slots that it touches, members and then context; 0 for none.
        context: the most context that it has in any story.
        spoken: which members are words of the sentence.
        present: which members there are.
        edges: the kind of edge from each member to each slot that is touched.
    """

    gates: np.ndarray
    which: np.ndarray
    touched: np.ndarray
    context: np.ndarray
    spoken: np.ndarray
    present: np.ndarray
    edges: np.ndarray


class OnnxModel:
    """An exported model.

    Args:
        directory: what `amn export` wrote.
        threads: of onnxruntime; small graphs lose by more than one.

    Raises:
        AMNError: where the directory holds no exported model, or onnxruntime is missing.
    """

    def __init__(self, directory: str | Path, threads: int = 1) -> None:
        directory = Path(directory)
        described = read_description(directory)
        self.vocabulary = Vocabulary.from_json(described["vocabulary"])
        self.width: int = described["config"]["hidden"]
        self.pointer: bool = described["config"]["pointer"]
        self.together = bool(described["training"].get("run", {}).get("train", {}).get("together", False))
        self._graphs = {name: _session(directory / f"{name}.onnx", threads) for name in GRAPHS}

    @overload
    def __call__(self, story: Text, question: str, *, banks: int = ...) -> Answer: ...

    @overload
    def __call__(self, story: Text, question: Text, *, banks: int = ...) -> Answer | list[Answer]: ...

    def __call__(self, story: Text, question: Text, *, banks: int = 1) -> Answer | list[Answer]:
        """Answers one question about a story, or each of a list.

        Args:
            story: text, which is split into sentences, or a list of sentences.
            question: a question, or a list of questions for a list of answers.
            banks: how many banks to read, the most relevant first; 0 for all.
        """
        started = perf_counter()
        check_limits(banks, None)
        asked, told = read_questions(question), read_story(story)
        if not told:
            raise AMNError("story: expected at least one sentence with a word in it, found none")
        sentences = tuple(words for _, words in told)
        groups = [asked] if self.together else [[one] for one in asked]
        examples = [
            Example(sentences=sentences, questions=tuple(words for _, words in group), answers=(None,) * len(group))
            for group in groups
        ]
        found = self.read(examples, banks)
        answers = [
            replace(answer, milliseconds=1000 * (perf_counter() - started))
            for group, one in zip(groups, found, strict=True)
            for answer in answers_of(one, self.vocabulary, [text for text, _ in group], banks)
        ]
        return answers[0] if isinstance(question, str) else answers

    def read(self, examples: Sequence[Example], banks: int = 1) -> list[Found]:
        """Reads stories side by side.

        Args:
            examples: stories with their questions.
            banks: how many banks to read, the most relevant first; 0 for all.
        """
        spelt = [spelled(self.vocabulary, example, pointer=self.pointer) for example in examples]
        return self.decode(self.tell(examples, spelt), examples, spelt, banks)

    def tell(self, examples: Sequence[Example], spelt: Sequence[Spelled]) -> Tables:
        """The memories of some stories after their last sentences."""
        batch = encode(examples, self.vocabulary).batch
        words, questions = _vectors(batch.slot_words.numpy(), examples, spelt), batch.questions.numpy().astype(np.int64)
        tables = self._start(words, questions)
        sentences, members = batch.sentences.numpy(), batch.members.numpy()
        telling = self._prepare(words, sentences, members, batch.context.numpy(), batch.edges.numpy())
        for number in range(sentences.shape[1]):
            self._step(tables, telling, number)
        return tables

    def _start(self, words: np.ndarray, questions: np.ndarray) -> Tables:
        encoded, rows = self._graphs["start"].run(None, {"words": words, "questions": questions})
        one = np.ones(len(words), np.float32)
        return Tables(rows, one, np.zeros_like(one), np.zeros((len(words), 2)), encoded)

    def _prepare(
        self, words: np.ndarray, sentences: np.ndarray, members: np.ndarray, context: np.ndarray, edges: np.ndarray
    ) -> Telling:
        """All that does not depend on the memory, for whole stories at once."""
        same = (members[..., None] == sentences[..., None, :]) & (members[..., None] > 0)
        spoken = same.any(-1)
        places = np.where(sentences > 0, same.argmax(-2) + 1, 0)
        spelled = np.where(spoken, words[np.arange(len(words))[:, None, None], members], 0)
        which, first = _distinct(np.concatenate((spelled, places), -1))
        own = np.pad(spelled.reshape(-1, spelled.shape[-1])[first], ((0, 0), (1, 0)))
        (gates,) = self._graphs["encode"].run(
            None, {"words": own, "sentences": places.reshape(-1, places.shape[-1])[first]}
        )
        return Telling(
            gates=gates,
            which=_by_sentence(which),
            touched=_by_sentence(np.concatenate((members, context), -1).astype(np.int64)),
            context=(context > 0).sum(-1).max(0),
            spoken=_by_sentence(spoken),
            present=_by_sentence(members > 0),
            edges=_by_sentence(edges.astype(np.int64)),
        )

    def _step(self, tables: Tables, telling: Telling, number: int) -> None:
        """One sentence of each story."""
        touched, present, edges = telling.touched[number], telling.present[number], telling.edges[number]
        used = present.shape[1] + int(telling.context[number])  # columns after these hold no context in any story
        story = np.arange(len(touched))[:, None]
        rows, tables.entities, tables.votes, created = self._graphs["step"].run(
            None,
            {
                "rows": tables.rows[story, touched[:, :used]],
                "banks": tables.banks,
                "entities": tables.entities,
                "votes": tables.votes,
                "gates": telling.gates,
                "which": telling.which[number],
                "spoken": telling.spoken[number],
                "present": present,
                "edges": edges[..., :used],
                "questions": tables.questions,
            },
        )
        tables.rows[story, touched[:, : present.shape[1]]] = rows
        if created.any():
            _create_banks(tables, np.flatnonzero(created))

    def decode(self, tables: Tables, examples: Sequence[Example], spelt: Sequence[Spelled], banks: int) -> list[Found]:
        """Answers from the rows of the banks that are read; no other row is looked at."""
        read = np.minimum(banks or tables.banks, tables.banks).astype(np.float32)
        left_out = tables.banks - read
        held = tables.rows[..., _IN_LAST] > 0.5 if banks == 1 else tables.rows[..., _DEPTH] >= left_out[:, None]
        chosen = _gathered(held)
        rows = tables.rows[np.arange(len(chosen))[:, None], chosen]
        rows[..., _DEPTH] -= left_out[:, None]
        rows[chosen == 0] = [0.0] * (self.width + EXTRAS - 2) + [-1.0, 0.0]
        graph = self._graphs["decode" if banks == 1 else "decode_banks"]
        logits, entities_read = graph.run(None, {"rows": rows, "banks": read, "questions": tables.questions})
        found = []
        for i, (example, told) in enumerate(zip(examples, (one.told for one in spelt), strict=True)):
            asked = len(example.questions)
            said, copies = logits[i, :asked], [round(float(n)) for n in entities_read[i, :asked]]
            entities, created = round(tables.entities[i]), round(tables.banks[i])
            found.append(Found(choose(said, self.vocabulary, told), list(told.values()), entities, copies, created))
        return found


def _vectors(slots: np.ndarray, examples: Sequence[Example], spelt: Sequence[Spelled]) -> np.ndarray:
    """The vector of each slot's word."""
    found = np.zeros(slots.shape, np.int64)
    for row, example, one in zip(found, examples, spelt, strict=True):
        words = slot_words(example)
        row[1 : len(words)] = one(tuple(words[1:]))
    return found


def _session(path: Path, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnx", "an exported model") from error
    if not path.is_file():
        raise CheckpointError(f"{path}: no such graph; amn export writes it")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """For each place of a grid the number of its key, and where each key stands first."""
    flat = np.ascontiguousarray(keys.reshape(-1, keys.shape[-1]))
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    which = []
    for place, key in enumerate(map(bytes, flat)):
        if (number := numbers.setdefault(key, len(numbers))) == len(first):
            first.append(place)
        which.append(number)
    return np.array(which).reshape(keys.shape[:-1]), first


def _by_sentence(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values.swapaxes(0, 1))


def _gathered(held: np.ndarray) -> np.ndarray:
    """The slots that each story holds, then zeros; slot 0 is padding."""
    held[:, 0] = False
    most = max(1, int(held.sum(-1).max()))
    order = np.argsort(~held, axis=-1, kind="stable")[:, :most]
    return np.where(np.take_along_axis(held, order, -1), order, 0)


def _create_banks(tables: Tables, stories: np.ndarray) -> None:
    """`AMN.create_bank` where it was decided: what is still relevant in the last bank goes on to a new one."""
    rows = tables.rows[stories]
    stays = (rows[..., _RELEVANCE] > 0) & (rows[..., _IN_LAST] > 0.5)
    tables.rows[stories, :, _IN_LAST] = stays
    tables.rows[stories, :, _DEPTH] += stays
    tables.banks[stories] += 1
    tables.votes[stories, 0] = (stays * rows[..., _VOTE]).sum(-1, dtype=np.float64)
    tables.votes[stories, 1] = stays.sum(-1)

"""The Python interface: load a model, ask it about a story, or open a live memory.

qa = amn.load("qa1")
qa("Mary moved to the bathroom. John went to the hallway.", "Where is Mary?")
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from amn.answers import Answer, AskOptions, answers_of, check_limits, timed
from amn.data.examples import Example, Words
from amn.data.text import Text, read_questions, read_story
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.inference.core import core_of
from amn.inference.engine import in_order, read_examples
from amn.inference.trained import TrainedModel
from amn.memory.live import LiveMemory, groups_of
from amn.pretrained import DEFAULT_MODEL
from amn.store.find import find_model, push
from amn.store.model_directory import load_model, save_model

if TYPE_CHECKING:
    from amn.memory.stored import StoredMemory

BATCH_SENTENCES = 256  # a longer story is read alone
BATCH_WORDS = 1 << 16  # of a batch, with the padding to its longest story

Pair = tuple[Text, Text]  # a story and its question or questions

EMPTY_STORY = "story: expected at least one sentence with a word in it, found none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One story and its questions, to be answered together with others.

    Args:
        story: text, or a list of sentences.
        question: one question or several.
        banks: how many banks to read; 0 for all.
    """

    story: Text
    question: Text
    banks: int = 1


class QA:
    """A trained model that answers questions about stories.

    Args:
        trained: the model with its vocabulary and the record of its training.
    """

    def __init__(self, trained: TrainedModel) -> None:
        self.trained = trained

    def __repr__(self) -> str:
        weights = sum(weight.size for weight in self.trained.weights.values())
        size = f"{len(self.vocabulary.words):,} words, {weights:,} weights, on {self.trained.device_type}"
        return f"QA({self.architecture}, task {self.trained.training.task}, {size})"

    @property
    def architecture(self) -> str:
        """The name of the architecture."""
        return self.trained.architecture

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and answers that the model knows."""
        return self.trained.vocabulary

    @property
    def record(self) -> dict[str, Any]:
        """How the model was trained."""
        return self.trained.record

    @overload
    def __call__(self, story: Text, question: str, **options: Unpack[AskOptions]) -> Answer: ...

    @overload
    def __call__(
        self, story: Text, question: list[str] | tuple[str, ...], **options: Unpack[AskOptions]
    ) -> list[Answer]: ...

    @overload
    def __call__(self, story: Text, question: Text, **options: Unpack[AskOptions]) -> Answer | list[Answer]: ...

    @overload
    def __call__(self, story: Sequence[Pair], *, banks: int | None = ...) -> list[Any]: ...

    def __call__(
        self,
        story: Text | Sequence[Pair],
        question: Text | None = None,
        *,
        banks: int | None = None,
        deadline: float | None = None,
        explain: bool = False,
    ) -> Answer | list[Answer] | list[Any]:
        """Answers one question or several about a story; or many pairs of stories and questions, in few passes.

        Args:
            story: text, which is split into sentences, or a list of sentences; or a list of pairs of a story and its
                question or questions, for a list of their answers.
            question: a question, or a list of questions for a list of answers.
            banks: how many banks to read, the most relevant first; 0 for all. By default 1.
            deadline: seconds from now; more banks are read while the answer is uncertain and time remains.
            explain: whether to explain the answers.
        """
        read = 1 if banks is None else banks
        if question is None:
            if deadline is not None or explain:
                raise AMNError("deadline, explain: expected one story at a time, found a list of pairs")
            return self._answer_pairs(_pairs(story), read)
        story = cast(Text, story)
        started = perf_counter()
        check_limits(banks, deadline)
        if deadline is None and not explain:
            (answers,) = self.answer_batch([Request(story=story, question=question, banks=read)])
        else:
            memory = self.memory(question)
            if not memory.tell(story):
                raise AMNError(EMPTY_STORY)
            left = None if deadline is None else max(0.0, started + deadline - perf_counter())
            answers = timed(memory.ask(deadline=left, explain=explain, banks=banks), perf_counter() - started)
        return answers[0] if isinstance(question, str) else answers

    def _answer_pairs(self, pairs: Sequence[Pair], banks: int) -> list[Answer | list[Answer]]:
        given = self.answer_batch([Request(story=story, question=question, banks=banks) for story, question in pairs])
        asked = (question for _, question in pairs)
        return [own[0] if isinstance(question, str) else own for own, question in zip(given, asked, strict=True)]

    def answer_batch(self, requests: Sequence[Request]) -> list[list[Answer]]:
        """Answers many requests in few passes of the model: for each request, one answer per question."""
        started = perf_counter()
        parts = [part for number, request in enumerate(requests) for part in self._parts(number, request)]
        answers: list[list[Answer]] = [[] for _ in requests]
        found: dict[int, list[Answer]] = {}
        for group in _groups(parts):
            read = read_examples(self.trained, [part.example for part in group], group[0].banks)
            for part, one in zip(group, read, strict=True):
                found[id(part)] = answers_of(one, self.trained, part.questions, part.banks)
        for part in parts:
            answers[part.request] += found[id(part)]
        return [timed(given, perf_counter() - started) for given in answers]

    def _parts(self, number: int, request: Request) -> list["_Part"]:
        """A request, split into the groups of questions that share a memory."""
        check_limits(request.banks, None)
        asked, story = read_questions(request.question), read_story(request.story)
        if not story:
            raise AMNError(EMPTY_STORY)
        sentences = tuple(spoken for _, spoken in story)
        parts = []
        for group in groups_of(self.trained, len(asked)):
            questions = tuple(asked[i][1] for i in group)
            example = Example(sentences=sentences, questions=questions, answers=(None,) * len(questions))
            parts.append(
                _Part(number, story, [asked[i][0] for i in group], in_order(self.trained, example), request.banks)
            )
        return parts

    @overload
    def memory(self, questions: Text) -> LiveMemory: ...

    @overload
    def memory(self, questions: Text, *, store: str, id: str | None = ...) -> "StoredMemory": ...

    def memory(
        self, questions: Text, *, store: str | None = None, id: str | None = None
    ) -> "LiveMemory | StoredMemory":
        """A memory for these questions that can be told sentences and asked at any time.

        Args:
            questions: what it is built for.
            store: where to keep it, sentence by sentence: sqlite:///FILE, redis://HOST, or memory: for this process
                only. By default it is kept nowhere, unless you save it.
            id: its name in the store; a memory that exists already is continued.
        """
        if store is None:
            return LiveMemory(self.trained, questions)
        from amn.memory.stored import StoredMemory

        return StoredMemory.open(self.trained, questions, store, id)

    def restore(self, path: str | Path) -> LiveMemory:
        """Restores a memory that `LiveMemory.save` wrote."""
        return LiveMemory.restore(path, self.trained)

    def save_pretrained(self, directory: str | Path) -> None:
        """Writes a model directory that `load` and `from_pretrained` read."""
        from amn.store.card import model_card

        described = {"run", "validation"} <= self.record.keys()
        save_model(directory, self.trained, model_card(self.trained) if described else "")

    def push_to_hub(self, name: str, **options: Any) -> str:
        """Uploads the model to the Hugging Face hub, from which `load` gets it by its name.

        Args:
            name: organisation/name.
            **options: of `huggingface_hub.ModelHubMixin.push_to_hub`, such as `private`, `branch`, `commit_message`.

        Returns:
            The address of the commit.
        """
        return push(self.save_pretrained, name, **options)

    def to(self, device: str) -> "QA":
        """Moves the model to another device, where it reads batches: cpu, cuda, or auto for the best available."""
        from amn.inference.device import choose_device

        self.trained.model.to(choose_device(device))
        return self

    @classmethod
    def from_pretrained(
        cls, name: str | Path = DEFAULT_MODEL, device: str = "cpu", *, revision: str | None = None
    ) -> "QA":
        """The same as `amn.load`."""
        qa = cls(load_model(find_model(name, revision)))
        core_of(qa.trained)  # built now, so that the first answer is as fast as the next
        return qa if device == "cpu" else qa.to(device)


def load(name: str | Path = DEFAULT_MODEL, device: str = "cpu", *, revision: str | None = None) -> QA:
    """Loads a model by name: a local directory, shipped weights, or a model on the Hugging Face hub.

    Args:
        name: a directory, a shipped name, or "organisation/name" on the hub.
        device: where it runs: cpu, cuda, or auto for the best available.
        revision: a branch, tag or commit, for a model on the hub.

    Raises:
        AMNError: where there is no such model, or it cannot be read.
    """
    return QA.from_pretrained(name, device, revision=revision)


def _pairs(stories: object) -> list[Pair]:
    """Pairs of stories and questions, checked."""
    if isinstance(stories, Sequence) and not isinstance(stories, str):
        pairs = [pair for pair in stories if isinstance(pair, Sequence) and not isinstance(pair, str)]
        if len(pairs) == len(stories) and all(len(pair) == 2 for pair in pairs):
            return [(story, question) for story, question in pairs]
    raise AMNError("question: expected one beside the story, or a list of pairs of a story and its question")


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A story and some questions that share a memory: a request, or part of one."""

    request: int
    story: list[tuple[str, Words]]
    questions: list[str]
    example: Example
    banks: int

    @property
    def words(self) -> int:
        """The number of words in its story."""
        return sum(map(len, self.example.sentences))


def _groups(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Batches of parts with equal numbers of banks and stories of similar length."""
    group, longest = list[_Part](), 0
    for part in sorted(parts, key=lambda part: (part.banks, len(part.story))):
        longest = max(longest, part.words)
        fits = len(part.story) <= BATCH_SENTENCES and longest * (len(group) + 1) <= BATCH_WORDS
        if group and not (fits and group[0].banks == part.banks):
            yield group
            group, longest = [], part.words
        group.append(part)
    if group:
        yield group

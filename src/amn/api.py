"""The Python interface: load a model, ask it about a story, or keep a live memory for it.

qa = amn.load("babi")
qa("Mary moved to the bathroom. John went to the hallway.", "Where is Mary?")
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from amn.answers import Answer
from amn.data.vocabulary import Vocabulary
from amn.memory import LiveMemory
from amn.text import Text
from amn.training.model_directory import TrainedModel

DEFAULT_MODEL = "babi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One story and its questions, to be answered with others in one pass.

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
    def __call__(
        self, story: Text, question: str, *, banks: int | None = ..., deadline: float | None = ..., explain: bool = ...
    ) -> Answer: ...

    @overload
    def __call__(
        self, story: Text, question: Text, *, banks: int | None = ..., deadline: float | None = ..., explain: bool = ...
    ) -> Answer | list[Answer]: ...

    def __call__(
        self,
        story: Text,
        question: Text,
        *,
        banks: int | None = None,
        deadline: float | None = None,
        explain: bool = False,
    ) -> Answer | list[Answer]:
        """Answers one question about a story, or a list of them from one memory that is built for all.

        Args:
            story: text, which is split into sentences, or a list of sentences.
            question: a question, or a list of questions for a list of answers.
            banks: how many banks to read, the most relevant first; 0 for all. By default 1, or what the deadline allows.
            deadline: seconds from now; further banks are read while the answer is uncertain and time remains.
            explain: say why.
        """
        raise NotImplementedError

    def answer_batch(self, requests: Sequence[Request]) -> list[list[Answer]]:
        """Answers many requests in few passes of the model: for each request, an answer for each of its questions."""
        raise NotImplementedError

    def memory(self, questions: Text) -> LiveMemory:
        """An empty memory, built for these questions, that can be told sentences and asked at any time."""
        return LiveMemory(self.trained, questions)

    def restore(self, path: str | Path) -> LiveMemory:
        """A memory that this model saved."""
        return LiveMemory.restore(path, self.trained)

    def save_pretrained(self, directory: str | Path) -> None:
        """Writes a model directory that `load` and `from_pretrained` read."""
        raise NotImplementedError

    @classmethod
    def from_pretrained(cls, name: str = DEFAULT_MODEL, device: str = "cpu") -> "QA":
        """The same as `amn.load`."""
        raise NotImplementedError


def load(name: str | Path = DEFAULT_MODEL, device: str = "cpu") -> QA:
    """A model by name: a local directory, then shipped weights, then the Hugging Face hub ("organisation/name").

    Args:
        name: the directory or name.
        device: where it runs: cpu, cuda, or auto.
    """
    return QA.from_pretrained(str(name), device)


def shipped_models() -> list[str]:
    """The names of the models that come with the package."""
    raise NotImplementedError

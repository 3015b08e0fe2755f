"""Live memories: told sentence by sentence, asked at any time."""

from collections.abc import Sequence
from pathlib import Path

from amn.answers import Answer, Bank, SentenceTrace
from amn.text import Text
from amn.training.model_directory import TrainedModel


class LiveMemory:
    """A memory for a set of questions, which guide what it keeps near. It is not safe to use from several threads.

    Args:
        trained: the model.
        questions: what the memory is built for.
    """

    def __init__(self, trained: TrainedModel, questions: Text) -> None:
        raise NotImplementedError

    @property
    def questions(self) -> list[str]:
        """What the memory is built for."""
        raise NotImplementedError

    @property
    def sentences(self) -> Sequence[str]:
        """What it was told."""
        raise NotImplementedError

    def tell(self, text: Text) -> list[SentenceTrace]:
        """Reads further sentences and returns what each of them did."""
        raise NotImplementedError

    def ask(self, deadline: float | None = None, explain: bool = False, banks: int | None = None) -> list[Answer]:
        """Answers the questions of the memory from what it was told so far."""
        raise NotImplementedError

    def ask_other(self, question: str, explain: bool = False) -> Answer:
        """Answers a question that the memory was not built for, by reading its sentences again."""
        raise NotImplementedError

    def snapshot(self) -> list[Bank]:
        """The banks as they are now."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Writes the memory to a directory."""
        raise NotImplementedError

    @classmethod
    def restore(cls, path: str | Path, trained: TrainedModel) -> "LiveMemory":
        """Reads what `save` wrote; the model must be the same."""
        raise NotImplementedError

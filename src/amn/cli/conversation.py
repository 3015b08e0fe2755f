"""A conversation: sentences are remembered, questions are answered, and answers are updated as sentences come."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from amn.data.story import same_answer
from amn.errors import AMNError

if TYPE_CHECKING:
    from amn.answers import Answer, SentenceTrace
    from amn.api import QA
    from amn.memory import LiveMemory

NOTHING_TOLD = "nothing has been told yet"
_ASKING = (  # without "will" and "may", which are also names
    "where where's who who's whose whom what what's which when why how is are was were do does did has have had can"
).split()


def is_question(sentence: str) -> bool:
    """Whether it ends in a question mark, or begins like a question and ends in no mark at all."""
    text = sentence.rstrip()
    return text.endswith(("?", "？")) or (text[-1:].isalnum() and _begins_like_one(text))


def _begins_like_one(text: str) -> bool:
    return text.split()[0].lower().replace("’", "'") in _ASKING


def _is_one_question(line: str) -> bool:
    """Whether a line is a single question, even if it has full stops: "where is mr. smith"."""
    return is_question(line) and not line.rstrip("?？ \n").count("?") and _begins_like_one(line)


def _is_shown(answer: "Answer", shown: tuple[str, bool] | None) -> bool:
    return shown is not None and same_answer(answer.answer, shown[0]) and answer.known == shown[1]


class Conversation:
    """A story told line by line, with a memory for each question about it.

    With `standing` all questions stay open; otherwise each is forgotten when the next one comes.
    """

    def __init__(
        self,
        qa: "QA",
        *,
        banks: int | None = None,
        deadline: float | None = None,
        explain: bool = False,
        standing: bool = True,
    ) -> None:
        self.qa, self.banks, self.deadline, self.explain, self.standing = qa, banks, deadline, explain, standing
        self.forget()

    def forget(self) -> None:
        """Forgets the story and the questions."""
        self.sentences: list[str] = []
        self.memories: dict[str, LiveMemory] = {}  # by question, the latest last
        self.did: list[SentenceTrace] = []  # the traces of the last line, in the last memory
        self._shown: dict[str, tuple[str, bool]] = {}

    def take(self, line: str) -> Iterator["Answer"]:
        """Remembers the sentences of a line and answers its questions."""
        from amn.data.sentences import split_sentences

        self.did = []
        for sentence in [line.strip()] if _is_one_question(line) else split_sentences(line):
            if is_question(sentence):
                yield self.ask(sentence)
            else:
                self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """Remembers a sentence."""
        from amn.data.text import read_story

        read_story([sentence])  # raises if it is too long for any memory
        self.sentences.append(sentence)
        traces = [memory.tell([sentence]) for memory in self.memories.values()]
        self.did += traces[-1] if traces else []

    def ask(self, question: str) -> "Answer":
        """Answers a question, which then stays open; every question has its own memory."""
        text = question if question.endswith(("?", "？")) else f"{question}?"
        memory = self.memories.pop(text, None) or self._open(text)
        self.memories = {**(self.memories if self.standing else {}), text: memory}
        if not self.sentences:
            raise AMNError(f"{NOTHING_TOLD}; the question stays open")
        return self._answer(text, explain=self.explain)

    def _open(self, question: str) -> "LiveMemory":
        memory = self.qa.memory([question])
        memory.tell(self.sentences)
        return memory

    def _answer(self, question: str, *, explain: bool = False) -> "Answer":
        memory = self.memories[question]
        answer = memory.ask(question, banks=self.banks, deadline=self.deadline, explain=explain)
        self._shown[question] = answer.answer, answer.known
        return answer

    def answers(self) -> list["Answer"]:
        """The current answers to all open questions, the latest last."""
        return [self._answer(question) for question in self.memories] if self.sentences else []

    def changed(self) -> list["Answer"]:
        """The answers that have changed since they were last given."""
        before = dict(self._shown)
        return [answer for answer in self.answers() if not _is_shown(answer, before.get(answer.question))]

    def why(self) -> "Answer":
        """The answer to the last question, with an explanation."""
        if not self.memories or not self.sentences:
            raise AMNError(NOTHING_TOLD if not self.sentences else "nothing has been asked yet")
        return self._answer(next(reversed(self.memories)), explain=True)

    def last_memory(self) -> "LiveMemory":
        """The memory of the last question."""
        if not self.memories:
            raise AMNError("banks depend on a question, and nothing has been asked yet")
        return next(reversed(self.memories.values()))

    def save(self, path: Path) -> None:
        """Saves the story and its questions as a memory, which `QA.restore` reads too."""
        if not self.memories:
            raise AMNError("a memory needs a question, and nothing has been asked yet")
        memory = self.qa.memory(list(self.memories))
        memory.tell(self.sentences)
        memory.save(path)

    def load(self, path: Path) -> None:
        """Continues from what `save` wrote."""
        memory = self.qa.restore(path)
        self.forget()
        self.sentences = list(memory.sentences)
        self.memories = {question: self._open(question) for question in memory.questions}

"""How a memory takes in text: sentences by `tell`, streams by `read`. A gate may turn away irrelevant sentences."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from amn.answers import SentenceTrace
from amn.data.examples import Words
from amn.data.story import words_of
from amn.data.text import Text, read_story
from amn.errors import AMNError
from amn.inference.gate import Judge
from amn.inference.trained import TrainedModel
from amn.memory.group import QuestionGroup
from amn.memory.stream import Progress, Source, Stream, Told, parts, undisturbed


class Ingestion:
    """The part of `LiveMemory` that takes in text."""

    trained: TrainedModel
    questions: list[str]  # what it is built for
    sentences: list[str]  # what it was told, if that is kept
    seen: int  # how many sentences it was told
    let_in: int  # how many of them the gate let in for any question; the others left no trace
    position: tuple[str, int] | None  # the last file read, and how many sentences of it
    _rereads: bool
    _gate: Judge | None
    _told: list[Words]
    _groups: list[QuestionGroup]
    _begun: "_Begun | None" = None

    def tell(self, text: Text, *, keep: bool = True) -> list[SentenceTrace]:
        """Reads more sentences and returns what each of them did to the memory of the first question.

        Args:
            text: sentences.
            keep: whether to keep them, so that other questions can be asked later.
        """
        return self._take(read_story(text), keep)

    def telling(self, text: Text, *, traced: bool = True) -> Iterator[SentenceTrace | None]:
        """Reads more sentences in short steps; yields what each did once it is read, and None in between.

        If iteration stops in the middle of a sentence, the next call has to start with the same sentence.

        Args:
            text: sentences.
            traced: whether to keep what each did, which explanations show.
        """
        for told in read_story(text):
            begun = self._begun or _Begun(self._admitted([told]), self._groups[0].memory.banks)
            for group in self._groups[begun.heard_by :]:
                found = group.ingest(self.seen, [told], begun.heard[begun.heard_by], int(traced))
                begun = self._begun = replace(begun, heard_by=begun.heard_by + 1, first=(*begun.first, *found)[:1])
                if begun.heard_by < len(self._groups):
                    yield None
            trace = begun.first[0] if begun.heard[0] and traced else _turned_away(self.seen, told[0], begun.banks)
            self._note([told], begun.heard, keep=True)
            self._begun = None
            yield trace if traced else None

    def read(
        self, source: Source, *, keep: bool = False, progress: Callable[[Progress], object] | None = None
    ) -> Progress:
        """Reads a stream of any length, in bounded memory.

        Ctrl-C stops it with the memory in a consistent state. Reading the same file again continues after the part
        already read, even if the memory was saved and restored in between, or the file has grown.

        Args:
            source: the path of a UTF-8 file; an open file; a list of sentences, which are taken as they are; or any
                other iterable, of pieces of text that may be cut anywhere.
            keep: whether to keep the sentences, so that other questions can be asked later.
            progress: is called with the progress so far, every few thousand sentences.

        Returns:
            How many sentences and tokens were read, how many sentences were let in, and how fast it was.
        """
        name = str(Path(source).resolve()) if isinstance(source, str | Path) else ""
        before = self.position[1] if name and self.position and self.position[0] == name else 0
        stream = Stream(source, before)
        try:
            for story in stream.blocks():
                self._read_block(stream, name, story, keep, progress)
        except KeyboardInterrupt:
            again = "; read it again to continue there" if name else ""
            raise KeyboardInterrupt(f"stopped after {stream.position:,} sentences{again}") from None
        return stream.progress(finished=True)

    def _read_block(
        self,
        stream: Stream,
        name: str,
        story: Sequence[Told],
        keep: bool,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        before = None if self._gate is None else self._gate.state.copy()
        heard, first, done = self._admitted(story), self.seen, 0
        try:
            for start, stop in parts(len(story), sum(map(len, heard))):
                within = [places[bisect_left(places, start) : bisect_left(places, stop)] for places in heard]
                with undisturbed():
                    let_in = self._note(story[start:stop], within, keep)
                    for group, places in zip(self._groups, within, strict=True):
                        group.ingest(first, story, places)
                    stream.count(story[start:stop], let_in)
                    self.position, done = (name, stream.position) if name else None, stop
                if progress is not None:
                    progress(stream.progress())
        finally:
            if self._gate is not None and before is not None and done < len(story):
                self._gate.state = before  # as it was after what was read
                self._admitted(story[:done])

    def _admitted(self, story: Sequence[Told]) -> list[Sequence[int]]:
        """Which of the next sentences the gate lets in for each group of questions, by their places."""
        if self._gate is None:
            return [range(len(story))] * len(self._groups)
        verdicts = self._gate.judge([spoken for _, spoken in story])
        return [np.flatnonzero(verdicts[group.numbers].any(0)).tolist() for group in self._groups]

    def _take(self, story: Sequence[Told], keep: bool = True, traced: bool = True) -> list[SentenceTrace]:
        """Reads sentences; returns what each did to the memory of the first question, if traced."""
        heard = self._admitted(story)
        first, banks = self.seen, max(1, self._groups[0].memory.banks)
        self._note(story, heard, keep)
        made = self._groups[0].ingest(first, story, heard[0], len(story) if traced else 0)
        for group, places in zip(self._groups[1:], heard[1:], strict=True):
            group.ingest(first, story, places, None if traced else 0)
        if not traced:
            return []
        told, traces = {trace.sentence: trace for trace in made}, list[SentenceTrace]()
        for number, (text, _) in enumerate(story, first):
            traces.append(told.get(number) or _turned_away(number, text, banks))
            banks = traces[-1].banks
        return traces

    def _note(self, story: Sequence[Told], heard: Sequence[Sequence[int]], keep: bool) -> int:
        """Counts sentences, and keeps them if all are kept; returns how many were let in."""
        keep = keep or self._rereads or not self._groups[0].memory.banks  # a model without banks keeps them anyway
        if self._is_whole and keep:
            self.sentences += [text for text, _ in story]
            self._told += [spoken for _, spoken in story]
        self.seen += len(story)
        let_in = len(set().union(*heard)) if self._gate is not None else len(story)
        self.let_in += let_in
        return let_in

    @property
    def _is_whole(self) -> bool:
        """Whether all sentences are kept."""
        return self.seen == len(self.sentences)

    def check_kept(self) -> None:
        """Checks that all sentences were kept.

        Raises:
            AMNError: where they were not.
        """
        if not self._is_whole:
            raise AMNError(
                f"question: this memory did not keep its {self.seen:,} sentences, so it can answer only the questions "
                f"it was built for ({'; '.join(self.questions[:3])}); read with keep=True to ask others"
            )

    def _heard(self, group: QuestionGroup) -> tuple[Sequence[int], list[Words]]:
        """The sentences told to a group, by number and as words: all if kept and not gated, else the traced ones."""
        if self._is_whole and self._gate is None:
            return range(self.seen), self._told
        return [trace.sentence for trace in group.traces], words_of([trace.text for trace in group.traces])


@dataclass(frozen=True, slots=True)
class _Begun:
    """A sentence that some of the memories have read."""

    heard: list[Sequence[int]]  # for each memory, [0] if it is told the sentence, else []
    banks: int  # how many banks the first memory had before
    heard_by: int = 0  # how many memories are done with it
    first: tuple[SentenceTrace, ...] = ()  # what it did to the first of them


def _turned_away(number: int, text: str, banks: int) -> SentenceTrace:
    return SentenceTrace(sentence=number, text=text, banks=banks, depth={}, strengths={})

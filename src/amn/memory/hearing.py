"""What a memory is told: sentences by `tell`, streams by `read`; a gate turns away what matters to no question."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from amn.answers import Move, SentenceTrace
from amn.data.examples import Words
from amn.data.story import words, words_of
from amn.data.text import Text, read_story
from amn.errors import AMNError
from amn.inference.engine import open_memory
from amn.inference.found import Change, StoryMemory
from amn.inference.gate import Judge
from amn.inference.trained import TrainedModel
from amn.memory.stream import Progress, Source, Stream, Told, parts, undisturbed


class Hearing:
    """What makes a memory listen: for `LiveMemory` to inherit."""

    trained: TrainedModel
    questions: list[str]  # what it is built for
    sentences: list[str]  # what it was told, as far as that is kept
    seen: int  # how many sentences it was told
    let_in: int  # how many of them the memory of any question heard; the others were turned away, and left nothing
    position: tuple[str, int] | None  # the file that it read last, and how many sentences of it
    _rereads: bool
    _gate: Judge | None
    _told: list[Words]
    _groups: list[list[int]]
    _open: list[StoryMemory]  # one for each group, opened when it is needed
    _traces: list[deque[SentenceTrace]]
    _begun: "_Begun | None" = None

    def _opened(self, groups: int) -> list[StoryMemory]:
        """The memories of at least so many groups."""
        for group in self._groups[len(self._open) : groups]:
            self._open.append(open_memory(self.trained, [words(self.questions[i]) for i in group]))
        return self._open

    @property
    def _memories(self) -> list[StoryMemory]:
        return self._opened(len(self._groups))

    def tell(self, text: Text, *, keep: bool = True) -> list[SentenceTrace]:
        """Reads further sentences and returns what each of them did, to the memory of the first question.

        Args:
            text: sentences.
            keep: whether to keep them, so that other questions can be asked later.
        """
        return self._take(read_story(text), keep)

    def telling(self, text: Text, *, traced: bool = True) -> Iterator[SentenceTrace | None]:
        """Reads further sentences by steps that take a moment: what each did once it is read, and None in between.

        Whoever stops in the middle of a sentence begins with the same one when going on.

        Args:
            text: sentences.
            traced: whether to keep what each did; what is not kept cannot be explained.
        """
        for told in read_story(text):
            begun = self._begun or _Begun(self._places(self._judged([told]), 1), self._opened(1)[0].banks)
            while begun.heard_by < len(self._groups):
                found = self._hear(begun.heard_by, self.seen, [told], begun.heard[begun.heard_by], int(traced))
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

        Ctrl-C stops it where the memory is whole. Reading the same file again goes on after what was read of it, also
        when the memory was saved and restored in between, or the file has grown.

        Args:
            source: the path of a file in UTF-8; a file that is open; a list of sentences, which are taken as they are;
                or any other iterable, of pieces of the text that are cut anywhere.
            keep: whether to keep the sentences, so that other questions can be asked later.
            progress: is called with how far it was read, every few thousand sentences.

        Returns:
            How many sentences and tokens it had, how many were let in, and how fast it was.
        """
        name = str(Path(source).resolve()) if isinstance(source, str | Path) else ""
        before = self.position[1] if name and self.position and self.position[0] == name else 0
        stream = Stream(source, before)
        try:
            for story in stream.blocks():
                self._read_block(stream, name, story, keep, progress)
        except KeyboardInterrupt:
            again = "; read it again to go on there" if name else ""
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
        heard, first, done = self._places(self._judged(story), len(story)), self.seen, 0
        try:
            for start, stop in parts(len(story), sum(map(len, heard))):
                within = [places[bisect_left(places, start) : bisect_left(places, stop)] for places in heard]
                with undisturbed():
                    let_in = self._note(story[start:stop], within, keep)
                    for number, places in enumerate(within):
                        self._hear(number, first, story, places)
                    stream.count(story[start:stop], let_in)
                    self.position, done = (name, stream.position) if name else None, stop
                if progress is not None:
                    progress(stream.progress())
        finally:
            if self._gate is not None and before is not None and done < len(story):
                self._gate.state = before  # what was judged and not told is judged again
                self._judged(story[:done])

    def _judged(self, story: Sequence[Told]) -> Bool[np.ndarray, "question sentence"] | None:
        """Which sentences each question lets in: the one place where they are judged; None where all are."""
        return None if self._gate is None else self._gate.judge([spoken for _, spoken in story])

    def _places(self, verdicts: Bool[np.ndarray, "question sentence"] | None, count: int) -> list[Sequence[int]]:
        """Which sentences the memory of each group is told, by their places."""
        if verdicts is None:
            return [range(count)] * len(self._groups)
        return [np.flatnonzero(verdicts[group].any(0)).tolist() for group in self._groups]

    def _take(self, story: Sequence[Told], keep: bool = True, traced: bool = True) -> list[SentenceTrace]:
        """Tells sentences; gives what each did to the memory of the first question, unless no trace is wanted."""
        heard = self._places(self._judged(story), len(story))
        first, banks = self.seen, max(1, self._memories[0].banks)
        self._note(story, heard, keep)
        most = None if traced else 0
        told = {trace.sentence: trace for trace in self._hear(0, first, story, heard[0], len(story) if traced else 0)}
        for number, places in enumerate(heard[1:], 1):
            self._hear(number, first, story, places, most)
        if not traced:
            return []
        traces = []
        for number, (text, _) in enumerate(story, first):
            traces.append(told.get(number) or _turned_away(number, text, banks))
            banks = traces[-1].banks
        return traces

    def _note(self, story: Sequence[Told], heard: Sequence[Sequence[int]], keep: bool) -> int:
        """Counts sentences, and keeps them where they are all kept; returns how many were let in."""
        keep = keep or self._rereads or not self._memories[0].banks  # without banks, a model keeps them anyway
        if self._is_whole and keep:
            self.sentences += [text for text, _ in story]
            self._told += [spoken for _, spoken in story]
        self.seen += len(story)
        let_in = len(set().union(*heard)) if self._gate is not None else len(story)
        self.let_in += let_in
        return let_in

    def _hear(
        self, number: int, first: int, story: Sequence[Told], places: Sequence[int], traces: int | None = None
    ) -> list[SentenceTrace]:
        """Tells some sentences to one memory; gives what the latest of them did, by default as many as are kept."""
        memory, kept = self._opened(number + 1)[number], self._traces[number]
        untraced = max(0, len(places) - ((kept.maxlen or 0) if traces is None else traces))
        memory.hear([story[place][1] for place in places[:untraced]])
        found = [_trace(first + place, story[place][0], memory.tell(story[place][1])) for place in places[untraced:]]
        kept.extend(found)
        return found

    @property
    def _is_whole(self) -> bool:
        """Whether all sentences are kept."""
        return self.seen == len(self.sentences)

    def check_kept(self) -> None:
        """Refuses what needs all sentences, where they were not kept."""
        if not self._is_whole:
            raise AMNError(
                f"question: this memory did not keep its {self.seen:,} sentences, so it answers its own questions only "
                f"({'; '.join(self.questions[:3])}); read with keep=True to ask others"
            )

    def _heard(self, number: int) -> tuple[Sequence[int], list[Words]]:
        """The sentences that a memory heard, by number and as words: all where no gate chose and they are kept."""
        if self._is_whole and self._gate is None:
            return range(self.seen), self._told
        kept = self._traces[number]
        return [trace.sentence for trace in kept], words_of([trace.text for trace in kept])


@dataclass(frozen=True, slots=True)
class _Begun:
    """A sentence that some of the memories have heard."""

    heard: list[Sequence[int]]  # which memories are told it: a place for each that is
    banks: int  # how many banks the first memory had before
    heard_by: int = 0  # how many of them were told it, or turned it away
    first: tuple[SentenceTrace, ...] = ()  # what it did to the first of them


def _trace(number: int, text: str, change: Change) -> SentenceTrace:
    after = change.after
    return SentenceTrace(
        sentence=number,
        text=text,
        banks=change.banks,
        created=change.created,
        moves=tuple([Move(word, old, after[word]) for word, old in change.before.items() if old != after[word]]),
        depth=after,
        strengths=change.strengths,
    )


def _turned_away(number: int, text: str, banks: int) -> SentenceTrace:
    return SentenceTrace(sentence=number, text=text, banks=banks, depth={}, strengths={})

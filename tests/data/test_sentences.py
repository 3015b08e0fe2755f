"""Where sentences end, in what users type and in books."""

from random import Random

import pytest

from amn.data.sentences import BLOCK, MAX_SENTENCE_WORDS, split_prose, split_sentences
from amn.data.story import words, words_of

PROSE = """CHAPTER I. The Workshop

With a single drop of ink for a mirror, Mr. Jonathan Burge undertakes to
reveal to any chance comer far-reaching visions of the past. "Stop!" she
said. He had 3.5 shillings... and no more. Dr. J. R. Smith of the
U.S. Navy left at 5 p.m. He never came back.

Was he in St. Ives? "I cannot tell." The end
of it was this:

The short line
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mary went to the garden. Mary took the ball.", ["Mary went to the garden.", "Mary took the ball."]),
        ("mary went. john sat", ["mary went.", "john sat"]),
        ("Mary went\nJohn sat", ["Mary went", "John sat"]),
        ("A is left of B. C is above D. B is there.", ["A is left of B.", "C is above D.", "B is there."]),
        ("Mr. Smith met Mrs. Jones and Dr. No.", ["Mr. Smith met Mrs. Jones and Dr. No."]),
        ("Fruit, e.g. apples, i.e. food. Eat.", ["Fruit, e.g. apples, i.e. food.", "Eat."]),
        ("The U.S. Army left the U.S. He stayed.", ["The U.S. Army left the U.S.", "He stayed."]),
        ("It was J. R. R. Tolkien. H. G. Wells came.", ["It was J. R. R. Tolkien.", "H. G. Wells came."]),
        ('"Stop!" she said. "Why?" He left.', ['"Stop!" she said.', '"Why?"', "He left."]),
        ("‘Go.’ ‘I will!’ said he.", ["‘Go.’", "‘I will!’ said he."]),
        ("Well... he went. Well… Mary went.", ["Well... he went.", "Well…", "Mary went."]),
        ("It was . . . odd. So?", ["It was . . . odd.", "So?"]),
        ("No. He took No. 5 at 3.30.", ["No.", "He took No. 5 at 3.30."]),
        ("At 4 a. m. he slept, etc. and woke.", ["At 4 a. m. he slept, etc. and woke."]),
        ("मरियम रसोई में गई। जॉन गया॥ 他去了。她来了！", ["मरियम रसोई में गई।", "जॉन गया॥", "他去了。", "她来了！"]),
        ("... ?! --\n\n***", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected
    assert list(split_prose([text])) == expected


def test_prose_joins_wrapped_lines_and_keeps_headings_apart() -> None:
    assert list(split_prose([PROSE])) == [
        "CHAPTER I.",
        "The Workshop",
        "With a single drop of ink for a mirror, Mr. Jonathan Burge undertakes to "
        "reveal to any chance comer far-reaching visions of the past.",
        '"Stop!" she said.',
        "He had 3.5 shillings... and no more.",
        "Dr. J. R. Smith of the U.S. Navy left at 5 p.m.",
        "He never came back.",
        "Was he in St. Ives?",
        '"I cannot tell."',
        "The end",
        "of it was this:",
        "The short line",
    ]


def test_a_line_of_a_paragraph_that_was_never_wrapped_ends() -> None:
    line = "word " * 30
    assert list(split_prose([f"{line}\n{line}\n"])) == [line.strip()] * 2


@pytest.mark.parametrize("seed", range(5))
def test_it_does_not_matter_where_a_stream_is_cut(seed: int) -> None:
    rng = Random(seed)
    text = "\n".join([PROSE, PROSE.replace("\n", "\r\n")] * 200)
    cuts = sorted(rng.sample(range(len(text)), 300))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert list(split_prose(chunks)) == list(split_prose([text])) == list(split_prose([PROSE])) * 400


def test_what_never_ends_is_cut_and_nothing_is_lost() -> None:
    text = "word " * 300 + ". " + "long " * BLOCK + "x" * 3 * BLOCK + " end"
    found = list(split_prose([text]))
    assert [len(words(sentence)) for sentence in found[:2]] == [MAX_SENTENCE_WORDS, 300 - MAX_SENTENCE_WORDS]
    assert max(len(words(sentence)) for sentence in found) == MAX_SENTENCE_WORDS
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_a_stream_is_read_as_it_comes() -> None:
    def endless() -> object:
        while True:
            yield "Mary went to the garden. "

    stream = split_prose(endless())  # type: ignore[arg-type]
    assert [next(stream) for _ in range(10_000)] == ["Mary went to the garden."] * 10_000


def test_the_words_of_many_texts_are_those_of_each() -> None:
    rng = Random(0)
    letters = "aA B'’-._x1éΣें\u0301—“"
    texts = ["".join(rng.choice(letters) for _ in range(rng.randrange(14))) for _ in range(5000)]
    assert words_of(texts) == [words(text) for text in texts]
    assert words_of(["two\nlines", "A"]) == [("two", "lines"), ("a",)] and words_of([]) == []

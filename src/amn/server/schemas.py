"""The schemas of requests and replies for OpenAPI; replies are the `to_dict` of the Python interface."""

import inspect
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from amn.answers import Answer, Bank, Candidate, Edge, Entity, Explanation, Move, SentenceTrace, json_names
from amn.server.limits import MAX_BANKS, MAX_DEADLINE_MS, MAX_MEMORY_SENTENCES, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS

_HAS_A_WORD = "[^\\W_]|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff]"  # a character of a word
_STORY = ["Mary moved to the bathroom.", "John went to the hallway."]
_QUESTION = "Where is Mary?"
EXAMPLE_ID = "p2Yh3nQ8Zt0vX5kJm1cRwA"
_WHEN = "2026-12-31T23:59:59+00:00"


def doc(description: str, *examples: Any, **bounds: Any) -> Any:
    """A field with a description and examples."""
    return Field(description=description, examples=list(examples), **bounds)


def _whole(value: object) -> object:
    """JSON has one type of number: 2.0 is an integer too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, pattern=_HAS_A_WORD)]
QuestionTexts = Annotated[list[QuestionText], Field(min_length=1, max_length=MAX_QUESTIONS, fail_fast=True)]
StoryText = Annotated[str, Field(pattern=_HAS_A_WORD)]
_CONTAINS_A_WORD = {"contains": {"type": "string", "pattern": _HAS_A_WORD}}
StoryTexts = Annotated[list[str], Field(min_length=1, fail_fast=True, json_schema_extra=_CONTAINS_A_WORD)]
ModelName = Annotated[str, Field(max_length=200)]
Deadline = Annotated[float, Field(gt=0, le=MAX_DEADLINE_MS, allow_inf_nan=False)]
Banks = Annotated[int, Field(ge=0, le=MAX_BANKS, strict=True), BeforeValidator(_whole)]
Count = Annotated[int, Field(ge=0, le=MAX_MEMORY_SENTENCES, strict=True), BeforeValidator(_whole)]

_MODEL = doc("A name from /models; the default model if left out.", "qa1")
_DEADLINE = doc(
    "Answer within this many milliseconds from the first byte of the request, from what was read by then.", 50
)
_EXPLAIN = doc("Whether to explain the answers: banks, entities, strengths, and what each sentence did.", False)
_BANKS = doc("How many banks to read, the most relevant first; 0 for all.", 1)


class _Body(BaseModel):
    """The base of all bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, regex_engine="python-re")  # which is how words are split too

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: object) -> object:
        """Keeps one of many unknown fields: each would be an error, and one is enough."""
        if not isinstance(given, dict) or len(given) <= len(cls.model_fields):
            return given
        unknown = next(name for name in given if name not in cls.model_fields)
        return {name: given[name] for name in (*cls.model_fields, unknown) if name in given}


class AskBody(_Body):
    """How to ask a memory; an empty object is enough."""

    deadline_ms: Annotated[Deadline | None, _DEADLINE] = None
    explain: Annotated[bool, _EXPLAIN] = False
    banks: Annotated[Banks | None, _BANKS] = None


class AnswerBody(AskBody):
    """A story and questions about it."""

    story: StoryText | StoryTexts = doc("Text, which is split into sentences, or a list of sentences.", _STORY)
    question: QuestionText | QuestionTexts = doc("One question, or a list of them.", _QUESTION)
    model: Annotated[ModelName | None, _MODEL] = None


class MemoryBody(_Body):
    """What a memory is built for."""

    questions: QuestionTexts = doc("The questions, which decide what the memory considers relevant.", [_QUESTION])
    model: Annotated[ModelName | None, _MODEL] = None


class HistoryBody(MemoryBody):
    """A story, and the questions to answer after each of its sentences."""

    story: StoryText | StoryTexts = doc("Text, which is split into sentences, or a list of sentences.", _STORY)


class SentencesBody(_Body):
    """Sentences for a memory."""

    sentences: list[str] = doc("The sentences, in order.", _STORY, fail_fast=True)
    after: Annotated[
        Count | None,
        doc("Add them only if the memory has this many sentences, so that a repeated request is applied once.", 0),
    ] = None


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = doc("The type of the problem: an address that explains it.", "/docs#422")
    title: str = doc("The type of the problem in a few words.", "A field is invalid")
    status: int = doc("The status of the reply.", 422)
    detail: str = doc("One sentence that says what is wrong and what would help.", "question: Field required.")
    field: Annotated[str, doc("The invalid field of the request, if it is one.", "question")] = ""


class AnswersOut(BaseModel):
    """An answer for each question, in order."""

    answers: list[Answer] = doc("The answers.", [])
    sentences_read: int = doc("How many sentences were read; fewer than there are if the deadline came first.", 2)
    sentences: int = doc("How many sentences there are.", 2)


class MomentOut(BaseModel):
    """An answer after a sentence."""

    answer: str = doc("The answer.", "bathroom")
    score: float = doc("Its probability.", 0.9)
    known: bool = doc("Whether it counts as known; false for unknown and for guesses.", True)


class HistoryOut(BaseModel):
    """The answers over time."""

    sentences: list[str] = doc("The sentences of the story.", _STORY)
    history: list[list[MomentOut]] = doc("For each sentence, the answers after it in the order of the questions.", [])


class OpenedOut(BaseModel):
    """A memory. It expires if it is not used."""

    id: str = doc("The id of the memory, which cannot be guessed.", EXAMPLE_ID)
    expires_at: str = doc("When it expires if it is not used.", _WHEN)


class TracesOut(BaseModel):
    """What each sentence did."""

    sentences: list[SentenceTrace] = doc("One for each sentence.", [])


class SnapshotOut(OpenedOut):
    """A memory as it is now."""

    model: str = doc("The name of its model.", "qa1")
    questions: list[str] = doc("What it was built for.", [_QUESTION])
    sentences: int = doc("How many sentences it was told.", 2)
    banks: list[Bank] = doc("Its banks, the most general first.", [])


class ModelsOut(BaseModel):
    """The models that requests may name."""

    default: str = doc("The model of requests that name none.", "qa1")
    models: list[str] = doc("All of them.", ["qa1", "babi"])
    shipped: list[str] = doc("Those that come with amn.", ["qa1", "babi"])


class HealthOut(BaseModel):
    """The state of the server."""

    status: str = doc("Always ok.", "ok")
    version: str = doc("The version of amn.", "0.2.0")
    model: str = doc("The default model.", "qa1")
    store: str = doc("Whether memories survive a crash: durable, or not durable.", "durable")


class GeneratedQuestionOut(BaseModel):
    """A question with its answer, and how many sentences come before it."""

    question: str = doc("The question.", _QUESTION)
    answer: str | None = doc("The right answer.", "bathroom")
    after: int = doc("How many sentences come before it.", 2)


class GeneratedOut(BaseModel):
    """A generated story."""

    task: int = doc("The bAbI task.", 1)
    seed: int = doc("The seed that it was generated from.", 0)
    sentences: list[str] = doc("The story.", _STORY)
    questions: list[GeneratedQuestionOut] = doc("The questions about it.", [])


_ENTITY = Entity(word="mary", strength=0.9, relevance=1.5, attention=0.7)
_BANK = Bank(index=1, size=1, entities=(_ENTITY,))
_MOVE = Move("mary", 0, 1)
_TRACE = SentenceTrace(
    sentence=0, text=_STORY[0], banks=2, created=True, moves=(_MOVE,), depth={"mary": 1}, strengths={"mary": 0.9}
)
_EDGE = Edge("mary", "moved", 0)
_EXPLANATION = Explanation(banks=(_BANK,), sentences=(_TRACE,), graph=(_EDGE,), read=(1,), seen=2, let_in=2)
_CANDIDATE = Candidate("hallway", 0.04)
_ANSWER = Answer(
    question=_QUESTION,
    answer="bathroom",
    score=0.95,
    top=(_CANDIDATE,),
    sentences=(0,),
    banks_created=2,
    entities_read=1,
    entities=9,
    milliseconds=1.2,
    explanation=_EXPLANATION,
)
_EXAMPLES = (_ENTITY, _BANK, _MOVE, _TRACE, _EDGE, _EXPLANATION, _CANDIDATE, _ANSWER)
_ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)  # of a docstring in Google style


def describe_answers(schemas: dict[str, Any]) -> None:
    """Completes the schemas of the classes of `amn.answers`, with descriptions from their docstrings, and examples."""
    for example in _EXAMPLES:
        kind: type = type(example)
        text, examples, schema = inspect.getdoc(kind) or "", example.to_dict(), schemas[kind.__name__]
        schema |= {"description": text.partition("\n\nArgs:")[0], "required": list(schema["properties"])}
        meanings = {name: " ".join(meaning.split()) for name, meaning in _ARGUMENT.findall(text)}
        for name, json_name in json_names(kind):
            described, part = meanings[name], schema["properties"][json_name]
            part |= {"description": described[0].upper() + described[1:], "examples": [examples[json_name]]}
            part.pop("default", None)  # a reply has all fields

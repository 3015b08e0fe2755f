"""What clients send and get, as the OpenAPI schema shows it; replies are the `to_dict` of the Python interface."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from amn.server.limits import MAX_BANKS, MAX_DEADLINE_MS, MAX_MEMORY_SENTENCES, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS

_HAS_A_WORD = "[^\\W_]|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff]"  # what a word is made of
_STORY = ["Mary moved to the bathroom.", "John went to the hallway."]
_QUESTION = "Where is Mary?"
EXAMPLE_ID = "p2Yh3nQ8Zt0vX5kJm1cRwA"
_WHEN = "2026-12-31T23:59:59+00:00"


def said(description: str, *examples: Any, **bounds: Any) -> Any:
    """A field with what it means and what it may look like."""
    return Field(description=description, examples=list(examples), **bounds)


def _whole(value: object) -> object:
    """JSON has one kind of number: 2.0 is a whole one too."""
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

_MODEL = said("A name from /models; the default model if left out.", "qa1")
_DEADLINE = said(
    "Answer within so many milliseconds from the first byte of the request, from what was read by then.", 50
)
_EXPLAIN = said("Whether to say why: banks, entities, strengths, and what each sentence did.", False)
_BANKS = said("How many banks to read, the most relevant first; 0 for all.", 1)


class _Body(BaseModel):
    """What every body shares: a misspelt field is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, regex_engine="python-re")  # by which words are found too

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: object) -> object:
        """Keeps one unknown field of many: each would be an error of its own, and one is enough to refuse."""
        if not isinstance(given, dict) or len(given) <= len(cls.model_fields):
            return given
        unknown = next(name for name in given if name not in cls.model_fields)
        return {name: given[name] for name in (*cls.model_fields, unknown) if name in given}


class AskBody(_Body):
    """How a memory is asked; an empty object is enough."""

    deadline_ms: Annotated[Deadline | None, _DEADLINE] = None
    explain: Annotated[bool, _EXPLAIN] = False
    banks: Annotated[Banks | None, _BANKS] = None


class AnswerBody(AskBody):
    """A story and what is asked about it."""

    story: StoryText | StoryTexts = said("Text, which is split into sentences, or a list of sentences.", _STORY)
    question: QuestionText | QuestionTexts = said("One question, or a list of them.", _QUESTION)
    model: Annotated[ModelName | None, _MODEL] = None


class MemoryBody(_Body):
    """What a memory is built for."""

    questions: QuestionTexts = said("The questions, which guide what the memory keeps near.", [_QUESTION])
    model: Annotated[ModelName | None, _MODEL] = None


class HistoryBody(MemoryBody):
    """A story, and the questions that stand while it is told."""

    story: StoryText | StoryTexts = said("Text, which is split into sentences, or a list of sentences.", _STORY)


class SentencesBody(_Body):
    """What a memory is told."""

    sentences: list[str] = said("The sentences, in the order in which they happened.", _STORY, fail_fast=True)
    after: Annotated[
        Count | None,
        said("Tell them only if the memory has so many sentences, so that a request sent twice is told once.", 0),
    ] = None


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    type: str = said("What kind of problem it is: an address that explains it.", "/docs#422")
    title: str = said("The kind of problem in a few words.", "A field is wrong")
    status: int = said("The status of the reply.", 422)
    detail: str = said("One sentence that says what is wrong here and what would help.", "question: Field required.")
    field: Annotated[str, said("The field of the request that is wrong, where it is one.", "question")] = ""


class CandidateOut(BaseModel):
    """Another answer that was considered."""

    answer: str = said("The answer.", "hallway")
    score: float = said("Its probability.", 0.04)


class EntityOut(BaseModel):
    """A word in a bank."""

    word: str = said("The word.", "mary")
    strength: float = said("How much it matters to the questions, from 0 to 1.", 0.9)
    relevance: float = said("How far it may go: above 0 it goes on to a new bank.", 1.5)
    attention: float = said("How much the answer rests on it; 0 where nothing was asked.", 0.7)


class BankOut(BaseModel):
    """A memory bank; the one with the highest index is the most relevant."""

    index: int = said("Its number, from 0.", 1)
    size: int = said("How many entities it holds.", 3)
    entities: list[EntityOut] = said("The most relevant of them, the first first.", [])


class MoveOut(BaseModel):
    """An entity that came, or went on to a deeper bank."""

    word: str = said("The entity.", "mary")
    from_: Annotated[int | None, Field(alias="from")] = said("The bank it was in; null where it is new.", 0)
    to: int = said("The bank it went to.", 1)


class TraceOut(BaseModel):
    """What one sentence did: `depth` and `strengths` are those of the words that it touched."""

    sentence: int = said("The number of the sentence, from 0.", 0)
    text: str = said("The sentence.", _STORY[0])
    banks: int = said("How many banks there are after it.", 2)
    created: bool = said("Whether it created the last of them.", True)
    moves: list[MoveOut] = said("Which entities came or went deeper.", [])
    depth: dict[str, int] = said("The deepest bank of each word that it touched.", {"mary": 1})
    strengths: dict[str, float] = said("The strength of each word that it touched.", {"mary": 0.9})


class EdgeOut(BaseModel):
    """Two words that stood side by side."""

    from_: Annotated[str, Field(alias="from")] = said("The first word.", "mary")
    to: str = said("The word next to it.", "moved")
    sentence: int = said("The last sentence in which they stood so.", 0)


class ExplanationOut(BaseModel):
    """Why an answer was given."""

    banks: list[BankOut] = said("All banks with their entities.", [])
    sentences: list[TraceOut] = said("What each of the latest sentences did.", [])
    graph: list[EdgeOut] = said("The word graph of these sentences.", [])
    read: list[int] = said("The banks that were read, the most relevant first.", [1])
    seen: int = said("How many sentences the memory was told.", 2)
    let_in: int = said("How many of them it heard; the others were turned away.", 2)


class AnswerOut(BaseModel):
    """The answer to one question."""

    question: str = said("The question as asked.", _QUESTION)
    answer: str = said("The answer.", "bathroom")
    score: float = said("Its probability.", 0.95)
    known: bool = said("Whether it is given as known; false where it says unknown, and where it is a guess.", True)
    top: list[CandidateOut] = said("The next best candidates, the best first.", [])
    sentences: list[int] = said("The sentences that it rests on, from 0, where an explanation was asked for.", [0])
    banks_read: int = said("How many banks were read, the most relevant first.", 1)
    banks_created: int = said("How many banks the memory has.", 3)
    entities_read: int = said("How many entities the banks read hold.", 3)
    entities: int = said("How many different words the story has.", 9)
    milliseconds: float = said("How long it took.", 1.2)
    stopped_for_deadline: bool = said("Whether more would have been read if there had been time.", False)
    explanation: ExplanationOut | None = said("Why, where it was asked for.", None)


class AnswersOut(BaseModel):
    """An answer for each question, in their order."""

    answers: list[AnswerOut] = said("The answers.", [])
    sentences_read: int = said("How many sentences they are from; fewer than there are if the deadline came first.", 2)
    sentences: int = said("How many sentences there are.", 2)


class MomentOut(BaseModel):
    """An answer as it was after a sentence."""

    answer: str = said("The answer then.", "bathroom")
    score: float = said("Its probability then.", 0.9)
    known: bool = said("Whether it was given as known; false for unknown and for guesses.", True)


class HistoryOut(BaseModel):
    """The answers over time."""

    sentences: list[str] = said("The sentences, as they were told.", _STORY)
    history: list[list[MomentOut]] = said("For each sentence the answers after it, in the order of the questions.", [])


class OpenedOut(BaseModel):
    """A memory that was opened; it goes at that time, unless it is used before."""

    id: str = said("The name of the memory, which nobody can guess.", EXAMPLE_ID)
    expires_at: str = said("When it goes.", _WHEN)


class TracesOut(BaseModel):
    """What each sentence did."""

    sentences: list[TraceOut] = said("One for each sentence that was told.", [])


class SnapshotOut(OpenedOut):
    """A memory as it is now."""

    model: str = said("The name of its model.", "qa1")
    questions: list[str] = said("What it was built for.", [_QUESTION])
    sentences: int = said("How many sentences it was told.", 2)
    banks: list[BankOut] = said("Its banks, the most general first.", [])


class ModelsOut(BaseModel):
    """The models that requests may name."""

    default: str = said("The one that answers where none is named.", "qa1")
    models: list[str] = said("All of them.", ["qa1", "babi"])
    shipped: list[str] = said("Those that come with amn.", ["qa1", "babi"])


class HealthOut(BaseModel):
    """That the server is alive."""

    status: str = said("ok.", "ok")
    version: str = said("The version of amn.", "0.2.0")
    model: str = said("The default model.", "qa1")
    store: str = said("Whether memories outlive the server: durable, or not.", "durable")


class GeneratedQuestionOut(BaseModel):
    """A question with its answer, and how many sentences come before it."""

    question: str = said("The question.", _QUESTION)
    answer: str | None = said("The right answer.", "bathroom")
    after: int = said("How many sentences come before it.", 2)


class GeneratedOut(BaseModel):
    """A generated story."""

    task: int = said("The bAbI task.", 1)
    seed: int = said("The seed that it was generated from.", 0)
    sentences: list[str] = said("The story.", _STORY)
    questions: list[GeneratedQuestionOut] = said("What is asked about it.", [])

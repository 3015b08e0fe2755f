"""What clients send and get, as the OpenAPI schema shows it; replies are the `to_dict` of the Python interface."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from amn.server.limits import MAX_BANKS, MAX_DEADLINE_MS, MAX_QUESTION_CHARACTERS, MAX_QUESTIONS

_HAS_A_WORD = r"[^\W_]"


def _whole(value: object) -> object:
    """JSON has one kind of number: 2.0 is a whole one too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


QuestionText = Annotated[
    str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, pattern=_HAS_A_WORD, examples=["Where is Mary?"])
]
QuestionTexts = Annotated[list[QuestionText], Field(min_length=1, max_length=MAX_QUESTIONS)]
StoryText = Annotated[
    str, Field(pattern=_HAS_A_WORD, examples=["Mary moved to the bathroom. John went to the hallway."])
]
StoryTexts = Annotated[
    list[str], Field(min_length=1, json_schema_extra={"contains": {"type": "string", "pattern": _HAS_A_WORD}})
]
ModelName = Annotated[str, Field(max_length=200, description="A name from /models; the default model if left out.")]
Deadline = Annotated[
    float,
    Field(
        gt=0, le=MAX_DEADLINE_MS, allow_inf_nan=False, description="Answer within so many milliseconds, surely or not."
    ),
]
Banks = Annotated[
    int,
    Field(ge=0, le=MAX_BANKS, strict=True, description="How many banks to read, the most relevant first; 0 for all."),
    BeforeValidator(_whole),
]


class _Body(BaseModel):
    """What every body shares: a misspelt field is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerBody(_Body):
    """A story and what is asked about it."""

    story: StoryText | StoryTexts
    question: QuestionText | QuestionTexts
    model: ModelName | None = None
    deadline_ms: Deadline | None = None
    explain: bool = False
    banks: Banks | None = None


class MemoryBody(_Body):
    """What a memory is built for."""

    questions: QuestionTexts
    model: ModelName | None = None


class SentencesBody(_Body):
    """What a memory is told."""

    sentences: list[str] = Field(examples=[["Mary moved to the bathroom.", "John went to the hallway."]])


class AskBody(_Body):
    """How a memory is asked; an empty object is enough."""

    deadline_ms: Deadline | None = None
    explain: bool = False
    banks: Banks | None = None


class Problem(BaseModel):
    """One sentence that says what is wrong and what would help."""

    detail: str


class CandidateOut(BaseModel):
    """Another answer that was considered."""

    answer: str
    score: float


class EntityOut(BaseModel):
    """A word in a bank."""

    word: str
    strength: float
    relevance: float
    attention: float


class BankOut(BaseModel):
    """A memory bank; the one with the highest index is the most relevant."""

    index: int
    size: int
    entities: list[EntityOut]


class MoveOut(BaseModel):
    """An entity that came, or went on to a deeper bank."""

    word: str
    from_: Annotated[int | None, Field(alias="from")]
    to: int


class TraceOut(BaseModel):
    """What one sentence did: `depth` and `strengths` are those of the words that it touched."""

    sentence: int
    text: str
    banks: int
    created: bool
    moves: list[MoveOut]
    depth: dict[str, int]
    strengths: dict[str, float]


class EdgeOut(BaseModel):
    """Two words that stood side by side."""

    from_: Annotated[str, Field(alias="from")]
    to: str
    sentence: int


class ExplanationOut(BaseModel):
    """Why an answer was given."""

    banks: list[BankOut]
    sentences: list[TraceOut]
    graph: list[EdgeOut]
    read: list[int]


class AnswerOut(BaseModel):
    """The answer to one question."""

    question: str
    answer: str
    score: float
    top: list[CandidateOut]
    banks_read: int
    banks_created: int
    entities_read: int
    entities: int
    milliseconds: float
    stopped_for_deadline: bool
    explanation: ExplanationOut | None


class AnswersOut(BaseModel):
    """An answer for each question, in their order."""

    answers: list[AnswerOut]


class OpenedOut(BaseModel):
    """A memory that was opened; it goes at that time, unless it is used before."""

    id: str
    expires_at: str


class TracesOut(BaseModel):
    """What each sentence did."""

    sentences: list[TraceOut]


class SnapshotOut(OpenedOut):
    """A memory as it is now."""

    model: str
    questions: list[str]
    sentences: int
    banks: list[BankOut]


class ModelsOut(BaseModel):
    """The models that requests may name."""

    default: str
    models: list[str]
    shipped: list[str]
    architectures: list[str]


class HealthOut(BaseModel):
    """That the server is alive."""

    status: str
    version: str
    model: str


class GeneratedQuestionOut(BaseModel):
    """A question with its answer, and how many sentences come before it."""

    question: str
    answer: str | None
    after: int


class GeneratedOut(BaseModel):
    """A generated story."""

    task: int
    seed: int
    sentences: list[str]
    questions: list[GeneratedQuestionOut]

"""The limits of a server, so that nothing a client sends can grow without bound."""

from dataclasses import dataclass, fields

from amn.errors import ConfigError
from amn.store.memories import STORE_BYTES

MAX_QUESTION_CHARACTERS = 500
MAX_QUESTIONS = 32  # in one request, or for one memory
MAX_DEADLINE_MS = 60_000
MAX_BANKS = 64
MAX_MEMORY_SENTENCES = 10_000  # in one memory, over its whole life
SHUTDOWN_SECONDS = 30  # for requests that are under way when the server stops


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that can be configured."""

    body_bytes: int = 1 << 20
    reply_bytes: int = 4 << 20
    story_characters: int = 200_000  # in one request
    sentence_characters: int = 1_000
    story_sentences: int = 2_000  # in one request
    work: int = 40_000_000  # of one request without a deadline: for each question and sentence, (words + 16) squared
    memory_sentences: int = MAX_MEMORY_SENTENCES
    memories: int = 100_000  # in the store
    resident: int = 1_000  # memories in RAM; the others are read from the store when they are used
    resident_sentences: int = 200_000  # of all memories in RAM, counted for each of their questions
    memory_seconds: float = 30 * 86_400.0  # time to live of an unused memory
    store_bytes: int = STORE_BYTES
    streams: int = 100  # event streams, each with a memory in RAM
    waiting: int = 1_000  # requests in the queue of the model
    batch: int = 32  # stories in one forward pass; 1 answers each alone
    batch_sentences: int = 160  # in one forward pass, with the padding to its longest story
    connections: int = 1_000
    header_seconds: float = 10.0  # for a client to send the head of a request
    idle_seconds: int = 5  # of a connection between requests
    receive_seconds: float = 30.0  # for a client to send the next part of a body
    body_seconds: float = 60.0  # and the whole body
    send_seconds: float = 30.0  # for a client to read the next part of a reply
    beat_seconds: float = 15.0  # between comments that keep an idle event stream open

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"the limit {field.name} must be above 0, not {value}")

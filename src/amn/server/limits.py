"""How much one server takes: every bound by name, so that nothing a client sends can grow without end."""

from dataclasses import dataclass, fields

from amn.errors import ConfigError
from amn.store.memories import STORE_BYTES

MAX_BODY_BYTES = 1 << 20
MAX_REPLY_BYTES = 4 << 20
MAX_STORY_CHARACTERS = 200_000  # in one request
MAX_SENTENCE_CHARACTERS = 1_000
MAX_QUESTION_CHARACTERS = 500
MAX_QUESTIONS = 32  # in one request, or for one memory
MAX_STORY_SENTENCES = 2_000  # in one request
MAX_WORK = 40_000_000  # of one request without a deadline: for each question and sentence, (words + 16) squared
MAX_MEMORY_SENTENCES = 10_000  # in one memory, over its whole life
MAX_MEMORIES = 100_000  # in the store
MAX_RESIDENT = 1_000  # memories in RAM; the others are told again from the store when they are used
MAX_RESIDENT_SENTENCES = 200_000  # of all memories in RAM, counted for each of their questions
MEMORY_SECONDS = 30 * 86_400.0  # an unused memory lives this long
MAX_STREAMS = 100  # clients that wait for changes of answers, each with a memory in RAM
MAX_WAITING = 1_000  # requests in the queue of the model
MAX_BATCH = 32  # stories in one forward pass; 1 answers each alone
MAX_BATCH_SENTENCES = 160  # in one forward pass, with the padding to its longest story
MAX_DEADLINE_MS = 60_000
MAX_BANKS = 64
MAX_CONNECTIONS = 1_000
HEADER_SECONDS = 10.0  # a client that has not sent the head of a request by then is let go
IDLE_SECONDS = 5  # a connection waits this long for the next request
RECEIVE_SECONDS = 30.0  # a client that sends nothing of a body for so long is let go
BODY_SECONDS = 60.0  # and so is one whose body is not there by then
SEND_SECONDS = 30.0  # a client that reads nothing for so long is let go
BEAT_SECONDS = 15.0  # how often a stream says that it is alive
SHUTDOWN_SECONDS = 30  # for requests that were taken before the server was told to stop


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds that a server may set otherwise; what they bound is said beside the constants."""

    body_bytes: int = MAX_BODY_BYTES
    reply_bytes: int = MAX_REPLY_BYTES
    story_characters: int = MAX_STORY_CHARACTERS
    sentence_characters: int = MAX_SENTENCE_CHARACTERS
    story_sentences: int = MAX_STORY_SENTENCES
    work: int = MAX_WORK
    memory_sentences: int = MAX_MEMORY_SENTENCES
    memories: int = MAX_MEMORIES
    resident: int = MAX_RESIDENT
    resident_sentences: int = MAX_RESIDENT_SENTENCES
    memory_seconds: float = MEMORY_SECONDS
    store_bytes: int = STORE_BYTES
    streams: int = MAX_STREAMS
    waiting: int = MAX_WAITING
    batch: int = MAX_BATCH
    batch_sentences: int = MAX_BATCH_SENTENCES
    connections: int = MAX_CONNECTIONS
    header_seconds: float = HEADER_SECONDS
    idle_seconds: int = IDLE_SECONDS
    receive_seconds: float = RECEIVE_SECONDS
    body_seconds: float = BODY_SECONDS
    send_seconds: float = SEND_SECONDS
    beat_seconds: float = BEAT_SECONDS

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"the limit {field.name} must be above 0, not {value}")

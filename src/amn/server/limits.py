"""How much one server takes: every bound by name, so that nothing a client sends can grow without end."""

from dataclasses import dataclass, fields

from amn.errors import ConfigError

MAX_BODY_BYTES = 1 << 20
MAX_STORY_CHARACTERS = 200_000  # in one request
MAX_SENTENCE_CHARACTERS = 1_000
MAX_QUESTION_CHARACTERS = 500
MAX_QUESTIONS = 32  # in one request, or for one memory
MAX_STORY_SENTENCES = 2_000  # in one request
MAX_MEMORY_SENTENCES = 10_000  # in one memory, over its whole life
MAX_ALL_SENTENCES = 200_000  # in all memories together: what bounds the server's own memory
MAX_MEMORIES = 1_000
MEMORY_SECONDS = 900.0  # an unused memory lives this long
MAX_WAITING = 1_000  # requests in the queue of the model
MAX_TOLD_AT_ONCE = 16  # sentences that one memory is told before others get their turn
MAX_BATCH = 32  # stories in one forward pass; 1 answers each alone
MAX_BATCH_SENTENCES = 4_096  # in one forward pass, with the padding to its longest story
MAX_DEADLINE_MS = 60_000
MAX_BANKS = 64
RECEIVE_SECONDS = 30.0  # a client that sends nothing for so long is let go
SEND_SECONDS = 30.0  # a client that reads nothing for so long is let go
SHUTDOWN_SECONDS = 30  # for requests that were taken before the server was told to stop


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds that a server may set otherwise; what they bound is said beside the constants."""

    body_bytes: int = MAX_BODY_BYTES
    story_characters: int = MAX_STORY_CHARACTERS
    sentence_characters: int = MAX_SENTENCE_CHARACTERS
    story_sentences: int = MAX_STORY_SENTENCES
    memory_sentences: int = MAX_MEMORY_SENTENCES
    all_sentences: int = MAX_ALL_SENTENCES
    memories: int = MAX_MEMORIES
    memory_seconds: float = MEMORY_SECONDS
    waiting: int = MAX_WAITING
    batch: int = MAX_BATCH
    batch_sentences: int = MAX_BATCH_SENTENCES
    receive_seconds: float = RECEIVE_SECONDS
    send_seconds: float = SEND_SECONDS

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"the limit {field.name} must be above 0, not {value}")

"""Live memories in Redis or Valkey, shared by several servers: any of them can answer for any memory.

Sentences are added by a script, which Redis runs atomically: so two servers that tell the same memory take turns, and a
server that dies in the middle has added all sentences or none.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from amn.errors import MissingExtraError
from amn.store.memories import (
    ConflictError,
    MemoryFullError,
    MissingMemoryError,
    Record,
    StoreError,
    StoreFullError,
    TooManyMemoriesError,
)

SECONDS = 5.0  # to wait for a reply
_ALL = "amn:memories"  # the ids of all memories, by expiry
_NONE = -1  # the result of _APPEND if there is no such memory

# KEYS: the memory, all memories, those of the owner. ARGV: now, how many an owner may have, the expiry, the id, the
# fields. Returns the first expiry of the owner's memories if there are too many.
_CREATE = """
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[1])
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[2]) then
  return redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
end
redis.call('HSET', KEYS[1], unpack(ARGV, 5))
redis.call('EXPIREAT', KEYS[1], math.ceil(tonumber(ARGV[3])))
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
return false
"""

# KEYS: the memory, its sentences. ARGV: how many there may be, how many there must be before or '', the sentences.
# Returns whether they were added, and how many there were before.
_APPEND = """
local expires = redis.call('HGET', KEYS[1], 'expires_at')
if not expires then return {0, -1} end
local found = redis.call('LLEN', KEYS[2])
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= found then return {0, found} end
if found + #ARGV - 2 > tonumber(ARGV[1]) then return {0, found} end
for i = 3, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
redis.call('EXPIREAT', KEYS[2], math.ceil(tonumber(expires)))
return {1, found}
"""

# KEYS: the memory, its sentences, its snapshot, all memories, those of the owner. ARGV: the expiry, the id.
_KEEP = """
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HSET', KEYS[1], 'expires_at', ARGV[1])
for i = 1, 3 do redis.call('EXPIREAT', KEYS[i], math.ceil(tonumber(ARGV[1]))) end
redis.call('ZADD', KEYS[4], 'XX', ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[5], 'XX', ARGV[1], ARGV[2])
"""

# KEYS: the memory, its snapshot. ARGV: after how many sentences, the snapshot.
_SNAPSHOT = """
local expires = redis.call('HGET', KEYS[1], 'expires_at')
if not expires or tonumber(redis.call('HGET', KEYS[2], 'sentences') or -1) >= tonumber(ARGV[1]) then return end
redis.call('HSET', KEYS[2], 'sentences', ARGV[1], 'data', ARGV[2])
redis.call('EXPIREAT', KEYS[2], math.ceil(tonumber(expires)))
"""


class RedisStore:
    """A store that several servers share, at redis://[[user]:password@]HOST[:PORT][/DB]."""

    def __init__(self, url: str) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise MissingExtraError("redis", "a store in Redis") from error
        self._errors = redis
        # No retries: a repeated append might add sentences twice, so the client has to decide.
        self._redis: Any = redis.Redis.from_url(
            url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, retry=Retry(NoBackoff(), 0)
        )
        self._create, self._append, self._keep, self._snapshot = map(
            self._redis.register_script, (_CREATE, _APPEND, _KEEP, _SNAPSHOT)
        )
        with self._explained():
            settings = self._redis.info("persistence")
            always = self._redis.config_get("appendfsync").get("appendfsync") == "always"
        self.durable = bool(settings.get("aof_enabled")) and always

    def create(self, record: Record, most: int, now: float) -> None:
        fields: dict[str, str | float] = {
            "owner": record.owner,
            "model": record.model,
            "questions": json.dumps(record.questions),
            "expires_at": record.expires_at,
        }
        words = [now, most, record.expires_at, record.id, *(part for pair in fields.items() for part in pair)]
        with self._explained():
            first = self._create(keys=[_keys(record.id)[0], _ALL, _owned(record.owner)], args=words)
        if first is not None:
            raise TooManyMemoriesError(most, float(first) - now)

    def find(self, id: str, now: float) -> Record | None:
        fields_key, sentences_key, _ = _keys(id)
        with self._explained():
            fields, sentences = self._redis.pipeline().hgetall(fields_key).llen(sentences_key).execute()
        known = {name.decode(): value.decode() for name, value in fields.items()}
        if not known or float(known["expires_at"]) <= now:
            return None
        return Record(
            id=id,
            owner=known["owner"],
            model=known["model"],
            questions=tuple(json.loads(known["questions"])),
            sentences=sentences,
            expires_at=float(known["expires_at"]),
        )

    def append(self, id: str, sentences: Sequence[str], *, most: int, after: int | None = None) -> int:
        words = [most, "" if after is None else after, *sentences]
        with self._explained():
            told, found = self._append(keys=_keys(id)[:2], args=words)
        if told:
            return int(found)
        if found == _NONE:
            raise MissingMemoryError
        raise MemoryFullError(most, found) if after in (None, found) else ConflictError(after or 0, found)

    def sentences(self, id: str, first: int, last: int) -> list[str]:
        with self._explained():
            found = self._redis.lrange(_keys(id)[1], first, last - 1) if last > first else []
        return [text.decode() for text in found]

    def keep(self, record: Record, expires_at: float) -> None:
        keys = [*_keys(record.id), _ALL, _owned(record.owner)]
        with self._explained():
            self._keep(keys=keys, args=[expires_at, record.id])

    def save_snapshot(self, id: str, sentences: int, data: bytes) -> None:
        with self._explained():
            self._snapshot(keys=_keys(id)[::2], args=[sentences, data])

    def snapshot(self, id: str) -> bytes | None:
        with self._explained():
            found: bytes | None = self._redis.hget(_keys(id)[2], "data")
        return found

    def delete(self, record: Record) -> None:
        work = self._redis.pipeline().delete(*_keys(record.id)).zrem(_ALL, record.id)
        with self._explained():
            work.zrem(_owned(record.owner), record.id).execute()

    def count(self, now: float) -> int:
        with self._explained():
            return int(self._redis.zcount(_ALL, f"({now}", "+inf"))

    def close(self) -> None:
        self._redis.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns the errors of Redis into ours."""
        try:
            yield
        except self._errors.ResponseError as error:
            if str(error).startswith(("OOM", "MISCONF")):
                raise StoreFullError(error) from error
            raise StoreError(f"the store failed ({error})") from error
        except self._errors.RedisError as error:
            raise StoreError(f"the store cannot be reached ({error}); try again in a second") from error


def _keys(id: str) -> list[str]:
    """The keys of the fields of a memory, its sentences, and its snapshot."""
    return [f"amn:memory:{id}", f"amn:memory:{id}:sentences", f"amn:memory:{id}:snapshot"]


def _owned(owner: str) -> str:
    return f"amn:owner:{owner}"

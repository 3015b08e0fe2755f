"""The metrics of the server, for Prometheus."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from amn.answers import Answer

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_COUNTS = (0, 1, 2, 3, 5, 8, 12, 20, 50, 100, 1_000, 10_000)
_BANKS = (1, 2, 3, 4, 6, 8, 16)
_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_COSTS = {  # of an answer, by its field
    "entities_read": ("amn_entities_read", "Entities read for an answer.", _COUNTS),
    "entities": ("amn_entities_stored", "Entities stored when an answer was given.", _COUNTS),
    "banks_read": ("amn_banks_read", "Banks read for an answer.", _BANKS),
    "banks_created": ("amn_banks_created", "Banks in the memory when an answer was given.", _BANKS),
}


class Metrics:
    """The metrics of one application; each has its own registry, so that two in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("route", "status")
        self._requests = Counter("amn_requests", "Requests by route and status.", labels, registry=self.registry)
        self._latency = Histogram(
            "amn_request_seconds", "Time of a request.", ("route",), buckets=_SECONDS, registry=self.registry
        )
        self._answer = self._histogram("amn_answer_seconds", "Time of the model for an answer.", _SECONDS)
        self._costs = {field: self._histogram(*described) for field, described in _COSTS.items()}
        self._late = Counter("amn_deadlines_reached", "Answers stopped for their deadline.", registry=self.registry)
        self.batch_size = self._histogram("amn_batch_size", "Requests answered in one pass.", _BATCHES)
        self.sentences = Counter("amn_sentences_told", "Sentences told to memories.", registry=self.registry)
        self.memories = Gauge("amn_memories", "Memories that are open.", registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, text, buckets=buckets, registry=self.registry)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Counts a request; status 0 is a client that went away."""
        self._requests.labels(route, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def count_answers(self, answers: Iterable[Answer]) -> None:
        """Counts answers and their costs."""
        for answer in answers:
            self._answer.observe(answer.milliseconds / 1000)
            for field, histogram in self._costs.items():
                histogram.observe(getattr(answer, field))
            self._late.inc(answer.stopped_for_deadline)

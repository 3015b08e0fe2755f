"""The default model, word by word and entity by entity: a literal twin that judges torch and the compiled core.

Written from the equations (docs/paper.md) for reading, in numbers of 64 bits; slow, and with no code of the package but
the names of the weights. A memory is a dictionary from words to entities. Decisions are those of inference, without
noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt

import numpy as np

Vector = np.ndarray
Words = Sequence[str]
REMEMBERED = 16  # neighbours of a word
CONTEXT = 8  # neighbours that a sentence may read besides its members
UNKNOWN = 1  # the vector of words that a vocabulary does not hold, where they are not told apart
STORY = 16  # sentences that a text is taken for a story for, by the gate
END = 0  # the class that ends an answer of several tokens
NO_EDGE, PAST, CURRENT, BEFORE, AFTER, SELF = range(6)


@dataclass
class Entity:
    """What is known of a word; `depth` is the deepest bank that holds it, -1 before it is told."""

    state: Vector
    strength: float = 0.0
    relevance: float = 0.0
    depth: int = -1


@dataclass
class Read:
    """What the twin finds: for each question and token of its answer the score of each class, and of each word where it
    can point; and the tokens, each the number of a class or a word.
    """

    classes: list[list[list[float]]]
    words: list[list[dict[str, float]]]
    tokens: list[list[int | str]]
    attention: list[list[dict[str, float]]]
    entities: int
    entities_read: int
    banks: int


class Twin:
    """One story, told sentence by sentence.

    Args:
        weights: by their names in the model.
        config: its settings.
        vocabulary: the words that it knows; the place of a word is the number of its vector.
        questions: what the memory is built for.
    """

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        config: Mapping[str, float],
        vocabulary: Sequence[str],
        questions: Sequence[Words],
        answers: Sequence[str] = (),
    ) -> None:
        self.classes, self.comma = list(answers), list(answers).index(",") if "," in answers else None
        self.weights = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self.config, self.vocabulary = config, list(vocabulary)
        self.hidden = self.weights["encoder.embedding.weight"].shape[1]
        self.unknown: list[str] = []  # words that the vocabulary does not hold, as they were met
        self.answers: dict[int, str] = {}  # for each vector, which of the words that have it was told last
        self.pairs: set[tuple[int, int]] = set()  # vectors of words that were told one after another
        self.met: dict[str, list[str]] = {}  # the latest neighbours of each word that was told, the last one first
        self.banks = 1
        self.judged, self.facts = (
            0,
            {tuple(question): 0 for question in questions},
        )  # what the gate saw, and took for facts
        self.follows = dict.fromkeys(self.facts, True)  # whether each question needed the last fact
        self.named = [*dict.fromkeys(word for question in questions for word in question)]
        self.entities: dict[str, Entity] = {}
        outputs = [self.gru_over("encoder.question_gru", question) for question in questions]
        self.asked = [states[-1] for states in outputs]  # Eq. (4): w_Nq
        for word in self.named:
            d = np.zeros(self.hidden)  # Eq. (3) over the questions
            for question, states in zip(questions, outputs, strict=True):
                for spoken, state in zip(question, states, strict=True):
                    d = d + state if spoken == word else d
            self.entities[word] = Entity(np.tanh(self.linear("from_question", d)))

    def linear(self, name: str, x: Vector) -> Vector:
        y = self.weights[f"{name}.weight"] @ x
        return y + self.weights[f"{name}.bias"] if f"{name}.bias" in self.weights else y

    def norm(self, x: Vector) -> Vector:
        """To a root mean square of one, or less where x is small."""
        return x / np.sqrt(np.mean(x * x) + self.config.get("norm_epsilon", 1e-6))

    def number(self, name: str) -> float:
        return float(self.weights[name][0])

    def gru(self, name: str, x: Vector, h: Vector) -> Vector:
        """h' = (1 - z) n + z h."""
        of_x = np.split(self.linear(f"{name}.input", x), 3)
        of_h = np.split(self.linear(f"{name}.state", h), 3)
        r = sigmoid(of_x[0] + of_h[0])
        z = sigmoid(of_x[1] + of_h[1])
        n = np.tanh(of_x[2] + r * of_h[2])
        return (1 - z) * n + z * h

    def vector_of(self, word: str) -> int:
        """The number of a word's vector; unknown words of a story take theirs one after the other."""
        if word in self.vocabulary:
            return self.vocabulary.index(word)
        if "encoder.anonymous" not in self.weights:
            return UNKNOWN
        if word not in self.unknown:
            self.unknown.append(word)
        return len(self.vocabulary) + self.unknown.index(word) % len(self.weights["encoder.anonymous"])

    def embed(self, vector: int) -> Vector:
        """Eq. (1)."""
        known = self.weights["encoder.embedding.weight"]
        return known[vector] if vector < len(known) else self.weights["encoder.anonymous"][vector - len(known)]

    def gru_over(self, name: str, words: Words) -> list[Vector]:
        """Eq. (2), eq. (4)."""
        state, outputs = np.zeros(self.hidden), []
        for word in words:
            state = self.gru(name, self.embed(self.vector_of(word)), state)
            outputs.append(state)
        return outputs

    def lets_in(self, sentence: Words) -> bool:
        """Whether a sentence passes the gate for any question; each question counts its facts."""
        known = [self.vocabulary.index(word) for word in sentence if word in self.vocabulary]
        pronoun = any(self.weights["gate.refers"][place] > 0 for place in known)
        facts = [question for question, n in self.facts.items() if self.is_fact(sentence, question, n, pronoun)]
        self.judged += 1
        for question in facts:
            self.facts[question] += 1
            if not pronoun:
                self.follows[question] = self.need(sentence, question) > 0
        return any(self.follows[question] for question in facts)

    def is_fact(self, sentence: Words, question: Words, facts: int, pronoun: bool) -> bool:
        return self.gate_logit(sentence, question) > self.bar(facts, pronoun)

    def need(self, sentence: Words, question: Words) -> float:
        """u . tanh(C s + D q + E_m) + d, where m tells which names of the question the sentence holds."""
        if "gate.need.names" not in self.weights:
            return 1.0
        names = [word for word in dict.fromkeys(question) if self.is_name(word)]
        first, others = set(names[:1]) & set(sentence), set(names[1:]) & set(sentence)
        m = (1 if first else 0) + (2 if others else 0)
        s, q = self.gate_state("sentence_gru", sentence), self.gate_state("question_gru", question)
        x = self.linear("gate.need.sentence", s) + self.linear("gate.need.question", q)
        return float(self.linear("gate.need.verdict", np.tanh(x + self.weights["gate.need.shared.weight"][m]))[0])

    def is_name(self, word: str) -> bool:
        return word not in self.vocabulary or self.weights["gate.need.names"][self.vocabulary.index(word)] > 0

    def gate_logit(self, sentence: Words, question: Words) -> float:
        """v . tanh(A s + B q + b) + c."""
        s, q = self.gate_state("sentence_gru", sentence), self.gate_state("question_gru", question)
        x = np.tanh(self.linear("gate.sentence", s) + self.linear("gate.question", q))
        return float(self.linear("gate.verdict", x)[0])

    def gate_state(self, name: str, words: Words) -> Vector:
        known = self.weights["gate.embedding.weight"]
        state = np.zeros(known.shape[1])
        for word in words:
            place = self.vocabulary.index(word) if word in self.vocabulary else UNKNOWN
            state = self.gru(f"gate.{name}", known[place], state)
        return state

    def bar(self, facts: int, pronoun: bool) -> float:
        """The fewer facts a text has for a question, the higher; a pronoun has another roof, or none."""
        lowest, slope, highest = self.weights["gate.bars"]
        rising = float(lowest - slope * log((facts + STORY) / (self.judged + STORY)))
        if pronoun:
            highest = self.weights["gate.need.highest"][0] if "gate.need.highest" in self.weights else inf
        return min(float(highest), rising)

    def tell(self, sentence: Words) -> None:
        """Lines 2 to 17 of Algorithm 1."""
        spoken = [*dict.fromkeys(sentence)]
        members = spoken + [word for word in self.named if word in self.met and word not in spoken]
        context = self.context(spoken, members)
        edges = {(i, j): self.edge(sentence, i, j) for i in members for j in members + context}
        for word in spoken:
            self.entities.setdefault(word, Entity(np.zeros(self.hidden)))
        self.update(sentence, spoken)
        self.propagate(members, context, edges)
        for word in members:
            self.judge(self.entities[word])
        if members:
            self.perhaps_create_bank()
        for word in spoken:
            others = [other for other in spoken if other != word]
            before = [other for other in self.met.get(word, []) if other not in spoken]
            self.met[word] = (others + before)[:REMEMBERED]
        for word in sentence:
            self.answers[self.vector_of(word)] = word
        vectors = [self.vector_of(word) for word in sentence]
        self.pairs.update(zip(vectors, vectors[1:], strict=False))

    def context(self, spoken: Words, members: Words) -> list[str]:
        """Each asker's latest neighbour that is no member, then each one's second; those that questions name first."""
        askers, found = [*members[len(spoken) :], *spoken], list[str]()
        for turn in range(REMEMBERED):
            for asker in askers:
                outside = [word for word in self.met.get(asker, []) if word not in members]
                if turn < len(outside) and outside[turn] not in found:
                    found.append(outside[turn])
        return found[:CONTEXT]

    def edge(self, sentence: Words, i: str, j: str) -> int:
        """What the edge from a reader i to an entity j says."""
        pairs = [*zip(sentence, sentence[1:], strict=False)]
        if i == j:
            return SELF
        if i in sentence and j in sentence:
            return BEFORE if (j, i) in pairs else AFTER if (i, j) in pairs else CURRENT
        return PAST if j in self.met.get(i, []) else NO_EDGE

    def update(self, sentence: Words, spoken: Words) -> None:
        """Eq. (13): w = GRU(w_N, w), which hears the word's own outputs D besides."""
        outputs = self.gru_over("encoder.word_gru", sentence)
        for word in spoken:
            d = np.zeros(self.hidden)
            for other, output in zip(sentence, outputs, strict=True):
                d = d + output if other == word else d  # Eq. (3)
            entity = self.entities[word]
            entity.state = self.gru("update", np.concatenate((self.norm(d), self.norm(outputs[-1]))), entity.state)

    def propagate(self, members: Words, context: Words, edges: Mapping[tuple[str, str], int]) -> None:
        """Eq. (14), eq. (15): all members at once."""
        states = {word: self.entities[word].state for word in [*members, *context]}
        heads, width = int(self.config["heads"]), self.hidden // int(self.config["heads"])
        for i in members:
            query, message = self.linear("ask", self.norm(states[i])), np.zeros(self.hidden)
            for head in range(heads):
                part = slice(head * width, (head + 1) * width)
                scores, values = [], []
                for j in states:
                    kind = edges[i, j]
                    if kind == NO_EDGE:
                        continue
                    key, value = np.split(self.linear("tell", self.norm(states[j])), 2)
                    scores.append(query[part] @ key[part] / sqrt(width) + self.weights["edge_bias"][kind, head])
                    values.append(value[part])
                for share, value in zip(softmax(scores), values, strict=True):
                    message[part] += share * value
            self.entities[i].state = self.gru("propagate_gru", message, states[i])

    def judge(self, entity: Entity) -> None:
        """Eqs. (5-8), eq. (9) for moves, eq. (10), eq. (12)."""
        w, s = entity.state, entity.strength
        rated = []
        for q in self.asked:
            z = self.linear("strength.update_state", w)[0] + self.linear("strength.update_question", q)[0]
            z = sigmoid(z + self.number("strength.update_strength") * s)
            r = 1 - sigmoid(self.number("strength.reset") * s * (w @ q) / sqrt(self.hidden))
            new = self.linear("strength.candidate_state", w)[0] + self.number("strength.candidate_strength") * r * s
            rated.append(z * s + (1 - z) * sigmoid(new))
        entity.strength = float(max(rated))
        asked = max(self.norm(w) @ self.linear("move_question", q) / sqrt(self.hidden) for q in self.asked)
        entity.relevance = float(self.linear("move_state", entity.strength * self.norm(w))[0] + asked)
        last = self.banks - 1
        reach = last + ceil(entity.relevance / self.config["bank_gap"]) - 1
        entity.depth = max(entity.depth, min(max(reach, 0), last))

    def perhaps_create_bank(self) -> None:
        """Eq. (9) for creation, eq. (11)."""
        inside = [entity for entity in self.entities.values() if entity.depth == self.banks - 1]
        pooled = np.zeros(self.hidden)
        for entity in inside:
            pooled = pooled + entity.state / len(inside)
        load = self.told() * 2.0 ** (1 - self.banks)
        logit = self.linear("create", np.append(pooled, log(max(load, 0.1))))[0]
        if logit > 0 and self.banks < self.config["max_banks"]:
            for entity in inside:
                entity.depth += entity.relevance > 0
            self.banks += 1

    def told(self) -> int:
        """How many words were told."""
        return sum(entity.depth >= 0 for entity in self.entities.values())

    def read(self, banks: int) -> Read:
        """Section 4.3 over the last `banks` banks; 0 for all."""
        first = max(0, self.banks - banks) if banks else 0
        held = [
            {word: entity for word, entity in self.entities.items() if entity.depth >= bank}
            for bank in range(first, self.banks)
        ]
        found = Read([], [], [], [], self.told(), sum(map(len, held)), self.banks)
        for question in self.asked:
            shares = [self.attend(bank, question) for bank in held]
            summary = self.summary(held, shares, question)
            found.attention.append([{} for _ in range(first)] + shares)
            classes, words, tokens = self.choose(summary)
            found.classes.append(classes)
            found.words.append(words)
            found.tokens.append(tokens)
        return found

    def choose(self, summary: Vector) -> tuple[list[list[float]], list[dict[str, float]], list[int | str]]:
        """Eq. (19), token by token: the best each time, up to an end where there may be several; y' = GRU(u, y)."""
        classes: list[list[float]] = []
        words: list[dict[str, float]] = []
        tokens: list[int | str] = []
        for _ in range(int(self.config["items"])):
            if tokens:
                summary = self.gru("decoder.next", self.token_vector(tokens[-1]), summary)
            classes.append(self.linear("decoder.answer", summary).tolist())
            words.append(self.point(summary))
            scores: dict[int | str, float] = dict(enumerate(classes[-1]))
            scores.update(words[-1])
            tokens.append(max((token for token in scores if self.fits(tokens, token)), key=scores.__getitem__))
            if tokens[-1] == END:
                break
        return classes, words, tokens

    def fits(self, tokens: Sequence[int | str], token: int | str) -> bool:
        """Whether a token may come next: no two items begin alike, and words of the story stand in it side by side."""
        if not tokens or token == END:
            return True
        if tokens[-1] == self.comma:
            return self.spelled(token) not in self.listed(tokens)
        pair = self.spelled(tokens[-1]), self.spelled(token)
        return pair in self.pairs or not set(pair) <= self.answers.keys()

    def spelled(self, token: int | str) -> int | None:
        """The vector of the word that a token spells, where it is one that stories tell."""
        word = token if isinstance(token, str) else self.classes[token] if self.classes else ""
        return self.vector_of(word) if isinstance(token, str) or word in self.vocabulary else None

    def listed(self, tokens: Sequence[int | str]) -> set[int | None]:
        """What the items of a list begin with: none begins with it again, but for what no story tells."""
        starts = [token for at, token in enumerate(tokens) if not at or tokens[at - 1] == self.comma]
        return {self.spelled(token) for token in starts} - {None}

    def token_vector(self, token: int | str) -> Vector:
        """What the next token hears of a class, or of a word."""
        if isinstance(token, str):
            return self.embed(self.vector_of(token))
        return self.weights["decoder.classes.weight"][token]

    def attend(self, bank: Mapping[str, Entity], question: Vector) -> dict[str, float]:
        """Eq. (17): the shares of a bank's entities, with the score of reading nothing among them."""
        key = self.linear("decoder.match", question)
        scores = [self.content(entity) @ key / sqrt(self.hidden) for entity in bank.values()]
        return dict(zip(bank, softmax([*scores, self.number("decoder.nothing")]), strict=False))

    def content(self, entity: Entity) -> Vector:
        """Eq. (16): C_m = s_m * w."""
        return entity.strength * self.norm(entity.state)

    def summary(
        self, held: Sequence[Mapping[str, Entity]], shares: Sequence[Mapping[str, float]], question: Vector
    ) -> Vector:
        """Eq. (18), and eq. (19) without r: PReLU(h(g) + w_Nq)."""
        counts = [exp(self.number("decoder.growth") * number) for number in range(len(held))]
        g = np.zeros(self.hidden)
        for count, bank, ps in zip(counts, held, shares, strict=True):
            for word, entity in bank.items():
                g = g + count / sum(counts) * ps[word] * self.content(entity)
        y = self.linear("decoder.hidden", g) + question
        return np.where(y > 0, y, self.number("decoder.prelu.weight") * y)

    def point(self, summary: Vector) -> dict[str, float]:
        """The score of each word that was told, where the model can point."""
        if not self.config["pointer"]:
            return {}
        wish = self.linear("decoder.pointer.of_summary", summary)
        return {word: float(wish @ self.embed(v) / sqrt(self.hidden)) for v, word in self.answers.items()}


def sigmoid(x: Vector | float) -> Vector | float:
    return 1 / (1 + np.exp(-x))


def softmax(scores: Sequence[float]) -> list[float]:
    powers = [exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]

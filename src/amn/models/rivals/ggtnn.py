"""GGT-NN: Gated Graph Transformer Networks (Johnson, Learning Graphical State Transitions, ICLR 2017).

A graph changes with every sentence. Each node has a type (a distribution over words), a strength in [0, 1] and a
state; each pair of nodes has a strength for each kind of edge. Here every distinct word of a story has a node of its
own type from the start, and a sentence may add more. The paper shows the network the right graph after each sentence;
this one learns from answers alone unless it is given facts (see `amn.data.facts`).
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

from amn.data.batches import Batch
from amn.data.facts import KINDS
from amn.models.base import Model, ModelConfig, Reading, Scalar
from amn.models.layers import GRU, Linear, where_told
from amn.models.rivals.baseline import look_up, reading_of

_LEAST_CHANCE = 1e-6  # below which a wrong graph costs no more
_SPARSEST = -5.0  # the logit at which edges start that are learned from facts: very few of all pairs are edges
_SPARSE, _KEEPING = -2.0, 2.0  # the logits at which edges and attention start, and at which nodes keep their states


@dataclass(frozen=True, kw_only=True)
class GGTNNConfig(ModelConfig):
    """Settings of GGT-NN."""

    hidden: int = 20  # width of a node's state
    text_width: int = 100  # width of a word, of a sentence, and of a whole graph as one vector
    message_width: int = 50  # width of the messages between nodes
    edge_kinds: int = 3  # number of kinds of edges (Y)
    new_nodes: int = 0  # nodes that each sentence adds (k in the complexity table of arXiv 1802.00510)
    propagation: int = 5  # rounds of propagation before an answer
    propagate_while_reading: bool = False  # as many rounds in each sentence too; the paper has them for tasks 3 and 5
    both_ways: bool = True  # words are read backwards too; the paper reads forwards only
    # Learn the graph too, from stories that come with it. Edges are then of the kinds that facts have, and a word is a
    # node of no strength until a sentence names it and the network finds that it is one.
    facts: bool = False


@dataclass(frozen=True)
class GatedGraph:
    """A graph for each story (or, once a question is asked, for each question)."""

    types: Float[Tensor, "*axes node type"]
    strengths: Float[Tensor, "*axes node"]
    states: Float[Tensor, "*axes node hidden"]
    edges: Float[Tensor, "*axes node node kind"]
    surprise: Float[Tensor, "*axes two"] | None = None  # how far nodes and edges were from the right graph, so far

    @property
    def features(self) -> Float[Tensor, "*axes node feature"]:
        """What a transformation sees of each node: its state and its type.

        Types come last, so that a layer's weights for a further type are appended to the others.
        """
        return torch.cat((self.states, self.types), -1)


@dataclass(frozen=True)
class EncodedText:
    """A sentence or a question: its words, the states of the word GRU at each, and the last of these.

    In training there may be the right graph after it: which slots are nodes, and which edges hold between them.
    """

    words: Int[Tensor, "*axes word"]
    outputs: Float[Tensor, "*axes word text"]
    vector: Float[Tensor, "*axes text"]
    right_nodes: Float[Tensor, "*axes node"] | None = None
    right_edges: Float[Tensor, "*axes node node kind"] | None = None


for _kind in (GatedGraph, EncodedText):
    torch.export.register_dataclass(_kind)


class NodeUpdate(nn.Module):
    """T_h: a GRU over the states of all nodes, h_v = GRU([a_v, x_v], h_v)."""

    def __init__(self, inputs: int, types: int, hidden: int) -> None:
        super().__init__()
        self.gru = GRU(inputs + types, hidden)

    def forward(self, graph: GatedGraph, inputs: Float[Tensor, "*axes node input"]) -> GatedGraph:
        """The graph with new states."""
        projected = self.gru.input(torch.cat((inputs, graph.types), -1))
        return replace(graph, states=self.gru(projected, graph.states))


class Propagation(nn.Module):
    """T_prop: nodes send messages to their neighbours along the edges, and backwards along them."""

    def __init__(self, types: int, hidden: int, kinds: int, width: int) -> None:
        super().__init__()
        self.ahead = Linear(hidden + types, kinds * width)  # f_fwd
        self.back = Linear(hidden + types, kinds * width)  # f_bwd
        self.update = NodeUpdate(width, types, hidden)

    def forward(self, graph: GatedGraph) -> GatedGraph:
        """One round."""
        return self.update(graph, self.messages(graph))

    def messages(self, graph: GatedGraph) -> Float[Tensor, "*axes node message"]:
        """a_v = sum_v' s_v' sum_y C_(v',v,y) f_fwd,y(x_v', h_v') + C_(v,v',y) f_bwd,y(x_v', h_v').

        f is one layer with a tanh, as in the author's code.
        """
        edges = graph.edges.movedim(-1, -3)  # kind node node
        return (edges.transpose(-1, -2) @ self.sent(self.ahead, graph) + edges @ self.sent(self.back, graph)).sum(-3)

    def sent(self, layer: Linear, graph: GatedGraph) -> Float[Tensor, "*axes kind node message"]:
        """The message of each node along each kind of edge, times its strength."""
        sent = torch.tanh(layer(graph.features)) * graph.strengths.unsqueeze(-1)
        return sent.unflatten(-1, (graph.edges.shape[-1], -1)).movedim(-2, -3)


class EdgeUpdate(nn.Module):
    """T_C: a sentence sets and removes edges between any two nodes."""

    def __init__(self, inputs: int, types: int, hidden: int, kinds: int) -> None:
        super().__init__()
        width = inputs + 2 * (hidden + types)  # of the hidden layer: as wide as what it sees
        self.of_input = Linear(inputs, width)
        self.of_source = Linear(hidden + types, width, bias=False)
        self.of_target = Linear(hidden + types, width, bias=False)
        self.decide = Linear(width, 2 * kinds)

    def forward(self, graph: GatedGraph, inputs: Float[Tensor, "*axes input"]) -> GatedGraph:
        """C' = (1 - C) f_set + C (1 - f_reset), with f(a, x_v, h_v, x_v', h_v') a network of one hidden layer."""
        source = self.of_source(graph.features).unsqueeze(-2)
        target = self.of_target(graph.features).unsqueeze(-3)
        joined = torch.tanh(source + target + self.of_input(inputs)[..., None, None, :])
        set_to, reset = torch.sigmoid(self.decide(joined)).chunk(2, -1)
        return replace(graph, edges=(1 - graph.edges) * set_to + graph.edges * (1 - reset))


class Aggregation(nn.Module):
    """T_repr: a whole graph as one vector."""

    def __init__(self, types: int, hidden: int, width: int) -> None:
        super().__init__()
        self.attend = Linear(hidden + types, width)  # i
        self.content = Linear(hidden + types, width)  # j

    def forward(self, graph: GatedGraph) -> Float[Tensor, "*axes text"]:
        """h_G = tanh(sum_v s_v sigmoid(i(x_v, h_v)) * tanh(j(x_v, h_v)))."""
        features = graph.features
        parts = torch.sigmoid(self.attend(features)) * torch.tanh(self.content(features))
        return torch.tanh((graph.strengths.unsqueeze(-2) @ parts).squeeze(-2))


class NodeAddition(nn.Module):
    """T_add: a GRU emits new nodes one after another, each with a strength, a type and a state.

    Their types are mixtures of the types that the graph already has: the words of the story and its questions.
    """

    def __init__(self, inputs: int, types: int, hidden: int) -> None:
        super().__init__()
        self.gru = GRU(inputs, hidden)
        self.strength = Linear(hidden, 1)
        self.kind = Linear(hidden, types)
        self.state = Linear(hidden, hidden)

    def forward(self, graph: GatedGraph, inputs: Float[Tensor, "batch input"], count: int) -> GatedGraph:
        """The graph with `count` more nodes: s = sigmoid(f_s(u)), x from softmax(f_x(u)), h = tanh(f_h(u))."""
        projected = self.gru.input(inputs)
        emitted = [self.gru(projected, graph.states.new_zeros(inputs.shape[0], graph.states.shape[-1]))]
        for _ in range(count - 1):
            emitted.append(self.gru(projected, emitted[-1]))
        new = torch.stack(emitted, 1)
        return GatedGraph(
            types=torch.cat((graph.types, self.mix_types(graph, self.kind(new))), 1),
            strengths=torch.cat((graph.strengths, torch.sigmoid(self.strength(new)).squeeze(-1)), 1),
            states=torch.cat((graph.states, torch.tanh(self.state(new))), 1),
            edges=F.pad(graph.edges, (0, 0, 0, count, 0, count)),
            surprise=graph.surprise,
        )

    def mix_types(self, graph: GatedGraph, scores: Float[Tensor, "batch new type"]) -> Float[Tensor, "batch new type"]:
        """Each node that exists offers its type, the stronger the more."""
        offers = scores @ graph.types.transpose(1, 2)
        mass = torch.exp(offers - offers.detach().amax(-1, keepdim=True)) * graph.strengths.unsqueeze(1)
        return mass / mass.sum(-1, keepdim=True).clamp(min=1e-6) @ graph.types


class NodeRecognition(nn.Module):
    """T_add where nodes are words: a sentence adds those of its words that are nodes, each of its own type."""

    def __init__(self, types: int, hidden: int) -> None:
        super().__init__()
        self.decide = Linear(hidden + types, 1)

    def forward(self, graph: GatedGraph, named: Bool[Tensor, "batch node"]) -> GatedGraph:
        """For the words that the sentence names, s' = s + (1 - s) sigmoid(f(x_v, h_v))."""
        found = torch.sigmoid(self.decide(graph.features)).squeeze(-1) * named
        return replace(graph, strengths=graph.strengths + (1 - graph.strengths) * found)


class GGTNN(Model):
    """Gated graph transformer network, trained from answers and, where they are given, from facts."""

    Config = GGTNNConfig
    config: GGTNNConfig
    recipe = {"batch_size": 32, "epochs": 100, "clip": 10.0}

    def __init__(self, config: GGTNNConfig) -> None:
        super().__init__()
        self.config = config
        types, hidden, text, message = config.vocabulary_size, config.hidden, config.text_width, config.message_width
        self.edge_kinds = kinds = len(KINDS) if config.facts else config.edge_kinds
        self.embedding = nn.Embedding(types, text)
        self.word_gru = GRU(text, text)
        self.back_gru = GRU(text, text) if config.both_ways else None
        self.update = NodeUpdate(text, types, hidden)
        self.refer = NodeUpdate(text, types, hidden)
        self.propagate = Propagation(types, hidden, kinds, message) if config.propagate_while_reading else None
        self.summarise = Aggregation(types, hidden, text) if config.new_nodes else None
        self.add = NodeAddition(2 * text, types, hidden) if config.new_nodes else None
        self.recognise = NodeRecognition(types, hidden) if config.facts else None
        self.connect = EdgeUpdate(text, types, hidden, kinds)
        self.query_update = NodeUpdate(text, types, hidden)
        self.query_refer = NodeUpdate(text, types, hidden)
        self.query_propagate = Propagation(types, hidden, kinds, message)
        self.query_summarise = Aggregation(types, hidden, text)
        self.answer = Linear(text, config.num_answers)

    def begin(self, batch: Batch, progress: Scalar) -> tuple[GatedGraph, list[EncodedText]]:
        """A graph of the story's words, and every sentence encoded."""
        del progress
        story = self.encode(batch.story_words)
        parts = [story.words, story.outputs, story.vector]
        graph = self.start(batch.slot_words)
        if self.recognise is not None:
            graph = replace(graph, strengths=torch.zeros_like(graph.strengths))
            if batch.facts is not None and batch.key is not None:
                parts += right_graph(batch.facts, batch.slot_words.shape[1], self.edge_kinds, graph.states.dtype)
                graph = replace(graph, surprise=graph.states.new_zeros(len(graph.states), 2))
        return graph, [EncodedText(*part) for part in zip(*(part.unbind(1) for part in parts), strict=True)]

    def advance(self, carry: GatedGraph, sentence: EncodedText) -> GatedGraph:
        """Transforms the graph with one sentence: T_h, T_h,direct, T_prop, T_add, T_C; padding changes nothing."""
        new = self.read(self.update, self.refer, carry, sentence)
        if self.propagate is not None:
            new = self.spread(self.propagate, new)
        if self.recognise is not None:
            new = self.recognise(new, (_is_word(new, sentence) > 0).any(-1))
        if self.add is not None and self.summarise is not None:
            inputs = torch.cat((sentence.vector, self.summarise(new)), -1)
            new = self.add(new, inputs, self.config.new_nodes)
        new = self.connect(new, sentence.vector)
        if sentence.right_nodes is not None and sentence.right_edges is not None:
            new = corrected(new, sentence.right_nodes, sentence.right_edges)
        elif self.recognise is not None:
            new = snapped(new)
        return _where((sentence.words > 0).any(-1), new, carry)

    def finish(self, batch: Batch, carry: GatedGraph, progress: Scalar, banks: int = 1) -> Reading:
        """Transforms the graph with the question, and answers from all nodes."""
        del progress, banks
        answered = self.query(carry, self.encode(batch.question_words))
        reading = reading_of(self.answer(self.query_summarise(answered)), carry.strengths.sum(-1).detach())
        if carry.surprise is None:
            return reading
        nodes, edges = (carry.surprise / batch.sentence_mask.sum(-1, keepdim=True).clamp(min=1)).unbind(-1)
        return replace(reading, losses={"nodes": nodes, "edges": edges})

    @torch.no_grad()
    def initialise_parameter(self, name: str, parameter: Tensor, generator: torch.Generator) -> None:
        """Xavier; but the graph starts sparse, and nodes keep their states unless they are referred to.

        Edges of strength one half everywhere carry no information, and neither do nodes that follow every sentence.
        """
        super().initialise_parameter(name, parameter, generator)
        if name == "update.gru.input.bias":
            parameter[self.config.hidden : 2 * self.config.hidden] = _KEEPING
        elif name.endswith(("connect.decide.bias", "summarise.attend.bias")):
            parameter.fill_(_SPARSEST if self.config.facts and name == "connect.decide.bias" else _SPARSE)

    def encode(self, words: Int[Tensor, "*axes word"]) -> EncodedText:
        """A GRU over the words of each sentence or question.

        Backwards too, where it is set, so that the output at the first word knows the rest of the sentence.
        """
        embedded = look_up(self.embedding.weight, words)
        outputs = self.word_gru.over(self.word_gru.input(embedded), words > 0)
        vector = outputs[..., -1, :]
        if self.back_gru is not None:
            back = self.back_gru.over(self.back_gru.input(embedded).flip(-2), words.flip(-1) > 0)
            outputs = outputs + back.flip(-2)
        return EncodedText(words, outputs, vector)

    def start(self, slot_words: Int[Tensor, "batch slot"]) -> GatedGraph:
        """A node of full strength for each distinct word, with no state and no edges yet."""
        every_type = torch.arange(self.config.vocabulary_size, device=slot_words.device)
        types = (slot_words.unsqueeze(-1) == every_type).to(self.embedding.weight.dtype)
        batch, nodes = slot_words.shape
        return GatedGraph(
            types=types,
            strengths=(slot_words > 0).to(types.dtype),
            states=types.new_zeros(batch, nodes, self.config.hidden),
            edges=types.new_zeros(batch, nodes, nodes, self.edge_kinds),
        )

    def query(self, graph: GatedGraph, questions: EncodedText) -> GatedGraph:
        """The question: T_h, T_h,direct and several rounds of T_prop, on a graph for each question."""
        asked = questions.vector.shape[1]
        graph = pytree.tree_map(lambda part: part.unsqueeze(1).expand(-1, asked, *part.shape[1:]), graph)
        graph = self.read(self.query_update, self.query_refer, graph, questions)
        return self.spread(self.query_propagate, graph)

    def spread(self, propagate: Propagation, graph: GatedGraph) -> GatedGraph:
        """Several rounds of T_prop."""
        for _ in range(self.config.propagation):
            graph = propagate(graph)
        return graph

    def read(self, update: NodeUpdate, refer: NodeUpdate, graph: GatedGraph, text: EncodedText) -> GatedGraph:
        """T_h: every node gets the vector of the text. Then T_h,direct: each node gets what is said of its word.

        a_v = sum_n x_(v,n) D_n, where D_n sums the GRU's outputs at the places of word n.
        """
        graph = update(graph, text.vector.unsqueeze(-2).expand(*graph.strengths.shape, -1))
        return refer(graph, _is_word(graph, text) @ text.outputs)


def right_graph(
    facts: Int[Tensor, "batch sentence fact three"], slots: int, kinds: int, dtype: torch.dtype
) -> tuple[Float[Tensor, "batch sentence slot"], Float[Tensor, "batch sentence slot slot kind"]]:
    """The nodes and the edges after each sentence: a node is a word that some fact has been about by then."""
    kind, source, target = facts.unbind(-1)
    place = (source * slots + target) * kinds + (kind - 1).clamp(min=0)  # padding falls on slot 0, which is no node
    edges = torch.zeros((*facts.shape[:2], slots * slots * kinds), dtype=dtype, device=facts.device)
    edges = edges.scatter(2, place, 1.0).unflatten(2, (slots, slots, kinds))
    spoken = (edges.sum((3, 4)) + edges.sum((2, 4)) > 0).to(dtype).cummax(1).values
    is_word = (torch.arange(slots, device=facts.device) > 0).to(dtype)
    return spoken * is_word, edges * (is_word[:, None, None] * is_word[:, None])


def corrected(
    graph: GatedGraph, nodes: Float[Tensor, "batch slot"], edges: Float[Tensor, "batch slot slot kind"]
) -> GatedGraph:
    """The right graph, and its loss: -log p of every node, and of every edge between two nodes.

    As in the paper, the next sentence starts from the right graph (teacher forcing).
    """
    added = graph.strengths.shape[1] - nodes.shape[1]  # nodes that sentences add on their own are in no fact
    nodes, edges = F.pad(nodes, (0, added)), F.pad(edges, (0, 0, 0, added, 0, added))
    pairs = (nodes.unsqueeze(-1) * nodes.unsqueeze(-2)).unsqueeze(-1)
    of_nodes = _log_loss(graph.strengths, nodes).sum(-1)
    of_edges = (_log_loss(graph.edges, edges) * pairs).sum((1, 2, 3))
    surprise = torch.stack((of_nodes, of_edges), -1)
    assert graph.surprise is not None
    return replace(graph, strengths=nodes, edges=edges, surprise=graph.surprise + surprise)


def snapped(graph: GatedGraph) -> GatedGraph:
    """The likelier graph: strengths of nodes and edges rounded to 0 or 1, as all are that training starts from."""
    return replace(
        graph,
        strengths=(graph.strengths > 0.5).to(graph.strengths.dtype),
        edges=(graph.edges > 0.5).to(graph.edges.dtype),
    )


def _log_loss(chance: Float[Tensor, "*axes"], right: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """-log of the chance that was given to what is right."""
    return -(right * chance + (1 - right) * (1 - chance)).clamp(min=_LEAST_CHANCE).log()


def _is_word(graph: GatedGraph, text: EncodedText) -> Float[Tensor, "*axes node word"]:
    """x_(v,n): how far each node is of the type of each word of a text."""
    shape = (*graph.strengths.shape, text.words.shape[-1])
    return graph.types.gather(-1, text.words.unsqueeze(-2).expand(shape)) * (text.words > 0).unsqueeze(-2)


def _where(told: Bool[Tensor, " batch"], new: GatedGraph, old: GatedGraph) -> GatedGraph:
    """The new graph where there is a sentence; elsewhere the old one, with as many more nodes of no strength."""
    added = new.strengths.shape[1] - old.strengths.shape[1]
    kept = replace(
        old,
        types=F.pad(old.types, (0, 0, 0, added)),
        strengths=F.pad(old.strengths, (0, added)),
        states=F.pad(old.states, (0, 0, 0, added)),
        edges=F.pad(old.edges, (0, 0, 0, added, 0, added)),
    )
    return where_told(told, new, kept)

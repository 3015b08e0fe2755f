"""The models, by name. A new one is a file here and a line in `MODELS`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError, did_you_mean
from amn.models import variants
from amn.models.amn import AMN
from amn.models.base import Model, ModelConfig
from amn.models.paper.model import PaperAMN
from amn.models.rivals.dmn_plus import DMNPlus, OneGRUDMNPlus
from amn.models.rivals.encdec import EncDec
from amn.models.rivals.entnet import EntNet
from amn.models.rivals.ggtnn import GGTNN
from amn.models.rivals.memn2n import MemN2N

MODELS: dict[str, type[Model]] = {
    "amn": AMN,
    "amn-filled-bank": variants.FilledBankAMN,
    "amn-paper": PaperAMN,
    "amn-paper-with-attention": variants.PaperWithAttentionAMN,
    "amn-paper-with-budget": variants.PaperWithBudgetAMN,
    "amn-paper-with-joining": variants.PaperWithJoiningAMN,
    "amn-paper-with-question": variants.PaperWithQuestionAMN,
    "amn-question-blind": variants.QuestionBlindAMN,
    "amn-story-blind": variants.StoryBlindAMN,
    "amn-without-attention": variants.WithoutAttentionAMN,
    "amn-without-budget": variants.WithoutBudgetAMN,
    "amn-without-delay": variants.WithoutDelayAMN,
    "amn-without-gradient": variants.WithoutGradientAMN,
    "amn-without-joining": variants.WithoutJoiningAMN,
    "amn-without-last-bank": variants.WithoutLastBankAMN,
    "amn-without-load": variants.WithoutLoadAMN,
    "amn-without-members": variants.WithoutMembersAMN,
    "amn-without-neighbours": variants.WithoutNeighboursAMN,
    "amn-without-norm": variants.WithoutNormAMN,
    "amn-without-question": variants.WithoutQuestionAMN,
    "dmn-plus": DMNPlus,
    "dmn-plus-one-gru": OneGRUDMNPlus,
    "encdec": EncDec,
    "entnet": EntNet,
    "ggtnn": GGTNN,
    "memn2n": MemN2N,
}


def model_class(architecture: str) -> type[Model]:
    """The class of an architecture; an unknown name gets the nearest ones."""
    if architecture not in MODELS:
        raise ConfigError(f"no model is called {architecture!r}; {did_you_mean(architecture, MODELS)}")
    return MODELS[architecture]


def config_of(kind: type[Model], settings: Mapping[str, Any]) -> ModelConfig:
    """The config of a model from settings as JSON has them, where a whole number may stand for a fraction."""
    known = {field.name: field.type for field in dataclasses.fields(kind.Config)}
    if strange := settings.keys() - known.keys():
        raise ConfigError(f"no setting is called {min(strange)!r}; {did_you_mean(min(strange), known)}")
    fractions = {name for name, type_ in known.items() if type_ is float}
    own: dict[str, Any] = {name: float(value) if name in fractions else value for name, value in settings.items()}
    return kind.Config(**own)


def build_model(architecture: str, vocabulary: Vocabulary, settings: dict[str, Any], seed: int = 0) -> Model:
    """A fresh model; settings are checked against the fields of the architecture's config."""
    kind = model_class(architecture)
    known = {f.name for f in dataclasses.fields(kind.Config)}
    for name in settings:
        if name not in known:
            raise ConfigError(f"{architecture} has no setting {name!r}; {did_you_mean(name, known)}")
    sizes = {"vocabulary_size": len(vocabulary.words), "num_answers": len(vocabulary.answers)}
    model = kind(config_of(kind, {**settings, **sizes}))
    model.know(vocabulary)
    model.initialise(torch.Generator().manual_seed(seed))
    return model


__all__ = ["MODELS", "Model", "ModelConfig", "build_model", "config_of", "model_class"]

"""The models, by name. A new one is a file here and a line in `MODELS`."""

from amn.errors import ConfigError, did_you_mean
from amn.models.amn import AMN
from amn.models.base import Model, ModelConfig
from amn.models.controls import QuestionBlindAMN, StoryBlindAMN
from amn.models.paper.model import PaperAMN
from amn.models.rivals.dmn_plus import DMNPlus
from amn.models.rivals.encdec import EncDec
from amn.models.rivals.entnet import EntNet
from amn.models.rivals.ggtnn import GGTNN
from amn.models.rivals.memn2n import MemN2N

MODELS: dict[str, type[Model]] = {
    "amn": AMN,
    "amn-paper": PaperAMN,
    "amn-question-blind": QuestionBlindAMN,
    "amn-story-blind": StoryBlindAMN,
    "dmn-plus": DMNPlus,
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


__all__ = ["MODELS", "Model", "ModelConfig", "model_class"]

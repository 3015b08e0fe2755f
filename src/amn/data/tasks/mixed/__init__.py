"""Stories that mix all kinds of facts of the 20 tasks, worded in many ways, with questions that may have no answer."""

from amn.data.tasks.mixed.config import MixedConfig
from amn.data.tasks.mixed.generate import mixed_stories

__all__ = ["MixedConfig", "mixed_stories"]

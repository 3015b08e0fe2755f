"""Stories of the 20 bAbI tasks, generated: like the released ones by default, with settings to go beyond them."""

from amn.data.tasks.config import GeneratorConfig, Task
from amn.data.tasks.generator import MIXED, PRESETS, Preset, generate, generate_preset
from amn.data.tasks.mixed import MixedConfig
from amn.data.tasks.rename import rename
from amn.data.tasks.table import TASKS

__all__ = [
    "MIXED",
    "PRESETS",
    "TASKS",
    "GeneratorConfig",
    "MixedConfig",
    "Preset",
    "Task",
    "generate",
    "generate_preset",
    "rename",
]

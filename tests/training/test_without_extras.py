"""Training needs torch, numpy, safetensors and jaxtyping alone; a compiled step is one graph for all sentences."""

import subprocess
import sys
from pathlib import Path

from training.small import ENVIRONMENT, log_of, options_of, small

BLOCKED = (
    "aiohttp cyclopts rich matplotlib jinja2 fastapi uvicorn prometheus_client starlette pydantic onnx onnxruntime "
    "onnxscript huggingface_hub ray tensorboard pytest hypothesis httpx"
).split()
TRAIN = f"""
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
from amn.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
COMPILE = """
import functools, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
torch.compile = functools.partial(torch.compile, backend="aot_eager", fullgraph=True)
from amn.training.fleet import Step
from training.small import CPU, make_runs, small, Trainer
data, out = Path(sys.argv[1]), Path(sys.argv[2])
runs = make_runs([small(data, 1, seed=3), small(data, 6, seed=4)], out, resume=False)
torch.set_default_dtype(torch.float64)
trainers = [Trainer(runs, out / "state", CPU, print, compiled=compiled) for compiled in (False, True)]
for trainer in trainers:
    for number, sentences in enumerate((1, 2)):
        indices = torch.arange(8 * number, 8 * number + 8).repeat(2, 1)
        trainer.fleet.train_step(Step([number, number], [5, 3], indices, sentences))
plain, compiled = (trainer.fleet.state() for trainer in trainers)
assert trainers[1].fleet.reader.compiled
assert not trainers[0].fleet.reader.compiled
for name, value in plain.items():
    torch.testing.assert_close(compiled[name], value, atol=1e-10, rtol=0)
"""
ONCE = """
import sys
from functools import partial
from pathlib import Path
import torch
from torch._dynamo.utils import counters
torch.set_num_threads(1)
torch.compile = partial(torch.compile, backend="eager", fullgraph=True)
from amn.training.fleet import Step
from training.small import CPU, make_runs, small, Trainer
data, out = Path(sys.argv[1]), Path(sys.argv[2])
for architecture in ("amn", "amn-paper"):
    counters.clear()
    runs = make_runs([small(data, seed=seed, architecture=architecture) for seed in (0, 1)], out, resume=False)
    trainer = Trainer(runs, out / "state", CPU, print, compiled=True)
    for number in range(2):
        step = Step([number] * 2, [5, 5], torch.arange(8).repeat(2, 1), trainer.fleet.training.shape)
        assert step.shape.sentences > 2
        trainer.fleet.train_step(step)
    assert counters["stats"]["unique_graphs"] == 1, (architecture, counters["stats"])
"""


def run_python(code: str, *words: object) -> None:
    environment = ENVIRONMENT | {"PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{Path(__file__).parents[1]}"}
    line = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_training_needs_four_packages_alone(data: Path, tmp_path: Path) -> None:
    spec = small(data, epochs=1)
    run_python(TRAIN, "train", "--task", 1, *options_of(spec), "--out", tmp_path / spec.name)
    assert len(log_of(tmp_path, spec)) == 1


def test_a_step_compiles_as_one_graph_and_equals_a_plain_one(data: Path, tmp_path: Path) -> None:
    run_python(COMPILE, data, tmp_path)


def test_a_step_is_compiled_once_for_all_sentences(data: Path, tmp_path: Path) -> None:
    run_python(ONCE, data, tmp_path)

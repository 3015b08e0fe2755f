"""Verbs that measure speed: of answers, stories, training, large memories, the server and long texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from amn.cli.output import note, print_json, print_rows
from amn.errors import ConfigError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from amn.inference.trained import TrainedModel
    from amn.models.amn import AMN


def decode(
    *,
    tasks: str = "1,2,7,scaled",
    model: str | None = None,
    questions: int = 1000,
    batch: int = 1000,
    single: int = 200,
    repeats: int = 9,
    threads: int = 1,
    json: bool = False,
) -> None:
    """Time answers from the banks that a task requires against answers from all banks.

    Args:
        tasks: numbers and names of tasks.
        model: a model for all of them; by default the shipped model of each task, or an untrained one.
        questions: how many to answer.
        batch: how many of them are answered together.
        single: how many of them are also answered one at a time.
        repeats: how often each is timed.
        threads: threads of torch.
        json: print the rows as JSON.
    """
    from amn.bench.decode import Case, bench_decode
    from amn.inference.device import choose_device
    from amn.training.sweep import parse_tasks

    choose_device("cpu", threads)
    cases = [Case.of(task, model, questions) for task in parse_tasks(tasks)]
    _show(bench_decode(cases, repeats=repeats, single=single, batch=batch), json)


def ingest(
    *,
    task: str = "1",
    model: str | None = None,
    batches: str = "1,256",
    sentences: int = 10,
    repeats: int = 9,
    threads: int = 1,
    device: str = "cpu",
    json: bool = False,
) -> None:
    """Time story to answer, against EntNet, DMN+, MemN2N and EncDec of equal width.

    Models with plain names run in torch. "amn core" is the compiled core, which answers users on a CPU. On a GPU,
    "recorded" models are replayed from CUDA graphs, as they are for users.

    Args:
        task: the task of the stories.
        model: the model; by default the shipped model of the task, or an untrained one.
        batches: how many stories are read together.
        sentences: only stories with this many sentences; 0 for all.
        repeats: how often each is timed.
        threads: threads of torch.
        device: cpu, cuda, or auto.
        json: print the rows as JSON.
    """
    from amn.bench.decode import Case
    from amn.bench.ingest import Contest, bench_ingest
    from amn.inference.device import choose_device
    from amn.training.sweep import parse_numbers, parse_task

    where, sizes = choose_device(device, threads), parse_numbers(batches)
    case = Case.of(parse_task(task), model, 20 * max(sizes), split="train")
    chosen = [example for example in case.examples if sentences in (0, len(example.sentences))]
    if len(chosen) < max(sizes):
        raise ConfigError(f"--sentences: only {len(chosen)} stories of task {task} have {sentences} sentences")
    note(f"weights of amn: {case.source}; of the others: untrained")
    words = case.trained.vocabulary
    contest = Contest(model=_amn(case.trained), vocabulary=words, examples=chosen, batches=sizes, device=where)
    _show(bench_ingest(contest, repeats=repeats), json)


def train(*, models: int = 16, steps: int = 20, device: str = "auto", threads: int = 1, json: bool = False) -> None:
    """Compare a fleet with one model at a time, in models x steps per second.

    Args:
        models: the size of the fleet.
        steps: how many steps are timed, after a few to warm up.
        device: cpu, cuda, or auto.
        threads: threads of torch on a CPU.
        json: print the figures as JSON.
    """
    from amn.bench.train import bench_train
    from amn.inference.device import choose_device

    _show(bench_train(models=models, steps=steps, device=choose_device(device, threads)), json)


def scale(
    *,
    model: str | None = None,
    sizes: str = "100,1000,10000,100000",
    million: bool = False,
    sentences: int = 200,
    threads: int = 1,
    json: bool = False,
) -> None:
    """Time sentences and answers of live memories with more and more entities.

    Args:
        model: the model; by default the shipped model of task 1, or an untrained one.
        sizes: how many entities.
        million: also a million entities, which takes minutes.
        sentences: how many sentences and answers are timed at each size.
        threads: threads of torch.
        json: print the rows as JSON.
    """
    from amn.bench.decode import Case
    from amn.bench.scale import bench_scale
    from amn.inference.device import choose_device
    from amn.training.sweep import parse_numbers

    choose_device("cpu", threads)
    case = Case.of(1, model, 10)
    note(f"weights of amn: {case.source}; of entnet: untrained")
    wanted = [*parse_numbers(sizes), *([1_000_000] if million else [])]
    _show(bench_scale(_amn(case.trained), case.trained, sizes=wanted, sentences=sentences), json)


def serve(
    *,
    model: str | None = None,
    task: int = 1,
    clients: str = "1,8,64",
    seconds: float = 5.0,
    requests: int = 50_000,
    servers: str = "",
    store: str = "",
    memories: int = 0,
    threads: int = 1,
    json: bool = False,
) -> None:
    """Time the answers of a server to more and more clients, with and without batching.

    The servers are started on free ports of this machine, and stopped at the end.

    Args:
        model: the model; by default the shipped model of the task.
        task: the task of the generated stories that clients ask about.
        clients: how many clients ask at once.
        seconds: the longest time to measure each number of clients.
        requests: the most requests that they send in that time.
        servers: numbers of servers that share the clients, to measure scaling instead of batching.
        store: with --servers, the URL of a store whose live memories they ask, such as redis://127.0.0.1.
        memories: time the answers of this many live memories instead, of which a thousand are in RAM.
        threads: threads of the model.
        json: print the rows as JSON.
    """
    from amn.bench.serve import Rounds, bench_memories, bench_serve, bench_servers
    from amn.inference.device import choose_device
    from amn.training.sweep import parse_numbers

    choose_device("cpu", threads)
    rounds, name = Rounds(clients=parse_numbers(clients), seconds=seconds, requests=requests), model or f"qa{task}"
    if memories:
        found = bench_memories(name, rounds, memories=memories)
    elif servers:
        found = bench_servers(name, rounds, servers=parse_numbers(servers), task=task, store=store)
    else:
        found = bench_serve(name, rounds, task=task, threads=threads)
    _show(found, json)


def stream(
    *,
    noise: Path,
    model: str = DEFAULT_MODEL,
    tokens: str = "0,1000,4000,16000,128000,1000000,10000000",
    tasks: str = "1-10,20",
    questions: int = 1000,
    names: Literal["known", "new"] = "known",
    filters: str = "",
    standing: int = 1000,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Measure answers about facts in long texts: accuracy, speed, memory, and sentences let in.

    The facts of bAbI are placed between sentences of books. Besides the model's gate, two controls are measured: a
    filter that lets in sentences of known words, and no filter, up to 16 000 tokens. Each stream is read in a separate
    process.

    Args:
        noise: a folder of books (.txt), by other authors than those that the model was trained with.
        model: the model.
        tokens: the lengths of the texts, in words.
        tasks: the tasks of the facts.
        questions: how many are asked in a cell; 100 if a text has a million tokens, or nothing is filtered.
        names: the names in the facts: those of the task, or new ones that are not in any training data.
        filters: gate, known words, none; by default all that the model has.
        standing: how many standing questions one stream is also read for; 0 for none.
        seed: the random seed for the places of the facts.
        json: print the rows as JSON.
    """
    from amn.bench.stream import StreamBench, bench_stream, filters_of
    from amn.cli.screen import progress_bar
    from amn.store.find import find_model
    from amn.store.model_directory import load_model
    from amn.training.sweep import parse_numbers

    trained, chosen = load_model(find_model(model)), [name.strip() for name in filters.split(",") if name.strip()]
    bench = StreamBench(
        model=model,
        trained=trained,
        noise=noise,
        tasks=parse_numbers(tasks),
        tokens=parse_numbers(tokens),
        questions=questions,
        filters=filters_of(trained, chosen),
        new_names=names == "new",
        standing=standing,
        seed=seed,
    )
    with progress_bar("row", len(bench.cells) + bool(standing)) as step:
        found = bench_stream(bench, step)
    _show(found, json)


def _amn(trained: "TrainedModel") -> "AMN":
    if not trained.model.in_core:
        raise ConfigError(f"--model: expected a model of architecture amn, found {trained.architecture}")
    return cast("AMN", trained.model)


def _show(found: dict[str, Any], json: bool) -> None:
    if json:
        print_json(found)
        return
    print(found["machine"])
    print_rows(found["rows"])

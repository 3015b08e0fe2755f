"""The interface describes itself: every part has words and an example, and a generated client works."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from amn.api import QA
from amn.data.story import words
from server.serving import QUESTION, STORY, running


@pytest.fixture
def schema(client: TestClient) -> Any:
    return client.get("/openapi.json").json()


def operations(schema: Any) -> Iterator[tuple[str, Any]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_schema_and_property_has_words_and_an_example(schema: Any) -> None:
    bare = []
    for name, shape in schema["components"]["schemas"].items():
        parts = {name: shape, **{f"{name}.{field}": part for field, part in shape["properties"].items()}}
        bare += [part for part, said in parts.items() if not (said.get("description") and said.get("examples"))]
    assert bare == []


@pytest.mark.parametrize("text", ["a", "½", "²", "\u0301", "\u093e", "_", "...", "\u0483", "\u200d"])
def test_what_the_schema_calls_a_word_is_one(client: TestClient, schema: Any, text: str) -> None:
    pattern = schema["components"]["schemas"]["MemoryBody"]["properties"]["questions"]["items"]["pattern"]
    assert bool(re.search(pattern, text)) == bool(words(text))
    for story in (text, [text]):
        reply = client.post("/answer", json={"story": story, "question": "Where is Mary?"})
        assert reply.status_code == (200 if words(text) else 422)


def test_every_operation_and_parameter_has_words_and_an_example(schema: Any) -> None:
    bare = [name for name, operation in operations(schema) if not operation.get("description")]
    for name, operation in operations(schema):
        for given in operation.get("parameters", []):
            said = given.get("description") and (given.get("examples") or given["schema"].get("examples"))
            bare += [] if said else [f"{name} {given['name']}"]
        bare += [f"{name} {code}" for code, reply in operation["responses"].items() if not reply.get("description")]
    assert bare == []


def test_every_refusal_is_a_problem(schema: Any) -> None:
    for name, operation in operations(schema):
        for code, reply in operation["responses"].items():
            if not code.startswith("2"):
                assert list(reply["content"]) == ["application/problem+json"], (name, code)


def test_examples_are_what_they_are_examples_of(schema: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    for name, shape in schema["components"]["schemas"].items():
        for field, part in {"": shape, **shape["properties"]}.items():
            validator = jsonschema.Draft202012Validator({**schema, **part})
            for example in part["examples"]:
                assert validator.is_valid(example), (name, field, example)


def test_a_generated_client_asks(
    model: Path, qa: QA, schema: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openapi_python_client", reason="openapi-python-client is not installed")
    described = tmp_path / "openapi.json"
    described.write_text(json.dumps(schema), encoding="utf-8")
    settings = tmp_path / "settings.json"
    settings.write_text('{"post_hooks": []}', encoding="utf-8")  # they would format it, for which ruff must be found
    words = ["generate", "--path", str(described), "--config", str(settings)]
    words += ["--meta", "none", "--output-path", str(tmp_path / "generated_amn")]
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *words], capture_output=True, text=True, check=True
    )
    assert "warning" not in (made.stdout + made.stderr).lower(), made.stdout + made.stderr
    monkeypatch.syspath_prepend(tmp_path)
    with running(model) as address, importlib.import_module("generated_amn").Client(base_url=address) as client:
        assert asked_by_generated_client(client) == [qa(STORY, QUESTION).answer, 404]


def asked_by_generated_client(client: Any) -> list[Any]:
    models = importlib.import_module("generated_amn.models")
    default = "generated_amn.api.default"
    answer = importlib.import_module(f"{default}.answer")
    found = answer.sync(client=client, body=models.AnswerBody(story=STORY, question=QUESTION))
    opened = importlib.import_module(f"{default}.open_memory").sync(
        client=client, body=models.MemoryBody(questions=[QUESTION])
    )
    tell = importlib.import_module(f"{default}.tell")
    told = tell.sync(id=opened.id, client=client, body=models.SentencesBody(sentences=STORY, after=0))
    assert [trace.text for trace in told.sentences] == STORY
    ask = importlib.import_module(f"{default}.ask")
    asked = ask.sync(id=opened.id, client=client, body=models.AskBody())
    assert asked.answers[0].answer == found.answers[0].answer
    missing = ask.sync(id="nothing", client=client, body=models.AskBody())
    return [found.answers[0].answer, missing.status]

"""schemathesis sends what the schema allows and what it forbids, and compares the replies with the schema."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from server.serving import QUESTION, running

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

EXAMPLES = 20  # for each route, of what is allowed and of what is forbidden
ROUTES = {
    "/healthz": ["get"],
    "/models": ["get"],
    "/metrics": ["get"],
    "/generate": ["get"],
    "/answer": ["post"],
    "/history": ["post"],
    "/memories": ["post"],
    "/memories/{id}": ["get", "delete"],
    "/memories/{id}/sentences": ["post"],
    "/memories/{id}/ask": ["post"],
    "/memories/{id}/events": ["get"],
}


@pytest.fixture(scope="module")
def schema(model: Path) -> Iterator[Any]:
    with running(model) as address:
        yield schemathesis.openapi.from_url(f"{address}/openapi.json")


def test_every_route_is_tried(schema: Any) -> None:
    paths = schema.raw_schema["paths"]
    assert {path: list(methods) for path, methods in paths.items()} == ROUTES


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize(("path", "method"), [(path, method) for path in ROUTES for method in ROUTES[path]])
def test_replies_are_as_the_schema_says(schema: Any, path: str, method: str, mode: str) -> None:
    operation = schema[path][method.upper()]
    generation = schemathesis.GenerationMode(mode)
    if mode == "negative" and not (operation.body or operation.query):
        pytest.skip("takes nothing that could be wrong")

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=generation))
    def replies(case: Any) -> None:
        assume(mode == "positive" or not allowed(schema.raw_schema, operation, case.body))
        case.call_and_validate()

    replies()


def allowed(raw_schema: Any, operation: Any, body: Any) -> bool:
    """Whether a body that is meant to be forbidden is none: the generator takes letters beyond ASCII for no letters."""
    found = operation.definition.raw.get("requestBody")
    if found is None:
        return False
    asked = found["content"]["application/json"]["schema"]
    return bool(jsonschema.Draft202012Validator({**raw_schema, **asked}).is_valid(body))


@pytest.mark.parametrize("route", ["/memories/{id}/sentences", "/memories/{id}/ask"])
def test_replies_of_a_memory_are_as_the_schema_says(schema: Any, route: str) -> None:
    opened = schema["/memories"]["POST"].Case(body={"questions": [QUESTION]}, media_type="application/json").call()
    id = opened.json()["id"]

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=schema[route]["POST"].as_strategy())
    def replies(case: Any) -> None:
        case.path_parameters["id"] = id
        case.call_and_validate()

    replies()

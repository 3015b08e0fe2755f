"""The routes: from JSON to the service and back."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from amn import __version__
from amn.answers import Answer, SentenceTrace
from amn.data.tasks import TASKS, generate
from amn.models import MODELS
from amn.server import schemas
from amn.server.access import owner_of
from amn.server.batching import BusyError
from amn.server.memories import FullError, Held
from amn.server.service import Service

NDJSON = "application/x-ndjson"
MAX_SEED = 2**31 - 1
CLIENT_GONE = 499  # nobody gets it; it is counted


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The ways in which a route may refuse, for the schema."""
    texts = {
        400: "The body is not JSON",
        401: "The token is missing or wrong",
        404: "There is no such thing",
        408: "The body did not arrive in time",
        409: "The memory is full",
        413: "The body is too big",
        422: "A field is wrong",
        429: "The server is full or busy",
    }
    return {code: {"model": schemas.Problem, "description": texts[code]} for code in codes}


_BODY = (400, 401, 404, 408, 413, 422, 429)
public = APIRouter()
private = APIRouter(responses=_problems(401))


async def _service(request: Request) -> Service:
    return request.app.state.service


Behind = Annotated[Service, Depends(_service)]
Owner = Annotated[str, Depends(owner_of)]


async def _held(id: str, service: Behind, owner: Owner) -> Held:
    try:
        return service.memories.get(id, owner)
    except KeyError:
        raise HTTPException(
            404, "There is no such memory; it may have expired. Open one with POST /memories."
        ) from None


Memory = Annotated[Held, Depends(_held)]


@public.get("/healthz", response_model=schemas.HealthOut)
async def healthz(service: Behind) -> JSONResponse:
    """Whether the server is alive."""
    return JSONResponse({"status": "ok", "version": __version__, "model": service.default})


@private.get("/models", response_model=schemas.ModelsOut)
async def models(service: Behind, _: Owner) -> JSONResponse:
    """The models that requests may name."""
    found = {"default": service.default, "models": service.names, "shipped": service.shipped}
    return JSONResponse({**found, "architectures": sorted(MODELS)})


@private.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(service: Behind, _: Owner) -> Response:
    """Counters for Prometheus."""
    service.metrics.memories.set(len(service.memories))
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@private.post("/answer", response_model=schemas.AnswersOut, responses=_problems(*_BODY))
async def answer(body: schemas.AnswerBody, request: Request, service: Behind, _: Owner) -> Response:
    """Answer one question or several about a story."""
    work = service.answer(
        body.story,
        body.question,
        model=body.model,
        deadline=_seconds(body.deadline_ms),
        explain=body.explain,
        banks=body.banks,
    )
    answers = await _while_there(request, work)
    return Response(status_code=CLIENT_GONE) if answers is None else _answers(answers)


async def _while_there(request: Request, work: Coroutine[Any, Any, list[Answer]]) -> list[Answer] | None:
    """What the work gives, or None where the client goes before: then what still waits in the queue leaves it."""
    working, gone = asyncio.create_task(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        working.cancel()
        gone.cancel()


@private.post("/memories", status_code=201, response_model=schemas.OpenedOut, responses=_problems(*_BODY))
async def open_memory(body: schemas.MemoryBody, service: Behind, owner: Owner) -> JSONResponse:
    """Open a memory that is built for these questions."""
    held = await service.open(owner, body.questions, body.model)
    return JSONResponse(_opened(service, held), 201, {"location": f"/memories/{held.id}"})


@private.post(
    "/memories/{id}/sentences",
    response_model=schemas.TracesOut,
    responses={**_problems(*_BODY, 409), 200: {"content": {NDJSON: {}}, "description": "What each sentence did"}},
)
async def tell(body: schemas.SentencesBody, request: Request, held: Memory, service: Behind) -> Response:
    """Tell a memory sentences: what each did in one reply, or line by line for `Accept: application/x-ndjson`."""
    sentences = service.sentences(body.sentences)
    traces = service.tell(held, sentences)
    if NDJSON not in request.headers.get("accept", ""):
        return JSONResponse({"sentences": [trace.to_dict() async for trace in traces]})
    first = await anext(traces, None)  # a refusal must come before the status is sent
    return StreamingResponse(_lines(first, traces), media_type=NDJSON)


async def _lines(first: SentenceTrace | None, traces: AsyncIterator[SentenceTrace]) -> AsyncIterator[bytes]:
    """Traces as lines; a failure on the way is a last line with its `detail`."""
    if first is None:
        return
    yield _line(first.to_dict())
    try:
        async for trace in traces:
            yield _line(trace.to_dict())
    except (BusyError, FullError):
        yield _line({"detail": "The server is too busy to go on; send the rest again."})


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@private.post("/memories/{id}/ask", response_model=schemas.AnswersOut, responses=_problems(*_BODY))
async def ask(body: schemas.AskBody, held: Memory, service: Behind) -> JSONResponse:
    """Ask a memory its questions, at any time."""
    return _answers(await service.ask(held, _seconds(body.deadline_ms), body.explain, body.banks))


@private.get("/memories/{id}", response_model=schemas.SnapshotOut, responses=_problems(401, 404, 422, 429))
async def snapshot(held: Memory, service: Behind) -> JSONResponse:
    """The banks of a memory as they are now."""
    banks = [bank.to_dict() for bank in await service.snapshot(held)]
    told = {"model": held.model, "questions": held.memory.questions, "sentences": held.sentences}
    return JSONResponse({**_opened(service, held), **told, "banks": banks})


@private.delete("/memories/{id}", status_code=204, responses=_problems(401, 404, 422))
async def forget(held: Memory, service: Behind) -> Response:
    """Forget a memory."""
    service.forget(held.id, held.owner)
    return Response(status_code=204)


@private.get("/generate", response_model=schemas.GeneratedOut, responses=_problems(401, 422))
async def generate_story(
    _: Owner, task: Annotated[int, Query(ge=1, le=max(TASKS))], seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0
) -> JSONResponse:
    """A generated story of a bAbI task, with its questions."""
    story = next(iter(generate(task, questions=1, seed=seed)))
    asked = [{"question": q.text, "answer": q.answer, "after": q.after} for q in story.questions]
    return JSONResponse({"task": task, "seed": seed, "sentences": list(story.sentences), "questions": asked})


def _opened(service: Service, held: Held) -> dict[str, str]:
    expires = datetime.fromtimestamp(service.memories.expires_at(held), UTC)
    return {"id": held.id, "expires_at": expires.isoformat(timespec="seconds")}


def _answers(answers: list[Answer]) -> JSONResponse:
    return JSONResponse({"answers": [answer.to_dict() for answer in answers]})


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000

"""The routes of the HTTP interface."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from prometheus_client import generate_latest

from amn import __version__
from amn.data.tasks import TASKS, generate
from amn.server import schemas
from amn.server.access import owner_of
from amn.server.batching import BusyError
from amn.server.events import Events
from amn.server.json_io import StrictRoute, answers_reply, list_reply
from amn.server.problems import responses
from amn.server.service import Service
from amn.server.slices import Answered, AskSettings
from amn.server.story_parser import check_reply
from amn.store.memories import FullError, Record
from amn.store.stepwise import encode

T = TypeVar("T")

NDJSON, EVENT_STREAM = "application/x-ndjson", "text/event-stream"
MAX_SEED = 2**31 - 1
CLIENT_GONE = 499  # never received, but counted in the metrics

_COMMON = (400, 401, 403, 404, 421, 422, 429)
_BODY = (*_COMMON, 408, 413)
_STORE = (503, 507)
public = APIRouter()
private = APIRouter(route_class=StrictRoute, responses=responses(400, 401, 421))


async def _service(request: Request) -> Service:
    return request.app.state.service


async def _events(request: Request) -> Events:
    return request.app.state.events


ServiceDep = Annotated[Service, Depends(_service)]
Owner = Annotated[str, Depends(owner_of)]
Id = Annotated[
    str, Path(description="The id of the memory, from POST /memories.", max_length=100, examples=[schemas.EXAMPLE_ID])
]


async def _record(id: Id, service: ServiceDep, owner: Owner) -> Record:
    return await service.memories.get(id, owner)


Memory = Annotated[Record, Depends(_record)]


@private.post("/answer", response_model=schemas.AnswersOut, responses=responses(*_BODY))
async def answer(body: schemas.AnswerBody, request: Request, service: ServiceDep, _: Owner) -> Response:
    """Answer one question or several about a story."""
    asked = _ask_settings(body, request)
    work = service.answer(body.story, body.question, body.model, asked)
    return await _reply(service, await _until_disconnect(request, work), asked)


async def _until_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of the work, or None if the client disconnects first: then its tasks leave the queue."""
    working, gone = asyncio.create_task(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        working.cancel()
        gone.cancel()


@private.post("/memories", status_code=201, response_model=schemas.OpenedOut, responses=responses(*_BODY, *_STORE))
async def open_memory(body: schemas.MemoryBody, service: ServiceDep, owner: Owner) -> JSONResponse:
    """Open a memory for these questions."""
    record = await service.open(owner, body.questions, body.model)
    return JSONResponse(_opened(record), 201, {"location": f"/memories/{record.id}"})


@private.post(
    "/memories/{id}/sentences",
    response_model=schemas.TracesOut,
    responses={
        **responses(*_BODY, *_STORE, 409),
        200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": "What each sentence did"},
    },
)
async def tell(body: schemas.SentencesBody, request: Request, record: Memory, service: ServiceDep) -> Response:
    """Tell a memory sentences. The reply says what each did, line by line for `Accept: application/x-ndjson`.

    All of them are in the store when the status is sent, and survive a restart of the server.
    """
    parser = await service.parse(body.sentences, record.questions, "sentences")
    traces = service.tell(record, parser.sentences, body.after)
    if NDJSON in request.headers.get("accept", ""):
        first: list[bytes] = await anext(traces, [])  # an error must come before the status is sent
        return StreamingResponse(_lines(first, traces), media_type=NDJSON)
    check_reply(service.limits, "sentences", parser, record.questions)
    told = await _until_disconnect(request, _all_of(traces))
    return Response(status_code=CLIENT_GONE) if told is None else list_reply("sentences", told)


async def _all_of(parts: AsyncIterator[list[bytes]]) -> list[bytes]:
    return [one async for part in parts for one in part]


async def _lines(first: list[bytes], traces: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    """Traces as lines; after an error, the last line has its `detail`."""
    yield b"".join(trace + b"\n" for trace in first)
    try:
        async for part in traces:
            yield b"".join(trace + b"\n" for trace in part)
    except (BusyError, FullError):
        detail = (
            "The server is too busy to go on; the sentences are stored, and will be read when the memory is next used."
        )
        yield encode({"detail": detail}) + b"\n"


@private.post("/memories/{id}/ask", response_model=schemas.AnswersOut, responses=responses(*_BODY, *_STORE))
async def ask(body: schemas.AskBody, request: Request, record: Memory, service: ServiceDep) -> Response:
    """Ask a memory its questions."""
    asked = _ask_settings(body, request)
    return await _reply(service, await _until_disconnect(request, service.ask(record, asked)), asked)


@private.get(
    "/memories/{id}/events",
    response_class=StreamingResponse,
    responses={
        **responses(*_COMMON, *_STORE),
        200: {
            "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
            "description": "Without Last-Event-ID first an event `answers`, then an event `change` for each sentence "
            "that changes an answer, and with `every` an event `sentence` for each other one. The id of an event is "
            "the number of sentences so far.",
        },
    },
)
async def events(
    record: Memory,
    streams: Annotated[Events, Depends(_events)],
    last_event_id: Annotated[
        str | None,
        Header(description="Resume after the event with this id.", max_length=20, pattern=r"^[0-9]+$", examples=["12"]),
    ] = None,
    every: Annotated[bool, Query(description="Report sentences that change no answer too.", examples=[True])] = False,
) -> StreamingResponse:
    """Stream an answer whenever it changes, with the sentence that changed it (server-sent events)."""
    stream = await streams.open(record, None if last_event_id is None else int(last_event_id), every)
    return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"cache-control": "no-cache"})


@private.get("/memories/{id}", response_model=schemas.SnapshotOut, responses=responses(*_COMMON, *_STORE))
async def snapshot(record: Memory, service: ServiceDep) -> JSONResponse:
    """Get the banks of a memory as they are now."""
    banks = [bank.to_dict() for bank in await service.snapshot(record)]
    told = {"model": record.model, "questions": record.questions, "sentences": record.sentences}
    return JSONResponse({**_opened(record), **told, "banks": banks})


@private.delete("/memories/{id}", status_code=204, responses=responses(*_COMMON, *_STORE))
async def forget(record: Memory, service: ServiceDep) -> Response:
    """Delete a memory."""
    await service.memories.remove(record)
    return Response(status_code=204)


@private.get("/generate", response_model=schemas.GeneratedOut, responses=responses(422))
async def generate_story(
    _: Owner,
    task: Annotated[int, Query(ge=1, le=max(TASKS), description="The number of a bAbI task.", examples=[1])],
    seed: Annotated[int, Query(ge=0, le=MAX_SEED, description="The same seed gives the same story.", examples=[7])] = 0,
) -> JSONResponse:
    """Generate a story of a bAbI task, with its questions."""
    story = next(iter(generate(task, questions=1, seed=seed)))
    asked = [{"question": q.text, "answer": q.answer, "after": q.after} for q in story.questions]
    return JSONResponse({"task": task, "seed": seed, "sentences": list(story.sentences), "questions": asked})


@private.post("/history", response_model=schemas.HistoryOut, responses=responses(*_BODY))
async def history(body: schemas.HistoryBody, request: Request, service: ServiceDep, _: Owner) -> Response:
    """Answer questions about a story after each of its sentences."""
    found = await _until_disconnect(request, service.history(body.story, body.questions, body.model))
    if found is None:
        return Response(status_code=CLIENT_GONE)
    moments = [[{"answer": one.answer, "score": one.score, "known": one.known} for one in row] for row in found[1]]
    return JSONResponse({"sentences": found[0], "history": moments})


@public.get("/healthz", response_model=schemas.HealthOut, responses=responses(400, 421))
async def healthz(service: ServiceDep) -> JSONResponse:
    """Check whether the server is alive."""
    kept = "durable" if service.memories.store.durable else "not durable"
    return JSONResponse({"status": "ok", "version": __version__, "model": service.default, "store": kept})


@private.get("/models", response_model=schemas.ModelsOut)
async def models(service: ServiceDep, _: Owner) -> JSONResponse:
    """List the models that requests may name."""
    return JSONResponse({"default": service.default, "models": service.names, "shipped": service.shipped})


@private.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **responses(503)})
async def metrics(service: ServiceDep, _: Owner) -> Response:
    """Get the metrics, for Prometheus."""
    service.metrics.memories.set(await service.memories.count())
    return Response(generate_latest(service.metrics.registry), media_type="text/plain; version=0.0.4; charset=utf-8")


def _opened(record: Record) -> dict[str, str]:
    expires = datetime.fromtimestamp(record.expires_at, UTC)
    return {"id": record.id, "expires_at": expires.isoformat(timespec="seconds")}


def _ask_settings(body: schemas.AskBody, request: Request) -> AskSettings:
    started: float = request.scope["started"]
    ends = None if body.deadline_ms is None else started + body.deadline_ms / 1000
    return AskSettings(started=started, ends=ends, explain=body.explain, banks=body.banks)


async def _reply(service: Service, reading: Answered | None, asked: AskSettings) -> Response:
    """The reply, if the client is still there."""
    if reading is None:
        return Response(status_code=CLIENT_GONE)
    return await answers_reply(service.inference, service.limits, reading, asked)

"""How answers came about: those after each sentence of a story, as the page draws them over time."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from amn.answers import Answer
from amn.memory import LiveMemory, groups_of
from amn.server.access import owner_of
from amn.server.problems import responses
from amn.server.schemas import MemoryBody, StoryText, StoryTexts, said
from amn.server.service import NO_SENTENCE, Service
from amn.server.work import FieldError, for_a_moment

MAX_HISTORY = 20_000  # answers in one reply
CLIENT_GONE = 499  # nobody gets it; it is counted

router = APIRouter()


class HistoryBody(MemoryBody):
    """A story, and the questions that stand while it is told."""

    story: StoryText | StoryTexts = said(
        "Text, which is split into sentences, or a list of sentences.", ["Mary moved to the bathroom.", "John slept."]
    )


class MomentOut(BaseModel):
    """An answer as it was after a sentence."""

    answer: str = said("The answer then.", "bathroom")
    score: float = said("Its probability then.", 0.9)
    known: bool = said("Whether it was given as known; false for unknown and for guesses.", True)


class HistoryOut(BaseModel):
    """The answers over time."""

    sentences: list[str] = said("The sentences, as they were told.", ["Mary moved to the bathroom."])
    history: list[list[MomentOut]] = said("For each sentence the answers after it, in the order of the questions.", [])


@router.post("/history", response_model=HistoryOut, responses=responses(403, 404, 408, 413, 422, 429))
async def history(body: HistoryBody, request: Request, _: str = Depends(owner_of)) -> Response:
    """Answer questions about a story after each of its sentences."""
    service: Service = request.app.state.service
    told = (await service.looked_at(body.story, body.questions, "story")).sentences
    if not told:
        raise FieldError("story", NO_SENTENCE)
    if len(told) * len(body.questions) > MAX_HISTORY:
        raise FieldError("story", f"at most {MAX_HISTORY} answers fit in a reply; send fewer sentences or questions")
    qa = await service.model(body.model)
    service.inference.check_room()
    steps = _steps(qa.memory(body.questions), told)
    found: list[list[Answer]] = []
    while len(found) < len(told):
        if await request.is_disconnected():
            return Response(status_code=CLIENT_GONE)
        found += await service.inference.run(partial(_slice, steps), further=True)
    return JSONResponse({"sentences": list(told), "history": [[_moment(one) for one in answers] for answers in found]})


def _steps(memory: LiveMemory, sentences: Sequence[str]) -> Iterator[list[Answer] | None]:
    """The answers after each sentence, and None in between: each step takes a moment."""
    shared = len(groups_of(memory.trained, len(memory.questions))) == 1
    for sentence in sentences:
        for _ in memory.telling([sentence], traced=False):
            yield None
        answers = memory.ask() if shared else []
        for question in memory.questions[len(answers) :]:
            answers.append(memory.ask(question))
            yield None
        yield answers


def _slice(steps: Iterator[list[Answer] | None]) -> list[list[Answer]]:
    """The answers of the steps that fit in a moment."""
    return [answers for answers in for_a_moment(steps) if answers is not None]


def _moment(answer: Answer) -> dict[str, Any]:
    return {"answer": answer.answer, "score": answer.score, "known": answer.known}

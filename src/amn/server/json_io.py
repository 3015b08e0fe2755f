"""JSON in and out: requests are parsed strictly, and long replies are encoded in steps."""

import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from amn.answers import Answer
from amn.server.batching import Inference
from amn.server.limits import Limits
from amn.server.slices import Answered, AskSettings
from amn.server.story_parser import FieldError
from amn.store.stepwise import Steps, encode, encoding


class StrictRequest(Request):
    """A request whose body is strict JSON: Python's parser alone also accepts NaN and Infinity."""

    async def json(self) -> Any:
        """The parsed body."""
        if not hasattr(self, "_json"):
            self._json = json.loads(await self.body(), parse_constant=_refuse)
        return self._json


class StrictRoute(APIRoute):
    """A route that takes strict requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function that answers a request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


def _refuse(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"JSON has no {name}", "", 0)


async def answers_reply(inference: Inference, limits: Limits, reading: Answered, asked: AskSettings) -> Response:
    """The reply to a request.

    Raises:
        FieldError: where the reply would be too long.
    """
    answers, left = list[bytes](), limits.reply_bytes
    for answer in reading.answers:
        if answer.explanation is None:
            answers.append(encode(answer))
        else:
            answers.append(await inference.run_steps(_explained(answer), asked.ends, admitted=True))
        left -= len(answers[-1])
        if left < 0:
            raise FieldError("explain", "the reply would be too long; ask fewer questions")
    return list_reply("answers", answers, sentences_read=reading.read, sentences=reading.sentences)


def _explained(answer: Answer) -> Steps[bytes]:
    """An answer as JSON, with a step for each item of its explanation."""
    document = answer.to_dict()
    yield
    return (yield from encoding(document, depth=3))


def list_reply(name: str, items: list[bytes], **counts: int) -> Response:
    """A reply with a list whose items are JSON already, and some counts."""
    fields = [b'"%s":[%s]' % (name.encode(), b",".join(items))]
    fields += [b'"%s":%d' % (count.encode(), value) for count, value in counts.items()]
    return Response(b"{%s}" % b",".join(fields), media_type="application/json")

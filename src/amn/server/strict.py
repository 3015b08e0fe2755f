"""Bodies by the letter: Python also reads NaN and Infinity, which are no JSON."""

import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute


class StrictRequest(Request):
    """A request whose body is JSON and nothing else."""

    async def json(self) -> Any:
        """What the body holds."""
        if not hasattr(self, "_json"):
            self._json = json.loads(await self.body(), parse_constant=_refuse)
        return self._json


class StrictRoute(APIRoute):
    """A route that takes such requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


def _refuse(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"There is no {name} in JSON", "", 0)

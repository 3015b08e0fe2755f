"""Who asks: with tokens, each token is an owner of its own; without, everybody is the same one."""

import hmac

from fastapi import HTTPException, Request

EVERYBODY = ""


async def owner_of(request: Request) -> str:
    """The owner that a request comes from."""
    tokens: tuple[str, ...] = request.app.state.tokens
    if not tokens:
        return EVERYBODY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    offered = given.strip().encode()
    for token in tokens:
        if scheme.lower() == "bearer" and hmac.compare_digest(offered, token.encode()):
            return token
    text = "A token is needed: send it as the header Authorization: Bearer TOKEN."
    raise HTTPException(401, text, {"www-authenticate": "Bearer"})

"""Who asks, and from where: tokens, the names that this server goes by, and pages that may change something."""

import hmac
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException, Request

EVERYBODY = ""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


async def owner_of(request: Request) -> str:
    """The owner that a request comes from: with tokens, each is an owner of its own; without, everybody is the same.

    A store keeps owners, and a token is nobody else's business, so an owner is the digest of its token.
    """
    tokens: tuple[str, ...] = request.app.state.tokens
    if not tokens:
        return EVERYBODY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    offered = given.strip().encode()
    for token in tokens:
        if scheme.lower() == "bearer" and hmac.compare_digest(offered, token.encode()):
            return sha256(token.encode()).hexdigest()
    text = "A token is needed: send it as the header Authorization: Bearer TOKEN."
    raise HTTPException(401, text, {"www-authenticate": "Bearer"})


class Hosts:
    """The names that a server goes by: that of where it listens, and those allowed besides, such as a proxy's.

    A page elsewhere may give this machine another name, and must not get in.
    """

    def __init__(self, listening: str = LOOPBACK[0], allowed: Iterable[str] = ()) -> None:
        self._allowed = {name.lower() for name in allowed}
        self._everywhere = listening == "" or (_is_address(listening) and ip_address(listening).is_unspecified)
        own = LOOPBACK if is_loopback(listening) or self._everywhere else (listening.lower(),)
        self._names = {*own, *self._allowed}

    def answers_to(self, host: str) -> bool:
        """Whether a request with this header Host is meant for this server."""
        name = _name_of(host)
        return name in self._names or (self._everywhere and _is_address(name))

    def trusts(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may change something."""
        place = urlsplit(origin).netloc.lower()
        return bool(place) and (place == host.lower() or _name_of(place) in self._allowed)


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    return ip_address(host).is_loopback if _is_address(host) else host == LOOPBACK[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """A header Host without its port and brackets; nothing where it holds more than a name and a port."""
    if set(host) & set("@/?#\\"):
        return ""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""

"""Access control: tokens, the host names of the server, and the origins that may change something."""

import hmac
from collections.abc import Iterable
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import HTTPException, Request

EVERYBODY = ""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


async def owner_of(request: Request) -> str:
    """The owner of a request: each token is an owner; without tokens, all requests have the same one.

    Owners are written to the store, so an owner is the digest of a token and not the token.
    """
    tokens: tuple[str, ...] = request.app.state.tokens
    if not tokens:
        return EVERYBODY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    offered = given.strip().encode()
    for token in tokens:
        if scheme.lower() == "bearer" and hmac.compare_digest(offered, token.encode()):
            return sha256(token.encode()).hexdigest()
    text = "A token is required: send it in the header Authorization: Bearer TOKEN."
    raise HTTPException(401, text, {"www-authenticate": "Bearer"})


class Hosts:
    """The host names of a server: that of the address it listens on, and others that are allowed, such as a proxy's.

    A page elsewhere may give this machine another name (DNS rebinding), and must be refused.
    """

    def __init__(self, listening: str = LOOPBACK[0], allowed: Iterable[str] = ()) -> None:
        self._allowed = {name.lower() for name in allowed}
        self._everywhere = listening == "" or (_is_address(listening) and ip_address(listening).is_unspecified)
        own = LOOPBACK if is_loopback(listening) or self._everywhere else (listening.lower(),)
        self._names = {*own, *self._allowed}

    def answers_to(self, host: str) -> bool:
        """Whether a request with this Host header is for this server."""
        name = _name_of(host)
        return name in self._names or (self._everywhere and _is_address(name))

    def trusts(self, origin: str, host: str) -> bool:
        """Whether pages of this origin may change something."""
        place = urlsplit(origin).netloc.lower()
        return bool(place) and (place == host.lower() or _name_of(place) in self._allowed)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    return ip_address(host).is_loopback if _is_address(host) else host == LOOPBACK[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """A Host header without its port and brackets; empty if it holds more than a name and a port."""
    if set(host) & set("@/?#\\"):
        return ""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""

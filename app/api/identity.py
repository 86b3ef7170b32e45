"""Who calls: from a key, from a trusted gateway's headers, or anyone at all."""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any

from fastapi import Request, Security
from fastapi.security import HTTPBearer, SecurityScopes

from app.api.http.request_context import RequestContext, context_of
from app.errors import ExpiredKeyError, QuotaExceededError, UnauthorizedError
from app.serving.identity import ANYONE, Identity
from app.serving.service import Service

BEARER = b"bearer "
MAPPED_BITS = 96
"""Before the 32 of an IPv4 address that is written as one of IPv6, such as ::ffff:10.0.0.1."""


class KeyScheme(HTTPBearer):
    """How the OpenAPI document describes the key; the checking is done by `identify`."""

    async def __call__(self, request: Request) -> Any:  # type: ignore[override]
        """Nothing: see `identify`."""
        return None


SCHEME = KeyScheme(scheme_name="key", description="A key made by `labelserve keys`.")


def identify(context: RequestContext, service: Service) -> Identity:
    """The caller, or UnauthorizedError."""
    auth = service.settings.effective_auth
    if auth == "none":
        return ANYONE
    if auth == "proxy":
        found = _from_gateway(context, service)
        context.caller = found.name
    else:
        sent = context.header(b"authorization")
        if sent[:7].lower() != BEARER or service.keys is None:
            raise UnauthorizedError("no valid key was sent; send Authorization: Bearer <key>")
        found = service.keys.identify(sent[7:].strip())
        context.caller = found.name
        if found.expires is not None:
            _refuse_expired(found, context)
    return found


def _refuse_expired(caller: Identity, context: RequestContext) -> None:
    try:
        caller.refuse_expired()
    except ExpiredKeyError:
        context.refused_by_key = "expired"
        raise


async def take_request(caller: Identity, context: RequestContext, service: Service) -> None:
    """Count the request of a caller with limits; QuotaExceededError where it is one too many."""
    if caller.limits is not None:
        with _noted_refusal(context):
            await service.quotas.take_request(caller)


async def take_documents(
    caller: Identity, count: int, context: RequestContext, service: Service
) -> None:
    """Count documents of a caller with limits; QuotaExceededError where they are too many."""
    if caller.limits is not None:
        with _noted_refusal(context):
            await service.quotas.take_documents(caller, count)


@contextmanager
def _noted_refusal(context: RequestContext) -> Iterator[None]:
    """Have the context know which limit of its key refused the request."""
    try:
        yield
    except QuotaExceededError as error:
        context.refused_by_key = error.limit
        raise


def _from_gateway(context: RequestContext, service: Service) -> Identity:
    settings = service.settings
    user = context.header(settings.proxy_user_header.lower().encode()).decode("latin-1").strip()
    if not _is_trusted(context.head.address, settings.trusted_proxies) or not user:
        raise UnauthorizedError("the request did not come through the gateway with a user")
    groups = context.header(settings.proxy_groups_header.lower().encode()).decode("latin-1")
    names = {group.strip() for group in groups.replace(";", ",").split(",")}
    pairs = (pair.partition("=") for pair in settings.proxy_groups)
    return Identity(user[:64], frozenset(scope for group, _, scope in pairs if group in names))


@lru_cache(maxsize=1024)
def _is_trusted(address: str, networks: tuple[str, ...]) -> bool:
    """Whether the address lies in one of the networks, however either writes an IPv4 address."""
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = client.ipv4_mapped if isinstance(client, ipaddress.IPv6Address) else None
    known = [_network(network) for network in networks]
    return any(form in network for form in (client, mapped) if form for network in known)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """The network; that of IPv4 where it is written as one of mapped addresses.

    >>> _network("::ffff:10.0.0.0/104")
    IPv4Network('10.0.0.0/8')
    """
    network = ipaddress.ip_network(text, strict=False)
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.IPv4Network((mapped, network.prefixlen - MAPPED_BITS))
    return network


async def _caller(
    request: Request, scopes: SecurityScopes, _: Annotated[None, Security(SCHEME)]
) -> Identity:
    context, service = context_of(request.scope), request.app.state.service
    identity = identify(context, service)
    for scope in scopes.scopes:
        identity.require(scope)
    await take_request(identity, context, service)
    return identity


def caller_with(scope: str) -> Any:
    """A dependency: the caller, who must have this scope. It declares the scope in OpenAPI."""
    return Security(_caller, scopes=[scope])

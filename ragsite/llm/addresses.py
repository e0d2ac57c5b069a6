"""Check where a URL leads before requesting it, against server-side request forgery.

Requests go to the addresses that were checked (`ragsite/llm/pinning.py`), since the name may resolve to others later.
"""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.utils.translation import gettext as _

from ragsite.llm.errors import AddressRefused, Unreachable

# Seconds for resolving a name.
RESOLVE_TIMEOUT = 5.0
# Metadata services of clouds and cluster networks, which return secrets.
_METADATA = (ipaddress.ip_network("169.254.0.0/16"), ipaddress.ip_network("fe80::/10"))
_METADATA_HOSTS = (ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200"))

# Networks in which the last 32 bits are an IPv4 address: NAT64 (RFC 6052, RFC 8215), and IPv4-compatible addresses.
_ENDS_WITH_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))


class Reach(StrEnum):
    """The kind of network that an address is in; `UNKNOWN` if its name can't be resolved here, as behind a proxy."""

    PUBLIC = "public"
    PRIVATE = "private"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """The addresses that a name resolves to, none if unknown, and the kind of network they are in."""

    reach: Reach
    addresses: tuple[str, ...] = ()


async def look_up(url: str) -> Place:
    """Return where an http(s) URL leads: all addresses that its name resolves to, and the least safe kind of network.

    Every notation of an address that the system accepts (`2130706433`, `0x7f.1`) is resolved.
    """
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT):
            return await asyncio.to_thread(resolve, url)
    except TimeoutError:
        return Place(Reach.UNKNOWN)


def resolve(url: str) -> Place:
    """Do the same as `look_up`, blocking and without a time-out."""
    try:
        parts = urlsplit(url)
        found = socket.getaddrinfo(parts.hostname or "", parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return Place(Reach.UNKNOWN)
    addresses = tuple(dict.fromkeys(str(address[0]) for *_rest, address in found))
    reaches = {_reach(address) for address in addresses}
    worst = next((reach for reach in (Reach.FORBIDDEN, Reach.PRIVATE) if reach in reaches), Reach.PUBLIC)
    return Place(worst, addresses)


def same_server(url: str, other: str) -> bool:
    """Return whether two URLs belong to the same server, so that a key for one may be sent to the other."""
    try:
        (one, two) = (urlsplit(each) for each in (url, other))
        return (one.scheme, one.hostname, one.port) == (two.scheme, two.hostname, two.port)
    except ValueError:
        return False


def admitted(place: Place, *, own_network: bool, where: str) -> tuple[str, ...]:
    """Return the addresses of a place; `own_network` allows this machine and its local network.

    `where` is its name, for messages. Raises `AddressRefused`, and `Unreachable` if the name has no address.
    """
    if place.reach == Reach.UNKNOWN:
        raise Unreachable("name resolution", where=where)
    if place.reach == Reach.FORBIDDEN:
        raise AddressRefused(where=where)
    if place.reach == Reach.PRIVATE and not own_network:
        raise AddressRefused(where=where, is_inside=True)
    return place.addresses


def objections(base_url: str, *, own_network: bool) -> dict[str, str]:
    """Return why a URL can't be used, by form field; a URL that can't be resolved at present is accepted."""
    reach = async_to_sync(look_up)(base_url).reach
    if reach == Reach.FORBIDDEN:
        return {"base_url": str(AddressRefused().hint)}
    if reach == Reach.PRIVATE and not own_network:
        message = _("This address is on this machine or in its local network. Confirm that the server is yours.")
        return {"own_network": message}
    return {}


def _reach(text: str) -> Reach:
    address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        # An embedded IPv4 address is the one that matters.
        last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        is_within = any(address in network for network in _ENDS_WITH_IPV4)
        address = address.ipv4_mapped or address.sixtofour or (last if is_within else address)
    inside = any(address in network for network in _METADATA if network.version == address.version)
    if inside or address in _METADATA_HOSTS or address.is_multicast or address.is_unspecified:
        return Reach.FORBIDDEN
    return Reach.PUBLIC if address.is_global else Reach.PRIVATE

"""Where an address leads, found before anything is asked of it: a server must not be made to knock at inner doors.

What is asked goes to the addresses that were found (`ragsite/llm/pinning.py`): a name may resolve to others by then.
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

# Seconds that a name may take to be resolved.
RESOLVE_TIMEOUT = 5.0
# Where clouds and cluster networks answer with their own secrets: no model is there.
_METADATA = (ipaddress.ip_network("169.254.0.0/16"), ipaddress.ip_network("fe80::/10"))
_METADATA_HOSTS = (ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200"))


class Reach(StrEnum):
    """Whom an address belongs to; `UNKNOWN` where its name has no address here, as behind a proxy."""

    PUBLIC = "public"
    PRIVATE = "private"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name leads: whom it belongs to, and the addresses that it resolves to, none where it is unknown."""

    reach: Reach
    addresses: tuple[str, ...] = ()


async def look_up(url: str) -> Place:
    """Return where an http(s) address leads, by every address that its name resolves to; the worst one counts.

    Numbers in any notation that the system takes for an address (`2130706433`, `0x7f.1`) are resolved as it does.
    """
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT):
            return await asyncio.to_thread(resolve, url)
    except TimeoutError:
        return Place(Reach.UNKNOWN)


def resolve(url: str) -> Place:
    """Return what `look_up` does; blocks as long as the system takes."""
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
    """Whether two addresses are of one server, so that a key given for one may be sent to the other."""
    try:
        (one, two) = (urlsplit(each) for each in (url, other))
        return (one.scheme, one.hostname, one.port) == (two.scheme, two.hostname, two.port)
    except ValueError:
        return False


def admitted(place: Place, *, own_network: bool, where: str) -> tuple[str, ...]:
    """Return the addresses of a place that may be asked; `own_network` admits this machine and its local network.

    `where` is its name, for messages. Raises `AddressRefused`, and `Unreachable` where the name has no address.
    """
    if place.reach == Reach.UNKNOWN:
        raise Unreachable("name resolution", where=where)
    if place.reach == Reach.FORBIDDEN:
        raise AddressRefused(where=where)
    if place.reach == Reach.PRIVATE and not own_network:
        raise AddressRefused(where=where, is_inside=True)
    return place.addresses


def objections(base_url: str, *, own_network: bool) -> dict[str, str]:
    """Return why an address can't be entered, by the names of a form's fields; one that leads nowhere now may be."""
    reach = async_to_sync(look_up)(base_url).reach
    if reach == Reach.FORBIDDEN:
        return {"base_url": str(AddressRefused().hint)}
    if reach == Reach.PRIVATE and not own_network:
        told = _("This address is on this machine or in its local network. Confirm that the server is yours.")
        return {"own_network": told}
    return {}


def _reach(text: str) -> Reach:
    address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        # An address of the other family inside of this one leads where that one does.
        address = address.ipv4_mapped or address.sixtofour or address
    inside = any(address in network for network in _METADATA if network.version == address.version)
    if inside or address in _METADATA_HOSTS or address.is_multicast or address.is_unspecified:
        return Reach.FORBIDDEN
    return Reach.PUBLIC if address.is_global else Reach.PRIVATE

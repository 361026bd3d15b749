"""Announcements of what Azure retires, from `announcements.json` and a deployment's own, checked when they are read.

Dates move, and some aren't known: each announcement has its source and the day on which it was read.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec

from shared.domain.pools.machine_settings import Machine, MachineSettings, Network, PublicAddresses
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_sizes import possible_sizes
from shared.domain.retirements.app_properties import APP_PROPERTIES, AppProperties, AppProperty

type PoolProperty = Literal["nodeAgentSku", "image", "imageKind", "vmSize", "publicAddresses", "formula"]
PROPERTIES: tuple[PoolProperty, ...] = get_args(PoolProperty.__value__)
"""Properties of a pool that conditions name; `image` is `publisher/offer/sku` of the marketplace."""
_SETTINGS: Mapping[PoolProperty, str] = {
    "nodeAgentSku": "virtualMachineConfiguration.nodeAgentSKUId",
    "image": "virtualMachineConfiguration.imageReference",
    "imageKind": "virtualMachineConfiguration.imageReference",
    "publicAddresses": "networkConfiguration.publicIPAddressConfiguration.provision",
    "formula": "autoScaleFormula",
}
OWN_IMAGE, MARKETPLACE = "own", "marketplace"
"""Values of `imageKind`."""
_DEFAULT_ADDRESSES = "batchManaged"  # "Pool - Add", PublicIPAddressConfiguration
_VALUES: Mapping[PoolProperty | AppProperty, Sequence[str]] = {
    "imageKind": (MARKETPLACE, OWN_IMAGE),
    "publicAddresses": (_DEFAULT_ADDRESSES, "userManaged", "noPublicIPAddresses"),
}
_FILE = Path(__file__).with_name("announcements.json")
_HTTPS = "https://"
_IMAGE_SLASHES = 2  # publisher/offer/sku


class Announcement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A retirement as announced; `last_day` is None where no day is known.

    `when` holds patterns by property, of pools or of this app: the announcement concerns a pool, or the app, if each
    named property is its own and matches one of its patterns. In these, `*` stands for any text and `#` for a number.
    `source` was read on `read_on`.
    """

    id: str
    what: str
    when: Mapping[PoolProperty | AppProperty, Sequence[str]]
    last_day: date | None
    effect: str
    instead: str
    source: str
    read_on: date

    @property
    def key(self) -> tuple[str, date | None, str]:
        """Its id, last day and text: images of one id may end on several days, as Batch lists them by region."""
        return self.id, self.last_day, self.what

    def days_left(self, today: date) -> int | None:
        """Returns the days until the last day, negative after it; None where no day is known."""
        return (self.last_day - today).days if self.last_day else None

    def concerns(self, facts: PoolFacts, node_sizes: Iterable[str] = ()) -> bool | None:
        """Returns whether it concerns a pool; None where a property isn't known, and no other rules it out.

        `node_sizes` are VM sizes of its nodes: where Batch doesn't name those that a pool of several may have, they are
        the only ones known.
        """
        known = {"vmSize": tuple(node_sizes)}
        found = [
            name in PROPERTIES and _fits(patterns, values_of(facts, name), known.get(name, ()))
            for name, patterns in self.when.items()
        ]
        if False in found:
            return False
        return None if None in found else True

    def concerns_app(self, app: AppProperties) -> bool:
        """Returns whether it concerns this app itself."""
        return all(
            name in APP_PROPERTIES and _fits(patterns, (app.value(name),)) for name, patterns in self.when.items()
        )


@cache
def announcements() -> tuple[Announcement, ...]:
    """Returns all announcements, the earliest first, and those without a date last."""
    return announcements_of(_FILE.read_bytes())


def with_more(*more: Iterable[Announcement]) -> tuple[Announcement, ...]:
    """Returns all announcements with others, in the same order; of equal ones the first counts."""
    found = {one.key: one for one in (*(one for some in more for one in some), *announcements())}
    return tuple(sorted(found.values(), key=_order))


def announcements_of(content: bytes | str, taken: Collection[str] = ()) -> tuple[Announcement, ...]:
    """Returns the announcements of a file or setting; `taken` are ids that others have.

    Raises ValueError with the numbers of wrong entries, and the reasons.
    """
    try:
        entries = msgspec.json.decode(content, type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        raise ValueError(f"The announcements are no list in JSON: {error}.") from error
    found, faults = dict[str, Announcement](), list[str]()
    for number, entry in enumerate(entries, 1):
        try:
            one = msgspec.json.decode(entry, type=Announcement)
        except msgspec.DecodeError as error:
            faults.append(f"Entry {number} of the announcements can't be read: {error}.")
            continue
        if reason := _fault(one) or ("another entry has its id" if one.id in found or one.id in taken else ""):
            faults.append(f"Entry {number} of the announcements ('{one.id}') can't be used: {reason}.")
        found[one.id] = one
    if faults:
        raise ValueError(" ".join(faults))
    return tuple(sorted(found.values(), key=_order))


def _order(one: Announcement) -> tuple[bool, date, str]:
    return one.last_day is None, one.last_day or one.read_on, one.id


def days_left(concerning: Iterable[Announcement], today: date) -> list[tuple[Announcement, int]]:
    """Returns the announcements with a known last day, and the days until then."""
    dated = ((one, one.days_left(today)) for one in concerning)
    return [(one, days) for one, days in dated if days is not None]


def values_of(facts: PoolFacts, name: PoolProperty) -> tuple[str, ...] | None:
    """Returns the values of a property that a pool has; None where they aren't known, an empty text where it has none.

    A pool may have several VM sizes. What an image of the user's own consists of isn't known.
    """
    if name == "vmSize":
        return possible_sizes(facts)
    if facts.lacks(_SETTINGS[name]):
        return None
    if name == "formula":
        return ((facts.auto_scale.formula or "") if facts.auto_scale else "",)
    value = _setting_of(facts.settings, name) if facts.settings else None
    return None if value is None else (value,)


def _setting_of(settings: MachineSettings, name: PoolProperty) -> str | None:
    machine, network = settings.virtual_machine_configuration or Machine(), settings.network_configuration or Network()
    if name == "nodeAgentSku":
        return machine.node_agent_sku_id or ""
    if name == "publicAddresses":
        return (network.public_ip_address_configuration or PublicAddresses()).provision or _DEFAULT_ADDRESSES
    image = machine.image_reference
    if name == "imageKind":
        return (MARKETPLACE if image.publisher else OWN_IMAGE) if image else ""
    if image is None or image.publisher is None:
        return None if image else ""
    return "/".join((image.publisher, image.offer or "", image.sku or ""))


def _fault(one: Announcement) -> str:
    """Returns why an announcement can't be used, or nothing."""
    texts = {"id": one.id, "what": one.what, "effect": one.effect, "instead": one.instead}
    if empty := [name for name, text in texts.items() if not text.strip()]:
        return f"{empty[0]} is empty"
    if not one.source.startswith(_HTTPS):
        return f"its source is no address that begins with {_HTTPS}"
    if not one.when or not all(patterns and all(patterns) for patterns in one.when.values()):
        return "'when' needs a property with at least one pattern"
    return next(
        filter(None, (_pattern_fault(name, pattern) for name, many in one.when.items() for pattern in many)), ""
    )


def _pattern_fault(name: PoolProperty | AppProperty, pattern: str) -> str:
    """Returns why a pattern fits nothing, as far as that is certain, or nothing."""
    if name in _VALUES and not _fits([pattern], _VALUES[name]):
        return f"no '{name}' fits '{pattern}', only {', '.join(_VALUES[name])} are possible"
    if name == "image" and "*" not in pattern and pattern.count("/") != _IMAGE_SLASHES:
        return f"no 'image' fits '{pattern}', as images are publisher/offer/sku"
    return ""


def _fits(patterns: Sequence[str], values: Sequence[str] | None, some: Sequence[str] = ()) -> bool | None:
    """Returns whether a pattern fits one of the values; where these aren't known, one of `some` of them may show it."""
    found = any(_pattern(one).fullmatch(value) for one in patterns for value in (*(values or ()), *some))
    return None if values is None and not found else found


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Returns the expression of a pattern; letters count without case.

    Each part between two `*` matches where it is found first, so that no text takes long.
    """
    first, *others = (r"\d+?".join(map(re.escape, re.split("#+", part))) for part in re.split(r"\*+", text))
    middle = "".join(f"(?>.*?{part})" for part in others[:-1])
    rest = f".*{others[-1]}" if others else ""
    return re.compile(f"{first}{middle}{rest}", re.IGNORECASE | re.DOTALL)

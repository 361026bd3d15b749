"""Announcements of what Azure retires, from `announcements.json` and a deployment's own, checked when they are read.

Dates move, and some aren't known: each announcement has its source and the day on which it was read.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from shared.domain.pools.machine_settings import Machine, MachineSettings, Network, PublicAddresses
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_sizes import possible_sizes
from shared.domain.retirements.app_properties import APP_PROPERTIES, AppProperties
from shared.domain.retirements.conditions import (
    DEFAULT_ADDRESSES,
    MARKETPLACE,
    OWN_IMAGE,
    PROPERTIES,
    Conditions,
    PoolProperty,
    condition_fault,
    fits,
)

_SETTINGS: Mapping[PoolProperty, str] = {
    "nodeAgentSku": "virtualMachineConfiguration.nodeAgentSKUId",
    "image": "virtualMachineConfiguration.imageReference",
    "imageKind": "virtualMachineConfiguration.imageReference",
    "publicAddresses": "networkConfiguration.publicIPAddressConfiguration.provision",
    "formula": "autoScaleFormula",
}
_FILE = Path(__file__).with_name("announcements.json")
_HTTPS = "https://"
_SOURCE = re.compile(r"https://[^\s/@.]+(\.[^\s/@.]+)+(/\S*)?")
_ID = re.compile(r"[\w.:/-]{1,100}")
_YEARS = range(2010, 2101)  # Batch is of 2014
MAX_AGE = 90
"""Days after which an announcement should be read again."""


class Announcement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A retirement as announced; `last_day` is None where no day is known.

    `when` holds patterns by property, of pools or of this app: the announcement concerns a pool, or the app, if each
    named property is its own and matches one of its patterns. In these, `*` stands for any text and `#` for a number.
    It is empty where Batch's API doesn't show what is concerned: such an announcement is only listed.
    `source` was read on `read_on`.
    """

    id: str
    what: str
    when: Conditions
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
        if not self.when:
            return False
        known = {"vmSize": tuple(node_sizes)}
        found = [
            name in PROPERTIES and fits(patterns, values_of(facts, name), known.get(name, ()))
            for name, patterns in self.when.items()
        ]
        if False in found:
            return False
        return None if None in found else True

    def concerns_app(self, app: AppProperties) -> bool:
        """Returns whether it certainly concerns this app itself: a property that isn't known fits nothing."""
        return bool(self.when) and all(
            name in APP_PROPERTIES and fits(patterns, tuple(filter(None, (app.value(name),))))
            for name, patterns in self.when.items()
        )


@cache
def announcements() -> tuple[Announcement, ...]:
    """Returns those that come with the app, the earliest first, and those without a date last."""
    return announcements_of(_FILE.read_bytes(), need_conditions=False)


def with_more(*more: Iterable[Announcement], own: Iterable[Announcement] = ()) -> tuple[Announcement, ...]:
    """Returns those that come with the app and others, in the same order; each of `own` replaces all with its id."""
    own = list(own)
    replaced = {one.id for one in own}
    return merged(own, (one for some in (*more, announcements()) for one in some if one.id not in replaced))


def merged(*some: Iterable[Announcement]) -> tuple[Announcement, ...]:
    """Returns announcements in order; of equal ones the first counts."""
    found: dict[object, Announcement] = {}
    for one in (one for each in some for one in each):
        found.setdefault(one.key, one)
    return tuple(sorted(found.values(), key=_order))


def announcements_of(content: bytes | str, *, need_conditions: bool = True) -> tuple[Announcement, ...]:
    """Returns the announcements of a file or setting.

    Raises ValueError with the numbers of wrong entries, their lines where there are several, and the reasons.
    """
    content = content.encode() if isinstance(content, str) else content
    try:
        entries = msgspec.json.decode(content, type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        raise ValueError(f"The announcements are no list in JSON: {error}.") from error
    found, faults, place = dict[str, Announcement](), list[str](), 0
    for number, entry in enumerate(entries, 1):
        place = content.index(bytes(entry), place)
        line = f" (line {content.count(b'\n', 0, place) + 1})" if b"\n" in content.strip() else ""
        place += len(bytes(entry))
        try:
            one = msgspec.json.decode(entry, type=Announcement)
        except msgspec.DecodeError as error:
            faults.append(f"Entry {number}{line} of the announcements can't be read: {error}.")
            continue
        reason = _fault(one) or ("another entry has its id" if one.id in found else "")
        if reason := reason or ("'when' needs a property" if need_conditions and not one.when else ""):
            faults.append(f"Entry {number}{line} of the announcements ('{one.id}') can't be used: {reason}.")
        found[one.id] = one
    if faults:
        raise ValueError(" ".join(faults))
    return tuple(sorted(found.values(), key=_order))


def unread_since(some: Iterable[Announcement], today: date) -> list[str]:
    """Returns a line for each announcement that was read more than MAX_AGE days ago, or is of a later day."""
    ages = [(one, (today - one.read_on).days) for one in some]
    old = [f"{one.id}: read {age} days ago, at {one.source}" for one, age in ages if age > MAX_AGE]
    return old + [f"{one.id}: read on {one.read_on}, which is to come" for one, age in ages if age < -1]


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
        return (network.public_ip_address_configuration or PublicAddresses()).provision or DEFAULT_ADDRESSES
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
    if not _ID.fullmatch(one.id):
        return "its id is no word of at most 100 letters, digits and '.', ':', '/', '_', '-'"
    if not _SOURCE.fullmatch(one.source):
        return f"its source is no address that begins with {_HTTPS} and has no spaces"
    for name, day in (("lastDay", one.last_day), ("readOn", one.read_on)):
        if day and day.year not in _YEARS:
            return f"its {name} {day} isn't from {_YEARS[0]} to {_YEARS[-1]}"
    return condition_fault(one.when)

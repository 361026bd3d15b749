"""What determines the price of a node's hour, and the reasons why there may be none."""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

type OperatingSystem = Literal["linux", "windows"]
type LicenseKind = Literal["none", "included", "hybridBenefit"]
type Priority = Literal["dedicated", "spot"]
type PriceOrigin = Literal["retail", "file"]
type NoPriceReason = Literal[
    "off",
    "regionUnknown",
    "sizeUnknown",
    "osUnknown",
    "notInFile",
    "notRequested",
    "notReadYet",
    "sourceFailed",
    "notKnownThen",
    "notListed",
    "unreadable",
    "noMeter",
    "otherCurrency",
    "otherUnit",
    "ended",
    "noPositivePrice",
    "notBegun",
    "severalMeters",
]
NO_PRICE: Mapping[NoPriceReason, str] = {
    "off": "Prices are switched off (PRICE_SOURCE).",
    "regionUnknown": "The account's region isn't known; name it in PRICE_REGIONS.",
    "sizeUnknown": "Batch doesn't name the VM sizes of the pool.",
    "osUnknown": "The pool's operating system or licence isn't known: its settings weren't read yet.",
    "notInFile": "No entry of PRICE_FILE applies, and retail prices aren't used (PRICE_SOURCE).",
    "notRequested": "Accounts on this machine take retail prices only from a list on this machine (RETAIL_PRICES_URL).",
    "notReadYet": "The retail prices of this size and region haven't been read yet.",
    "sourceFailed": "The retail prices of this size and region couldn't be read so far.",
    "notKnownThen": "The price at that time isn't known.",
    "notListed": "The retail list has no row of this size in this region.",
    "unreadable": "The retail list's rows of this size can't be read.",
    "noMeter": "The retail list has no meter of this operating system and priority.",
    "otherCurrency": "The retail list has the price in another currency only.",
    "otherUnit": "The retail list has the price for another unit than an hour.",
    "ended": "The retail list's price has ended.",
    "noPositivePrice": "The retail list has no price above 0.",
    "notBegun": "The retail list's price applies only from a later time on.",
    "severalMeters": "The retail list has several meters with different prices.",
}
"""Each reason as a sentence."""
_SIZE = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+")  # "mix" stands for several
SYSTEMS: tuple[OperatingSystem, ...] = get_args(OperatingSystem.__value__)
LICENSES: tuple[LicenseKind, ...] = get_args(LicenseKind.__value__)
PRIORITIES: tuple[Priority, ...] = get_args(Priority.__value__)


class MeterKey(NamedTuple):
    """A meter of a VM size in a region; that of Windows includes the licence."""

    os: OperatingSystem
    priority: Priority


METERS = tuple(MeterKey(system, priority) for system in SYSTEMS for priority in PRIORITIES)
"""The meters of each VM size in each region."""


class PriceKey(NamedTuple):
    """What determines the price of a node's hour; size and region in lower case, None where one isn't known."""

    vm_size: str
    region: str | None
    os: OperatingSystem | None
    license: LicenseKind | None
    priority: Priority

    @property
    def has_size(self) -> bool:
        """True where the size is one of a node, not the word for several."""
        return bool(_SIZE.fullmatch(self.vm_size))

    @property
    def unknown(self) -> NoPriceReason | None:
        """The reason why no price can be looked up, None where one can."""
        if not self.has_size:
            return "sizeUnknown"
        if self.os is None or self.license is None:
            return "osUnknown"
        return None if self.region else "regionUnknown"

    @property
    def meter(self) -> MeterKey:
        """The meter that applies: with hybrid benefit that of Linux, as its price includes no licence."""
        return MeterKey("windows" if self.license == "included" else "linux", self.priority)


class Price(NamedTuple):
    """The price of an hour, from `valid_from` to before `valid_to`; these are aware UTC, None is an open end.

    `additional` is the part of `hourly` for what a node has besides its machine, such as disks and addresses.
    """

    hourly: Decimal
    currency: str
    valid_from: datetime
    valid_to: datetime | None
    origin: PriceOrigin
    meter_id: str = ""
    additional: Decimal = Decimal(0)

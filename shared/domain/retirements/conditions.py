"""Conditions of announcements: patterns by property, of pools or of this app, and what makes them fit nothing."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, get_args

from shared.domain.retirements.app_properties import APP_PROPERTIES, AppProperty

type PoolProperty = Literal["nodeAgentSku", "image", "imageKind", "vmSize", "publicAddresses", "formula"]
PROPERTIES: tuple[PoolProperty, ...] = get_args(PoolProperty.__value__)
"""Properties of a pool that conditions name; `image` is `publisher/offer/sku` of the marketplace."""
type Conditions = Mapping[PoolProperty | AppProperty, Sequence[str]]
OWN_IMAGE, MARKETPLACE = "own", "marketplace"
"""Values of `imageKind`."""
DEFAULT_ADDRESSES = "batchManaged"  # "Pool - Add", PublicIPAddressConfiguration
_VALUES: Mapping[PoolProperty | AppProperty, Sequence[str]] = {
    "imageKind": (MARKETPLACE, OWN_IMAGE),
    "publicAddresses": (DEFAULT_ADDRESSES, "userManaged", "noPublicIPAddresses"),
}
_SEPARATORS: Mapping[PoolProperty | AppProperty, str] = {
    "image": "/", "appPython": ".", "appBatchSdk": ".", "appApiVersion": "-",
}  # fmt: skip
_PARTS = 3
_FORMS = {"/": "images are publisher/offer/sku", ".": "versions are of three numbers", "-": "versions are days"}
_AGENT = "batch.node."
_WORD = re.compile(r"[\w.*#-]+"), "as it has other characters than letters, digits, '_', '-' and '.'"
_CHARACTERS: Mapping[PoolProperty | AppProperty, tuple[re.Pattern[str], str]] = {
    "image": (re.compile(r"[\w.*#-][\w.*#/-]*"), f"as {_FORMS['/']}, of letters, digits, '_', '-' and '.'"),
    **dict.fromkeys(APP_PROPERTIES, _WORD),
    "appFunctionsRuntime": (re.compile(r"~?[\d*#][\d.*#]*"), "as it is the latest of a version (~4), or numbers (4.*)"),
}
_TIERS = ("standard_", "basic_")
_SIZE = re.compile(r"(standard|basic)_[a-z]+[0-9#]+(-[0-9#]+)?[a-z]*(_[a-z0-9#]+)*")  # the rule as in `vm_sizes`
_SIZE_START = re.compile(r"(standard|basic)_([a-z]+([\d#][\w#-]*)?)?")


def fits(patterns: Sequence[str], values: Sequence[str] | None, some: Sequence[str] = ()) -> bool | None:
    """Returns whether a pattern fits one of the values; where these aren't known, one of `some` of them may show it."""
    found = any(_pattern(one).fullmatch(value) for one in patterns for value in (*(values or ()), *some))
    return None if values is None and not found else found


def condition_fault(when: Conditions) -> str:
    """Returns why no pool and no app can meet the conditions, as far as that is certain, or nothing."""
    of_pools, of_app = [name for name in when if name in PROPERTIES], [name for name in when if name in APP_PROPERTIES]
    if of_pools and of_app:
        return f"'when' names properties of pools ('{of_pools[0]}') and of this app ('{of_app[0]}'), use two entries"
    if not all(patterns and all(patterns) for patterns in when.values()):
        return "'when' needs at least one pattern for each property, and none may be empty"
    if "image" in when and not fits(when.get("imageKind", [MARKETPLACE]), [MARKETPLACE]):
        return f"'when' names an 'image', which only those of the '{MARKETPLACE}' have"
    return next(filter(None, (_pattern_fault(name, one) for name, many in when.items() for one in many)), "")


def _pattern_fault(name: PoolProperty | AppProperty, pattern: str) -> str:
    """Returns why a pattern fits nothing, as far as that is certain, or nothing."""
    separator, reason = _SEPARATORS.get(name, ""), ""
    if name == "formula":
        if not {"*", "="} & set(pattern):
            reason = "as formulas assign with '=': '*' before and behind it fits any with this text"
    elif pattern != pattern.strip():
        reason = "as it begins or ends with a space"
    elif name in _VALUES and not fits([pattern], _VALUES[name]):
        reason = f"only {', '.join(_VALUES[name])} are possible"
    elif separator and "*" not in pattern and len(pattern.split(separator)) != _PARTS:
        reason = f"as {_FORMS[separator]}"
    elif name in _CHARACTERS and not _CHARACTERS[name][0].fullmatch(pattern):
        reason = _CHARACTERS[name][1]
    elif name == "nodeAgentSku" and not _begins(pattern.lower(), _AGENT):
        reason = f"as they begin with {_AGENT}"
    elif name == "vmSize" and not _may_be_size(pattern.lower()):
        reason = f"as sizes are {' or '.join(_TIERS)}, letters, a number, and more"
    return reason and f"no '{name}' fits '{pattern}', {reason}"


def _may_be_size(pattern: str) -> bool:
    start, star, rest = pattern.partition("*")
    if not star:
        return _SIZE.fullmatch(pattern) is not None
    begins = _SIZE_START.fullmatch(start) is not None or any(tier.startswith(start) for tier in _TIERS)
    return begins and re.fullmatch(r"[\w*#-]*", rest) is not None


def _begins(pattern: str, text: str) -> bool:
    """Returns whether texts that fit may begin with `text`, which has no number: up to the first `*` they have to."""
    first = re.split("[*#]", pattern, maxsplit=1)[0]
    return first.startswith(text) or (text.startswith(first) and pattern[len(first) :].startswith("*"))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Returns the expression of a pattern; letters count without case.

    Each part between two `*` matches where it is found first, so that no text takes long.
    """
    first, *others = (r"\d+?".join(map(re.escape, re.split("#+", part))) for part in re.split(r"\*+", text))
    middle = "".join(f"(?>.*?{part})" for part in others[:-1])
    rest = f".*{others[-1]}" if others else ""
    return re.compile(f"{first}{middle}{rest}", re.IGNORECASE | re.DOTALL)

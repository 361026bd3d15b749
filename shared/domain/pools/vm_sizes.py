"""The number of vCPUs of a VM size, from its name. A size whose name doesn't contain it is unknown.

It doesn't check whether a size exists: Batch creates no pools of other sizes, and future sizes follow the naming rule.
Only impossible numbers are rejected: odd ones above 1, and those far above the largest of a family.

Sources, all of Microsoft Learn, looked up in November 2026: "Azure virtual machine sizes naming conventions" of May
2023 ([family][subfamily][vCPUs][-constrained vCPUs][features][_accelerator][_version]), which later families follow;
for older families, the tables of "Previous generations of virtual machine sizes" of November 2020 and of "Dv2 and
DSv2-series".
"""

import re
from collections.abc import Mapping

_NAME = re.compile(r"(basic|standard)_([a-z]+)(\d+)(?:-(\d+))?([a-z]*)((?:_[a-z0-9]+)*)", re.ASCII)
_VERSION = re.compile(r"_v(\d+)(?=_|\Z)", re.ASCII)

# Families that follow the convention in every version; D and A do so from a version on.
_BY_NAME = frozenset(
    ("b", "dc", "e", "ec", "f", "fx", "h", "hb", "hc", "hx", "l", "m", "nc", "ncc", "nd", "ng", "np", "nv", "pb")
)
_FIRST_BY_NAME: Mapping[str, int] = {"d": 3, "a": 2}
_MAX = 512  # vCPUs, of families other than these:
_MAX_OF: Mapping[str, int] = {"m": 2048}
_OLD_A = {0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 2, 6: 4, 7: 8, 8: 8, 9: 16, 10: 8, 11: 16}
_OLD_D = {1: 1, 2: 2, 3: 4, 4: 8, 11: 2, 12: 4, 13: 8, 14: 16}
_OLD_D_V2 = {**_OLD_D, 5: 16, 15: 20}
_OLD_G = {1: 2, 2: 4, 3: 8, 4: 16, 5: 32}
_OLD: Mapping[tuple[str, int], Mapping[int, int]] = {
    ("a", 1): _OLD_A,
    ("d", 1): _OLD_D,
    ("ds", 1): _OLD_D,
    ("d", 2): _OLD_D_V2,
    ("ds", 2): _OLD_D_V2,
    ("g", 1): _OLD_G,
    ("gs", 1): _OLD_G,
}


def vcpus_of(size: str) -> int | None:
    """Returns the vCPUs of a size such as `Standard_D4s_v5`, None where they are unknown.

    For sizes with constrained vCPUs (`Standard_E8-2s_v5`) it is the constrained number. Case doesn't matter, as in
    Batch.
    """
    found = _NAME.fullmatch(size.lower())
    if found is None:
        return None
    _, family, number, constrained, _, rest = found.groups()
    versions = _VERSION.findall(rest)
    version = int(versions[-1]) if versions else 1
    if family in _BY_NAME or version >= _FIRST_BY_NAME.get(family, version + 1):
        whole = _likely(family, int(number))
    else:
        whole = _OLD.get((family, version), {}).get(int(number))
    if not whole:
        return None
    if constrained is None:
        return whole
    return int(constrained) if 0 < int(constrained) <= whole else None


def _likely(family: str, number: int) -> int | None:
    """Returns the vCPUs by the naming rule, None where no size of the family has so many."""
    is_odd = number % 2 == 1 and number > 1
    return None if is_odd or number > _MAX_OF.get(family, _MAX) else number

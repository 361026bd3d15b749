"""The spelling of VM sizes in Azure's lists: Batch takes and returns them in any case, filters of prices don't.

`standard_nc24ads_a100_v4` is `Standard_NC24ads_A100_v4` there: the family's letters and an accelerator's name are
capitals, features and versions aren't.
"""

import re

_FAMILY = re.compile(r"[a-z]+(?=\d)")
_VERSION = re.compile(r"v\d{1,2}")
_PROMO = "promo"


def arm_name(vm_size: str) -> str:
    """Returns the usual spelling of a VM size; a few sizes may have another, which only a list of them shows."""
    tier, *parts = vm_size.lower().split("_")
    family = [_FAMILY.sub(lambda letters: letters[0].upper(), part, count=1) for part in parts[:1]]
    return "_".join([tier.capitalize(), *family, *map(_further, parts[1:])])


def _further(part: str) -> str:
    if part == _PROMO:
        return part.capitalize()
    return part if _VERSION.fullmatch(part) else part.upper()

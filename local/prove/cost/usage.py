"""The emulator's ledger of nodes and runs."""

from datetime import datetime
from typing import Any

from local.prove.cost.rig import Rig


def usage(rig: Rig, start: datetime, end: datetime) -> Any:
    """Returns the emulator's usage within a window."""
    query = "&".join(f"{name}={moment:%Y-%m-%dT%H:%M:%S.%fZ}" for name, moment in (("from", start), ("to", end)))
    return rig.control("GET", f"usage?{query}&account={rig.account.name}")["accounts"][rig.account.name]

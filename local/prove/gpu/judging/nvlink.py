"""Judges the bytes that NVLinks carried by the counters that `nvidia-smi nvlink` prints. Pure."""

from __future__ import annotations

import re

from local.prove.gpu.finding import Finding, shown
from local.prove.gpu.samples import Samples

_GPU = re.compile(r"^GPU \d+:.*\(UUID: (\S+)\)")
_DATA = re.compile(r"Link \d+: Data Tx: (\d+) KiB")
_SLACK = 1024.0  # KiB
_RELATIVE = 0.01


def transmitted(text: str, uuid: str) -> int | None:
    """Returns the KiB that all links of a GPU transmitted, None where the text names none."""
    found, is_gpu = None, False
    for line in text.splitlines():
        head = _GPU.match(line)
        is_gpu = head.group(1) == uuid if head else is_gpu
        data = _DATA.search(line)
        if is_gpu and data:
            found = (found or 0) + int(data.group(1))
    return found


def judge_nvlink(samples: Samples) -> Finding:
    """Compares the last values of both."""
    series = samples.agent("nvlink_transmit_bytes")
    texts = (samples.raw.get("smi") or {}).get("nvlink") or [None]
    known = transmitted(texts[0] or "", samples.uuid)
    name, bar = "NVLink, transmitted", "within 1 MiB or 1%"
    if not series or known is None:
        agent = f"{float(series[-1][1]) / 1024:,.0f} KiB" if series else "none"
        note = "nvidia-smi doesn't say" if series else f"not offered: {samples.reason('nvlink')}"
        is_missing = not series and bool(known)
        return Finding(
            name, agent, f"{shown(known)} KiB" if known else "none", bar, False if is_missing else None, note
        )
    last = float(series[-1][1]) / 1024
    is_same = abs(last - known) <= max(_SLACK, _RELATIVE * known)
    return Finding(name, f"{last:,.0f} KiB", f"{known:,.0f} KiB", bar, is_same)

"""The cost of a sample of the GPU: time of calls, and memory of the driver's library in the agent. Pure."""

from __future__ import annotations

from statistics import median
from typing import Any, Iterator, Mapping, Sequence

from local.prove.gpu.finding import Finding
from local.prove.gpu.samples import Samples

INTERVAL = 10.0
"""Seconds between samples of an agent as it is installed."""
MAX_SHARE, MAX_KIB = 0.01, 40 * 1000 * 1000 // 1024
_EVERY = 6
"""Errors, limits and links are read at every sixth sample."""
_RARE_FIELD = "power_limit"


def judge_costs(samples: Samples) -> list[Finding]:
    """Judges CPU time and memory by their budget; wall times have none, as the driver may make its callers wait."""
    return [*_times(samples), *_sizes(samples), *_errors(samples)]


def query_times(samples: Samples) -> list[Sequence[str]]:
    """Returns a row for each query of NVML: its name, median and most milliseconds, and its last answer."""
    times: dict[str, list[float]] = {}
    last: dict[str, str] = {}
    for line in samples.lines("answers"):
        for gpu, query, answer, seconds in line.get("answers", ()):
            if str(gpu) == samples.tags.get("index"):
                times.setdefault(query, []).append(seconds * 1000)
                last[query] = answer
    return [(name, f"{median(taken):.2f}", f"{max(taken):.2f}", last[name]) for name, taken in times.items()]


def _times(samples: Samples) -> Iterator[Finding]:
    lines = [line for line in samples.lines("nvidia")[1:] if "records" in line]
    rare = [line for line in lines if _is_rare(line)]
    often = [line for line in lines if not _is_rare(line)]
    if not rare or not often:
        yield Finding("time of a sample", "none", "", "", ok=None, note="too few samples")
        return
    processes = samples.lines("processes")[1:]
    wall = _median(often, "ms"), _median(rare, "ms"), max(line["ms"] for line in lines)
    text = "{:.1f} ms, every sixth {:.1f} ms, most {:.1f} ms".format(*wall)
    yield Finding("time of a sample of the GPUs", text, "", "", ok=None)
    yield Finding("time of their processes", f"{_median(processes, 'ms'):.1f} ms", "", "", ok=None)
    used = (_median(often, "cpu_ms") * (_EVERY - 1) + _median(rare, "cpu_ms")) / _EVERY + _median(processes, "cpu_ms")
    share = used / 1000 / INTERVAL
    yield Finding(
        "CPU time of both at 10 s", f"{used:.1f} ms, {share:.3%} of a core", "budget", f"at most {MAX_SHARE:.0%}",
        ok=share <= MAX_SHARE,
    )  # fmt: skip


def _sizes(samples: Samples) -> Iterator[Finding]:
    sizes = {str(line["when"]): line for line in samples.lines("sizes")}
    begin, end = sizes.get("imported", {}), sizes.get("end", {})
    if "VmRSS" not in begin or "VmRSS" not in end:
        note = "the agent's part ended before its time" if not end else "the kernel doesn't say"
        yield Finding("memory of the agent, peak", "none", "", "", ok=bool(end) and None, note=note)
        return
    growth, peak = end["VmRSS"] - begin["VmRSS"], end.get("VmHWM", end["VmRSS"])
    libraries = ", ".join(f"{name} {size:,} KiB" for name, size in end["libraries"].items()) or "none mapped"
    yield Finding("memory of the agent, peak", f"{peak:,} KiB", "", "", ok=None)
    yield Finding("memory that the driver's library adds", f"{growth:,} KiB", libraries, "", ok=None)
    own = peak - growth
    yield Finding("memory of the agent itself", f"{own:,} KiB", "budget", f"at most {MAX_KIB:,} KiB", ok=own <= MAX_KIB)


def _errors(samples: Samples) -> Iterator[Finding]:
    errors = sorted({str(line["error"]) for line in samples.raw["agent"] if "error" in line})
    yield Finding("errors of the agent", str(len(errors)), "", "0", ok=not errors, note=" ".join(errors)[:300])


def _is_rare(line: Mapping[str, Any]) -> bool:
    return any(_RARE_FIELD in fields for _, _, fields in line["records"])


def _median(lines: Sequence[Mapping[str, Any]], key: str) -> float:
    return median([line[key] for line in lines]) if lines else 0.0

"""Series of one GPU out of the raw values of a run: of the agent, of nvidia-smi, and of the tasks."""

from __future__ import annotations

import re
from statistics import median
from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Tuple, Union
from xml.etree import ElementTree as ET

from local.prove.gpu.plan import JOB, SETTLING
from local.prove.gpu.smi import Raw

Value = Union[bool, float, int, str]
Series = Sequence[Tuple[float, Value]]
MEBI = 1 << 20
_EDGE = 0.2  # seconds of a phase's end that aren't taken
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ABSENT = re.compile(r"\[.*\]|N/A|Not Supported|", re.IGNORECASE)


class Window(NamedTuple):
    """A time in seconds since 1970."""

    begin: float
    end: float


class Samples:
    """Reads the values of a run; `gpu` is the index of the GPU on which the tasks ran."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.facts = self._facts()
        self._records = list(self._agent_records())
        self.tags = self._tags()
        self.uuid = str(self.tags.get("uuid", ""))

    def window(self, phase: str, settling: float = SETTLING) -> Window:
        """Returns when a phase's figures had settled; an empty time where there was no such phase."""
        for one in self.raw["phases"]:
            if one["name"] == phase:
                return Window(min(one["begin"] + settling, one["end"]), one["end"] - _EDGE)
        return Window(0, 0)

    def agent(self, field: str) -> Series:
        """Returns a field, or a tag, of the agent's records of the GPU."""
        return [
            (time, {**tags, **fields}[field])
            for time, measurement, tags, fields in self._records
            if measurement in ("nvidia_smi", "batchscope_gpu")
            and tags.get("index") == self.tags.get("index")
            and field in {**tags, **fields}
        ]

    def smi(self, *names: str) -> Series:
        """Returns the first of these fields that nvidia-smi has for the GPU."""
        for name in names:
            found = [
                (one["time"], parsed(one[name]))
                for one in self._smi("gpus")
                if name in one and one.get("uuid", self.uuid) == self.uuid and not _ABSENT.fullmatch(one[name])
            ]
            if found:
                return found
        return []

    def listed(self, path: str) -> Series:
        """Returns a value of nvidia-smi's listings in XML, by the path of its element below the GPU's."""
        found = []
        for one in self._smi("listings"):
            text = self._element(one["text"], path)
            if text and not _ABSENT.fullmatch(text):
                number = _NUMBER.match(text)
                found.append((one["time"], parsed(number.group() if number else text)))
        return found

    def apps(self, pid: int) -> Series:
        """Returns a process's memory in MiB by nvidia-smi."""
        return [
            (one["time"], parsed(row["used_memory"]))
            for one in self._smi("apps")
            for row in one["rows"]
            if row["pid"] == str(pid) and row["gpu_uuid"] == self.uuid and not _ABSENT.fullmatch(row["used_memory"])
        ]

    def monitored(self, pid: int) -> Series:
        """Returns a process's percent of utilization by `nvidia-smi pmon`."""
        return [
            (one["time"], parsed(row["sm"]))
            for one in self._smi("processes")
            for row in one["rows"]
            if row.get("pid") == str(pid) and row.get("sm", "-").isdigit()
        ]

    def driver_pids(self) -> dict[int, list[tuple[float, float | None, float | None]]]:
        """Returns time, bytes and percent of all processes that the driver names, by pid."""
        found: dict[int, list[tuple[float, float | None, float | None]]] = {}
        for one in self.lines("processes"):
            for pid, (size, percent) in one.get("pids", {}).items():
                found.setdefault(int(pid), []).append((one["begin"], size, percent))
        return found

    def task(self, name: str, field: str, measurement: str = "batchscope_task") -> Series:
        """Returns a field of a task's records."""
        return [
            (time, fields[field])
            for time, found, tags, fields in self._records
            if found == measurement and field in fields and _is_task(tags, name)
        ]

    def answer(self, task: str, command: str) -> Mapping[str, Any]:
        """Returns a task's first answer to a command, empty where it failed."""
        answers = self.raw["tasks"].get(task, {}).get("answers", [])
        return next((one for one in answers if one.get("command") == command and "error" not in one), {})

    def lines(self, kind: str) -> list[Mapping[str, Any]]:
        """Returns the observer's lines of a kind."""
        return [one for one in self.raw["agent"] if one["kind"] == kind]

    def reason(self, field: str) -> str:
        """Returns the driver's errors to all queries, those that may explain why a field is missing."""
        errors = {
            f"{query}: {answer}"
            for line in self.lines("answers")
            for _, query, answer, _ in line.get("answers", [])
            if answer.isupper()
        }
        words = field.split("_")
        near = sorted(one for one in errors if any(word in one.lower() for word in words))
        return ", ".join(near) or "NVML has no value"

    def _facts(self) -> Mapping[str, Any]:
        for name in self.raw["tasks"]:
            found = self.answer(name, "begin")
            if found:
                return found
        return {}

    def _smi(self, part: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (self.raw.get("smi") or {}).get(part, [])
        return found

    def _agent_records(self) -> Iterator[tuple[float, str, Mapping[str, str], Mapping[str, Value]]]:
        for kind in ("nvidia", "tasks"):
            for line in self.lines(kind):
                for measurement, tags, fields in line.get("records", ()):
                    yield line["begin"], measurement, tags, fields

    def _tags(self) -> Mapping[str, str]:
        gpus = [tags for _, measurement, tags, _ in self._records if measurement == "nvidia_smi"]
        known = self.facts.get("uuid")
        return next((tags for tags in gpus if known and tags.get("uuid") == known), gpus[0] if gpus else {})

    def _element(self, text: str, path: str) -> str:
        try:
            root = ET.fromstring(text)  # noqa: S314 - of a tool of this machine
        except ET.ParseError:
            return ""
        for gpu in root.iter("gpu"):
            if gpu.findtext("uuid") == self.uuid:
                return (gpu.findtext(path) or "").strip()
        return ""


def within(series: Series, window: Window) -> list[Value]:
    """Returns the values of a series at a time."""
    return [value for time, value in series if window.begin <= time <= window.end]


def middle(series: Series, window: Window) -> Value | None:
    """Returns the median of numbers at a time, the most frequent one of texts, None where there is none."""
    values = within(series, window)
    if not values:
        return None
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return float(median([float(value) for value in values]))
    return max(values, key=values.count)


def parsed(text: str) -> Value:
    """Returns a value of nvidia-smi: a number, or the text."""
    return float(text) if _NUMBER.fullmatch(text) else text


def _is_task(tags: Mapping[str, str], name: str) -> bool:
    return name in tags.values() and JOB in tags.values()

"""Agents as real processes that reach no storage, and the records in their spools.

The records are read from gzip members of line protocol by this module alone, not by the app's decoder.
"""

import gzip
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 10.0
"""Seconds between two samples, the agent's default."""
_NOWHERE = "http://127.0.0.1:9"
_NAMES = ("--account=account", "--pool=pool", "--node=tvmps_1")
_ENDING = 40.0  # seconds
_TEXT = r'"(?:[^"\\]|\\.)*"'
_WORD = r"(?:[^ ,=\\]|\\.)+"
_LINE = re.compile(rf"({_WORD})((?:,{_WORD}={_WORD})*) (.*) (-?\d+)$")
_TAG = re.compile(rf",({_WORD})=({_WORD})")
_FIELD = re.compile(rf"({_WORD})=({_TEXT}|[^,]+)(?:,|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A record with the numbers among its fields; `time` is in seconds since 1970."""

    measurement: str
    tags: Mapping[str, str]
    numbers: Mapping[str, float]
    time: float


@contextmanager
def agent(sources: Path, folder: Path, python: str, who: Mapping[str, object]) -> Iterator[None]:
    """Runs an agent until the end of the block, and then until it has handed its last records to the spool."""
    options = (*_NAMES, f"--interval={INTERVAL:g}", "--flush=5", f"--folder={folder}", f"--imds={_NOWHERE}")
    command = (python, "-m", "agent", "run", *options)
    storage = {"BATCHSCOPE_STORAGE": f"{_NOWHERE}/telemetry?sig=none"}
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **storage}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=sources, env=environment, stderr=log, **who) as process,  # type: ignore[call-overload]
    ):
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_ENDING)
            except subprocess.TimeoutExpired:
                process.kill()


def copy_sources(root: Path, to: Path) -> None:
    """Copies the agent to where any user can read it."""
    shutil.copytree(root / "agent", to / "agent", ignore=shutil.ignore_patterns("__pycache__"))


def records(folder: Path) -> list[Line]:
    """Returns all records in an agent's spool, in their order."""
    units = sorted((folder / "spool").glob("*/*.gz"))
    return list(lines_of(gzip.decompress(unit.read_bytes()).decode() for unit in units))


def lines_of(texts: Iterable[str]) -> Iterator[Line]:
    """Yields the records of line protocol. Raises ValueError for a line that isn't."""
    for text in texts:
        for line in text.splitlines():
            found = _LINE.match(line)
            if not found:
                raise ValueError(f"not a line of line protocol: {line[:80]}")
            name, tags, fields, nanoseconds = found.groups()
            yield Line(_plain(name), dict(_tags(tags)), dict(_numbers(fields)), int(nanoseconds) / 1e9)


def _tags(text: str) -> Iterator[tuple[str, str]]:
    return ((_plain(name), _plain(value)) for name, value in _TAG.findall(text))


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    for name, value in _FIELD.findall(text):
        if value[0] in "-0123456789":
            yield _plain(name), float(value.rstrip("iu"))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)

"""Measures the redaction of secrets in text: recall and false positives over samples, and time per MB.

The samples are in `tests/data/redaction`: texts with secrets, all of them invented, and lines without any. A secret
counts as redacted if no piece of half its length remains.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.report.command import bench_parser, show
from bench.report.rows import row
from shared.domain.redaction.redaction import redacted

MEASURED_PATHS = ("shared/domain/redaction/secrets", "shared/domain/redaction/redaction.py", "tests/data/redaction")
_DATA = Path(__file__).parents[1] / "tests/data/redaction"
SECRETS, CLEAN = _DATA / "secrets.jsonl", _DATA / "clean.jsonl"
_MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)
_MIN_RECALL, _MAX_FALSE = 97.0, 1.0
_MAX_MS = 1200.0  # per MB, on a machine with other load
_SHORTEST_PIECE = 4
_RUNS = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """A text and its secrets."""

    kind: str
    text: str
    secrets: tuple[str, ...]


@cache
def samples() -> tuple[Sample, ...]:
    """Returns all texts with secrets."""
    found = (json.loads(line) for line in SECRETS.read_text(encoding="utf-8").splitlines())
    return tuple(
        Sample(one["class"], one["text"].replace("⟦", "").replace("⟧", ""), tuple(_MARKED.findall(one["text"])))
        for one in found
    )


@cache
def clean_lines() -> tuple[str, ...]:
    """Returns all texts without secrets."""
    return tuple(json.loads(line) for line in CLEAN.read_text(encoding="utf-8").splitlines())


def is_taken_out(sample: Sample) -> bool:
    """Returns whether no half of a secret remains."""
    shown = redacted(sample.text)
    return not any(piece in shown for secret in sample.secrets for piece in _pieces(secret))


def _pieces(secret: str) -> list[str]:
    size = max(_SHORTEST_PIECE, len(secret) // 2)
    return [secret[start : start + size] for start in range(len(secret) - size + 1)]


def measure() -> list[dict[str, Any]]:
    """Returns rows in the format of all benchmarks."""
    secret, clean = samples(), clean_lines()
    recall = 100 * sum(map(is_taken_out, secret)) / len(secret)
    false = 100 * sum(redacted(line) != line for line in clean) / len(clean)
    kinds = len({sample.kind for sample in secret})
    return [
        row(f"recall over {len(secret)} secrets of {kinds} classes", recall, "%", least=_MIN_RECALL),
        row(f"false positives over {len(clean):,} lines", false, "%", bar=_MAX_FALSE),
        row("lines without secrets, one by one, a MB", _milliseconds(clean), "ms", bar=_MAX_MS),
        row("the same lines as one text, a MB", _milliseconds(["\n".join(clean)]), "ms", bar=_MAX_MS),
        row("texts with secrets, one by one, a MB", _milliseconds([one.text for one in secret]), "ms"),
    ]


def _milliseconds(texts: "tuple[str, ...] | list[str]") -> float:
    """Returns CPU time per MB: the least of several runs, after a warm-up."""
    size = sum(len(text.encode()) for text in texts) / 1e6

    def run() -> None:
        for text in texts:
            redacted(text)

    run()
    return min(_took(run) for _ in range(_RUNS)) * 1e3 / size


def _took(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> int:
    """Returns 1 if a bar is missed."""
    parser = bench_parser("redaction", __doc__)
    options = parser.parse_args()
    rows = measure()
    return show("redaction", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())

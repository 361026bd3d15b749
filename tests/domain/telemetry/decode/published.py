"""Published conformance cases, which aren't part of this repository: tests skip with a reason if they are missing."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[5] / "shared/conformance"


def published(name: str) -> Path:
    """Returns a file of the conformance data."""
    found = Path(os.environ.get("CONFORMANCE_DIR") or _BESIDE) / name
    if not found.exists():
        pytest.skip("no conformance data beside this checkout")
    return found

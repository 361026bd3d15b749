"""The folder of published data against which the emulator is tested; none of it is in this repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

_BESIDE = Path(__file__).resolve().parents[4] / "shared/conformance"


def conformance(name: str) -> Path:
    """Returns a file or folder of the conformance data; skips the test with a reason if it is missing."""
    found = Path(os.environ.get("CONFORMANCE_DIR") or _BESIDE) / name
    if not found.exists():
        pytest.skip(f"there is no conformance data here: {name} (see CONFORMANCE_DIR)")
    return found


def read_json(name: str) -> Any:
    return json.loads(conformance(name).read_text(encoding="utf-8"))

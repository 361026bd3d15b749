"""Finds defects in the logs of hosts."""

import re
from pathlib import Path

_DEFECT = re.compile(r"\bbroke\b|Traceback|was never retrieved")


def defects(logs: Path) -> list[str]:
    """Returns lines of the hosts' logs that indicate a defect rather than an expected failure."""
    return [
        f"{log.name}: {line}"
        for log in sorted(logs.glob("host[-.]*.log"))
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if _DEFECT.search(line)
    ]

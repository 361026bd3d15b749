"""Finds announcements of retirements that were read long ago: their dates may have moved since."""

import json
from datetime import date
from pathlib import Path

MAX_AGE = 90
"""Days after which an announcement should be read again."""
_FILE = "shared/domain/retirements/announcements.json"


def unread_announcements(root: Path, today: date) -> list[str]:
    """Returns a line for each announcement that was read more than MAX_AGE days ago, with its source."""
    file = root / _FILE
    entries = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    ages = {entry["id"]: (today - date.fromisoformat(entry["readOn"])).days for entry in entries}
    return [
        f"{entry['id']}: read {ages[entry['id']]} days ago, at {entry['source']}"
        for entry in entries
        if ages[entry["id"]] > MAX_AGE
    ]

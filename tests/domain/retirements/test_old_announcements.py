"""Announcements of retirements that were read long ago are named."""

import json
from datetime import date, timedelta
from pathlib import Path

from local.dev.checking.announcements import MAX_AGE, unread_announcements
from local.dev.system.checkout import HERE

TODAY = date(2027, 3, 1)


def entry(name: str, days: int) -> dict[str, str]:
    return {"id": name, "source": "https://example.org/1", "readOn": (TODAY - timedelta(days=days)).isoformat()}


def test_entries_are_named_from_the_day_after_ninety_days_on(tmp_path: Path) -> None:
    file = tmp_path / "shared/domain/retirements/announcements.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([entry("new", MAX_AGE), entry("old", MAX_AGE + 1)]), encoding="utf-8")
    assert unread_announcements(tmp_path, TODAY) == ["old: read 91 days ago, at https://example.org/1"]


def test_the_projects_own_file_is_looked_at() -> None:
    assert unread_announcements(HERE.root, date(2026, 11, 29)) == []
    assert len(unread_announcements(HERE.root, date(2030, 1, 1))) > 10
    assert unread_announcements(HERE.root / "docs", TODAY) == []

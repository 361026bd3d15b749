"""The files that another program's rotation leaves beside the file that it writes."""

from __future__ import annotations

import os
from contextlib import suppress


def rotated_files(path: str) -> list[str]:
    """Returns the files beside `path` whose names begin like its, oldest change first."""
    folder, name = os.path.split(os.path.abspath(path))
    stem = os.path.splitext(name)[0]
    found: list[tuple[int, str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        rotated = (one for one in entries if one.name.startswith(stem) and one.name != name)
        found.extend((one.stat().st_mtime_ns, one.path) for one in rotated if one.is_file(follow_symlinks=False))
    return [path for _changed, path in sorted(found)]


def next_file(path: str, present: os.stat_result) -> str:
    """Returns the file behind the present one: a rotated one that changed after it, else `path` itself."""
    for name in rotated_files(path):
        with suppress(OSError):
            found = os.stat(name)
            if found.st_mtime_ns > present.st_mtime_ns and found.st_ino != present.st_ino:
                return name
    return path

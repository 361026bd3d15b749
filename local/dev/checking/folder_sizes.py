"""Finds folders with too many modules: a package holds one subject, so that a reader can survey its modules."""

from collections import Counter
from pathlib import Path

MAX_MODULES = 16
FOLDERS = ("agent", "bench", "functions", "infra", "local", "shared", "tests", "web/src", "web/tests")
_SUFFIXES = (".py", ".ts", ".tsx")
_UNCOUNTED = ("__init__.py",)
_FOREIGN = ("node_modules", "__pycache__")


def folder_faults(root: Path) -> list[str]:
    """Returns a line for each folder with more than MAX_MODULES modules; files `__init__.py` aren't counted."""
    modules = Counter(path.parent for name in FOLDERS for path in _modules(root / name))
    return [
        f"{folder.relative_to(root).as_posix()} has {number} modules, more than {MAX_MODULES}; divide it by subject"
        for folder, number in sorted(modules.items())
        if number > MAX_MODULES
    ]


def _modules(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in folder.walk():
        folders[:] = [name for name in folders if name not in _FOREIGN]
        found += [place / name for name in names if name.endswith(_SUFFIXES) and name not in _UNCOUNTED]
    return found

"""How a breakage is planted into a copy of what the rules look at."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PARTS = (
    ".ci",
    ".github",
    ".python-version",
    ".yamllint.yaml",
    "azure.yaml",
    "docs/operations.md",
    "functions",
    "host.json",
    "infra",
)
"""What the rules look at."""


@dataclass(frozen=True, slots=True)
class Breakage:
    """`old` stands in the file; its first place becomes `new`. Each run of the tests plants those with `always`.

    Those that are `unsafe` must be noticed by a rule that compares with no table, as a table can be renewed.
    """

    name: str
    file: str
    old: str
    new: str
    always: bool = False
    unsafe: bool = False

    def plant(self, root: Path) -> None:
        path = root / self.file
        before = path.read_text(encoding="utf-8")
        if self.old not in before:
            raise ValueError(f"{self.name}: {self.file} doesn't hold {self.old!r} any more")
        path.write_text(before.replace(self.old, self.new, 1), encoding="utf-8")

    @contextmanager
    def planted(self, root: Path) -> Iterator[None]:
        """Plants the breakage inside the block."""
        before = (root / self.file).read_bytes()
        try:
            self.plant(root)
            yield
        finally:
            (root / self.file).write_bytes(before)


def copy_parts(source: Path, target: Path) -> None:
    for name in PARTS:
        copy = shutil.copytree if (source / name).is_dir() else shutil.copy
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        copy(source / name, target / name)

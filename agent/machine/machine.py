"""The files by which the kernel describes this machine: the only door to /proc, /sys and /dev.

Tests pass the root of a tree of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice

MAX_SIZE = 4 << 20
"""Bytes that are read of one file: the files of a node of a thousand cores are smaller."""
_PIECE = 64 << 10  # bytes a read: the kernel refuses to read its settings (/proc/sys) by pieces of 4 MiB
MAX_DIGITS = 20
"""Characters of a whole number: 64 bits, or a sign and 63."""


class Machine:
    """Reads files below `root`; `statvfs` and `is_root` (superuser) may be a test's."""

    def __init__(
        self,
        root: str = "/",
        *,
        statvfs: Callable[[str], os.statvfs_result] = os.statvfs,
        is_root: bool | None = None,
    ) -> None:
        self._root = root.rstrip("/")
        self.statvfs = statvfs
        self.is_root = os.geteuid() == 0 if is_root is None else is_root

    def path(self, path: str) -> str:
        """Returns the path at which an absolute path of the machine is opened."""
        return self._root + path

    def content(self, path: str, limit: int = MAX_SIZE) -> bytes:
        """Returns a file's first bytes. Raises OSError."""
        pieces, size = [], 0
        with open(self._root + path, "rb", buffering=0) as file:
            while size < limit:
                piece = file.read(min(limit - size, _PIECE))
                if not piece:
                    break
                pieces.append(piece)
                size += len(piece)
        return b"".join(pieces)

    def text(self, path: str) -> str:
        """Returns a file's text; bytes that are no UTF-8 are replaced. Raises OSError."""
        return self.content(path).decode("utf-8", "replace")

    def optional_text(self, path: str) -> str:
        """Returns a file's text without surrounding space; empty where it can't be read."""
        try:
            return self.text(path).strip()
        except OSError:
            return ""

    def whole(self, path: str) -> int | None:
        """Returns the whole number that a file holds, None where it holds none or can't be read."""
        text = self.optional_text(path)
        try:
            return int(text) if len(text) <= MAX_DIGITS else None
        except ValueError:
            return None

    def names(self, path: str) -> list[str]:
        """Returns the names in a folder, in order; none where it can't be read."""
        try:
            return sorted(os.listdir(self._root + path))
        except OSError:
            return []

    def count(self, path: str, limit: int) -> int:
        """Returns how many names a folder has, at most `limit`; 0 where it can't be read."""
        try:
            with os.scandir(self._root + path) as entries:
                return sum(1 for _ in islice(entries, limit))
        except OSError:
            return 0

    def exists(self, path: str) -> bool:
        return os.path.exists(self._root + path)

    def link(self, path: str) -> str:
        """Returns the target of a symbolic link; empty where it can't be read."""
        try:
            return os.readlink(self._root + path)
        except OSError:
            return ""

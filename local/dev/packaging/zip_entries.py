"""Entries of zips that are the same bytes at any time and on any system."""

import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16
UNIX = 3
"""The system on which zips claim to be created; Windows would write another."""


def add_file(target: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Adds a file to a zip with a fixed time and fixed rights."""
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.create_system = UNIX
    entry.external_attr = READABLE
    entry.compress_type = zipfile.ZIP_DEFLATED
    target.writestr(entry, content)

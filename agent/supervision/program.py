"""The agent's own copy of its program file: a cleaned task folder or a newer download breaks no restart."""

from __future__ import annotations

import os
import zlib

from agent.supervision.folders import is_private, replace_file

MAX_SIZE = 16 << 20
"""Bytes of a program file that is copied."""


def own_copy(program: str, folder: str, version: str) -> str:
    """Returns the path of a copy of `program` in `folder`, written once for each content.

    Returns the absolute path of `program` itself where it can't be copied: a full disk, a folder that others can write.
    """
    program = os.path.abspath(program)
    try:
        with open(program, "rb") as file:
            content = file.read(MAX_SIZE + 1)
        copy = f"{folder}/agent-{version}-{zlib.crc32(content):08x}.pyz"
        if len(content) > MAX_SIZE or not is_private(folder):
            return program
        if not _holds(copy, content):
            replace_file(copy, content)
    except OSError:
        return program
    return copy


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SIZE + 1) == content
    except OSError:
        return False

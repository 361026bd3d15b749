"""Files as JSON. Shapes follow the reference of NodeFile and FileProperties."""

from urllib.parse import quote

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Json
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.wire.task_files import File

MODE = {True: "0o040755", False: "0o100644"}
"""Modes by whether it is a directory, on Linux nodes."""


def file_renderers(url: str, *, with_mode: bool) -> Renderers:
    """Returns the renderers of a list at `url`; Linux nodes have modes, Windows ones creation times (documented)."""
    return {
        "name": lambda file: file.name,
        "url": lambda file: f"{url}/{quote(file.name)}",
        "isDirectory": lambda file: file.is_directory,
        "properties": lambda file: None if file.is_directory else _properties(file, with_mode=with_mode),
    }


def content_type(file: File) -> str:
    return "text/plain" if file.name.endswith(".txt") else "application/octet-stream"


def _properties(file: File, *, with_mode: bool) -> Json:
    return {
        **({} if with_mode else {"creationTime": stamp(file.created)}),
        "lastModified": stamp(file.modified),
        "contentLength": str(file.size),
        "contentType": content_type(file),
        **({"fileMode": MODE[False]} if with_mode else {}),
    }

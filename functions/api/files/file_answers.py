"""What routes of files share: who may read them, which part is asked for, and its response."""

import re
from collections.abc import Callable
from datetime import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from msgspec import UNSET, Meta, UnsetType

from functions.http.answers import Answer
from functions.http.handling import Query, RouteRequest, RouteResponse
from functions.http.identity import ForbiddenError
from functions.http.parameters import BadRequestError
from shared.domain.core.stamps import format_stamp
from shared.domain.files.file_parts import MAX_PART, Part, last_part, part_from
from shared.domain.files.files import FileEntry
from shared.services.accounts.registry import found

if TYPE_CHECKING:
    from shared.services.files.file_reader import FilePart, FolderReport

FILE_SIZE, FILE_OFFSET, FILE_NEXT = "Batchscope-File-Size", "Batchscope-Offset", "Batchscope-Next-Offset"
FILE_KEPT = "Batchscope-Kept-At"
_RANGE = re.compile(r"bytes=(\d{1,18})?-(\d{1,18})?")
_TEXTS = {"utf-8": "text/plain; charset=utf-8", "utf-16-le": "text/plain; charset=utf-16le"} | {
    "utf-16-be": "text/plain; charset=utf-16be"
}
_NOBODY = "Files aren't shown here: the setting FILE_READERS is `nobody`. The Azure portal and `az batch` show them."
_OPERATORS = "The files of tasks and nodes are for operators here, by the setting FILE_READERS. "
_BINARY = "'{path}' is no text, so its secrets can't be masked; only operators may download it. "

Bytes = Annotated[int, Meta(ge=1, le=MAX_PART, description=f"Bytes, at most {MAX_PART}.")]
Offset = Annotated[int, Meta(ge=0, le=10**18, description="The first byte of the answer.")]
Folder = Annotated[str, Meta(max_length=1024, description="A folder, with slashes; all files at the top without it.")]


class FolderQuery(Query):
    """What is in one folder."""

    folder: Folder = ""


class FileQuery(Query):
    """A part of a file: from an `offset`, or its last bytes (`tail`); its first ones without both.

    A file is followed by asking again from the header `Batchscope-Next-Offset` of each answer.
    """

    offset: Offset | UnsetType = UNSET
    length: Bytes | UnsetType = UNSET
    tail: Bytes | UnsetType = UNSET


class FileEntryAnswer(Answer):
    """A file, or a folder without size and times; `path` is its name below the task's or the node's folder."""

    path: str
    is_folder: bool
    size: int | None
    last_modified: datetime | None


class FolderAnswer(Answer):
    """What is in a folder, folders first; `complete` is false where it has more than is listed."""

    folder: str
    complete: bool
    value: list[FileEntryAnswer]


def require_file_reader(call: RouteRequest[Any, None]) -> None:
    """Raises ForbiddenError if the caller may not read files by the setting FILE_READERS."""
    readers = call.runtime.settings.file_readers
    if readers == "nobody":
        raise ForbiddenError(_NOBODY)
    if readers == "operators" and not _is_operator(call):
        raise ForbiddenError(f"{_OPERATORS}You lack that role in this account.")


def folder_answer(folder: str, report: "FolderReport") -> FolderAnswer:
    return FolderAnswer(folder=folder, complete=report.is_whole, value=list(map(_entry, report.entries)))


def path_parameter(call: RouteRequest[Any, None]) -> str:
    """Returns the path of the file; some hosts leave slashes in it encoded."""
    return re.sub("%2f", "/", call.path.get("path") or "", flags=re.IGNORECASE)


def wanted_part(call: RouteRequest[FileQuery, None]) -> Callable[[int], Part]:
    """Returns which part is asked for of a file's size: by parameters, else by the header Range.

    Raises BadRequestError for parameters that contradict each other.
    """
    query = call.query
    if query.tail is not UNSET and (query.offset is not UNSET or query.length is not UNSET):
        raise BadRequestError("Either 'tail' or 'offset' and 'length' say which part is wanted.", target="tail")
    if query.tail is not UNSET:
        tail = query.tail
        return lambda size: last_part(tail, size)
    if query.offset is not UNSET or query.length is not UNSET or (given := _range(call)) is None:
        offset, length = query.offset or 0, query.length or MAX_PART
        return lambda size: part_from(offset, length, size)
    first, last = given
    if first is None:
        return lambda size: last_part(last or 0, size)
    return lambda size: part_from(first, (size if last is None else last + 1) - first, size)


def part_response(call: RouteRequest[FileQuery, None], part: "FilePart") -> RouteResponse:
    """Returns a part of a file, with 206 where the header Range asked for it.

    Raises ForbiddenError where it is no text and the caller no operator.
    """
    if part.encoding is None and not _is_operator(call):
        raise ForbiddenError(_BINARY.format(path=part.path) + "You lack that role in this account.")
    modified = part.facts.last_modified
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "no-store",
        "Content-Type": _TEXTS[part.encoding] if part.encoding else "application/octet-stream",
        "Content-Security-Policy": "sandbox",
        FILE_SIZE: str(part.facts.size),
        FILE_OFFSET: str(part.start),
        FILE_NEXT: str(part.end),
        **({"Last-Modified": format_datetime(modified, usegmt=True)} if modified else {}),
        **({FILE_KEPT: format_stamp(part.kept_at)} if part.kept_at else {}),
        **({} if part.encoding else {"Content-Disposition": _attachment(part.path)}),
    }
    by_range = {call.query.offset, call.query.length, call.query.tail} == {UNSET} and _range(call) is not None
    if by_range and not part.content:
        headers["Content-Range"] = f"bytes */{part.facts.size}"
        return RouteResponse(b"", status=416, headers=headers)
    if by_range:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{part.facts.size}"
    return RouteResponse(part.content, status=206 if by_range else 200, headers=headers)


def _is_operator(call: RouteRequest[Any, None]) -> bool:
    return call.caller is not None and found({one: one for one in call.readable}, call.path["account"]) in (
        call.caller.operates
    )


def _range(call: RouteRequest[Any, None]) -> tuple[int | None, int | None] | None:
    """Returns the first and last byte of the header Range (RFC 9110, 14.2); None without one, or for several."""
    found_range = _RANGE.fullmatch(call.request.headers.get("range", "").strip())
    if found_range is None or found_range[1] is found_range[2] is None:
        return None
    first, last = (None if part is None else int(part) for part in found_range.groups())
    return None if first is not None and last is not None and last < first else (first, last)


def _entry(entry: FileEntry) -> FileEntryAnswer:
    return FileEntryAnswer.of(entry)


def _attachment(path: str) -> str:
    """Returns the header that makes browsers save a file (RFC 6266)."""
    return f"attachment; filename*=UTF-8''{quote(path.rpartition('/')[2], safe='')}"

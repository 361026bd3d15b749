"""Operations on files of tasks and of nodes. Errors are those of "Batch status and error codes"."""

from collections.abc import Iterable, Mapping

from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.errors import BatchError, conflict, invalid_query, not_found
from local.batch_emulator.core.ranges import requested_range
from local.batch_emulator.core.stamps import http_date, ticks
from local.batch_emulator.entities import Node, Pool, Task
from local.batch_emulator.filtering.filter_rows import FILES
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.operations.nodes import require_reachable
from local.batch_emulator.protocol.paging import first_sorted, page
from local.batch_emulator.protocol.requests import Request, Response, etag_headers
from local.batch_emulator.wire.endpoints import is_windows
from local.batch_emulator.wire.files import MODE, content_type, file_renderers
from local.batch_emulator.wire.task_files import (
    ROOT_DIRECTORIES,
    File,
    all_files,
    node_files,
    remove,
    root_files,
    task_files,
)
from local.batch_emulator.wire.tasks import root_directory

type Files = Mapping[str, File]
_WEEK = 7 * 86_400


def list_task_files(request: Request) -> Response:
    node, files = _of_task(request)
    compiled = files.values() if _is_recursive(request) else [file for file in files.values() if "/" not in file.name]
    return _listed(request, node.pool, compiled)


def list_node_files(request: Request) -> Response:
    node = _node(request)
    return _listed(request, node.pool, all_files(node) if _is_recursive(request) else root_files(node))


def get_task_file_properties(request: Request) -> Response:
    node, files = _of_task(request)
    return _properties(request, node.pool, _require_file(request, files))


def get_node_file_properties(request: Request) -> Response:
    node = _node(request)
    return _properties(request, node.pool, _of_node(request, node))


def download_task_file(request: Request) -> Response:
    node, files = _of_task(request)
    return _content(request, node.pool, _require_file(request, files))


def download_node_file(request: Request) -> Response:
    node = _node(request)
    return _content(request, node.pool, _of_node(request, node))


def delete_task_file(request: Request) -> Response:
    node, files = _of_task(request)
    job, task = request.task()
    return _deleted(request, node, f"{root_directory(job.id, task.id)}/{_path(request)}", files)


def delete_node_file(request: Request) -> Response:
    node = _node(request)
    return _deleted(request, node, _path(request), node_files(node, _path(request)))


def _node(request: Request) -> Node:
    node = request.node()
    require_reachable(node)
    return node


def _of_task(request: Request) -> tuple[Node, Files]:
    """Returns a task's node and its files there. Raises BatchError if they are unreachable or deleted."""
    job, task = request.task()
    pool = request.account.pools.get(fold(task.pool_id or ""))
    node = pool.nodes.get(task.node_id or "") if pool else None
    if node is None or task.started is None or task.started < node.fresh:
        raise conflict("TaskFilesUnavailable", "The files of the specified task are unavailable.")
    if _is_cleaned_up(request, task):
        raise conflict("TaskFilesCleanedup", "The files of the specified task are cleaned up.")
    require_reachable(node)
    return node, task_files(job, task, node)


def _is_cleaned_up(request: Request, task: Task) -> bool:
    """Returns whether the retention time has passed, seven days by default."""
    retention = (task.spec.get("constraints") or {}).get("retentionTime")
    seconds = (seconds_of(retention) if retention else _WEEK) / request.simulation.context.event_queue.speed
    return task.ended is not None and request.now > task.ended + ticks(seconds)


def _listed(request: Request, pool: Pool, files: Iterable[File]) -> Response:
    compiled = compile_filter(request.query.get("$filter"), FILES, comparison_key(request.settings))
    renderers = file_renderers(f"{request.url}{request.path}", with_mode=not is_windows(pool))
    return page(request, "files", first_sorted(request, files, compiled.matches), compiled.matches, renderers)


def _is_recursive(request: Request) -> bool:
    text = request.query.get("recursive", "false")
    if text.lower() not in ("true", "false"):
        raise invalid_query("recursive", text, "it is true or false")
    return text.lower() == "true"


def _path(request: Request) -> str:
    return request.ids["filePath"].replace("\\", "/").strip("/")


def _of_node(request: Request, node: Node) -> File:
    return _require_file(request, node_files(node, _path(request)))


def _require_file(request: Request, files: Files) -> File:
    file = files.get(_path(request))
    if file is None:
        raise not_found("File")
    request.check(file.modified)
    return file


def _properties(request: Request, pool: Pool, file: File) -> Response:
    return Response(200, None, _headers(request, pool, file), content=file.content, items=1)


def _content(request: Request, pool: Pool, file: File) -> Response:
    content = file.content
    if content is None:
        raise _io_error("A directory has no content.")
    byte_range, headers = requested_range(request.headers, len(content)), _headers(request, pool, file)
    if byte_range is None:
        return Response(200, None, headers, content=content, items=1)
    headers["Content-Range"] = byte_range.header(len(content))
    return Response(byte_range.status, None, headers, content=content[byte_range.start : byte_range.end], items=1)


def _headers(request: Request, pool: Pool, file: File) -> dict[str, str]:
    created = {"ocp-creation-time": http_date(file.created)}
    return {
        **etag_headers(file.modified),
        "Content-Type": content_type(file),
        "ocp-batch-file-isdirectory": str(file.is_directory).lower(),
        "ocp-batch-file-url": f"{request.url}{request.path}",
        **(created if is_windows(pool) else {"ocp-batch-file-mode": MODE[file.is_directory]}),
    }


def _deleted(request: Request, node: Node, path: str, files: Files) -> Response:
    """Deletes a file; non-empty directories need `recursive` (documented)."""
    file = _require_file(request, files)
    if not _is_recursive(request) and any(name.startswith(f"{file.name}/") for name in files):
        raise _io_error("The directory is not empty.")
    if path in ROOT_DIRECTORIES:
        raise _io_error("The directory is the node's own.")
    remove(node, path, request.simulation.context.node_now(node))
    request.mark_changed(node, node.pool)
    return Response(200)


def _io_error(reason: str) -> BatchError:
    text = "An I/O error occurred when accessing the specified resource."
    return BatchError(403, "IOError", text, {"Reason": reason})


ACTIONS = (
    list_task_files,
    list_node_files,
    get_task_file_properties,
    get_node_file_properties,
    download_task_file,
    download_node_file,
    delete_task_file,
    delete_node_file,
)

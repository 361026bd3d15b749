"""Operations on files of tasks and of nodes. Errors are those of "Batch status and error codes"."""

from collections.abc import Iterable, Mapping

from local.batch_emulator.contents.content import ContentRange
from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.errors import BatchError, conflict, invalid_query, not_found
from local.batch_emulator.core.ranges import requested_range
from local.batch_emulator.core.stamps import http_date
from local.batch_emulator.entities import Node, Pool
from local.batch_emulator.filtering.filter_rows import FILES
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.operations.nodes import require_reachable
from local.batch_emulator.protocol.paging import first_sorted, page
from local.batch_emulator.protocol.requests import Request, Response, etag_headers
from local.batch_emulator.state.context import NodeMoment
from local.batch_emulator.wire.endpoints import is_windows
from local.batch_emulator.wire.files import MODE, content_type, file_renderers
from local.batch_emulator.wire.task_directories import is_cleaned_up
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


def list_task_files(request: Request) -> Response:
    node, files = _of_task(request)
    compiled = files.values() if _is_recursive(request) else [file for file in files.values() if "/" not in file.name]
    return _listed(request, node.pool, compiled)


def list_node_files(request: Request) -> Response:
    node = _node(request)
    files, moment = all_files if _is_recursive(request) else root_files, _moment(request, node)
    return _listed(request, node.pool, files(node, moment))


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
    return _deleted(request, node, _path(request), node_files(node, _moment(request, node), _path(request)))


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
    moment = _moment(request, node)
    if is_cleaned_up(task.spec, task.ended, moment):
        raise conflict("TaskFilesCleanedup", "The files of the specified task are cleaned up.")
    require_reachable(node)
    return node, task_files(job, task, node, moment)


def _moment(request: Request, node: Node) -> NodeMoment:
    return request.simulation.context.moment_of(node)


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
    return _require_file(request, node_files(node, _moment(request, node), _path(request)))


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
    size, headers = content.size, _headers(request, pool, file)
    byte_range = requested_range(request.headers, size)
    if byte_range is None:
        return Response(200, None, headers, content=content, items=1)
    headers["Content-Range"] = byte_range.header(size)
    part = ContentRange(content, byte_range.start, byte_range.end)
    return Response(byte_range.status, None, headers, content=part, items=1)


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
    remove(node, path, _moment(request, node).now)
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

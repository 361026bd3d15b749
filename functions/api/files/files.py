"""Files of tasks and nodes: `…/files` lists a folder, `…/files/{path}` returns a part of a file.

Files of start tasks are in a node's folder `startup`, those of job preparation and release tasks in `workitems`.
"""

from functions.api.endpoints import JOB, POOL
from functions.api.files.file_answers import (
    FileQuery,
    FolderAnswer,
    FolderQuery,
    folder_answer,
    part_response,
    path_parameter,
    require_file_reader,
    wanted_part,
)
from functions.http.handling import RouteRequest, RouteResponse, Routes

_OF_TASK, _OF_NODE = f"{JOB}/tasks/{{task}}/files", f"{POOL}/nodes/{{node}}/files"
_TEXT, _PART, _NONE = "text/plain", (200, 206), (409, 416)


def add_files(routes: Routes) -> None:
    _add_files_of_tasks(routes)
    _add_files_of_nodes(routes)


def _add_files_of_tasks(routes: Routes) -> None:
    @routes.route("GET", _OF_TASK, query=FolderQuery, returns=FolderAnswer, refusals=(409,))
    async def list_task_files(call: RouteRequest[FolderQuery, None]) -> FolderAnswer:
        """Lists the files of a task in one folder, as its node has them now."""
        require_file_reader(call)
        services, path, folder = await call.services(), call.path, call.query.folder
        report = await services.files.task_folder(path["account"], path["job"], path["task"], folder)
        return folder_answer(folder, report)

    @routes.route(
        "GET", f"{_OF_TASK}/{{*path}}", query=FileQuery, returns=str, media=_TEXT, statuses=_PART, refusals=_NONE
    )
    async def get_task_file(call: RouteRequest[FileQuery, None]) -> RouteResponse:
        """Returns a part of a task's file, as its node has it now, with secrets masked."""
        require_file_reader(call)
        wanted, services, path = wanted_part(call), await call.services(), call.path
        part = await services.files.task_file(path["account"], path["job"], path["task"], path_parameter(call), wanted)
        return part_response(call, part)


def _add_files_of_nodes(routes: Routes) -> None:
    @routes.route("GET", _OF_NODE, query=FolderQuery, returns=FolderAnswer, refusals=(409,))
    async def list_node_files(call: RouteRequest[FolderQuery, None]) -> FolderAnswer:
        """Lists the files of a node in one folder, as it has them now."""
        require_file_reader(call)
        services, path, folder = await call.services(), call.path, call.query.folder
        report = await services.files.node_folder(path["account"], path["pool"], path["node"], folder)
        return folder_answer(folder, report)

    @routes.route(
        "GET", f"{_OF_NODE}/{{*path}}", query=FileQuery, returns=str, media=_TEXT, statuses=_PART, refusals=_NONE
    )
    async def get_node_file(call: RouteRequest[FileQuery, None]) -> RouteResponse:
        """Returns a part of a node's file, as it has it now, with secrets masked."""
        require_file_reader(call)
        wanted, services, path = wanted_part(call), await call.services(), call.path
        part = await services.files.node_file(path["account"], path["pool"], path["node"], path_parameter(call), wanted)
        return part_response(call, part)

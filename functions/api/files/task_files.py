"""GET accounts/{account}/jobs/{job}/tasks/{task}/files: what files a task has, and …/files/{path}: a part of one."""

from functions.api.endpoints import JOB
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

_FILES = f"{JOB}/tasks/{{task}}/files"


def add_task_files(routes: Routes) -> None:
    @routes.route("GET", _FILES, query=FolderQuery, returns=FolderAnswer, refusals=(409,))
    async def list_task_files(call: RouteRequest[FolderQuery, None]) -> FolderAnswer:
        """Lists the files of a task in one folder, as its node has them now."""
        require_file_reader(call)
        services, path, folder = await call.services(), call.path, call.query.folder
        report = await services.files.task_folder(path["account"], path["job"], path["task"], folder)
        return folder_answer(folder, report)

    @routes.route(
        "GET",
        f"{_FILES}/{{*path}}",
        query=FileQuery,
        returns=str,
        media="text/plain",
        statuses=(200, 206),
        refusals=(409, 416),
    )
    async def get_task_file(call: RouteRequest[FileQuery, None]) -> RouteResponse:
        """Returns a part of a task's file, as its node has it now, with secrets masked."""
        require_file_reader(call)
        wanted, services, path = wanted_part(call), await call.services(), call.path
        part = await services.files.task_file(path["account"], path["job"], path["task"], path_parameter(call), wanted)
        return part_response(call, part)

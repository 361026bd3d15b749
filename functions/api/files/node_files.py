"""GET accounts/{account}/pools/{pool}/nodes/{node}/files: what files a node has, and …/files/{path}: a part of one.

Those of start tasks are in the folder `startup`, those of job preparation and release tasks in `workitems`.
"""

from functions.api.endpoints import POOL
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

_FILES = f"{POOL}/nodes/{{node}}/files"


def add_node_files(routes: Routes) -> None:
    @routes.route("GET", _FILES, query=FolderQuery, returns=FolderAnswer, refusals=(409,))
    async def list_node_files(call: RouteRequest[FolderQuery, None]) -> FolderAnswer:
        """Lists the files of a node in one folder, as it has them now."""
        require_file_reader(call)
        services, path, folder = await call.services(), call.path, call.query.folder
        report = await services.files.node_folder(path["account"], path["pool"], path["node"], folder)
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
    async def get_node_file(call: RouteRequest[FileQuery, None]) -> RouteResponse:
        """Returns a part of a node's file, as it has it now, with secrets masked."""
        require_file_reader(call)
        wanted, services, path = wanted_part(call), await call.services(), call.path
        part = await services.files.node_file(path["account"], path["pool"], path["node"], path_parameter(call), wanted)
        return part_response(call, part)

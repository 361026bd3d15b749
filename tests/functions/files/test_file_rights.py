"""Who may read files: by the setting FILE_READERS, and files that are no text."""

import azure.functions as func
import pytest

from functions.api.files.file_answers import FileQuery, part_response, require_file_reader
from functions.api.files.outputs import add_outputs
from functions.http.handling import RouteRequest, Routes, send_nowhere
from functions.http.identity import Caller, ForbiddenError
from shared.domain.files.files import FileFacts
from shared.runtime import Runtime
from shared.services.files.file_reader import FilePart
from shared.settings import read_settings

BINARY = FilePart(FileFacts(4, None), "wd/odd \u2713;name.bin", 0, b"\x00\x01\x02\x03", None)


def _call(readers: str | None, *, operates: bool) -> RouteRequest[FileQuery, None]:
    caller = Caller(frozenset({"demo"}), frozenset({"demo"} if operates else ()), reads_all=True)
    settings = read_settings({"FILE_READERS": readers} if readers else {})
    request = func.HttpRequest("GET", "http://127.0.0.1/api", body=b"")
    return RouteRequest(Runtime(settings), request, caller, {"account": "demo"}, FileQuery(), None, send_nowhere)


@pytest.mark.parametrize(
    ("readers", "allowed"), [(None, "both"), ("readers", "both"), ("operators", "operator"), ("nobody", "")]
)
def test_the_setting_says_who_may_read_files(readers: str | None, allowed: str) -> None:
    for operates in (True, False):
        call = _call(readers, operates=operates)
        if allowed == "both" or (allowed and operates):
            require_file_reader(call)
        else:
            with pytest.raises(ForbiddenError, match="FILE_READERS"):
                require_file_reader(call)


async def test_kept_outputs_are_shown_to_those_who_may_read_files() -> None:
    routes = Routes(read_settings({}))
    add_outputs(routes)
    _, handler = routes.handlers["get_task_output"]
    for readers, operates in (("nobody", True), ("operators", False)):
        with pytest.raises(ForbiddenError, match="FILE_READERS"):
            await handler(_call(readers, operates=operates))


def test_a_file_that_is_no_text_is_a_download_for_operators() -> None:
    response = part_response(_call(None, operates=True), BINARY)
    assert response.value == BINARY.content
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''odd%20%E2%9C%93%3Bname.bin"


def test_a_file_that_is_no_text_is_refused_to_readers() -> None:
    with pytest.raises(ForbiddenError, match=r"is no text, so its secrets can't be masked; only operators"):
        part_response(_call(None, operates=False), BINARY)

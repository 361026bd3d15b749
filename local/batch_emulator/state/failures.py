"""Failures of tasks: documented categories and codes (TaskFailureInformationCodes).

No code is documented for a task that exceeded its time limit; TaskEnded is the only listed one that fits. Such a task
may have "an operating system-defined exit code" (reference of TaskExecutionInformation): KILLED, as on Linux.
"""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.entities import Failure

_USER = "usererror"
ENDED = Failure(_USER, "TaskEnded", "The task was ended at a user's request.")

TOO_LONG = Failure(_USER, "TaskEnded", "The task ran longer than its maxWallClockTime allows and was ended.")
KILLED = 137


def exit_failure(exit_code: int) -> Failure:
    return Failure(
        _USER,
        "FailureExitCode",
        "The task exited with an exit code representing a failure",
        (("Message", f"The task exited with exit code {exit_code}"), ("AdditionalErrorCode", "FailureExitCode")),
    )


def download_failure(spec: Mapping[str, Any]) -> Failure | None:
    """Returns the failure for a resource, container or package whose name contains `missing`; None without one."""
    if package := package_of(spec, "missing"):
        text = "An application package of the task could not be downloaded."
        return Failure(_USER, "ApplicationPackageError", text, (("ApplicationPackageReference", package),))
    for file in spec.get("resourceFiles") or ():
        blob, container = str(file.get("httpUrl") or ""), str(file.get("storageContainerUrl") or "")
        if "missing" in blob:
            return _not_found("BlobNotFound", "A resource file of the task does not exist.", "BlobSource", blob)
        if "missing" in container:
            text = "The storage container of a resource file was not found."
            return _not_found("ResourceContainerNotFound", text, "ContainerUrl", container)
    return None


def package_of(spec: Mapping[str, Any], word: str) -> str | None:
    """Returns the first application package whose id contains a word, as `id:version`.

    One with `missing` was deleted from storage and can't be downloaded. One with `unknown` isn't in the account.
    """
    for package in spec.get("applicationPackageReferences") or ():
        if word in str(package.get("applicationId")).lower():
            return f"{package['applicationId']}:{package.get('version') or ''}".rstrip(":")
    return None


def package_error(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns a node's error if a package of its pool can't be downloaded (Microsoft's troubleshooting of pools)."""
    package = package_of(spec, "missing")
    if package is None:
        return None
    return {
        "code": "ApplicationPackageError",
        "message": "One or more application packages specified for the pool are invalid",
        "errorDetails": [
            {"name": "ApplicationPackageReference", "value": package},
            {"name": "Message", "value": "Resource download failed"},
        ],
    }


def _not_found(code: str, message: str, name: str, url: str) -> Failure:
    return Failure(_USER, code, message, ((name, url.partition("?")[0]), ("FilePath", "")))

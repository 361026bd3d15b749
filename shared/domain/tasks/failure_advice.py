"""Advice on tasks that failed for a well-known cause. It gives none where the cause is uncertain.

Sources: TaskFailureInformationCodes and "Batch status and error codes" of the Batch documentation for codes. For exit
codes of 126 and more: the shells' convention for signals (128 and the signal's number), and Windows' NTSTATUS values. A
program may give any code its own meaning, so advice on exit codes states only the usual one.
"""

_EXITED = "FailureExitCode"
_SIGNED = 1 << 32  # exit codes are signed 32 bits; NTSTATUS values are written without a sign

_RESOURCE_FILE = (
    "See that the storage account is there and that the pool's nodes may reach it through its firewall; tasks that are "
    "run again may well succeed."
)
_NODE_DISK = "The node's disk may be full or failing: look at the tasks of the same node, and reimage it if they agree."
_BY_CODE = {
    "ApplicationPackageError": "An application package couldn't be deployed: see that the version that the task or its "
    "pool names exists and is active, and that the account's auto-storage can be reached.",
    "BlobAccessDenied": "Access to a resource file was denied: its SAS may have expired or not grant read, or the "
    "pool's identity lacks the role Storage Blob Data Reader.",
    "BlobDownloadMiscError": f"A resource file couldn't be downloaded. {_RESOURCE_FILE}",
    "BlobDownloadTimedOut": f"A resource file didn't come in time. {_RESOURCE_FILE}",
    "BlobNotFound": "A resource file isn't there: see the blob's name, and whether what makes it had run by then.",
    "CommandLaunchFailed": "The command line couldn't be started: see that its program may be executed and that it is "
    "made for the node's system. A shell must be named: /bin/sh -c or cmd /c.",
    "CommandProgramNotFound": "The program of the command line isn't on the node: see its path, the resource files, "
    "and the pool's start task. A shell must be named: /bin/sh -c or cmd /c.",
    "ContainerInvalidImage": "The container image couldn't be had: see its name and tag, and that the pool's "
    "registry lets its nodes pull it.",
    "ContainerInvalidRegistry": "The container registry is not valid: see its server, and the credentials or the "
    "identity that the pool names.",
    "ContainerInvalidSettings": "The container settings of the task are not valid: see its run options and mounts.",
    "ContainerMiscError": "The container couldn't be run: see the container's log on the node, and whether the pool's "
    "image runs containers.",
    "DiskFull": "The node's disk had no room for the task's files: let tasks delete what they leave, shorten their "
    "retention time, or take nodes with a larger disk.",
    "JobPreparationTaskFailed": "The job preparation task failed on the node: look at that one's output first.",
    "ResourceContainerAccessDenied": "Access to a storage container of resource files was denied: its SAS may have "
    "expired or not grant list and read, the pool's identity may lack the role Storage Blob Data Reader, or the "
    "account's firewall keeps the nodes out.",
    "ResourceContainerNotFound": "A storage container of resource files isn't there: see its name and account.",
    "ResourceDirectoryCreateFailed": f"The node couldn't make the task's directory. {_NODE_DISK}",
    "ResourceFileCreateFailed": f"The node couldn't make a file for a resource file. {_NODE_DISK}",
    "ResourceFileWriteFailed": f"The node couldn't write a resource file. {_NODE_DISK}",
    "TaskEnded": "The task was ended from outside: by somebody, with its job, or because it ran longer than its "
    "maxWallClockTime allows.",
}  # fmt: skip
_KILLED = (
    "The program was killed (SIGKILL): mostly the node was out of memory, or the task was ended. Let a task take more "
    "slots, or take nodes with more memory."
)
_BY_EXIT_CODE = {
    1: "An error of the program's own: its stderr.txt says more.",
    126: "The shell found the program but may not execute it: see its mode (chmod +x), and whether it is made for the "
    "node's system.",
    127: "The shell didn't find a program: see its path, the resource files, and what the start task installs.",
    134: "The program aborted itself (SIGABRT), often at a failed assertion: its stderr.txt says more.",
    137: _KILLED,
    0xFFFFFFF7: _KILLED,  # -9
    139: "The program crashed at an access to memory that isn't its own (SIGSEGV).",
    143: "The program was asked to end (SIGTERM): the task was terminated, or its node went away.",
    0xC0000005: "The program crashed at an access to memory that isn't its own (STATUS_ACCESS_VIOLATION).",
    0xC0000017: "The node had no memory left for the program (STATUS_NO_MEMORY). Let a task take more slots, or take "
    "nodes with more memory.",
    0xC00000FD: "The program's stack was used up (STATUS_STACK_OVERFLOW), mostly by a recursion that doesn't end.",
    0xC0000135: "The program lacks a DLL (STATUS_DLL_NOT_FOUND): see what the start task installs.",
    0xC000013A: "The program was ended from outside (STATUS_CONTROL_C_EXIT): the task was terminated, or ran longer "
    "than its maxWallClockTime allows.",
}  # fmt: skip


def advice_on(failure: tuple[str, str], exit_code: int | None) -> str | None:
    """Returns advice on tasks with this (category, code) and exit code, None where the cause is not well known."""
    code = failure[1]
    if code and code != _EXITED:
        return _BY_CODE.get(code)
    if exit_code is None:
        return None
    return _BY_EXIT_CODE.get(exit_code if exit_code >= 0 else exit_code + _SIGNED)

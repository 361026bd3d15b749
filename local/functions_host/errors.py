"""The two ways in which something goes wrong for a person to read: the host won't start, or a function failed."""

from local.functions_host.messages import RpcException


class RefusalError(Exception):
    """The host won't start; the message is the plain sentence to show, and nobody wants a traceback with it."""


class FunctionFailedError(Exception):
    """A function raised; carries what the worker reported about it."""

    def __init__(self, name: str, report: RpcException) -> None:
        super().__init__(f"{name}: {report.message}")
        self.report = report

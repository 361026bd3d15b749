"""The ways in which something goes wrong: the host won't start, a function failed, a message makes no sense."""

from local.functions_host.app.messages import RpcException


class RefusalError(Exception):
    """The host won't start; the message is the plain sentence to show, and nobody wants a traceback with it."""


class TryFailedError(Exception):
    """What a message asks for wasn't done; it is tried again, as often as the app allows."""


class BlobRefusedError(TryFailedError):
    """Storage has a blob and doesn't hand it over, as where it was moved to the archive."""


class FunctionFailedError(TryFailedError):
    """A function raised; carries what the worker reported about it."""

    def __init__(self, name: str, report: RpcException) -> None:
        super().__init__(f"{name}: {report.message}")
        self.report = report


class MessageError(Exception):
    """A message of a queue that nobody can work on, however often it comes."""

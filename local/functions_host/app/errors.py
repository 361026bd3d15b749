"""Errors of the host: a wrong configuration, a failed function, an invalid message."""

from local.functions_host.app.messages import RpcException


class ConfigurationError(Exception):
    """The app or its settings can't be served; the message is the sentence to print, without a traceback."""


class AttemptFailedError(Exception):
    """One attempt to process a message failed; it is retried as often as the app allows."""


class BlobRefusedError(AttemptFailedError):
    """Storage refuses to return an existing blob, for example one in the archive tier."""


class FunctionFailedError(AttemptFailedError):
    """A function raised; carries the worker's report of the exception."""

    def __init__(self, name: str, report: RpcException) -> None:
        super().__init__(f"{name}: {report.message}")
        self.report = report


class MessageError(Exception):
    """A queue message that is invalid, so that no retry can succeed."""

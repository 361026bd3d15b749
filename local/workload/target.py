"""The workload's target: an emulator on this machine, and nothing else. No setting widens that.

The SDK's client is restricted as well: it follows no redirects and uses no proxy of the environment.
"""

import ipaddress
from urllib.parse import urlsplit

from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.core.rest import HttpRequest

HOLD_HEADER = "x-emulator-hold-while-paused"
_API_VERSION = "2026-10-01"
_READS = ("GET", "HEAD")


class TargetError(Exception):
    """The address isn't an allowed target of the workload."""


class HoldPolicy(SansIOHTTPPolicy[HttpRequest, object]):
    """Marks every write, so that the emulator's truth stays constant while it is paused."""

    def on_request(self, request: PipelineRequest[HttpRequest]) -> None:
        if request.http_request.method not in _READS:
            request.http_request.headers[HOLD_HEADER] = "true"


class PlainColonsPolicy(SansIOHTTPPolicy[HttpRequest, object]):
    """Writes colons in ids of a schedule's jobs as the transport sends them, because the signature covers them."""

    def on_request(self, request: PipelineRequest[HttpRequest]) -> None:
        parts = urlsplit(request.http_request.url)
        request.http_request.url = parts._replace(path=parts.path.replace("%3A", ":")).geturl()


def check_target(address: str) -> str:
    """Returns the address without a trailing slash. Raises TargetError unless it is http on a loopback address."""
    parts = urlsplit(address)
    if parts.scheme != "http" or not _is_loopback(parts.hostname or "") or parts.username is not None:
        raise TargetError(
            f"The workload writes only to an emulator on this machine, as http://127.0.0.1:PORT; '{address}' isn't one."
        )
    return address.rstrip("/")


def open_client(address: str, account: str, key: str) -> BatchClient:
    """Returns the official client, in the API version that has pools of several sizes.

    Raises TargetError as `check_target` does.
    """
    return BatchClient(
        check_target(address),
        AzureNamedKeyCredential(account, key),
        api_version=_API_VERSION,
        per_call_policies=[HoldPolicy(), PlainColonsPolicy()],
        permit_redirects=False,
        use_env_settings=False,
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

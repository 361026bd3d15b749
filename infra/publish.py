"""Deploys the package as it is, without a build in Azure.

`az functionapp deployment source config-zip` can't: for Python on Flex Consumption it asks for a remote build even
with `--build-remote false` (azure-cli 2.88). So this sends the zip to the same address itself, as azd does, and waits
for the outcome. What a new app needs a while for is tried again: its deployment site, its identity's role on storage.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any

from infra.azure_cli import SUBSCRIPTION, Az, CommandError, az, flat, in_subscription

_TRIES = 10
_PAUSE_SECONDS = 30.0
_TIMEOUT_SECONDS = 600
_POLL_SECONDS = 1.0
_MAX_POLLS = 900
_SUCCEEDED = 4
_ENDS = {3: "failed", -1: "was cancelled", 5: "was cancelled", 6: "succeeded in part only"}
_NOT_YET = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE}


def deployment_site(group: str, app: str, call: Az) -> str:
    """Host name of the site that takes packages for an app. Raises CommandError."""
    shown = flat(call("functionapp", "show", "--resource-group", group, "--name", app))
    names = shown.get("hostNameSslStates") or []
    found = [str(name["name"]) for name in names if str(name.get("hostType")) == "Repository"]
    if not found:
        raise CommandError(f"{app} has no deployment site; is it a function app in {group}?")
    return found[0]


def publish(site: str, token: str, archive: bytes, *, pause_seconds: float = _PAUSE_SECONDS) -> str:
    """Send a zip to a deployment site and return the deployment's id. `site` is an address. Raises CommandError."""
    address = f"{site}/api/publish?RemoteBuild=false"
    headers = {"Content-Type": "application/zip"}
    for attempt in range(_TRIES):
        time.sleep(pause_seconds if attempt else 0)
        status, body = _asked(address, token, data=archive, headers=headers)
        if status in {HTTPStatus.OK, HTTPStatus.ACCEPTED}:
            return str(_json_of(site, body))
        is_storage = status == HTTPStatus.BAD_REQUEST and "BlobUpload" in body
        if status not in _NOT_YET and not is_storage:
            break
        print(f"{site} answered {status} to the package, attempt {attempt + 1} of {_TRIES}.", flush=True)
    advice = " A private app takes packages only from within its network." if status == HTTPStatus.FORBIDDEN else ""
    raise CommandError(f"{site} refused the package with status {status}: {_excerpt(body)}{advice}")


def wait_for(site: str, token: str, deployment: str, *, pause_seconds: float = _POLL_SECONDS) -> None:
    """Return once a deployment has succeeded. Raises CommandError if it ends otherwise, or not at all.

    A deployment that was there and isn't any more has ended: its worker was recycled.
    """
    seen = False
    for _ in range(_MAX_POLLS):
        status, body = _asked(f"{site}/api/deployments/{deployment}", token)
        if status == HTTPStatus.NOT_FOUND and seen:
            return
        if status in {HTTPStatus.OK, HTTPStatus.ACCEPTED}:
            seen, found = True, _json_of(site, body)
            if found.get("status") == _SUCCEEDED:
                return
            if found.get("status") in _ENDS:
                raise CommandError(f"The deployment {_ENDS[found['status']]}: {_words(found)}")
        time.sleep(pause_seconds)
    waited = f"{_MAX_POLLS * pause_seconds:.0f} s"
    raise CommandError(f"The deployment {deployment} hasn't ended after {waited}; {site} last answered {status}.")


def _asked(
    address: str, token: str, *, data: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Status and body of a response; status 503 where there is none."""
    given = {"Authorization": f"Bearer {token}", "Accept": "application/json", **(headers or {})}
    request = urllib.request.Request(address, data=data, headers=given)  # noqa: S310 - of this deployment
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:  # noqa: S310 - of this deployment
            return response.status, response.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")
    except (OSError, HTTPException) as error:
        return HTTPStatus.SERVICE_UNAVAILABLE, str(error)


def _json_of(site: str, body: str) -> Any:
    """A body's content. Raises CommandError, as where a proxy answers in place of the site."""
    try:
        return json.loads(body)
    except ValueError as error:
        raise CommandError(f"{site} answered with something other than JSON: {_excerpt(body)}") from error


def _words(found: Mapping[str, Any]) -> str:
    return _excerpt(" ".join(str(found[name]) for name in ("status_text", "message") if found.get(name)))


def _excerpt(text: str) -> str:
    return " ".join(text.split())[:500] or "it said nothing."


def main(arguments: Sequence[str], call: Az = az, *, scheme: str = "https") -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resource-group", required=True, help="the output AZURE_RESOURCE_GROUP")
    parser.add_argument("--app", required=True, help="the output AZURE_FUNCTION_APP_NAME")
    parser.add_argument("--package", type=Path, default=Path("dist/batchscope.zip"), help="default: %(default)s")
    options = parser.parse_args(arguments)
    if not options.package.is_file():
        parser.error(f"{options.package} isn't there; `python3 dev.py build` makes it")
    call = in_subscription(call, os.environ.get(SUBSCRIPTION))
    try:
        site = f"{scheme}://{deployment_site(options.resource_group, options.app, call)}"
        token = call("account", "get-access-token")["accessToken"]
        deployment = publish(site, token, options.package.read_bytes())
        print(f"{options.package} was sent to {options.app}; waiting for deployment {deployment}.")
        wait_for(site, token, deployment)
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    print("Deployed.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

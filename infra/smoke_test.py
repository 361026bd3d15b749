"""Says whether a deployed Batchscope works, from outside and over HTTP only; the exit code is 0 if it does.

It asks for health, the API's description, the accounts and the dashboard, that strangers are turned away, and that the
app knows of the platform's sign-in. At least one account must have been polled in its own time, with success, and since
a moment that may be given: what the app did before an upgrade says nothing of it after. What fails is said in a
sentence. Only the standard library is needed; the token comes from the environment, because arguments can be seen by
other users of a machine.
"""

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.message import Message
from functools import cache
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.parse import urljoin, urlsplit

TOKEN_VARIABLE = "BATCHSCOPE_TOKEN"  # noqa: S105 - the name of a variable
_TIMEOUT_SECONDS = 30
_LATE = timedelta(minutes=2)
_MAX_BYTES = 16 * 1024 * 1024
_SIGN_IN_HOSTS = {
    "login.microsoftonline.com",
    "login.microsoftonline.us",
    "login.chinacloudapi.cn",
    "login.partner.microsoftonline.cn",
}
_SIGN_IN_PATH = "/.auth/login/"
CLOSED = "closed until authentication is set up"
"""What the app says to everybody while WEBSITE_AUTH_ENABLED isn't true."""
_PATHS = ("/api/accounts", "/api/health", "/api/accounts/{account}/jobs")


class SmokeError(Exception):
    """What is wrong with the deployment, in a sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body of a response."""

    status: int
    headers: Message
    body: bytes

    @property
    def kind(self) -> str:
        return self.headers.get_content_type()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self, what: str) -> dict[str, Any]:
        """The body as a JSON object. Raises SmokeError."""
        if self.status != HTTPStatus.OK:
            raise SmokeError(f"{what} answered {self.status} instead of 200{_excerpt(self.body)}")
        try:
            value = json.loads(self.body)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise SmokeError(f"{what} is not a JSON object{_excerpt(self.body)}")
        return value


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer to look at: following one would carry the token to another host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


@cache
def _opener() -> urllib.request.OpenerDirector:
    """The opener of all requests; loading its certificates takes longer than a request."""
    return urllib.request.build_opener(_NoRedirect)


@dataclass(frozen=True, slots=True)
class Site:
    """A deployment by its address; `token` is None where nobody has to sign in, which is on this machine only.

    A poll counts that began after `polled_after`; None takes any. `patient_until` is when trying again ends;
    None: at once.
    """

    url: str
    token: str | None
    polled_after: datetime | None = None
    patient_until: datetime | None = None

    def signs_in_at(self, location: str) -> bool:
        """Whether a redirect leads to Microsoft's sign-in, or to this site's own way there."""
        here, there = urlsplit(self.url), urlsplit(urljoin(self.url, location))
        if there.scheme == "https" and there.netloc in _SIGN_IN_HOSTS:
            return True
        return there[:2] == here[:2] and there.path.startswith(_SIGN_IN_PATH)

    def get(self, path: str, *, signed_in: bool = True) -> Answer:
        """Raises SmokeError when no HTTP response comes."""
        request = urllib.request.Request(urljoin(self.url, path), headers={"Accept": "*/*"})  # noqa: S310
        if signed_in and self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with _opener().open(request, timeout=_TIMEOUT_SECONDS) as response:
                return Answer(response.status, response.headers, response.read(_MAX_BYTES))
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read(_MAX_BYTES))
        except (OSError, HTTPException) as error:
            raise SmokeError(f"{urlsplit(request.full_url).path} can't be reached: {error}.") from error


def check_health(site: Site) -> str:
    """Health answers strangers, and everything is set up."""
    health = site.get("api/health", signed_in=False).json("Health")
    status, age = health.get("status"), health.get("lastPollAgeSeconds")
    if status not in {"healthy", "degraded"}:
        raise SmokeError(f"Health says {status!r}: {health.get('problems') or 'sign in to see why'}.")
    remark = "" if status == "healthy" else ", as some accounts or jobs can't be polled"
    return f"Health is {status}{remark}" + (f"; polls are {age:.0f} s old." if isinstance(age, int | float) else ".")


def check_strangers(site: Site) -> str:
    """Who has not signed in gets neither accounts nor the API's description."""
    if site.token is None:
        return "Nobody has to sign in here, so nobody is turned away."
    for path in ("api/accounts", "api/openapi.json"):
        answer = site.get(path, signed_in=False)
        refused = answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
        sent_away = answer.status in {301, 302, 303, 307} and site.signs_in_at(answer.headers.get("Location", ""))
        if not refused and not sent_away:
            raise SmokeError(f"/{path} answered {answer.status} to a stranger; sign-in is not in force.")
    return "Strangers are turned away."


def check_platform(site: Site) -> str:
    """The platform has told the app that sign-in is in force, by WEBSITE_AUTH_ENABLED."""
    if site.token is None:
        return "Nobody has to sign in here, so no platform has to say that they did."
    answer = site.get("api/accounts")
    if answer.status == HTTPStatus.OK:
        return "The app knows that the platform signs people in."
    if CLOSED not in answer.text:
        raise SmokeError(f"Whether the app knows of sign-in can't be seen: /api/accounts answered {answer.status}.")
    if CLOSED in site.get("api/accounts", signed_in=False).text:
        raise SmokeError(
            "App Service authentication is off, so the app is closed: deploy the template again, and look at"
            " `az webapp auth show`. Don't set WEBSITE_AUTH_ENABLED: identities could then be forged."
        )
    raise SmokeError(
        "App Service authentication is in force, but the platform doesn't set WEBSITE_AUTH_ENABLED, so the app is"
        " closed: set the parameter authEnabledSetting to true in infra/main.parameters.json and deploy again."
    )


def check_description(site: Site) -> str:
    """The API's description is OpenAPI 3.1 and has the routes that matter most."""
    document = site.get("api/openapi.json").json("The API's description")
    if not str(document.get("openapi", "")).startswith("3.1"):
        raise SmokeError(f"The API's description is not OpenAPI 3.1, but {document.get('openapi')!r}.")
    held = {re.sub(r"{\w+}", "{}", path) for path in document.get("paths", {})}
    missing = [path for path in _PATHS if re.sub(r"{\w+}", "{}", path) not in held]
    if missing:
        raise SmokeError(f"The API's description lacks {', '.join(missing)}.")
    return f"The API describes {len(document['paths'])} paths."


def check_accounts(site: Site) -> str:
    """At least one account that is switched on was polled with success, or none was due."""
    accounts = site.get("api/accounts").json("The list of accounts").get("value")
    if not isinstance(accounts, list) or not accounts:
        raise SmokeError(
            "The list of accounts is empty: the setting BATCH_ACCOUNTS names none, or ACCOUNT_ROLES shows this identity"
            " none. Give it an app role for every account that it is to see."
        )
    now = datetime.now(UTC)
    faults = {str(account.get("id")): _fault(account, site, now) for account in accounts if account.get("enabled")}
    if not faults:
        return "All accounts are switched off, so none is polled."
    told = " ".join(f"{name}: {fault}" for name, fault in faults.items() if fault)
    good = [name for name, fault in faults.items() if fault is None]
    if not good:
        raise SmokeError(f"No account is polled. {told}")
    return f"Accounts polled: {', '.join(good)}." + (f" Others are not. {told}" if told else "")


def _fault(account: Mapping[str, Any], site: Site, now: datetime) -> str | None:
    """Why an account doesn't count as polled, None if it does.

    One whose turn comes only when patience is over counts by its last poll, however long before the upgrade that was.
    """
    last = account.get("lastRound")
    if last is None:
        return "It was not polled yet: the timer doesn't run."
    try:
        began, ended = (datetime.fromisoformat(last[name]) for name in ("startedAt", "finishedAt"))
        outcome, rate = last["outcome"], timedelta(seconds=account["pollSeconds"])
        polled, failed = last["jobsPolled"], last["jobsFailed"]
    except (KeyError, TypeError, ValueError) as error:
        raise SmokeError(f"An account isn't described as the API says: {error!r}.") from error
    if outcome != "succeeded":
        return f"Its last poll failed: {last.get('reason')}"
    if polled and polled == failed:
        return f"None of its {polled} jobs could be polled; their verdicts say why."
    if now - ended > 3 * rate + _LATE:
        return f"It was last polled at {ended:%Y-%m-%d %H:%M:%S} UTC, but should be every {rate.total_seconds():.0f} s."
    if site.polled_after and began < site.polled_after and began + rate + _LATE <= (site.patient_until or now):
        return "It was not polled yet since the deployment."
    return None


def check_dashboard(site: Site) -> str:
    """The dashboard is a page whose script can be fetched."""
    page = site.get("")
    if page.status != HTTPStatus.OK or page.kind != "text/html":
        raise SmokeError(f"The dashboard answered {page.status} as {page.kind}{_excerpt(page.body)}")
    scripts = re.findall(r'<script[^>]+src="([^"]+)"', page.body.decode("utf-8", "replace"))
    if not scripts:
        raise SmokeError("The dashboard's page has no script: it isn't Batchscope's.")
    for script in scripts:
        answer = site.get(script)
        if answer.status != HTTPStatus.OK or "javascript" not in answer.kind:
            raise SmokeError(f"The dashboard's script {script} answered {answer.status} as {answer.kind}.")
    return "The dashboard and its scripts are served."


CHECKS: tuple[Callable[[Site], str], ...] = (
    check_health,
    check_strangers,
    check_platform,
    check_description,
    check_accounts,
    check_dashboard,
)


def run(site: Site) -> Iterator[tuple[bool, str]]:
    """Whether each check passed, and what it found."""
    for check in CHECKS:
        try:
            yield True, check(site)
        except SmokeError as error:
            yield False, str(error)


def smoke_test(site: Site, *, patience_seconds: float, pause_seconds: float = 10) -> int:
    """Runs all checks, again and again until all pass or patience ends; prints the last findings."""
    deadline = time.monotonic() + patience_seconds
    site = replace(site, patient_until=datetime.now(UTC) + timedelta(seconds=patience_seconds))
    findings = list(run(site))
    while not all(passed for passed, _ in findings) and time.monotonic() < deadline:
        time.sleep(min(pause_seconds, max(deadline - time.monotonic(), 0)))
        findings = list(run(site))
    for passed, sentence in findings:
        print(f"{'ok  ' if passed else 'FAIL'} {sentence}")
    failed = sum(not passed for passed, _ in findings)
    print(f"{failed} of {len(findings)} checks failed." if failed else "The deployment works.")
    return 1 if failed else 0


def main(arguments: Sequence[str], token: str) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="address of the app, like https://NAME.azurewebsites.net")
    parser.add_argument(
        "--polled-after", type=_moment, metavar="TIME", help="when polls count from, like 2026-11-21T13:00:00Z"
    )
    parser.add_argument("--patience", type=float, default=0, metavar="SECONDS", help="how long to try again")
    parser.add_argument("--no-sign-in", action="store_true", help="for an app on this machine, which knows no sign-in")
    options = parser.parse_args(arguments)
    parts = urlsplit(options.url)
    is_here = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        parser.error("the address must begin with https://, except on this machine")
    if options.no_sign_in and not is_here:
        parser.error("--no-sign-in is for an app on this machine only")
    if not token and not options.no_sign_in:
        parser.error(f"put a token for the app into the environment variable {TOKEN_VARIABLE}")
    site = Site(options.url.rstrip("/") + "/", None if options.no_sign_in else token, options.polled_after)
    return smoke_test(site, patience_seconds=options.patience)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a time like 2026-11-21T13:00:00Z") from None
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no time zone; end it with Z for UTC")
    return moment


def _excerpt(body: bytes) -> str:
    text = " ".join(body.decode("utf-8", "replace").split())[:200]
    return f": {text}" if text else "."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ.get(TOKEN_VARIABLE, "")))

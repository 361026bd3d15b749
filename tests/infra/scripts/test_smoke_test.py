"""The smoke test is green on the local stack and red on deployments that are broken in some way."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from functions.http.identity import UnauthenticatedError, identify
from infra.smoke_test import CLOSED, TOKEN_VARIABLE, Site, SmokeError, check_accounts, smoke_test
from local.azurite import StorageAddresses
from local.dev.system.checkout import HERE
from shared.settings import read_settings
from tests.e2e.live.stack import running_stack
from tests.infra.rules.scripts import SCRIPTS_FOLDER
from tests.infra.scripts.serving import Answer, serving

SCRIPTS = Path(os.environ.get(SCRIPTS_FOLDER, HERE.root))
TOKEN = "a-token"
SIGN_IN = "https://login.microsoftonline.com/tenant/oauth2/v2.0/authorize"
PAGE = b'<html><script type="module" src="/assets/index.js"></script></html>'


@dataclass(frozen=True, slots=True)
class Reply:
    body: bytes
    status: int = 200
    kind: str = "application/json"
    location: str = ""


_MOMENT = re.compile(rb"\{now([+-][\d.]+)\}")


def as_json(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status)


def account(name: str = "demo", *, began: float = -20, rate: float = 60, **changes: object) -> dict[str, object]:
    """An account as the API tells of it, whose last poll `began` so many seconds from when it is asked."""
    last = {
        "asOf": "{now+0}",
        "startedAt": f"{{now{began:+g}}}",
        "finishedAt": f"{{now{began + 1:+g}}}",
        "outcome": "succeeded",
        "reason": None,
        "jobsPolled": 3,
        "jobsFailed": 0,
        "batchCalls": 4,
    }
    shown = {"id": name, "enabled": changes.pop("enabled", True), "pollSeconds": rate}
    return {**shown, "lastRound": changes.pop("lastRound", {**last, **changes})}


def at_present(body: bytes) -> bytes:
    """A body in which `{now-20}` stands for the moment twenty seconds before this."""
    return _MOMENT.sub(
        lambda found: (datetime.now(UTC) + timedelta(seconds=float(found[1]))).isoformat().encode(), body
    )


REFUSED: Mapping[str, Any] = {"outcome": "failed", "reason": "https://x answered 403."}
HEALTHY = {"status": "healthy", "lastPollAgeSeconds": 12.5, "problems": []}
SOUND: Mapping[str, Reply] = {
    "/": Reply(PAGE, kind="text/html; charset=utf-8"),
    "/assets/index.js": Reply(b"1", kind="text/javascript"),
    "/api/health": as_json(HEALTHY),
    "/api/accounts": as_json({"value": [account()]}),
    "/api/openapi.json": as_json(
        {"openapi": "3.1.0", "paths": {"/api/accounts": {}, "/api/health": {}, "/api/accounts/{a}/jobs": {}}}
    ),
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a made-up deployment answers by path, and how it treats those who have not signed in."""

    replies: Mapping[str, Reply] = field(default_factory=lambda: SOUND)
    stranger: Reply | None = Reply(b"", 401)
    anonymous: frozenset[str] = frozenset({"/api/health"})

    def but(self, path: str, reply: Reply) -> "Deployment":
        return replace(self, replies={**self.replies, path: reply})

    def answer(self, path: str, authorization: str | None) -> Reply:
        if authorization != f"Bearer {TOKEN}" and path not in self.anonymous and self.stranger:
            return self.stranger
        return self.replies.get(path, Reply(b"", 404))


@contextmanager
def served(deployment: Deployment) -> Iterator[str]:
    def answer(asked: BaseHTTPRequestHandler) -> Answer:
        reply = deployment.answer(asked.path, asked.headers.get("Authorization"))
        location = {"Location": reply.location} if reply.location else {}
        return reply.status, at_present(reply.body), {"Content-Type": reply.kind, **location}

    with serving(answer) as address:
        yield f"{address}/"


def watching(*accounts: dict[str, object]) -> Deployment:
    return Deployment().but("/api/accounts", as_json({"value": list(accounts)}))


def exit_code_for(deployment: Deployment, polled_after: datetime | None = None) -> int:
    with served(deployment) as url:
        return smoke_test(Site(url, TOKEN, polled_after), patience_seconds=0)


@pytest.mark.parametrize(
    "deployment",
    [
        Deployment(),
        Deployment(stranger=Reply(b"", 403)),
        Deployment(stranger=Reply(b"", 302, location=SIGN_IN)),
        Deployment(stranger=Reply(b"", 302, location="/.auth/login/aad")),
        Deployment().but("/api/health", as_json({**HEALTHY, "status": "degraded"})),
        Deployment().but("/api/health", as_json({**HEALTHY, "lastPollAgeSeconds": None})),
        watching(account(began=-5000, rate=3600)),
        watching(account(enabled=False, lastRound=None)),
        watching(account(**REFUSED), account("other")),
        watching(account(jobsPolled=0, jobsFailed=0)),
    ],
    ids=[
        "401",
        "403",
        "sent to sign in",
        "sent to sign in here",
        "degraded",
        "age unknown",
        "slow",
        "switched off",
        "one of two is refused",
        "no jobs",
    ],
)
def test_a_sound_deployment_passes(deployment: Deployment, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_for(deployment) == 0, capsys.readouterr().out


SHUT = as_json({"error": {"code": "unauthenticated", "message": f"This API is {CLOSED}: turn on …"}}, 401)
BROKEN: Mapping[str, tuple[Deployment, str]] = {
    "settings are wrong": (
        Deployment().but("/api/health", as_json({"status": "unhealthy", "problems": []}, 503)),
        "Health answered 503",
    ),
    "health is of no known kind": (
        Deployment().but("/api/health", as_json({"status": "unhealthy", "problems": ["x"]})),
        "Health says 'unhealthy'",
    ),
    "nothing was polled": (watching(account(lastRound=None)), "demo: It was not polled yet"),
    "polling has stopped": (watching(account(began=-4000)), "but should be every 60 s"),
    "every poll is refused": (
        watching(account(**REFUSED), account("other", **REFUSED)),
        "other: Its last poll failed: https://x answered 403.",
    ),
    "no job can be read": (watching(account(jobsFailed=3)), "None of its 3 jobs could be polled"),
    "only what is switched off was polled": (
        watching(account(enabled=False), account("other", **REFUSED)),
        "No account is polled. other:",
    ),
    "accounts are described otherwise": (watching(account(lastRound={})), "isn't described as the API says"),
    "health needs sign-in": (Deployment(anonymous=frozenset()), "Health answered 401"),
    "strangers get in": (Deployment(stranger=None), "/api/accounts answered 200 to a stranger"),
    "strangers are sent elsewhere": (
        Deployment(stranger=Reply(b"", 302, location="https://example.com/")),
        "/api/accounts answered 302 to a stranger",
    ),
    "the platform doesn't say that sign-in is on": (
        Deployment().but("/api/accounts", SHUT),
        "set the parameter authEnabledSetting to true",
    ),
    "sign-in is off, so the app is closed": (
        Deployment(stranger=SHUT).but("/api/accounts", SHUT),
        "App Service authentication is off, so the app is closed",
    ),
    "there are no accounts": (
        Deployment().but("/api/accounts", as_json({"value": []})),
        "names none, or ACCOUNT_ROLES shows this identity none",
    ),
    "the token isn't taken": (Deployment().but("/api/accounts", Reply(b"", 401)), "The list of accounts answered 401"),
    "the API isn't described": (
        Deployment().but("/api/openapi.json", Reply(PAGE, kind="text/html")),
        "not a JSON object",
    ),
    "the API is another": (
        Deployment().but("/api/openapi.json", as_json({"openapi": "3.1.0", "paths": {"/api/health": {}}})),
        "lacks /api/accounts, /api/accounts/{account}/jobs",
    ),
    "the dashboard isn't built": (Deployment().but("/", Reply(b"isn't built", 503)), "The dashboard answered 503"),
    "the dashboard is the platform's": (
        Deployment().but("/", Reply(b"<html>up and running</html>", kind="text/html")),
        "The dashboard's page has no script",
    ),
    "a script is missing": (
        Deployment().but("/assets/index.js", Reply(b"", 404)),
        "/assets/index.js answered 404",
    ),
}


@pytest.mark.parametrize(("deployment", "said"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_deployment_fails_with_a_reason(
    deployment: Deployment, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_for(deployment) == 1
    assert any(said in line for line in capsys.readouterr().out.splitlines() if line.startswith("FAIL"))


def test_the_app_answers_as_the_smoke_test_expects() -> None:
    settings = read_settings({"WEBSITE_SITE_NAME": "x"})
    with pytest.raises(UnauthenticatedError, match=CLOSED):
        identify(settings, func.HttpRequest("GET", "/api/accounts", body=b""))


@pytest.mark.parametrize(
    "location",
    [
        "https://login.microsoftonline.com.evil/tenant",
        "https://login.microsoftonline.comevil/tenant",
        "https://login.microsoftonline.com@evil.example/tenant",
        "https://login.microsoftonline.com:444/tenant",
        "https://loginxmicrosoftonline.com/tenant",
        "https://evil.login.microsoftonline.com/tenant",
        "http://login.microsoftonline.com/tenant",
        "//login.microsoftonline.com/tenant",
        "https://evil.example/?to=https://login.microsoftonline.com/",
        "https://evil.example/.auth/login/aad",
        "//evil.example/.auth/login/aad",
        "/home?to=/.auth/login/aad",
        "",
    ],
)
def test_a_redirect_elsewhere_than_to_sign_in_is_refused(location: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_for(Deployment(stranger=Reply(b"", 302, location=location))) == 1
    assert "FAIL /api/accounts answered 302 to a stranger" in capsys.readouterr().out


def test_a_deployment_that_is_not_there_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with served(Deployment()) as url:
        pass
    assert smoke_test(Site(url, TOKEN), patience_seconds=0) == 1
    assert "/api/health can't be reached" in capsys.readouterr().out


def test_it_is_patient_with_a_deployment_that_comes_up_late(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []

    @dataclass(frozen=True, slots=True)
    class Late(Deployment):
        def answer(self, path: str, authorization: str | None) -> Reply:
            calls.append(path)
            return Reply(b"", 503) if len(calls) < 10 else Deployment.answer(self, path, authorization)

    with served(Late()) as url:
        assert smoke_test(Site(url, TOKEN), patience_seconds=30, pause_seconds=0.01) == 0
    assert "FAIL" not in capsys.readouterr().out


def test_polls_of_before_the_upgrade_do_not_count() -> None:
    upgraded = datetime.now(UTC) - timedelta(seconds=10)
    assert exit_code_for(watching(account(began=-5)), upgraded) == 0
    with served(watching(account(began=-20, rate=1))) as url:
        patient = Site(url, TOKEN, upgraded, patient_until=datetime.now(UTC) + timedelta(minutes=10))
        with pytest.raises(SmokeError, match="not polled yet since the deployment"):
            check_accounts(patient)


def test_an_account_whose_turn_comes_after_patience_ends_counts_by_its_last_poll() -> None:
    upgraded = datetime.now(UTC) - timedelta(seconds=10)
    with served(watching(account(began=-20, rate=3600))) as url:
        patient = Site(url, TOKEN, upgraded, patient_until=datetime.now(UTC) + timedelta(minutes=10))
        assert check_accounts(patient) == "Accounts polled: demo."


def run_as_program(*arguments: str, token: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SCRIPTS / "infra/smoke_test.py"), *arguments]
    return subprocess.run(command, env={TOKEN_VARIABLE: token}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("http://example.com", "--no-sign-in"), "must begin with https://"),
        (("https://example.com", "--no-sign-in"), "this machine only"),
        (("https://example.com",), "put a token"),
        (("https://example.com", "--polled-after", "2026-11-21T13:00:00"), "has no time zone"),
        (("https://example.com", "--polled-after", "now"), "now is not a time like 2026-11-21T13:00:00Z"),
    ],
)
def test_a_token_is_needed_and_never_sent_unencrypted(arguments: tuple[str, ...], said: str) -> None:
    done = run_as_program(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_local_stack_passes(azurite: StorageAddresses, tmp_path: Path) -> None:
    with running_stack(azurite, tmp_path, scenario="quiet", speed=20) as stack:
        done = run_as_program(stack.dashboard, "--no-sign-in", "--patience", "100")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Accounts polled: demo." in done.stdout


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/accounts", "/"])
def test_the_token_does_not_follow_a_redirect(path: str) -> None:
    seen: list[str | None] = []

    @dataclass(frozen=True, slots=True)
    class Elsewhere(Deployment):
        def answer(self, path: str, authorization: str | None) -> Reply:
            seen.append(authorization)
            return Deployment.answer(self, path, authorization)

    with served(Elsewhere()) as other:
        assert exit_code_for(Deployment().but(path, Reply(b"", 302, location=other))) == 1
    assert seen == []

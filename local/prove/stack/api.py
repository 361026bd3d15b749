"""A running stack as its clients see it: the app's API, and the controls of the emulator."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Stack:
    """Addresses of a running stack, as in `.local/up.json`."""

    api: str
    emulator: str
    account: str

    def get(self, path: str) -> Any:
        return call("GET", f"{self.api}{path}")

    def poll_all(self) -> Any:
        return call("POST", f"{self.api}/accounts/{self.account}/poll?wait=true", {"all": True})

    def jobs(self) -> dict[str, Any]:
        """Returns all jobs by id, following next links."""
        return self._listed("jobs")

    def pools(self) -> dict[str, Any]:
        """Returns all pools by id, following next links."""
        return self._listed("pools")

    def nodes(self, pool: str) -> dict[str, Any]:
        """Returns all nodes of a pool by id."""
        return self._listed(f"pools/{pool}/nodes")

    def schedules(self) -> dict[str, Any]:
        """Returns all job schedules by id."""
        return self._listed("jobschedules")

    def _listed(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        url: str | None = f"{self.api}/accounts/{self.account}/{kind}?maxpagesize=50"
        while url:
            page = call("GET", url)
            found |= {entry["id"]: entry for entry in page["value"]}
            url = page.get("nextLink")
        return found

    def truth(self) -> dict[str, Any]:
        return self._truth("jobs")

    def true_pools(self) -> dict[str, Any]:
        return self._truth("pools")

    def _truth(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = self.control("GET", "truth")["accounts"][self.account][kind]
        return found

    def time(self) -> str:
        found: str = self.control("GET", "clock")["time"]
        return found

    def pause(self, *, paused: bool) -> None:
        self.control("POST", "clock", {"paused": paused})

    def counters(self) -> dict[str, Any]:
        counters: dict[str, Any] = self.control("GET", "counters")
        return counters

    def control(self, method: str, name: str, body: Any = None) -> Any:
        """Calls one of the emulator's controls."""
        return call(method, f"{self.emulator}/_emulator/{name}", body)


def call(method: str, url: str, body: Any = None) -> Any:
    """Returns the JSON of the response. Raises OSError, http.client.HTTPException or ValueError if there is none."""
    return json.loads(call_raw(method, url, body) or b"null")


def call_raw(method: str, url: str, body: Any = None) -> bytes:
    """Returns the body of the response. Raises OSError or http.client.HTTPException if there is none."""
    payload = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, payload, {"Content-Type": "application/json"}, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
        found: bytes = answer.read()
        return found

"""One job on the canned server, and its page in a browser."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page

from tests.e2e.canned.canned_api import Canned, serving
from tests.e2e.canned.canned_files import files_of_task
from tests.e2e.canned.canned_job import (
    efficiency,
    explanation,
    failure_group,
    failures,
    finding,
    history,
    insight,
    live_task,
    task,
    timeline,
    what_if,
)
from tests.e2e.canned.canned_values import account, job, stamp

TALL = 3000


@contextmanager
def canned_render() -> Iterator[Canned]:
    """Serves the job `render`, which has data in every part."""
    with serving(Canned()) as canned:
        canned.parts = {
            "history": history(steps=60, gap=range(30, 36), doubtful=range(20, 25)),
            "failures": failures(failure_group("killed", 2), failure_group("other", 7, exitCode=2, advice=None)),
            "timeline": timeline(runs=4, slots=2),
            "explanation": explanation(finding()),
            "efficiency": efficiency(),
            "whatif": what_if(),
        }
        canned.tasks = [
            task(f"frame-{at:02}", group="killed" if at < 2 else "", began=900 - 9 * at) for at in range(60)
        ]
        canned.live = {"frame-00": live_task("frame-00")}
        canned.files = files_of_task()
        render = job("render", creationTime=stamp(3 * 3600), insight=insight())
        canned.accounts, canned.jobs = [account(jobs=[render])], {"demo": [render]}
        yield canned


def show(page: Page, canned: Canned, **query: str) -> None:
    """Opens the job's page, so tall that every part is in sight: parts out of sight aren't read."""
    width = page.viewport_size["width"] if page.viewport_size else 1440
    page.set_viewport_size({"width": width, "height": TALL})
    page.goto("&".join([f"{canned.url}/?account=demo&job=render", *(f"{key}={value}" for key, value in query.items())]))


def part(page: Page, name: str) -> Locator:
    """Returns a part of the page by its name: history, timeline, failures or tasks."""
    return page.locator(f"[data-section={name}]")

"""Why a job isn't running, on its page with a canned API: expanded if no task runs, collapsed if some do."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_job import explanation, finding
from tests.e2e.canned.canned_pool import node, pool
from tests.e2e.canned.canned_values import counts
from tests.e2e.canned.job_page import part, show

HOSTILE = "<img src=x onerror=document.title='broken'>\u202e"


def why(page: Page) -> Locator:
    return part(page, "why")


def stuck(canned: Canned, **changes: object) -> None:
    """Makes the job wait without a running task."""
    canned.jobs["demo"][0]["taskCounts"] = counts(active=10)
    first = finding("startTaskFailed", "blocking", title="The start task fails on the pool's nodes")
    canned.parts["explanation"] = explanation(
        first, finding(), running=False, summary="None of its 10 waiting tasks starts: the start task fails."
    ) | dict(changes)


def test_a_job_without_running_tasks_shows_its_cause_expanded(page: Page, render: Canned) -> None:
    stuck(render)
    show(page, render)
    expect(why(page).get_by_role("heading")).to_have_text("Why the job isn't running")
    expect(page.get_by_test_id("why-summary")).to_have_text(
        "None of its 10 waiting tasks starts: the start task fails."
    )
    cause = why(page).locator("[data-code=startTaskFailed]")
    expect(cause.get_by_text("What to do: Wait, make the pool larger")).to_be_visible()
    expect(cause).to_contain_text("Blocking")
    other = why(page).locator("[data-code=slotsBusy]")
    expect(other.get_by_text("What to do:")).to_be_hidden()
    other.get_by_text("All slots of the pool").click()
    expect(other.get_by_text("What to do:")).to_be_visible()


def test_evidence_is_shown_by_name_and_in_readable_units(page: Page, render: Canned) -> None:
    stuck(render)
    show(page, render)
    evidence = why(page).locator("[data-code=startTaskFailed] .evidence")
    expect(evidence.locator("dt")).to_have_text(
        [
            "pool",
            "used slots",
            "estimated wait of the first task",
            "evaluated at",
            "autoscale",
            "jobs ahead (priority or age): waiting tasks",
        ]
    )
    values = evidence.locator("dd")
    expect(values.nth(1)).to_have_text("1,600")
    expect(values.nth(2)).to_have_text("3 min 20 s")
    expect(values.nth(4)).to_have_text("yes")
    expect(values.nth(5).get_by_role("listitem")).to_have_count(2)


def test_evidence_leads_to_the_pool_and_its_nodes(page: Page, render: Canned) -> None:
    failed = node(3, "starttaskfailed")
    render.pools, render.nodes = {"demo": [pool("render-d4s")]}, [failed]
    shown = {"poolId": "render-d4s", "ableNodes": 0, "examples": [failed["id"]]}
    stuck(render, findings=[finding("startTaskFailed", "blocking", evidence=shown)])
    show(page, render)
    evidence = why(page).locator(".evidence")
    expect(evidence.locator("dt")).to_have_text(["pool", "nodes accepting tasks", "example nodes"])
    expect(evidence.get_by_role("link", name="render-d4s")).to_have_attribute("href", "?account=demo&pool=render-d4s")
    evidence.get_by_role("link", name=failed["id"]).click()
    expect(page.get_by_role("dialog")).to_contain_text(failed["id"])
    expect(page.get_by_test_id("node-state")).to_contain_text("Start task failed")


def test_evidence_of_a_pool_that_is_missing_leads_nowhere(page: Page, render: Canned) -> None:
    stuck(render, findings=[finding("poolMissing", "blocking", evidence={"poolId": "render-d4s"})])
    show(page, render)
    expect(why(page).locator(".evidence dd")).to_have_text("render-d4s")
    expect(why(page).locator(".evidence a")).to_have_count(0)


def test_a_running_job_shows_its_limit_in_one_line(page: Page, render: Canned) -> None:
    show(page, render)
    expect(why(page).get_by_role("heading")).to_have_text("Why tasks are waiting")
    expect(page.get_by_test_id("why-summary")).to_contain_text("It runs 4 tasks, and 10 wait")
    expect(why(page).get_by_text("What to do:")).to_be_hidden()


def test_a_blocking_cause_is_shown_expanded_though_tasks_run(page: Page, render: Canned) -> None:
    emptied = finding("poolTargetZero", "blocking", title="The pool 'render-d4s' is being emptied")
    render.parts["explanation"] = explanation(emptied, running=True, summary="It runs 4 tasks.")
    show(page, render)
    expect(why(page).get_by_text("What to do:")).to_be_visible()


def test_no_explanation_is_requested_if_no_task_waits(page: Page, render: Canned) -> None:
    render.jobs["demo"][0]["taskCounts"] = counts(running=4, succeeded=6)
    show(page, render)
    expect(part(page, "tasks").locator("tr[data-task]").first).to_be_visible()
    expect(why(page)).to_have_count(0)
    assert not [path for path in render.asked if "explanation" in path]


def test_undetermined_facts_are_shown(page: Page, render: Canned) -> None:
    stuck(render, unknown=["Batch wasn't asked, so how the job is now isn't known: it is throttling."])
    show(page, render)
    expect(page.get_by_label("Not determined")).to_contain_text("it is throttling.")


def test_markup_in_an_explanation_is_text(page: Page, render: Canned) -> None:
    hostile = finding("x", "blocking", title=HOSTILE, detail=HOSTILE, advice=HOSTILE, evidence={HOSTILE: [HOSTILE]})
    stuck(render, findings=[hostile], summary=HOSTILE, unknown=[HOSTILE])
    show(page, render)
    expect(page.get_by_test_id("why-summary")).to_contain_text("<img src=x")
    expect(page).to_have_title("render · Batchscope")
    assert "\u202e" not in why(page).inner_text()

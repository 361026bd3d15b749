"""The node agent on a pool's page, with a canned API: what is loaded when, which nodes report, and texts to copy."""

import re
from typing import Literal

from playwright.sync_api import Locator, Page, expect

from tests.e2e.canned.canned_agent import IDENTITIES, RESTART, SHA, agent_node, silence
from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.canned_pool import start_task
from tests.e2e.canned.pool_page import FAINT_TEXT, TALL, fill, section, show_pool

HOSTILE = "<img src=x onerror=document.title='broken'>"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
STARTS_AGENT = start_task(commandLine="/bin/sh -c 'python3 batchscope-agent.pyz start || true'")


def agent(page: Page) -> Locator:
    return section(page, "agent")


def rows(page: Page) -> Locator:
    return page.locator("tr[data-agent-node]")


def requests(canned: Canned) -> list[str]:
    return [path for path in canned.asked if "/agent" in path]


def test_the_section_loads_when_it_is_opened_and_its_address_keeps_it_open(page: Page, pools: Canned) -> None:
    show_pool(page, pools)
    expect(section(page, "start-task")).to_be_visible()
    toggle = agent(page).get_by_role("button", name="Show node agent")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    assert requests(pools) == []
    toggle.press("Enter")
    expect(page).to_have_url(re.compile("agent=show"))
    expect(page.get_by_test_id("agent-reporting")).to_have_text("46 of 61 nodes report.")
    expect(agent(page).get_by_role("button", name="Hide node agent")).to_be_focused()
    page.reload()
    expect(rows(page)).to_have_count(15)
    agent(page).get_by_role("button", name="Hide node agent").click()
    expect(rows(page)).to_have_count(0)


def test_the_section_is_open_where_the_start_task_starts_the_agent(page: Page, pools: Canned) -> None:
    fill(pools, pools.nodes, startTask=STARTS_AGENT)
    show_pool(page, pools)
    expect(rows(page)).to_have_count(15)


def test_silent_nodes_are_listed_alone_with_reason_and_advice(page: Page, pools: Canned) -> None:
    show_pool(page, pools, agent="show")
    first = rows(page).first
    expect(first).to_contain_text("0.2.0")
    expect(first).to_contain_text("2 KiB")
    expect(first.locator(".finding")).to_have_count(0)
    agent(page).get_by_role("button", name="Silent 15").click()
    expect(rows(page)).to_have_count(15)
    expect(agent(page).locator(".finding")).to_have_count(15)
    expect(rows(page).first).to_contain_text("The agent ended since, or storage takes nothing from it.")
    expect(rows(page).first).to_contain_text("What to do: Run `python3 batchscope-agent.pyz status`")
    expect(agent(page).locator(".finding[open]")).to_have_count(1)
    agent(page).get_by_role("button", name="Reporting 46").click()
    expect(agent(page).locator(".finding")).to_have_count(0)
    agent(page).get_by_role("button", name="Next page").click()
    expect(agent(page).locator(".pages")).to_contain_text("Page 2")
    rows(page).first.get_by_role("button").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_pool_of_thousands_of_nodes_is_listed_a_page_at_a_time(page: Page, pools: Canned) -> None:
    pools.agent_nodes = [agent_node(f"n{number}", silence() if number % 700 == 6 else None) for number in range(5_000)]
    show_pool(page, pools, agent="show")
    expect(page.get_by_test_id("agent-reporting")).to_have_text("4,992 of 5,000 nodes report.")
    expect(rows(page)).to_have_count(15)
    agent(page).get_by_role("button", name="Silent 8").click()
    expect(rows(page)).to_have_count(8)
    assert all("maxpagesize=15" in path for path in requests(pools) if "/agent/nodes" in path)


def test_the_start_task_is_copied_in_the_selected_form(page: Page, pools: Canned) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    show_pool(page, pools, agent="show")
    expect(page.get_by_test_id("agent-notes").locator("li")).to_have_text([RESTART, IDENTITIES])
    expect(page.get_by_test_id("agent-file")).to_contain_text("Agent 0.2.0: https://store.blob.core.windows.net/agent/")
    expect(page.get_by_test_id("agent-file")).to_contain_text(SHA)
    for title, form in (("Bicep", "bicep"), ("az batch", "azBatch"), ("Python with a SAS", "python")):
        agent(page).get_by_role("button", name=title, exact=True).press("Enter")
        copy = agent(page).get_by_role("button", name=f"Copy: Start task as {title}")
        copy.press("Enter")
        expect(agent(page).get_by_role("status")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == pools.agent_offer["forms"][form]
        shown = page.get_by_label(f"Start task as {title}", exact=True)
        assert shown.inner_text().rstrip() == pools.agent_offer["forms"][form].rstrip()


def test_a_refused_clipboard_is_said_in_words(page: Page, pools: Canned) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    show_pool(page, pools, agent="show")
    agent(page).get_by_role("button", name="Copy: Start task as Bicep").click()
    expect(agent(page).get_by_role("status")).to_have_text("The browser refused: select the text and copy it.")


def test_a_missing_file_and_failing_lists_are_said_in_the_servers_words(page: Page, pools: Canned) -> None:
    unset = "There is no container 'agent', as TELEMETRY_STORAGE isn't set."
    pools.broken = {"agent": (404, unset)}
    show_pool(page, pools, agent="show")
    expect(page.get_by_test_id("agent-problem")).to_contain_text(unset)
    expect(rows(page)).to_have_count(15)
    pools.broken = {"agentnodes": (503, "Storage is busy.")}
    page.reload()
    expect(page.get_by_test_id("agent-nodes-problem")).to_contain_text("Storage is busy.")
    expect(page.get_by_test_id("agent-file")).to_be_visible()


def test_external_values_of_the_agent_are_shown_as_text_and_fit_at_any_width(page: Page, pools: Canned) -> None:
    long = "goes-on-and-on-" * 20
    hostile = silence(title=HOSTILE, detail=long, advice=HOSTILE, evidence={"blob": long})
    pools.agent_nodes = [agent_node(HOSTILE, hostile, agentVersion=HOSTILE), agent_node(long, agentVersion=long)]
    pools.agent_offer["forms"]["bicep"] = HOSTILE + long
    pools.agent_offer["notes"] = [HOSTILE, long]
    show_pool(page, pools, agent="show")
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_label("Start task as Bicep", exact=True)).to_contain_text(HOSTILE)
    assert page.locator("img").count() == 0
    assert page.title() == "render-d4s · Batchscope"
    for width in (1440, 1100, 800, 420):
        page.set_viewport_size({"width": width, "height": TALL})
        assert page.evaluate(OVERFLOW) <= 0, width
        assert agent(page).evaluate("box => box.scrollWidth - box.clientWidth") <= 0, width


def test_texts_of_the_agent_are_readable_in_either_scheme(page: Page, pools: Canned) -> None:
    schemes: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
    show_pool(page, pools, agent="show")
    expect(agent(page).locator(".finding")).not_to_have_count(0)
    expect(page.get_by_test_id("agent-file")).to_be_visible()
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT_TEXT) == []

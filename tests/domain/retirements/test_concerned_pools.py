"""Which pools a retirement concerns, of several accounts whose regions have lists of images of their own."""

from datetime import UTC, date, datetime

from shared.domain.pools.machine_settings import Image, Machine, MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import first_seen
from shared.domain.retirements.announcements import Announcement, with_more
from shared.domain.retirements.app_properties import AppProperties
from shared.domain.retirements.retirements import retirements
from shared.domain.retirements.supported_images import SupportedImage, SupportedImages, announcements_in

NOW = datetime(2026, 11, 29, tzinfo=UTC)
MACHINE = Machine(image_reference=Image(publisher="a", offer="b", sku="c"), node_agent_sku_id="batch.node.x")
POOL = first_seen(
    PoolFacts(
        "p", NOW, "active", NOW, "standard_d2s_v5", settings=MachineSettings(virtual_machine_configuration=MACHINE)
    ),
    NOW,
)
APP = AppProperties("3.14.0", "15.1.0", "2025-06-01", "", "")


def listed(ends: date | None) -> tuple[Announcement, ...]:
    return with_more(announcements_in(SupportedImages(NOW, (SupportedImage("a/b/c", "batch.node.x", ends),))))


def test_an_image_ends_for_pools_of_an_account_on_the_day_in_the_list_of_that_account() -> None:
    days = {"east": date(2027, 1, 1), "west": date(2027, 6, 1), "north": None}
    announced = {account: listed(day) for account, day in days.items()}
    found = retirements(announced, dict.fromkeys(days, (POOL,)), {}, NOW.date(), APP)
    concerned = {one.announcement.last_day: [pool.account_id for pool in one.pools] for one in found if one.pools}
    assert concerned == {date(2027, 1, 1): ["east"], date(2027, 6, 1): ["west"]}


def test_an_announcement_that_all_accounts_have_is_listed_once_with_the_pools_of_all() -> None:
    announced = {account: listed(date(2027, 1, 1)) for account in ("east", "west")}
    found = retirements(announced, dict.fromkeys(announced, (POOL,)), {}, NOW.date(), APP)
    assert [[pool.account_id for pool in one.pools] for one in found if one.pools] == [["east", "west"]]


def test_an_image_ends_with_the_node_agents_in_the_list_of_each_account() -> None:
    agents = {"east": ("batch.node.y",), "west": ("batch.node.x", "batch.node.y")}
    announced = {
        account: announcements_in(SupportedImages(NOW, tuple(SupportedImage("a/b/c", sku, NOW.date()) for sku in skus)))
        for account, skus in agents.items()
    }
    found = retirements(announced, dict.fromkeys(agents, (POOL,)), {}, NOW.date(), APP)
    ends = [one for one in found if one.announcement.id == "image:a/b/c"]
    assert [[pool.account_id for pool in one.pools] for one in ends] == [["west"]]

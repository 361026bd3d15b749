"""Figures of start-ups, findings on them, resizes, and the form in which days are stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain.findings.finding import Finding
from shared.domain.nodes.start_ups import StartUp
from shared.domain.pools.machine_settings import Image, Machine, MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.resizes import MAX_RESIZES, Resize, resizes_after, wished_at
from shared.domain.pools.start_up_days import (
    MAX_NODES,
    StartUpDay,
    day_of_plain,
    figures_of_plain,
    plain_day,
    plain_figures,
)
from shared.domain.pools.start_up_figures import (
    MAX_GROUPS,
    days_by_size_and_image,
    figures_by,
    figures_by_day,
    figures_of,
    image_name,
)
from shared.domain.pools.start_up_findings import start_up_exceeds_tasks, start_up_grows
from shared.domain.tasks.histograms import Histogram

DAY = 86_400_000
S = 1000
NOW = datetime(2026, 11, 21, 7, tzinfo=UTC)


def start_up(name: str = "n", *, day: int = 20_000, seconds: int = 100, setup: int = 10, **changes: Any) -> StartUp:
    """Returns a start-up whose overhead lasts so many seconds, so many of them for setup."""
    at = day * DAY + 7 * S
    found = StartUp(
        name, at, "d4", "image", "none", at - 10 * S, at + 5 * S, 0, 0, at + (5 + setup) * S, at + (seconds - 10) * S
    )
    ready = found.busy
    return found._replace(ready=found.booted + setup * S, busy=ready, worked=True, **changes)


def many(number: int, *, day: int = 20_000, setup: int = 10) -> list[StartUp]:
    """Returns start-ups without a wait."""
    found = [start_up(f"{day}-{place}", day=day, setup=setup) for place in range(number)]
    return [one._replace(busy=one.ready) for one in found]


def test_quantiles_are_nearest_ranks_and_unknown_values_have_reasons_and_are_never_0() -> None:
    group = [start_up(str(n), seconds=50 + n) for n in range(1, 101)]
    group += [start_up("x")._replace(wished=0), start_up("y")._replace(busy=0, worked=False)]
    figures = figures_of(group)
    total = figures.of("total")
    assert (total.nodes, total.p50, total.p95) == (100, 100 * S, 145 * S)
    assert total.unknown == (("noTaskSoFar", 1), ("resizeNotSeen", 1))
    start_task = figures.of("startTask")
    assert (start_task.nodes, start_task.p50, start_task.p95) == (0, None, None)
    assert start_task.unknown == (("noStartTask", 102),)


def test_groups_are_the_largest_in_the_order_of_their_names() -> None:
    group = [start_up(f"{n}-{m}")._replace(vm_size=f"{n:02}") for n in range(1, 30) for m in range(n)]
    found = figures_by(group, lambda one: one.vm_size)
    assert [figures.nodes for figures in found.values()] == list(range(30 - MAX_GROUPS, 30))
    assert list(found) == sorted(found)


def test_every_day_has_figures_also_of_a_whole_month_and_of_a_single_node() -> None:
    nodes = [1 + day % 3 for day in range(31)]
    group = [start_up(f"{day}-{m}", day=day) for day in reversed(range(31)) for m in range(nodes[day])]
    found = figures_by_day(group)
    assert list(found) == list(range(31))
    assert [figures.nodes for figures in found.values()] == nodes


def test_a_day_is_read_as_it_was_written_and_so_are_its_figures() -> None:
    group = [*many(3), start_up("odd")._replace(vm_size="", image="", booted=0, ending="restarted", worked=False)]
    day = StartUpDay("pool", 20_000, {one.node: one for one in group}, is_cut=True)
    assert day_of_plain("pool", 20_000, plain_day(day)) == day
    assert figures_of_plain(plain_figures(day)) == figures_by(group, lambda one: (one.vm_size, one.image))


def test_a_day_keeps_so_many_nodes_and_changes_of_those() -> None:
    full = {str(n): start_up(str(n)) for n in range(MAX_NODES)}
    day = StartUpDay("pool", 20_000).with_changes(full)
    assert (len(day.start_ups), day.is_cut) == (MAX_NODES, False)
    after = day.with_changes({"0": start_up("0", seconds=7), "new": start_up("new")})
    assert (len(after.start_ups), after.is_cut) == (MAX_NODES, True)
    assert after.start_ups["0"] == start_up("0", seconds=7)


def days(*setups: int, nodes: int = 5, size: str = "d4", image: str = "image", first: int = 20_000) -> list[StartUp]:
    """Returns start-ups of nodes of one size and image, on days from the first on, none where setup takes 0 seconds."""
    found = [many(nodes, day=first + number, setup=setup) for number, setup in enumerate(setups) if setup]
    return [one._replace(vm_size=size, image=image) for group in found for one in group]


def growth(group: list[StartUp]) -> Finding | None:
    return start_up_grows("pool", days_by_size_and_image(group))


def test_a_day_whose_nodes_start_more_slowly_than_before_is_named_with_the_phase_that_grew() -> None:
    found = growth(days(60, 62, 58, 200))
    assert found is not None
    assert found.evidence == {
        "startUp": timedelta(seconds=215), "startUpBefore": timedelta(seconds=75), "phase": "setup", "nodes": 5,
        "vmSize": "d4", "image": "image",
    }  # fmt: skip
    assert found.sentence.startswith("Half of 5 nodes of 2024-10-07 (d4 with the image image) took over 3.6 minutes")
    assert found.since == datetime.fromtimestamp(0, UTC) + timedelta(days=20_003)
    assert "container images" in found.advice


@pytest.mark.parametrize(
    "group",
    [
        days(60, 62, 200),  # too few days before
        days(60, 62, 58, 95),  # less than 1.5 times as much
        days(10, 10, 10, 50),  # less than a minute more
        days(60, 62, 58, 200, nodes=4),  # too few nodes
        [],
        days(60, 62, 58) + days(200, size="e4", first=20_003),  # another size, as the first one has no capacity
        days(60, 62, 58, 61) + days(200, size="e4", nodes=20, first=20_003),  # mostly another size
        days(60, 62, 58) + days(200, image="other", first=20_003),  # another image
        days(60, 62, 58, 0) + days(0, 0, 200, 201, 199, 202, size="e4"),  # two sizes that take as long as ever
    ],
)
def test_little_growth_or_little_evidence_is_no_finding(group: list[StartUp]) -> None:
    assert growth(group) is None


def test_of_several_sizes_and_images_the_one_whose_start_up_grew_by_the_most_time_is_named() -> None:
    slow, slower = days(60, 62, 58, 200), days(160, 162, 158, 400, size="e4", image="")
    found = growth(slow + slower + days(20, 20, 20, 20, size="f4", nodes=50))
    assert found is not None
    assert (found.evidence["vmSize"], found.evidence["image"], found.evidence["nodes"]) == ("e4", None, 5)
    assert "(e4)" in found.sentence


def test_starts_that_take_longer_than_tasks_run_are_a_finding() -> None:
    figures = figures_of(many(5, setup=200))
    found = start_up_exceeds_tasks("pool", figures, Histogram.of([30 * S] * 20))
    assert found is not None
    assert (found.evidence["startUp"], found.evidence["phase"]) == (timedelta(seconds=215), "setup")
    assert (found.evidence["nodes"], found.evidence["tasks"]) == (5, 20)
    assert start_up_exceeds_tasks("pool", figures, Histogram.of([300 * S] * 20)) is None
    assert start_up_exceeds_tasks("pool", figures, Histogram.of([30 * S] * 19)) is None
    assert start_up_exceeds_tasks("pool", figures_of(many(4, setup=200)), Histogram.of([30 * S] * 20)) is None


def pool(state: str, at: int | None) -> PoolFacts:
    moment = None if at is None else datetime.fromtimestamp(at / S, UTC)
    return PoolFacts("pool", NOW, "active", NOW, "d4", state, moment)


def test_a_resize_lasts_from_the_first_list_that_shows_it_to_the_steady_state_after_it() -> None:
    first = resizes_after((), pool("resizing", 5_000))
    assert first == (Resize(5_000),)
    assert resizes_after(first, pool("resizing", 5_000)) == first
    assert resizes_after(first, pool("stopping", 6_000)) == first
    ended = resizes_after(first, pool("steady", 9_000))
    assert ended == resizes_after(ended, pool("steady", 9_000)) == (Resize(5_000, 9_000),)
    assert resizes_after(ended, pool("steady", None)) == ended
    again = resizes_after(ended, pool("resizing", 20_000))
    assert again == (Resize(20_000), Resize(5_000, 9_000))
    assert resizes_after((), pool("steady", 9_000)) == ()
    for at in range(30_000, 50_000, 1_000):
        again = resizes_after(again, pool("resizing", at))
    assert len(again) == MAX_RESIZES


def test_a_node_was_wished_for_by_the_resize_within_which_it_was_allocated() -> None:
    known = (Resize(20_000), Resize(5_000, 9_000))
    assert [wished_at(known, at) for at in (4_000, 5_000, 9_000, 9_001, 20_000, 99_000)] == [
        0, 5_000, 5_000, 0, 20_000, 20_000,
    ]  # fmt: skip


def test_an_image_is_named_by_its_parts_or_its_own_id() -> None:
    def name(image: Image) -> str:
        return image_name(MachineSettings(virtual_machine_configuration=Machine(image_reference=image)))

    assert name(Image(publisher="canonical", offer="ubuntu", sku="24_04", version="latest")) == "canonical/ubuntu/24_04"
    assert name(Image(virtual_machine_image_id="/subscriptions/x")) == "/subscriptions/x"
    assert image_name(None) == image_name(MachineSettings()) == ""

"""Changes of a pool's settings: which settings, with which values, and their event."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain.events.event_sentences import sentence_of
from shared.domain.pools.machine_settings import Image, Machine, MachineSettings, SchedulingPolicy, StartTaskSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_settings import AutoScale, StartTask
from shared.domain.pools.pools import first_seen
from shared.domain.pools.setting_changes import (
    MAX_CHANGES,
    SettingChange,
    changes_between,
    image_in,
    settings_at,
    settings_event,
    texts_of_changes,
)
from shared.domain.tasks.task_details import NameValue, ResourceFile

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def machine(sku: str) -> Machine:
    return Machine(image_reference=Image(publisher="canonical", sku=sku), node_agent_sku_id=f"batch.node.{sku}")


FACTS = PoolFacts(
    "Pool", NOW, "active", NOW, "standard_d4s_v5",
    settings=MachineSettings(virtual_machine_configuration=machine("22.04")), last_modified=NOW,
)  # fmt: skip


def changed(**properties: Any) -> PoolFacts:
    return replace(FACTS, last_modified=LATER, **properties)


def test_each_changed_setting_has_its_name_and_both_values() -> None:
    settings = MachineSettings(
        virtual_machine_configuration=machine("24.04"), task_scheduling_policy=SchedulingPolicy(node_fill_type="pack")
    )
    found = changes_between(FACTS, changed(slots_per_node=8, settings=settings))
    assert [(change.name, change.before, change.after) for change in found] == [
        ("taskSchedulingPolicy.nodeFillType", None, "pack"),
        ("taskSlotsPerNode", "1", "8"),
        ("virtualMachineConfiguration.imageReference.sku", "22.04", "24.04"),
        ("virtualMachineConfiguration.nodeAgentSKUId", "batch.node.22.04", "batch.node.24.04"),
    ]
    assert {change.at for change in found} == {LATER}


@pytest.mark.parametrize(("after", "names"), [
    (changed(start_task=StartTask("run", (("A", "***"),))), [
        "startTask.commandLine", "startTask.environmentSettings", "startTask.maxTaskRetryCount",
        "startTask.waitForSuccess",
    ]),
    (changed(auto_scale=AutoScale("x = 1;", "PT5M")), ["autoScaleEvaluationInterval", "autoScaleFormula"]),
    (changed(vm_size="standard_d8s_v5"), ["vmSize"]),
    (changed(state="deleting", display_name="New name"), []),
])  # fmt: skip
def test_start_tasks_formulas_and_sizes_are_settings_and_states_are_none(after: PoolFacts, names: list[str]) -> None:
    assert [change.name for change in changes_between(FACTS, after)] == names


def with_metadata(*items: tuple[str, str]) -> MachineSettings:
    return MachineSettings(metadata=[NameValue(name=name, value=value) for name, value in items])


def test_another_order_of_metadata_or_variables_is_no_change() -> None:
    before = replace(
        FACTS,
        settings=with_metadata(("team", "a"), ("env", "x")),
        start_task=StartTask("run", (("B", "***"), ("A", ""))),
    )
    after = changed(
        settings=with_metadata(("env", "x"), ("team", "a")), start_task=StartTask("run", (("A", ""), ("B", "***")))
    )
    assert changes_between(before, after) == ()
    (found,) = changes_between(before, replace(after, settings=with_metadata(("env", "y"), ("team", "a"))))
    assert (found.before, found.after) == (
        '[{"name":"env","value":"x"},{"name":"team","value":"a"}]',
        '[{"name":"env","value":"y"},{"name":"team","value":"a"}]',
    )


@pytest.mark.parametrize(("left_out", "names"), [
    ((), ["taskSlotsPerNode", "virtualMachineConfiguration.imageReference.sku"]),
    (("virtualMachineConfiguration",), ["taskSlotsPerNode"]),
    (("virtualMachineConfiguration.imageReference.sku.part",), ["taskSlotsPerNode"]),
    (("virtualMachineConfiguration.image",), ["taskSlotsPerNode", "virtualMachineConfiguration.imageReference.sku"]),
])  # fmt: skip
def test_settings_that_a_read_left_out_are_not_compared(left_out: tuple[str, ...], names: list[str]) -> None:
    settings = MachineSettings(
        virtual_machine_configuration=Machine(
            image_reference=Image(publisher="canonical"), node_agent_sku_id="batch.node.22.04"
        )
    )
    after = changed(slots_per_node=8, settings=settings, settings_left_out=left_out)
    assert [change.name for change in changes_between(FACTS, after)] == names
    back = replace(FACTS, last_modified=LATER + timedelta(minutes=1))
    assert [change.name for change in changes_between(after, back)] == names


@pytest.mark.parametrize(("before", "after"), [
    (FACTS, replace(FACTS, slots_per_node=8)),
    (FACTS, replace(FACTS, slots_per_node=8, last_modified=None)),
    (replace(FACTS, last_modified=None), changed(slots_per_node=8)),
    (replace(FACTS, settings=None), changed(slots_per_node=8)),
])  # fmt: skip
def test_without_batchs_word_of_a_change_or_a_full_first_read_nothing_changed(
    before: PoolFacts, after: PoolFacts
) -> None:
    assert changes_between(before, after) == ()


def test_long_values_are_cut_to_the_part_in_which_they_differ() -> None:
    before = replace(FACTS, start_task=StartTask("x" * 300 + "old" + "y" * 300))
    (found,) = changes_between(before, changed(start_task=StartTask("x" * 300 + "new" + "y" * 300)))
    assert (found.before, found.after) == tuple(f"…{'x' * 30}{word}{'y' * 165}…" for word in ("old", "new"))
    (longer,) = changes_between(before, changed(start_task=StartTask("x" * 300 + "old" + "y" * 301)))
    assert (longer.before, longer.after) == (f"…{'y' * 30}", f"…{'y' * 31}")
    (first,) = changes_between(FACTS, changed(auto_scale=AutoScale("z" * 250)))
    assert (first.before, first.after) == (None, f"{'z' * 198}…")


def test_a_pool_keeps_its_latest_changes_and_a_recreated_one_begins_anew() -> None:
    pool = first_seen(FACTS, NOW)
    for number in range(2, MAX_CHANGES + 5):
        at = NOW + timedelta(minutes=number)
        pool = pool.seen(replace(FACTS, slots_per_node=number, last_modified=at), at)
    assert [change.after for change in pool.changes] == [str(number) for number in range(MAX_CHANGES + 4, 4, -1)]
    assert pool.seen(replace(FACTS, creation_time=LATER), LATER).changes == ()


SECRET = "startTask.environmentSettings.KEY"


@pytest.mark.parametrize(("before", "after", "names"), [
    ({SECRET: 1}, {SECRET: 2}, [SECRET]),
    ({SECRET: 1}, {SECRET: 1}, []),
    (None, {SECRET: 2}, []),
    ({SECRET: 1, "startTask.commandLine": 1}, {SECRET: 1, "startTask.commandLine": 2}, ["startTask.commandLine"]),
])  # fmt: skip
def test_a_changed_digest_is_a_change_of_a_hidden_value(
    before: dict[str, int] | None, after: dict[str, int], names: list[str]
) -> None:
    task = StartTask("run --token ***", (("KEY", "[redacted]"),))
    found = changes_between(replace(FACTS, start_task=task, hidden=before), changed(start_task=task, hidden=after))
    assert [change.name for change in found] == names
    assert all(change.before == change.after for change in found)


def test_a_variable_that_gets_or_loses_its_value_changes_and_values_of_old_rows_are_never_shown() -> None:
    def with_value(value: str) -> StartTask:
        return StartTask("run", (("KEY", value), ("OTHER", "")))

    empty = replace(FACTS, start_task=with_value(""), hidden={})
    (found,) = changes_between(empty, changed(start_task=with_value("hunter2"), hidden={SECRET: 1}))
    assert (found.name, found.before, found.after) == (SECRET, None, "[redacted]")
    (gone,) = changes_between(replace(FACTS, start_task=with_value("hunter2")), changed(start_task=with_value("")))
    assert (gone.name, gone.before, gone.after) == (SECRET, "[redacted]", None)
    left_out = changed(start_task=with_value(""), settings_left_out=("startTask.environmentSettings.value",))
    assert changes_between(replace(FACTS, start_task=with_value("x")), left_out) == ()


def test_settings_that_an_earlier_version_did_not_keep_are_compared_once_they_are() -> None:
    def with_files(*paths: str) -> StartTask:
        return StartTask("run", settings=StartTaskSettings(resource_files=[ResourceFile(file_path=p) for p in paths]))

    before, after = replace(FACTS, start_task=StartTask("run")), changed(start_task=with_files("a"), hidden={})
    assert changes_between(before, after) == ()
    later = replace(after, start_task=with_files("b"), last_modified=LATER + timedelta(minutes=1))
    (found,) = changes_between(after, later)
    assert (found.name, found.before, found.after) == (
        "startTask.resourceFiles", '[{"filePath":"a"}]', '[{"filePath":"b"}]',
    )  # fmt: skip


def test_more_changes_at_once_than_are_kept_are_counted_until_the_next_change() -> None:
    names = [f"NAME{number:02}" for number in range(MAX_CHANGES + 3)]
    task = StartTask("run", tuple((name, "***") for name in names))
    digests = [{f"startTask.environmentSettings.{name}": digest for name in names} for digest in (1, 2)]
    pool = first_seen(replace(FACTS, start_task=task, hidden=digests[0]), NOW)
    pool = pool.seen(changed(start_task=task, hidden=digests[1]), LATER)
    assert (len(pool.changes), pool.changes_left_out) == (MAX_CHANGES, 3)
    event = settings_event("Pool", NOW, pool.changes, more=pool.changes_left_out)
    assert event.properties["moreChanges"] == 3
    assert sentence_of(event).endswith("; and 18 more.")
    same = pool.seen(replace(pool.facts, state="deleting"), LATER)
    assert same.changes_left_out == 3
    at = LATER + timedelta(minutes=1)
    assert pool.seen(replace(pool.facts, slots_per_node=9, last_modified=at), at).changes_left_out == 0


def test_the_event_names_the_first_changes_and_follows_from_pool_time_and_values() -> None:
    changes = [SettingChange(LATER, f"name{number}", None, str(number)) for number in range(7)]
    event = settings_event("Pool", NOW, changes)
    assert sentence_of(event) == (
        "Settings of the pool 'Pool' changed: name0 none -> 0; name1 none -> 1; name2 none -> 2; name3 none -> 3;"
        " name4 none -> 4; and 2 more."
    )
    assert (event.kind, event.at, event.pool, event.job, event.node) == (
        "pool.settings_change", LATER, "Pool", None, None,
    )  # fmt: skip
    others = [
        settings_event("other", NOW, changes),
        settings_event("Pool", LATER, changes),
        settings_event("Pool", NOW, changes[1:]),
        settings_event("Pool", NOW, [replace(one, at=NOW) for one in changes]),
    ]
    assert settings_event("POOL", NOW, changes).identity == event.identity
    assert len({event.identity, *(other.identity for other in others)}) == 1 + len(others)


def test_settings_of_an_earlier_time_are_those_before_later_changes() -> None:
    sizes = ("standard_d4s_v5", "standard_d8s_v5", "standard_d2s_v5")
    pool = first_seen(FACTS, NOW)
    for number, size in enumerate(sizes):
        at = NOW + timedelta(hours=number)
        auto_scale = AutoScale("x = 1;") if number else None
        pool = pool.seen(replace(FACTS, vm_size=size, auto_scale=auto_scale, last_modified=at), at)
    for number, size in enumerate(sizes):
        found = settings_at(pool.facts, pool.changes, NOW + timedelta(hours=number, minutes=30))
        assert (found["vmSize"], "autoScaleFormula" in found) == (size, number > 0)
    assert settings_at(pool.facts, pool.changes, NOW + timedelta(hours=1))["vmSize"] == sizes[1]


def test_settings_before_forgotten_changes_are_not_known() -> None:
    changes = [SettingChange(LATER, f"s{number}", "a", "b") for number in range(MAX_CHANGES)]
    assert settings_at(FACTS, changes, NOW) == {}
    assert settings_at(FACTS, changes, LATER)["vmSize"] == "standard_d4s_v5"
    assert settings_at(FACTS, changes[1:], NOW)["s1"] == "a"


@pytest.mark.parametrize(("image", "name"), [
    (Image(publisher="Canonical", offer="ubuntu", sku="24.04", version="latest"), "canonical/ubuntu/24.04"),
    (Image(publisher="canonical", offer="ubuntu", sku="24.04", version="24.1"), "canonical/ubuntu/24.04/24.1"),
    (Image(virtual_machine_image_id="/subscriptions/S/images/mine"), "/subscriptions/s/images/mine"),
    (Image(community_gallery_image_id="/communityGalleries/g"), "/communitygalleries/g"),
    (Image(), ""),
])  # fmt: skip
def test_an_image_is_named_by_its_id_or_its_parts(image: Image, name: str) -> None:
    machines = MachineSettings(virtual_machine_configuration=Machine(image_reference=image))
    assert image_in(settings_at(replace(FACTS, settings=machines), (), NOW)) == name


def test_changes_in_words_stand_by_time_with_the_image_first() -> None:
    settings = MachineSettings(virtual_machine_configuration=machine("24.04"))
    pool = first_seen(FACTS, NOW).seen(changed(slots_per_node=8, settings=settings), LATER)
    latest = LATER + timedelta(hours=1)
    task = StartTask("x" * 100, (("A", "***"),))
    pool = pool.seen(replace(pool.facts, start_task=task, last_modified=latest), latest)
    (first_at, first), (second_at, second) = texts_of_changes(pool.changes, more=2)
    assert (first_at, second_at) == (LATER, latest)
    assert first == "image 22.04 -> 24.04, taskSlotsPerNode 1 -> 8, nodeAgentSKUId batch.node.22.04 -> batch.node.24.04"
    assert second.startswith(f"startTask.commandLine none -> {'x' * 59}…, startTask.environmentSettings none -> ")
    assert second.endswith(", startTask.maxTaskRetryCount none -> 0, 3 more")
    hidden = SettingChange(NOW, "startTask.environmentSettings.KEY", "[redacted]", "[redacted]")
    assert texts_of_changes([hidden]) == [(NOW, "another startTask.environmentSettings.KEY")]
    assert texts_of_changes([]) == []

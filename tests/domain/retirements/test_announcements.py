"""Announcements of retirements: each is complete, and concerns exactly the pools that it names."""

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from local.dev.system.checkout import HERE
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_settings import AutoScale
from shared.domain.retirements.announcements import (
    MAX_AGE,
    Announcement,
    announcements,
    announcements_of,
    days_left,
    unread_since,
    with_more,
)
from shared.domain.retirements.app_properties import AppProperties
from shared.domain.retirements.retirement_finding import retirement_finding
from shared.domain.retirements.supported_images import SupportedImage, SupportedImages, announcements_in

SIZES = HERE.root / "shared/domain/efficiency/vm_sizes.json"
NOW, DAY = datetime(2026, 11, 29, tzinfo=UTC), timedelta(days=1)
UBUNTU, WINDOWS = "batch.node.ubuntu {}", "batch.node.windows amd64"
ENTRY = {
    "id": "old", "what": "Old things", "when": {"vmSize": ["standard_a#"]}, "lastDay": "2027-01-01",
    "effect": "No nodes.", "instead": "New things.", "source": "https://example.org/1", "readOn": "2026-11-01",
}  # fmt: skip


def facts(size: str = "standard_d4s_v5", settings: dict[str, Any] | None = None, formula: str = "") -> PoolFacts:
    """Returns a pool; without `settings` these aren't known."""
    known = None if settings is None else msgspec.convert(settings, MachineSettings)
    return PoolFacts("p", NOW, "active", NOW, size, settings=known, auto_scale=AutoScale(formula) if formula else None)


def machine(agent: str = UBUNTU.format("24.04"), image: str | None = "canonical/ubuntu/server") -> dict[str, Any]:
    """Returns settings; without `image` it is one of the user's own."""
    publisher, offer, sku = image.split("/") if image else (None, None, None)
    named = {"publisher": publisher, "offer": offer, "sku": sku}
    reference = named if image else {"virtualMachineImageId": "/images/x"}
    return {"virtualMachineConfiguration": {"nodeAgentSKUId": agent, "imageReference": reference}}


def network(provision: str) -> dict[str, Any]:
    return machine() | {"networkConfiguration": {"publicIPAddressConfiguration": {"provision": provision}}}


def of_size(size: str) -> PoolFacts:
    return facts(size, machine())


def mixed(*sizes: str) -> PoolFacts:
    return facts("Mix", machine() | {"vmSkuProfile": {"vmSizes": [{"name": size} for size in sizes]}})


def of_agent(agent: str, image: str | None = None) -> PoolFacts:
    return facts(settings=machine(agent, image))


D_TO_DSV2, DV3_TO_ESV3, F_TO_FSV2 = {"vm-sizes-d-to-dsv2"}, {"vm-sizes-dv3-to-esv3"}, {"vm-sizes-f-to-fsv2"}
CASES: dict[str, tuple[PoolFacts, set[str]]] = {
    "a pool of today": (of_size("standard_d4s_v5"), set()),
    "Ubuntu 22.04 of the marketplace": (of_agent(UBUNTU.format("22.04"), "canonical/jammy/22_04"), {"ubuntu-22.04"}),
    "an image of one's own, by its agent": (of_agent(UBUNTU.format("22.04")), {"ubuntu-22.04"}),
    "an agent in other letters": (of_agent("BATCH.node.Ubuntu 22.04"), {"ubuntu-22.04"}),
    "Ubuntu 20.04": (of_agent(UBUNTU.format("20.04")), {"ubuntu-20.04"}),
    "Ubuntu 18.04": (of_agent(UBUNTU.format("18.04")), {"older-linux"}),
    "Ubuntu 16.04": (of_agent(UBUNTU.format("16.04")), {"older-linux"}),
    "Ubuntu 24.04": (of_agent(UBUNTU.format("24.04")), set()),
    "CentOS 7": (of_agent("batch.node.centos 7"), {"older-linux"}),
    "CentOS 8": (of_agent("batch.node.centos 8"), {"older-linux"}),
    "AlmaLinux 8": (of_agent("batch.node.el 8"), set()),
    "Debian 10": (of_agent("batch.node.debian 10"), {"older-linux"}),
    "Debian 12": (of_agent("batch.node.debian 12"), set()),
    "Windows Server 2012": (
        of_agent(WINDOWS, "MicrosoftWindowsServer/WindowsServer/2012-Datacenter"), {"windows-server-2012"}
    ),
    "Windows Server 2012 R2": (
        of_agent(WINDOWS, "microsoftwindowsserver/windowsserver/2012-r2-datacenter-smalldisk"), {"windows-server-2012"}
    ),
    "Windows Server 2016": (
        of_agent(WINDOWS, "microsoftwindowsserver/windowsserver/2016-datacenter"), {"windows-server-2016"}
    ),
    "Windows Server 2022": (of_agent(WINDOWS, "microsoftwindowsserver/windowsserver/2022-datacenter"), set()),
    "another publisher's 2016": (of_agent(WINDOWS, "contoso/windowsserver/2016"), set()),
    "D3": (of_size("STANDARD_D3"), D_TO_DSV2),
    "DS14": (of_size("standard_ds14"), D_TO_DSV2),
    "D2 v2": (of_size("Standard_D2_v2"), D_TO_DSV2),
    "DS15 v2": (of_size("standard_ds15_v2"), D_TO_DSV2),
    "D2 v3": (of_size("standard_d2_v3"), DV3_TO_ESV3),
    "D2s v3": (of_size("standard_d2s_v3"), DV3_TO_ESV3),
    "E64i v3": (of_size("standard_e64i_v3"), DV3_TO_ESV3),
    "E64is v3": (of_size("standard_e64is_v3"), DV3_TO_ESV3),
    "E8-2s v3": (of_size("standard_e8-2s_v3"), DV3_TO_ESV3),
    "E8-2s v5": (of_size("standard_e8-2s_v5"), set()),
    "D2as v4": (of_size("standard_d2as_v4"), set()),
    "DS14-8 v2": (of_size("Standard_DS14-8_v2"), D_TO_DSV2),
    "D15i v2": (of_size("standard_d15i_v2"), D_TO_DSV2),
    "DS15i v2": (of_size("standard_ds15i_v2"), D_TO_DSV2),
    "D2 v2 promo": (of_size("Standard_D2_v2_Promo"), D_TO_DSV2),
    "DS3 v2 promo": (of_size("standard_ds3_v2_promo"), D_TO_DSV2),
    "D2ds v5": (of_size("standard_d2ds_v5"), set()),
    "L8s": (of_size("standard_l8s"), {"vm-sizes-ls"}),
    "L8s v3": (of_size("standard_l8s_v3"), set()),
    "HB120rs v2": (of_size("standard_hb120rs_v2"), {"vm-sizes-hbv2-hc"}),
    "HB120-64rs v2": (of_size("standard_hb120-64rs_v2"), {"vm-sizes-hbv2-hc"}),
    "HB120rs v3": (of_size("standard_hb120rs_v3"), set()),
    "HC44rs": (of_size("standard_hc44rs"), {"vm-sizes-hbv2-hc"}),
    "NP20s": (of_size("standard_np20s"), {"vm-sizes-np"}),
    "NC24rs v3": (of_size("standard_nc24rs_v3"), {"vm-sizes-ncv3"}),
    "NC6s v3": (of_size("standard_nc6s_v3"), {"vm-sizes-ncv3"}),
    "NC4as T4 v3": (of_size("standard_nc4as_t4_v3"), set()),
    "A2": (of_size("standard_a2"), {"vm-sizes-a"}),
    "Basic A1": (of_size("basic_a1"), {"vm-sizes-a"}),
    "A2 v2": (of_size("standard_a2_v2"), {"vm-sizes-av2"}),
    "A8m v2": (of_size("standard_a8m_v2"), {"vm-sizes-av2"}),
    "B1ls": (of_size("standard_b1ls"), {"vm-sizes-b"}),
    "B20ms": (of_size("standard_b20ms"), {"vm-sizes-b"}),
    "B2s": (of_size("standard_b2s"), {"vm-sizes-b"}),
    "B2s v2": (of_size("standard_b2s_v2"), set()),
    "F1": (of_size("standard_f1"), F_TO_FSV2),
    "F16s": (of_size("standard_f16s"), F_TO_FSV2),
    "F72s v2": (of_size("standard_f72s_v2"), F_TO_FSV2),
    "F4as v6": (of_size("standard_f4as_v6"), set()),
    "G5": (of_size("standard_g5"), {"vm-sizes-g"}),
    "GS5-8": (of_size("standard_gs5-8"), {"vm-sizes-g"}),
    "L8s v2": (of_size("standard_l8s_v2"), {"vm-sizes-lsv2"}),
    "NV12s v3": (of_size("standard_nv12s_v3"), {"vm-sizes-nvv3-nvv4"}),
    "NV4as v4": (of_size("standard_nv4as_v4"), {"vm-sizes-nvv3-nvv4"}),
    "NV6ads A10 v5": (of_size("standard_nv6ads_a10_v5"), set()),
    "M192idms v2": (of_size("standard_m192idms_v2"), {"vm-sizes-m192-v2"}),
    "M416s v2": (of_size("standard_m416s_v2"), set()),
    "DC8 v2": (of_size("standard_dc8_v2"), {"vm-sizes-dcsv2"}),
    "DC4s v2": (of_size("standard_dc4s_v2"), {"vm-sizes-dcsv2"}),
    "DC2ds v3": (of_size("standard_dc2ds_v3"), {"vm-sizes-dcsv3"}),
    "DC4as v5": (of_size("standard_dc4as_v5"), set()),
    "DC4as cc v5": (of_size("standard_dc4as_cc_v5"), {"vm-sizes-cc-v5"}),
    "EC4ads cc v5": (of_size("standard_ec4ads_cc_v5"), {"vm-sizes-cc-v5"}),
    "no public addresses": (facts(settings=network("noPublicIPAddresses")), {"default-outbound-access"}),
    "Batch's addresses": (facts(settings=network("batchManaged")), set()),
    "one of several sizes": (mixed("standard_d4as_v5", "standard_d3_v2"), D_TO_DSV2),
    "several sizes of today": (mixed("standard_d4s_v5", "standard_e4s_v5"), set()),
    "two at once": (
        facts("standard_a2", machine(UBUNTU.format("22.04"))), {"vm-sizes-a", "ubuntu-22.04"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_announcement_concerns_exactly_the_pools_that_it_names(case: str) -> None:
    pool, expected = CASES[case]
    assert {one.id for one in announcements() if one.concerns(pool)} == expected


APPS: dict[str, tuple[AppProperties, set[str]]] = {
    "this version": (AppProperties("3.13.2", "15.1.0", "2025-06-01", "FlexConsumption", "~4"), {"python-3.13"}),
    "an older one": (AppProperties("3.14.0", "14.2.0", "2024-07-01.20.0", "", ""), {
        "azure-batch-before-15", "batch-api-before-2025-06-01",
    }),
    "an older runtime": (AppProperties("3.14.0", "15.1.0", "2025-06-01", "Dynamic", "~3"), {
        "functions-linux-consumption", "functions-runtime-2-3",
    }),
    "a pinned runtime": (AppProperties("3.14.0", "15.1.0", "2025-06-01", "", "2.0.12342.0"), {"functions-runtime-2-3"}),
    "a pinned runtime of today": (AppProperties("3.14.0", "15.1.0", "2025-06-01", "", "4.2.3.0"), set()),
    "the old plan": (AppProperties("3.14.1", "15.1.0", "2026-10-01", "Dynamic", "~4"), {"functions-linux-consumption"}),
}  # fmt: skip


@pytest.mark.parametrize("case", APPS)
def test_each_announcement_on_the_app_concerns_exactly_what_it_names(case: str) -> None:
    app, expected = APPS[case]
    assert {one.id for one in announcements() if one.concerns_app(app)} == expected


def test_every_announcement_concerns_one_of_the_cases() -> None:
    named = [named for _, named in (*CASES.values(), *APPS.values())]
    assert set().union(*named) == {one.id for one in announcements() if one.when}


def test_sizes_end_on_the_days_that_advice_on_sizes_knows_and_others_not() -> None:
    """Sizes that Azure retires are never advised, by a file of their memory, GPUs and days."""
    series = json.loads(SIZES.read_bytes())["series"]
    assert any("retires" in one for one in series)
    for one in series:
        for size in one["memoryGiB"]:
            days = [str(found.last_day) for found in announcements() if found.concerns(of_size(size))]
            assert days == ([one["retires"]] if "retires" in one else []), size


def test_what_batchs_api_does_not_show_is_listed_and_concerns_nobody() -> None:
    only_listed = [one for one in announcements() if not one.when]
    assert {one.id: one.last_day for one in only_listed} == {
        "low-priority-nodes": None,
        "classic-node-communication": date(2026, 3, 31),
        "cloud-services-pools": date(2024, 2, 29),
        "certificates": date(2024, 2, 29),
        "task-authentication-tokens": date(2024, 9, 30),
        "batch-cli-extensions": date(2024, 9, 30),
        "pool-usage-metrics": None,
    }
    pools, apps = [pool for pool, _ in CASES.values()], [app for app, _ in APPS.values()]
    assert not any(one.concerns(pool) is not False for one in only_listed for pool in (*pools, facts()))
    assert not any(one.concerns_app(app) for one in only_listed for app in apps)


def test_what_is_not_known_concerns_nobody_for_sure() -> None:
    unread = {one.id: one.concerns(facts("standard_a2")) for one in announcements()}
    assert unread["vm-sizes-a"] is True
    assert unread["vm-sizes-np"] is False
    assert unread["ubuntu-22.04"] is unread["windows-server-2016"] is None
    own = {one.id: one.concerns(of_agent(WINDOWS)) for one in announcements()}
    assert own["windows-server-2016"] is None
    assert own["ubuntu-22.04"] is False
    linux = {one.id: one.concerns(of_agent(UBUNTU.format("24.04"))) for one in announcements()}
    assert linux["windows-server-2016"] is False


def test_a_property_that_batch_sent_in_another_type_is_not_known() -> None:
    machines = "virtualMachineConfiguration"
    cases = {
        "ubuntu-22.04": (of_agent(UBUNTU.format("24.04")), f"{machines}.nodeAgentSKUId"),
        "windows-server-2016": (of_agent(UBUNTU.format("24.04")), machines),
        "default-outbound-access": (facts(settings=network("batchManaged")), "networkConfiguration"),
        "vm-sizes-a": (mixed("standard_d4s_v5"), "vmSkuProfile.vmSizes.name"),
    }
    known = {one.id: one for one in announcements()}
    for name, (pool, left_out) in cases.items():
        assert known[name].concerns(pool) is False
        assert known[name].concerns(replace(pool, settings_left_out=(left_out,))) is None
        assert known[name].concerns(replace(pool, settings_left_out=("metadata",))) is False


def test_several_sizes_that_batch_does_not_name_are_not_known() -> None:
    unnamed = {one.id: one.concerns(facts("Mix", machine())) for one in announcements()}
    assert unnamed["vm-sizes-a"] is unnamed["vm-sizes-np"] is None
    assert unnamed["ubuntu-22.04"] is False


def test_a_node_of_a_size_shows_that_a_pool_of_unnamed_sizes_is_concerned() -> None:
    shown = {
        one.id: one.concerns(facts("Mix", machine()), ["standard_d4s_v5", "Standard_A2"]) for one in announcements()
    }
    assert shown["vm-sizes-a"] is True
    assert shown["vm-sizes-np"] is None
    assert shown["ubuntu-22.04"] is False


def test_a_pool_that_names_no_public_addresses_has_those_that_batch_makes() -> None:
    (one,) = announcements_of(json.dumps([ENTRY | {"when": {"publicAddresses": ["BatchManaged"]}}]))
    assert [one.concerns(facts(settings=known)) for known in (machine(), network("batchManaged"))] == [True, True]
    assert one.concerns(facts(settings=network("userManaged"))) is False
    assert one.concerns(facts()) is None


@pytest.mark.parametrize("name", ["appPlan", "appFunctionsRuntime"])
def test_what_is_not_known_of_the_app_concerns_it_not_for_sure(name: str) -> None:
    (one,) = announcements_of(json.dumps([ENTRY | {"when": {name: ["*"]}}]))
    assert one.concerns_app(AppProperties("3.13.2", "15.1.0", "2025-06-01", "FlexConsumption", "~4"))
    assert not one.concerns_app(AppProperties("3.13.2", "15.1.0", "2025-06-01", "", ""))


def test_a_formula_is_searched_for_text() -> None:
    entry = ENTRY | {"when": {"formula": ["*$TargetLowPriorityNodes*"]}}
    (one,) = announcements_of(json.dumps([entry]).encode())
    assert one.concerns(facts(formula="a = 1;\n$TargetLowPriorityNodes = a;")) is True
    assert one.concerns(facts(formula="$TargetDedicatedNodes = 1;")) is one.concerns(facts()) is False


def test_days_are_counted_to_the_last_day_and_unknown_ones_are_no_number() -> None:
    (dated,) = announcements_of(json.dumps([ENTRY]).encode())
    assert [dated.days_left(date(2026, 12, day)) for day in (1, 31)] == [31, 1]
    assert [dated.days_left(date(2027, 1, day)) for day in (1, 11)] == [0, -10]
    (open_one,) = announcements_of(json.dumps([ENTRY | {"lastDay": None}]).encode())
    assert open_one.days_left(date(2026, 12, 1)) is None
    pool = facts(settings=network("noPublicIPAddresses") | machine(UBUNTU.format("22.04")))
    assert {one.id for one in announcements() if one.concerns(pool)} == {"default-outbound-access", "ubuntu-22.04"}
    left = days_left([one for one in announcements() if one.concerns(pool)], date(2027, 6, 20))
    assert [(one.id, days) for one, days in left] == [("ubuntu-22.04", 10)]
    server = of_agent(WINDOWS, "microsoftwindowsserver/windowsserver/2016-datacenter")
    left = days_left([one for one in announcements() if one.concerns(server)], date(2027, 1, 1))
    assert [(one.id, days) for one, days in left] == [("windows-server-2016", 11)]


def test_the_earliest_come_first_and_those_without_a_day_last() -> None:
    days = [one.last_day for one in announcements()]
    known = [day for day in days if day]
    assert days == sorted(known) + [None] * (len(days) - len(known))


def test_every_announcement_has_a_public_source_and_sentences() -> None:
    for one in announcements():
        assert re.fullmatch(r"https://\S+", one.source), one.id
        assert one.read_on >= date(2026, 11, 23), one.id
        assert one.effect.endswith("."), one.id
        assert one.instead.endswith("."), one.id


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ({}, "no list in JSON"),
    "a date of another form": ([ENTRY, ENTRY | {"id": "x", "lastDay": "1 May"}], r"Entry 2 .*date - at `\$.lastDay`"),
    "no source": ([ENTRY | {"source": ""}], r"Entry 1 .*'old'.*source is no address"),
    "an empty sentence": ([ENTRY | {"instead": " "}], "instead is empty"),
    "no condition": ([ENTRY | {"when": {}}], "'when' needs a property"),
    "an empty pattern": ([ENTRY | {"when": {"vmSize": [""]}}], "'when' needs at least one pattern for each"),
    "no pattern": ([ENTRY | {"when": {"vmSize": []}}], "'when' needs at least one pattern for each"),
    "pools and the app": (
        [ENTRY | {"when": {"vmSize": ["standard_a1"], "appPython": ["3.*"]}}],
        r"properties of pools \('vmSize'\) and of this app \('appPython'\), use two entries",
    ),
    "an image of one's own by its name": (
        [ENTRY | {"when": {"image": ["a/b/c"], "imageKind": ["own"]}}],
        "'image', which only those of the 'marketplace' have",
    ),
    "a day long ago": ([ENTRY | {"lastDay": "0027-01-01"}], "its lastDay 0027-01-01 isn't from 2010 to 2100"),
    "a day far off": ([ENTRY | {"readOn": "9999-12-31"}], "its readOn 9999-12-31 isn't from 2010 to 2100"),
    "a source without a host": ([ENTRY | {"source": "https://"}], "its source is no address"),
    "a source of one word": ([ENTRY | {"source": "https://wiki"}], "its source is no address"),
    "a source with a space": ([ENTRY | {"source": "https://a.example/b c"}], "its source is no address"),
    "a source with a user": ([ENTRY | {"source": "https://me:secret@a.example/"}], "its source is no address"),
    "an id with a space": ([ENTRY | {"id": "old things"}], "its id is no word"),
    "a pattern with a space": (
        [ENTRY | {"when": {"image": [" a/b/c"]}}],
        "' a/b/c', as it begins or ends with a space",
    ),
    "an agent of another form": (
        [ENTRY | {"when": {"nodeAgentSku": ["ubuntu 22.04"]}}],
        "no 'nodeAgentSku' fits 'ubuntu 22.04', as they begin with batch.node.",
    ),
    "an agent that begins with a number": (
        [ENTRY | {"when": {"nodeAgentSku": ["#*"]}}],
        "no 'nodeAgentSku' fits '#\\*'",
    ),
    **{
        f"the size {size}": (
            [ENTRY | {"when": {"vmSize": [size]}}],
            f"no 'vmSize' fits '{re.escape(size)}', as sizes are standard_ or basic_, letters, a number,",
        )
        for size in (
            "Standard A1",
            "Dv2",
            "D2_v2",
            "NCv3-series",
            "standard_ncv3-series",
            "d*_v2",
            "#*",
            "#_v2",
            "Standard_",
            "Standard_D",
            "standard_d_v2",
            "standard_d_v2*",
            "standard_#",
            "premium_d2",
            "standard_d2/v2",
            "*/v2",
            "Mix",
        )
    },
    "a version of two words": ([ENTRY | {"when": {"appPython": ["3.13 or 3.14"]}}], "no 'appPython' fits"),
    **{
        f"the runtime {version}": (
            [ENTRY | {"when": {"appFunctionsRuntime": [version]}}],
            f"no 'appFunctionsRuntime' fits '{version}', as it is the latest of a version",
        )
        for version in ("v4", "4.x", "~", "4 or 3")
    },
    "a word of a formula": ([ENTRY | {"when": {"formula": ["$NodeDeallocationOption"]}}], "formulas assign with '='"),
    "a version of two numbers": ([ENTRY | {"when": {"appPython": ["3.13"]}}], "versions are of three numbers"),
    "a version of the API without a day": ([ENTRY | {"when": {"appApiVersion": ["2025"]}}], "versions are days"),
    "an image with its version": ([ENTRY | {"when": {"image": ["a/b/c:*"]}}], r"no 'image' fits 'a/b/c:\*', as images"),
    "an image by its resource": ([ENTRY | {"when": {"image": ["/subscriptions/*"]}}], "no 'image' fits"),
    "an unknown property": ([ENTRY | {"when": {"colour": ["red"]}}], r"Entry 1 .*colour"),
    "an unknown field": ([ENTRY | {"until": "2027-01-01"}], "until"),
    "an id twice": ([ENTRY, ENTRY], "Entry 2 .*another entry has its id"),
    "several": ([ENTRY, 7, ENTRY | {"id": "x", "source": ""}], r"Entry 2 .*got `int`.* Entry 3 .*'x'.*source"),
    "a kind of images that there isn't": ([ENTRY | {"when": {"imageKind": ["ours"]}}], "'ours', only marketplace, own"),
    "addresses that no pool has": (
        [ENTRY | {"when": {"publicAddresses": ["own", "none"]}}],
        "'own', only batchManaged",
    ),
    "an image without its offer": (
        [ENTRY | {"when": {"image": ["ubuntu"]}}],
        "'ubuntu', as images are publisher/offer",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_with_the_entry_and_the_reason(case: str) -> None:
    content, words = WRONG[case]
    with pytest.raises(ValueError, match=words):
        announcements_of(json.dumps(content).encode())


@pytest.mark.parametrize("pattern", [
    "Standard_D2_v2", "standard_d#*", "basic_*", "*_v2", "*d2*", "stand*", "standard*_v#", "STANDARD_NC*_V3", "*",
])  # fmt: skip
def test_a_pattern_that_a_size_may_fit_is_taken(pattern: str) -> None:
    (one,) = announcements_of(json.dumps([ENTRY | {"when": {"vmSize": [pattern]}}]))
    assert one.when == {"vmSize": [pattern]}


def test_an_announcement_keeps_its_fields() -> None:
    (one,) = announcements_of(json.dumps([ENTRY]).encode())
    assert isinstance(one, Announcement)
    assert msgspec.to_builtins(one) == ENTRY


JAMMY = "canonical/0001-com-ubuntu-server-jammy/22_04-lts"
IMAGES = SupportedImages(NOW, (
    SupportedImage(JAMMY, UBUNTU.format("22.04"), date(2027, 6, 1)),
    SupportedImage("microsoft-dsvm/ubuntu-hpc/2204", UBUNTU.format("22.04"), date(2027, 6, 30)),
    SupportedImage("canonical/ubuntu-24_04-lts/server", UBUNTU.format("24.04")),
    SupportedImage("Canonical/Ubuntu-24_04-lts/Minimal", UBUNTU.format("24.04"), date(2026, 12, 1)),
))  # fmt: skip


def test_images_of_batchs_list_end_on_their_days_and_own_images_with_the_last_of_their_agent() -> None:
    found = {one.id: one for one in announcements_in(IMAGES)}
    assert {name: one.last_day for name, one in found.items()} == {
        f"image:{JAMMY}": date(2027, 6, 1),
        "image:microsoft-dsvm/ubuntu-hpc/2204": date(2027, 6, 30),
        "image:canonical/ubuntu-24_04-lts/minimal": date(2026, 12, 1),
        "nodeAgentSku:batch.node.ubuntu 22.04": date(2027, 6, 30),
    }
    marketplace, own = of_agent(UBUNTU.format("22.04"), JAMMY.upper()), of_agent(UBUNTU.format("22.04"))
    assert {name for name, one in found.items() if one.concerns(marketplace)} == {f"image:{JAMMY}"}
    assert {name for name, one in found.items() if one.concerns(own)} == {"nodeAgentSku:batch.node.ubuntu 22.04"}
    assert "such as canonical/ubuntu-24_04-lts/server" in found[f"image:{JAMMY}"].instead
    assert all(one.read_on == NOW.date() for one in found.values())


def test_an_image_that_batch_lists_no_more_keeps_its_last_known_end() -> None:
    later = replace(IMAGES, as_of=NOW + DAY, images=IMAGES.images[2:]).after(IMAGES)
    found = {one.id: one for one in announcements_in(replace(later, as_of=NOW + 2 * DAY).after(later))}
    gone = found[f"image:{JAMMY}"]
    assert (gone.last_day, gone.read_on) == (date(2027, 6, 1), NOW.date())
    assert gone.what == f"The image {JAMMY} (no longer listed by Batch, last on 2026-11-29)"
    assert gone.concerns(of_agent(UBUNTU.format("22.04"), JAMMY))
    agent = found["nodeAgentSku:batch.node.ubuntu 22.04"]
    assert agent.what.endswith("22.04 (no longer listed by Batch, last on 2026-11-29)")
    assert agent.last_day == date(2027, 6, 30)
    assert found["image:canonical/ubuntu-24_04-lts/minimal"].read_on == (NOW + 2 * DAY).date()
    finding = retirement_finding(gone, "p", date(2027, 5, 30))
    assert finding is not None
    assert "(no longer listed by Batch, last on 2026-11-29) ends in 2 days, on 2027-06-01" in finding.sentence


def test_an_image_that_a_list_understood_in_part_lacks_is_not_said_to_have_left_it() -> None:
    later = replace(IMAGES, as_of=NOW + DAY, images=IMAGES.images[1:], problem="One isn't understood.").after(IMAGES)
    found = {one.id: one for one in announcements_in(later)}
    assert (found[f"image:{JAMMY}"].what, found[f"image:{JAMMY}"].last_day) == (f"The image {JAMMY}", date(2027, 6, 1))
    after = replace(IMAGES, as_of=NOW + 2 * DAY, images=IMAGES.images[1:]).after(later)
    assert "no longer listed" in {one.id: one for one in announcements_in(after)}[f"image:{JAMMY}"].what


def test_an_image_that_is_listed_again_is_as_listed_and_one_gone_without_an_end_has_no_day() -> None:
    gone = replace(IMAGES, images=IMAGES.images[:2]).after(IMAGES)
    found = {one.id: one for one in announcements_in(gone)}
    server = found["image:canonical/ubuntu-24_04-lts/server"]
    assert (server.last_day, server.what.endswith("(no longer listed by Batch, last on 2026-11-29)")) == (None, True)
    again = replace(IMAGES, as_of=NOW + DAY).after(gone)
    assert again == replace(IMAGES, as_of=NOW + DAY)


def images_of(*listed: tuple[str, str, date | None]) -> dict[tuple[str, date | None], Announcement]:
    images = tuple(SupportedImage(name, f"batch.node.{agent}", ends) for name, agent, ends in listed)
    return {(one.id, one.last_day): one for one in announcements_in(SupportedImages(NOW, images))}


MAY, JUNE, JULY = (date(2027, month, 1) for month in (5, 6, 7))


def test_an_image_with_two_agents_ends_with_each_on_its_own_day() -> None:
    found = images_of(("a/b/c", "x 1", MAY), ("A/b/c", "x 2", JUNE), ("a/b/c", "x 3", None))
    first, second = found["image:a/b/c", MAY], found["image:a/b/c", JUNE]
    assert first.what == "The image a/b/c with the node agent batch.node.x 1"
    assert first.instead.startswith("The same image with the node agent batch.node.x 3; ")
    pools = [of_agent(f"batch.node.x {number}", "a/b/c") for number in (1, 2, 3)]
    assert [first.concerns(pool) for pool in pools] == [True, False, False]
    assert [second.concerns(pool) for pool in pools] == [False, True, False]
    both = images_of(("a/b/c", "x 1", MAY), ("a/b/c", "x 2", MAY))
    assert both["image:a/b/c", MAY].what == "The image a/b/c"
    assert both["image:a/b/c", MAY].when == {"image": ["a/b/c"], "nodeAgentSku": ["batch.node.x 1", "batch.node.x 2"]}
    assert both["image:a/b/c", MAY].instead.startswith("An image that is supported for longer; ")


def test_an_image_of_ones_own_is_made_of_no_image_that_batch_lists_with_other_node_agents_only() -> None:
    found = images_of(("a/b/c", "x 1", MAY), ("a/b/d", "x 2", JUNE), ("a/b/d", "x 3", JUNE), ("a/b/e", "x 3", None))
    ends = {name: found[f"image:{name}", day] for name, day in (("a/b/c", MAY), ("a/b/d", JUNE))}
    concerned = {
        name: [one.concerns(of_agent(f"batch.node.x {number}")) for number in (1, 2, 3, 4)]
        for name, one in ends.items()
    }
    assert concerned == {"a/b/c": [None, False, False, False], "a/b/d": [False, None, None, False]}


@pytest.mark.parametrize(("others", "words"), [
    ([("a/b/new", "x 2", None)], "An image such as a/b/new; "),
    (
        [("a/b/new", "x 2", None), ("a/b/new", "x 1", JUNE), ("a/b/old", "x 1", JULY)],
        "An image such as a/b/old (until 2027-07-01); ",
    ),
    ([("a/b/new", "x 2", JUNE), ("a/b/old", "x 1", JULY)], "An image such as a/b/old (until 2027-07-01); "),
    ([("a/b/new", "x 2", MAY), ("a/b/z", "x 2", date(2026, 1, 1))], "An image that is supported for longer; "),
    ([("z/b/new", "x 2", None)], "An image that is supported for longer; "),
    ([("a/b/new", "windows amd64", None)], "An image that is supported for longer; "),
    ([("a/b/zoo", "y 2", None), ("a/b/new", "x 2", None)], "An image such as a/b/new; "),
])  # fmt: skip
def test_a_substitute_of_an_image_lasts_longer(others: list[tuple[str, str, date | None]], words: str) -> None:
    assert words in images_of(("a/b/c", "x 1", MAY), *others)["image:a/b/c", MAY].instead


def test_announcements_with_others_stay_in_order_and_equal_ones_count_once() -> None:
    (own,) = announcements_of(json.dumps([ENTRY]))
    images = announcements_in(IMAGES)
    every = with_more(images, images, own=[own])
    assert len(every) == len(announcements()) + 1 + len(images)
    known = [one.last_day for one in every if one.last_day]
    assert [one.last_day for one in every] == sorted(known) + [None] * (len(every) - len(known))


def test_an_entry_of_ones_own_replaces_all_others_with_its_id() -> None:
    changed = [ENTRY | {"id": "ubuntu-22.04"}, ENTRY | {"id": f"image:{JAMMY}", "lastDay": None}]
    own = announcements_of(json.dumps(changed))
    every = with_more(announcements_in(IMAGES), own=own)
    assert [one for one in every if one.id in {"ubuntu-22.04", f"image:{JAMMY}"}] == list(own)
    assert len(every) == len(announcements()) + len(announcements_in(IMAGES))


def test_a_file_of_several_lines_is_refused_with_the_line() -> None:
    content = json.dumps([ENTRY, ENTRY | {"id": "x", "source": "none"}, 7], indent=1)
    with pytest.raises(ValueError, match=r"Entry 2 \(line 16\) .*'x'.*source.* Entry 3 \(line 30\) .*got `int`"):
        announcements_of(content)


def test_entries_that_were_read_long_ago_or_are_of_a_later_day_are_named() -> None:
    some = announcements_of(json.dumps([ENTRY, ENTRY | {"id": "new", "readOn": "2026-11-02"}]))
    assert unread_since(some, date(2026, 11, 1) + MAX_AGE * DAY) == []
    assert unread_since(some, date(2026, 11, 2) + MAX_AGE * DAY) == ["old: read 91 days ago, at https://example.org/1"]
    assert unread_since(some, date(2026, 10, 31)) == ["new: read on 2026-11-02, which is to come"]


@pytest.mark.parametrize(("days", "lead"), [
    (181, None), (180, 180), (61, 180), (60, 60), (15, 60), (14, 14), (0, 14), (-1, 0), (-400, 0),
])  # fmt: skip
def test_a_finding_has_the_lead_time_that_has_begun(days: int, lead: int | None) -> None:
    (one,) = announcements_of(json.dumps([ENTRY]))
    found = retirement_finding(one, "pool", date.fromordinal(date(2027, 1, 1).toordinal() - days))
    assert (found.evidence["leadDays"] if found else None) == lead
    if found:
        assert found.evidence["daysLeft"] == days
        assert "2027-01-01" in found.sentence
        assert "https://example.org/1, read on 2026-11-01" in found.sentence
        assert found.advice == "No nodes. Use instead: New things."


def test_without_a_known_day_there_is_no_finding() -> None:
    (one,) = announcements_of(json.dumps([ENTRY | {"lastDay": None}]))
    assert retirement_finding(one, "pool", date(2030, 1, 1)) is None


@pytest.mark.parametrize(("days", "words"), [(2, "ends in 2 days, on"), (1, "ends in 1 day, on"), (-1, "ended on")])
def test_a_finding_counts_days_as_one_writes_them(days: int, words: str) -> None:
    (one,) = announcements_of(json.dumps([ENTRY]))
    found = retirement_finding(one, "pool", date.fromordinal(date(2027, 1, 1).toordinal() - days))
    assert found is not None
    assert found.title == f"Old things {words} 2027-01-01"
    assert found.title in found.sentence

"""docs/metrics.md lists exactly the rendered families, with their types, labels and stability."""

import re
from dataclasses import replace
from typing import NamedTuple

from functions.api.metrics.job_series import SHOWN_AFTER_COMPLETION
from functions.api.metrics.metrics import render, render_nodes
from shared.domain.jobs.snapshots import TaskRead
from tests.functions.conftest import ROOT
from tests.functions.support.seen_metrics import (
    BUDGETS,
    CONDITIONS,
    COSTS,
    INGESTION,
    NOW,
    POOL,
    POOL_ROUNDS,
    QUOTAS,
    SCHEDULE,
    SCHEDULE_ROUNDS,
    UTILIZED,
    WATCHED,
    changed,
    families,
    job,
)

PAGE = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
BESIDE = {
    "pools": [POOL],
    "pool_rounds": POOL_ROUNDS,
    "schedules": [SCHEDULE],
    "schedule_rounds": SCHEDULE_ROUNDS,
    "ingestion": [INGESTION],
    "utilization": [UTILIZED],
    "costs": COSTS,
    "budgets": BUDGETS,
    "quotas": QUOTAS,
    "conditions": CONDITIONS,
}
SNAPSHOT = job().job.snapshot
assert SNAPSHOT
READ = changed(job(), snapshot=replace(SNAPSHOT, read=TaskRead(0.25, 2, 1)))
RENDERED = families(render([WATCHED], [READ], NOW, **BESIDE) + render_nodes([UTILIZED]))  # type: ignore[arg-type]


class DocumentedMetric(NamedTuple):
    """A line of the page's tables."""

    kind: str
    labels: frozenset[str]
    unit: str
    meaning: str
    stability: str


def documented_metrics() -> dict[str, DocumentedMetric]:
    found = {}
    for line in PAGE.splitlines():
        name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
        if re.fullmatch(r"\| `azbatch_\w+`", f"| {name}"):
            kind, labels, unit, meaning, stability = (cell.rstrip(" |") for cell in cells)
            assert name.strip("`") not in found
            found[name.strip("`")] = DocumentedMetric(
                kind, frozenset(re.findall(r"\w+", labels)), unit, meaning, stability
            )
    return found


def test_the_page_lists_each_family_with_type_and_labels_and_no_other() -> None:
    rendered = {
        name + "_total" * (family.type == "counter"): (
            family.type,
            frozenset(label for sample in family.samples for label in sample.labels) - {"le"},
        )
        for name, family in RENDERED.items()
    }
    page = {name: (line.kind, line.labels) for name, line in documented_metrics().items()}
    for name in sorted(page.keys() | rendered.keys()):
        assert page.get(name) == rendered.get(name), f"this name is public: {name}, with its type and labels"


def test_each_line_has_the_unit_that_the_name_has_a_meaning_and_a_stability() -> None:
    for name, line in documented_metrics().items():
        is_time, is_duration = name.endswith("_timestamp_seconds"), name.endswith("_seconds")
        expected = "Unix time" if is_time else "seconds" if is_duration else None
        assert (line.unit == expected) if expected else line.unit not in {"", "seconds", "Unix time"}, name
        assert len(line.meaning) > 10, name
        assert line.stability in {"stable", "may change"}, name


def test_series_in_queries_rules_and_text_are_rendered_with_these_labels() -> None:
    labels = {
        sample.name: sample.labels.keys() | {"instance"} for family in RENDERED.values() for sample in family.samples
    }
    named = set(re.findall(r"\bazbatch_\w+", PAGE.replace("azbatch_task_.+_bucket", "")))
    assert named - labels.keys() - RENDERED.keys() == set()
    for name, matchers in re.findall(r"\b(azbatch_\w+)\{(.*?)\}", PAGE):
        assert set(re.findall(r"(\w+)=", matchers)) <= labels[name]


def test_label_values_of_the_page_are_rendered() -> None:
    values = {value for family in RENDERED.values() for sample in family.samples for value in sample.labels.values()}
    assert {value for _, value in re.findall(r'\b(state|result)="(\w+)"', PAGE)} <= values
    assert {"active", "preparing", "running", "completed", "success", "failure"} <= values


def test_the_page_names_bucket_edges_and_when_completed_jobs_leave() -> None:
    for name in ("azbatch_task_queue_wait_seconds", "azbatch_task_run_seconds"):
        *bounds, last = [sample.labels["le"] for sample in RENDERED[name].samples if "le" in sample.labels]
        assert last == "+Inf"
        assert f"`le` is {', '.join(bounds[:-1])} or {bounds[-1]}" in PAGE.replace("\n", " ")
    assert f"leaves {SHOWN_AFTER_COMPLETION.total_seconds() / 3600:g} hours after it completed" in PAGE


def test_the_page_says_how_many_series_a_job_has() -> None:
    rendered = families(render([], [job()], NOW, costs=COSTS)).values()
    samples = [sample for family in rendered for sample in family.samples if "job" in sample.labels]
    in_histograms = sum(sample.name.startswith("azbatch_task_") for sample in samples)
    assert f"A job has up to {len(samples)} series, {in_histograms} of them in the two histograms." in PAGE

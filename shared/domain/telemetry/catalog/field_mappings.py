"""Field mappings: how a record's fields become series, computed once for all records with equal name, tags and fields.

Attributes come only from the tags and keys that the catalog names. They contain no secrets and have bounded length. All
other tags are dropped, so a command line or a path in a tag creates no series. Of measurements that the catalog lacks,
numbers and tags that name neither node nor task make custom metrics, within bounds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from shared.domain.redaction.redaction import redacted
from shared.domain.telemetry.catalog.catalog import (
    AGGREGATES,
    ENDED_ATTEMPTS,
    SUMMARIES,
    is_record,
    plugin_of,
)
from shared.domain.telemetry.catalog.custom_metrics import SINGLE, UNIT, VALUE, custom_rule
from shared.domain.telemetry.catalog.series import Attributes, Kind, Plugin, ReadingKind, Rule, Series, series_of
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.startup_records import NAMING_TAGS, is_once

SOURCE = ("batchscope.source", "aggregate")
"""The attribute that marks series from an agent's own aggregates, so that its samples aren't counted twice."""
_MAX_LENGTH = 128  # characters of an attribute
_READ = 1024
_MAX_FIELDS, _MAX_TAGS = 64, 8  # of a custom metric's record
_WORD = re.compile(r"[\w./\-]{0,16}")


class Column(NamedTuple):
    """A series and the field that holds its values, by the field's position in a record."""

    place: int
    series: Series
    rule: Rule


class Summary(NamedTuple):
    """An aggregate: `column` is the field with the mean, the others are positions of count, minimum and maximum."""

    column: Column
    count_at: int
    min_at: int
    max_at: int


@dataclass(frozen=True, slots=True, eq=False)
class FieldMapping:
    """How the fields of a record map to series.

    `unknown` is the name of a measurement that the catalog lacks, if it has no numbers either, `unread` the number of
    fields without a series, and `counters` the ids of the counter series. `is_of_ended_attempt` means that records are
    those of ended runs of tasks: there is a single one for each run.
    """

    columns: tuple[Column, ...] = ()
    summaries: tuple[Summary, ...] = ()
    unknown: str = ""
    unread: int = 0
    counters: frozenset[str] = field(init=False)
    is_of_ended_attempt: bool = field(init=False)

    def __post_init__(self) -> None:
        counters = frozenset(column.series.id for column in self.columns if column.rule.kind is Kind.COUNTER)
        object.__setattr__(self, "counters", counters)
        is_of_ended_attempt = any(column.series.name.startswith(ENDED_ATTEMPTS) for column in self.columns[:1])
        object.__setattr__(self, "is_of_ended_attempt", is_of_ended_attempt)


def mapping_of(metric: Metric) -> FieldMapping:
    """Returns the plan for a record and for all records with the same `shape_key`."""
    name = metric.name.removeprefix(AGGREGATES)
    plugin = plugin_of(name, metric.tags)
    if plugin is None:
        return FieldMapping() if is_record(name) else _custom_mapping(metric)
    tag, whole = plugin.without
    if tag and metric.tags.get(tag) == whole:
        return FieldMapping(unread=len(metric.fields))
    attributes = dict(_attributes(metric, plugin))
    if name == metric.name:
        columns = tuple(_columns(metric, plugin, attributes))
        return FieldMapping(columns, unread=len(metric.fields) - len(columns))
    return _aggregate_plan(metric, plugin, attributes | dict((SOURCE,)))


def _columns(metric: Metric, plugin: Plugin, attributes: Mapping[str, str]) -> Iterator[Column]:
    prefix = f"{metric.tags.get(plugin.named_by, '')}/" if plugin.named_by else ""
    for place, (name, value) in enumerate(metric.fields.items()):
        rule = plugin.fields.get(prefix + name) or _single_rule(plugin, prefix, name)
        if rule and not (rule.kind is Kind.COUNTER and plugin.counts_whole and isinstance(value, float)):
            yield _column(place, rule, attributes)


def _single_rule(plugin: Plugin, prefix: str, name: str) -> Rule | None:
    """Returns the rule of a metric's only field, under whichever name its format gives it."""
    rule = plugin.fields.get(prefix + VALUE) if name in SINGLE else None
    return replace(rule, reading=ReadingKind.DELTA) if rule and name == "delta" else rule


def _aggregate_plan(metric: Metric, plugin: Plugin, attributes: Mapping[str, str]) -> FieldMapping:
    """Returns the plan for an aggregate: a counter's largest reading is its last, a gauge needs all four numbers."""
    places = {name: place for place, name in enumerate(metric.fields)}
    columns, summaries = [], []
    for name, rule in plugin.fields.items():
        found = [places[f"{name}_{part}"] for part in SUMMARIES if f"{name}_{part}" in places]
        if rule.kind is Kind.COUNTER and f"{name}_max" in places:
            columns.append(_column(places[f"{name}_max"], rule, attributes))
        elif rule.kind is Kind.GAUGE and len(found) == len(SUMMARIES):
            count, least, most, mean = found
            summaries.append(Summary(_column(mean, rule, attributes), count, least, most))
    return FieldMapping(tuple(columns), tuple(summaries))


def _custom_mapping(metric: Metric) -> FieldMapping:
    """Returns the plan for a measurement that the catalog lacks; startup records have no custom metrics."""
    tags = sorted(tag for tag, value in metric.tags.items() if value and tag not in NAMING_TAGS and tag != UNIT)
    attributes = {_distinct_label(tag): _distinct_label(metric.tags[tag].strip('"')) for tag in tags[:_MAX_TAGS]}
    columns: list[Column] = []
    for place, (name, value) in enumerate(metric.fields.items()):
        if isinstance(value, int | float) and len(columns) < _MAX_FIELDS and not is_once(metric):
            label = _distinct_label(metric.name if name in SINGLE else f"{metric.name}.{name}")
            columns.append(_column(place, custom_rule(label, name, _shown(metric.tags.get(UNIT, ""))), attributes))
    if not columns:
        return FieldMapping(unknown=_shown(metric.name))
    return FieldMapping(tuple(columns), unread=len(metric.fields) - len(columns))


def _shown(text: str) -> str:
    """Returns a label without secrets; short words of letters can't be secrets."""
    if _WORD.fullmatch(text):
        return text
    return redacted(text)[:_MAX_LENGTH] if len(text) <= _READ else "[too long]"


def _distinct_label(text: str) -> str:
    """Returns a label without secrets, with a hash suffix where it is truncated.

    Labels with the same beginning thus remain different series. Secrets don't count: texts that differ only in a secret
    are the same label.
    """
    if len(text) > _READ or _WORD.fullmatch(text):
        return _shown(text)
    whole = redacted(text)
    sign = blake2b(whole.encode(), digest_size=2).hexdigest()
    return whole if len(whole) <= _MAX_LENGTH else f"{whole[: _MAX_LENGTH - 5]}#{sign}"


def _column(place: int, rule: Rule, attributes: Mapping[str, str]) -> Column:
    together: Attributes = tuple(sorted({**attributes, **dict(rule.attributes)}.items()))
    is_unique = rule.name.startswith(ENDED_ATTEMPTS)
    return Column(place, Series(rule.name, together) if is_unique else series_of(rule.name, together), rule)


def _attributes(metric: Metric, plugin: Plugin) -> Iterator[tuple[str, str]]:
    yield from plugin.fixed
    for tag, attribute in plugin.tags.items():
        value = metric.tags.get(tag, "").strip('"')
        if value and (tag, value) != plugin.whole:
            shown = value.removeprefix("cpu") if tag == "cpu" else value
            yield attribute, _distinct_label(plugin.values.get(shown, shown))
    for name, attribute in plugin.keys.items():
        if name in metric.fields:
            yield attribute, _distinct_label(str(metric.fields[name]))

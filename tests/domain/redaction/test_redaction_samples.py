"""Redaction of samples: secrets of many classes, each marked ⟦so⟧, and lines without any."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.redaction import CLEAN, SECRETS, Sample, clean_lines, is_taken_out, samples
from shared.domain.redaction.redaction import redacted
from tests.profiles import share_of

SAMPLES = samples()


def test_there_are_enough_samples_of_enough_classes() -> None:
    assert len(SAMPLES) >= 400
    assert len({sample.kind for sample in SAMPLES}) >= 60
    assert len(clean_lines()) >= 2000
    assert CLEAN.parent == SECRETS.parent == Path(__file__).parents[2] / "data/redaction"


@pytest.mark.parametrize("kind", sorted({sample.kind for sample in SAMPLES}))
def test_secrets_of_every_class_are_taken_out(kind: str) -> None:
    missed = [sample.text for sample in SAMPLES if sample.kind == kind and not is_taken_out(sample)]
    assert missed == []


def test_lines_without_secrets_stay_as_they_are() -> None:
    changed = [(line, redacted(line)) for line in clean_lines() if redacted(line) != line]
    assert len(changed) <= len(clean_lines()) // 100, changed


@pytest.mark.parametrize("wrap", [json.dumps, lambda text: json.dumps(json.dumps(text))], ids=["once", "twice"])
def test_secrets_are_taken_out_of_json_around_them(wrap: Callable[[str], str]) -> None:
    """A command line is part of a task's JSON, which is part of a log's JSON."""
    missed = []
    for sample in SAMPLES:
        inner = Sample(
            sample.kind, wrap(sample.text), tuple(wrap(secret)[1:-1].strip('\\"') for secret in sample.secrets)
        )
        if not is_taken_out(inner):
            missed.append(inner.text)
    assert len(missed) <= len(SAMPLES) * 3 // 100, missed


def test_redacted_text_stays_as_it_is() -> None:
    for sample in share_of(SAMPLES, 3):
        once = redacted(sample.text)
        assert redacted(once) == once

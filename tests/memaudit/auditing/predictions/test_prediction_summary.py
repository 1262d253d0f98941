"""What the numbers of an audit of predictions permit to say, and its schema."""

import pytest
from prediction_examples import FILES, control, scores

from memaudit.auditing.predictions.prediction_summary import (
    BEYOND,
    INVALID,
    NOTHING,
    SCHEMA,
    UNCLEAR,
    FileCounts,
    PredictionSummary,
    judged,
    schema,
)


def verdict(files=FILES, **options):
    found = PredictionSummary(verdict=INVALID, files=FileCounts(**files), fpr=0.01, **scores(**options))
    return judged(found).verdict


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, BEYOND),
        ({"detected": False}, NOTHING),
        ({"controls": [control("blind", 0.2), control("stand-in", 0.04)]}, UNCLEAR),
        ({"controls": [control("blind", -0.1, detected=True)]}, UNCLEAR),
        # The target alone is no control.
        ({"files": FILES | {"features": 0}}, UNCLEAR),
        ({"files": FILES | {"features": 0, "references": 1}}, BEYOND),
        ({"splits": 3}, INVALID),
        ({"splits": 2}, BEYOND),
        ({"lookup": False}, INVALID),
        # A model that is certain without a lookup cannot show it.
        ({"lookup": False, "changed": 0.4, "detected": False}, NOTHING),
    ],
)
def test_the_verdict_follows_from_intervals_and_controls(options, said):
    assert verdict(**options) == said


def test_the_schema_is_the_one_in_docs():
    assert SCHEMA.read_text(encoding="utf-8") == schema()

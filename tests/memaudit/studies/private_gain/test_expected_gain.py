"""The expected share is that of the measured tables of like size, by the method and the epsilon nearest to the plan."""

import re
from dataclasses import replace

import pytest
from conftest import PROJECT
from private_records import CLASSES, NUMBER

from memaudit.common.io import read_json
from memaudit.privacy.accounting import Budget
from memaudit.privacy.tabpate_release import Settings
from memaudit.statistics.private_gains import mean_share, tables_of
from memaudit.studies.private_gain.expected_gain import MEASURED, in_lines
from memaudit.studies.private_gain.measured_gains import METHODS

ONE = Budget(1.0, 1e-5)
GROUP = {"queries": 300, "prior": "moments", "alpha": 1.0, "by_class": True, "labels": "group"}


@pytest.fixture(scope="module")
def measured():
    return read_json(PROJECT / "results/bench/private_gain.json")


def lines(measured, records=5000, budget=ONE, public=CLASSES, **settings):
    return list(in_lines(measured, Settings(**GROUP | settings), budget, replace(public, records=records)))


def test_the_share_is_that_of_tables_of_like_size(measured):
    first, tables, *_ = lines(measured)
    large = [one for one in tables_of(measured["parts"].values()) if 5000 in one.sizes]
    mean, low, high = mean_share(large, "class_moments", 1.0, 5000)
    assert f"`class_moments` keep {mean:.0%} ({low:.0%} to {high:.0%}) of the gain" in first
    assert first.endswith("in the mean of 3 tables of 5,000 records at epsilon 1")
    assert re.findall(r"(\S+) -?\d+% \(", tables) == ["adult", "bank-marketing", "phoneme"]


def test_small_tables_are_compared_with_small_samples(measured):
    first, tables, *_ = lines(measured, records=300, equal_classes=True)
    assert "`class_moments, equal classes`" in first
    assert "6 tables of 250 records" in first
    assert tables.count("%") == 3 * 6


def test_what_was_not_measured_is_named(measured):
    assert not any("nearest to yours" in line for line in lines(measured))
    assert lines(measured, budget=Budget(0.3, 1e-5))[-1].endswith("5,000 records, epsilon 0.3")
    far = lines(measured, records=200_000, budget=Budget(8.0, 1e-6))
    assert "at epsilon 10" in far[0]
    assert far[-1].endswith("200,000 records, epsilon 8")
    (only,) = lines(measured, public=NUMBER)
    assert "no regression was measured" in only
    learned = lines(measured, labels="learned", alpha=0.6)
    assert any("with `equal_classes: true`" in line for line in learned)


def test_every_kind_of_labels_has_its_measured_method():
    assert set(MEASURED.values()) < set(METHODS)

"""Repeated audits hold what their checks say: ranges, intervals and verdicts on answers with known truth."""

import numpy as np
import pytest

from memaudit.studies.calibration import repeated_audits
from memaudit.studies.calibration.answer_pools import generated, queried, records
from memaudit.studies.calibration.repeated_audits import Audit, Predicted

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def leaking():
    return generated(160, 60, np.random.default_rng(0), shift=2.0)


def test_an_audit_takes_whole_blocks_of_the_pool(leaking):
    rng = np.random.default_rng(1)
    models = repeated_audits._blocks(np.ones(160, bool), 32, rng)
    assert models.sum() == 32
    assert set(models.reshape(-1, 8).sum(1)) == {0, 8}
    nested = repeated_audits._blocks(models, 16, rng)
    assert nested.sum() == 16
    assert not (nested & ~models).any()


def test_the_deployed_context_is_judged_by_its_own_members(leaking):
    """With a leak of two deviations most of the accused of a further context are members."""
    panel, rng = repeated_audits.panel_of(leaking), np.random.default_rng(1)
    audit = Audit.of(panel, repeated_audits._blocks(np.ones(160, bool), 32, rng))
    other = int(np.flatnonzero(~audit.models)[0])
    found = repeated_audits._deployed(panel, audit, other, rng)
    assert found.keys() == set(repeated_audits.STRICT)
    assert np.isnan(found[0.01]) or found[0.01] > repeated_audits.BASE_RATE


def test_ranges_intervals_and_controls_of_few_audits(leaking):
    rng = np.random.default_rng(2)
    ranges = repeated_audits.one_deployment(leaking, 3, 32, rng)
    assert [len(one) for one in ranges.values()] == [3, 3]
    for one in ranges["precision at 1.0% false positives"]:
        assert one.low <= one.high
        assert one.truth.shape == (repeated_audits.DEPLOYED,)
        assert 0 < one.level <= 0.95
    (quick,) = repeated_audits.quick_and_full(leaking, 10, rng).values()
    assert len(quick) == 10
    assert all(one.low < one.truth and one.truth > 0.6 for one in quick)
    assert repeated_audits.controls(leaking, 2, rng).keys() == {"placebo", "companions"}


def test_what_is_not_defined_is_not_held():
    interval = Predicted(0.2, 0.8, np.array([0.5, np.nan]), 0.9).interval()
    assert interval.low.tolist() == pytest.approx([0.2, np.nan], nan_ok=True)
    assert interval.high.tolist() == pytest.approx([0.8, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("model", "check", "other"),
    [
        ("constant classifier", repeated_audits.leak_found, repeated_audits.leaks_fully),
        ("1 nearest neighbour", repeated_audits.leaks_fully, repeated_audits.leak_found),
    ],
)
def test_no_leak_and_a_full_leak_are_told_apart(model, check, other):
    pool = queried(records("no shared labels"), model, 200, 48, np.random.default_rng(0))
    (found,), (opposite,) = (one(pool, 2, np.random.default_rng(3)).values() for one in (check, other))
    assert not any(one.false for one in found)
    assert all(one.false for one in opposite)

"""The smallest leak that is detected: another data set with such a leak is detected in about 80 %."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from audit_examples import ATTACKS

from memaudit.data import membership_matrices
from memaudit.studies.audit import planted_checks, planted_effects
from memaudit.studies.audit.planted_effects import Answers
from memaudit.studies.audit.smallest_leak import Plantings

pytestmark = pytest.mark.long

SETS, MEMBERS, OTHERS, FPR = 32, 100, 25, 0.05
PARAMS = SimpleNamespace(attacks=ATTACKS | {"replicates": 100}, audit={"fpr": FPR})


def simulated(rng, effect=0.0):
    """Answers of a model whose confidence in a member is `effect` standard deviations higher."""
    records, label = MEMBERS + OTHERS, rng.integers(0, 2, MEMBERS + OTHERS)
    member = np.arange(records) < MEMBERS
    design = membership_matrices.balanced(SETS, records, rng, block=8) & member
    spread = np.exp(rng.normal(0, 0.4, records))
    signals = 1 + 2 * rng.normal(size=records) + spread * (rng.normal(size=design.shape) + effect * design)
    logits = np.where(np.arange(2) == label[:, None], signals[..., None], 0)
    return Answers.of(
        xr.Dataset(
            {"logits": (("model", "record", "class"), logits), "design": (("model", "record"), design)},
            {
                "record": np.arange(records).astype(str), "label": ("record", label), "member": ("record", member),
                "unit": ("record", np.arange(records)),
            },
            {"dataset": "simulated", "block": 8},
        ),
        ["probabilities"],
        ATTACKS["rmia"],
    )  # fmt: skip


@pytest.fixture(autouse=True)
def few_scores(monkeypatch):
    """Three of the scores: choosing among all of them takes most of the time."""
    names = ["lira", "lira shared variance", "signal alone"]
    monkeypatch.setattr(planted_effects, "names_on", lambda *_: names)


def test_a_leak_of_the_smallest_detected_size_is_detected_in_80_percent_of_data_sets():
    rng, data_sets = np.random.default_rng(0), 40
    smallest = Plantings(simulated(rng), FPR, 100, 19, rng).smallest()["auc"]
    judged = [
        planted_checks._judged(answers.panel(answers.members.design.values), PARAMS, rng)[0]
        for answers in (simulated(rng, smallest.effect) for _ in range(data_sets))
    ]
    mean, detected = np.mean([(one.estimate, one.detected) for one in judged], axis=0)
    # Monte Carlo error of 40 data sets, and that of the effect, which few plantings of one data set tell.
    assert mean == pytest.approx(smallest.value, abs=0.02)
    assert 0.6 < detected < 0.95


def test_more_records_detect_smaller_leaks():
    rng = np.random.default_rng(1)
    answers = simulated(rng)
    few = answers.of_units(20 * SETS, rng)
    found = [Plantings(one, FPR, 50, 19, rng).smallest()["auc"] for one in (answers, few)]
    assert found[0].value < found[1].value
    assert found[0].effect < found[1].effect

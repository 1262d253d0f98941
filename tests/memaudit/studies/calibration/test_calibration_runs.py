"""Sources, their checks, and how a rate is judged."""

import numpy as np
import pytest

from memaudit.studies.calibration import calibration_runs
from memaudit.studies.calibration.answer_pools import generated
from memaudit.studies.calibration.calibration_runs import LIMITS, REPETITIONS, SOURCES, Limits, Source, verdict
from memaudit.studies.calibration.repeated_audits import Predicted


def test_five_tables_three_generators_and_the_two_extremes_have_known_checks():
    assert len([name for name in SOURCES if name.startswith("generator")]) == 3
    assert len([one for one in SOURCES.values() if "precision" in one.checks]) == 8
    for one in SOURCES.values():
        assert set(one.checks) <= REPETITIONS.keys() == LIMITS.keys() == calibration_runs.CHECKS.keys()
    assert REPETITIONS["precision"] == 200
    assert REPETITIONS["no leak"] == REPETITIONS["full leak"] == 100


@pytest.mark.parametrize(
    ("rate", "word"),
    [
        (None, "not defined"),
        (0.95, "holds"),
        (0.93, "holds"),
        (0.92, "not told from the limit"),
        (0.90, "misses"),
        (0.98, "not told from the limit"),
        (1.0, "conservative"),
    ],
)
def test_a_rate_has_its_word(rate, word):
    assert verdict(Limits("", 0.93, 0.97), rate, 0.01) == word


def test_a_rate_of_errors_above_its_limit_misses():
    assert verdict(LIMITS["controls"], 0.2, 0.01) == "misses"
    assert verdict(LIMITS["no leak"], 0.01, 0.0) == "misses"
    assert verdict(LIMITS["full leak"], 0.0, 0.0) == "holds"


def test_ranges_are_judged_by_their_stated_level():
    outcomes = [Predicted(0.0, 1.0, np.array([0.5, 2.0]), 0.5)] * 4
    found = calibration_runs.row("precision", "precision", outcomes, 4)
    assert (found["rate"], found["level"], found["verdict"]) == (0.5, 0.5, "holds")


def test_a_source_is_reproducible_and_knows_its_numbers(monkeypatch):
    small = Source(lambda contexts, rng: generated(contexts, 40, rng, shift=1.0), ("precision", "controls"), 48)
    monkeypatch.setattr(calibration_runs, "SOURCES", {"small": small})
    numbers = dict.fromkeys(REPETITIONS, 2)
    found = calibration_runs.measure("small", numbers, 1)
    assert found["rows"] == calibration_runs.measure("small", numbers, 1)["rows"]
    assert calibration_runs.is_current(found, "small", numbers, 1)
    assert not calibration_runs.is_current(found, "small", numbers, 2)
    assert not calibration_runs.is_current(found, "small", numbers | {"controls": 3}, 1)
    assert (found["records"], found["members"], found["contexts"]) == (40, 32, 48)

"""Cost of the prediction, its baseline and the ground truth on one setting."""

import pytest
from predict_pipeline import CANARIES, MODELS, RECORDS
from result_rows import chosen

pytestmark = pytest.mark.usefixtures("one_thread")


def test_cost_counts_passes(results):
    """Training to the interruption and one query of each own record, against 16 models and all records."""
    passes = chosen(results, metric="passes").set_index("way")["estimate"]
    stop = chosen(results, metric="interruption", rule="first")["estimate"].iloc[0]
    assert passes["prediction"] == pytest.approx(3 * stop + 1)
    size, records = 65, RECORDS + CANARIES
    assert passes["baseline"] == pytest.approx(MODELS * (3 * stop + records / size), rel=0.05)
    assert passes["ground truth"] == pytest.approx(MODELS * (3 * 40 + records / size), rel=0.01)
    ratio = chosen(results, metric="passes ratio", way="ground truth")["estimate"].iloc[0]
    assert ratio == pytest.approx(passes["ground truth"] / passes["prediction"])
    assert (chosen(results, metric="seconds")["estimate"] > 0).all()

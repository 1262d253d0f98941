"""Portions of texts by their ids, and error rates by definition."""

import numpy as np
import pandas as pd
import pytest
from ltmia_pipeline import make_all

from memaudit.errors import AuditError
from memaudit.studies.ltmia.target_combinations import error_rates, open_combinations, portions

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_all(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def combinations(made):
    return open_combinations([made / "0.npy"], [made / "0.parquet"])


def test_portions_are_of_texts_in_all_combinations_alike(combinations):
    ids = combinations["gpt2", "letters", "full"][0]["id"].tolist()
    found = portions(ids, 0.2, 0.2)
    assert [ids[at] for at in found.values()] == [
        [one for one in ids if low <= int(one[:8], 16) / 16**8 < high] for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 1))
    ]
    alone = ids[::2]
    assert set(alone[portions(alone, 0.2, 0.2)["test"]]) <= set(ids[found["test"]])
    with pytest.raises(AuditError, match="not in the order of their ids"):
        portions(ids[::-1], 0.2, 0.2)


def test_error_rates_are_shares_of_held_out_texts_and_never_zero():
    held_out = pd.DataFrame(
        {
            **{"model": ["a"] * 5 + ["b"] * 3, "dataset": "texts", "tuning": "full"},
            "member": [True, True, False, False, False, True, False, False],
            "score": [3.0, 1.0, 2.0, 0.0, -1.0, 5.0, 4.0, 0.0],
        }
    )
    found = error_rates(np.array([2.0, 4.5]), held_out)
    assert found["false_positive_rate"].tolist() == pytest.approx([(2 / 4 + 2 / 3) / 2, (1 / 4 + 1 / 3) / 2])
    assert found["worst_false_positive_rate"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert found["true_positive_rate"].tolist() == pytest.approx([(1 / 2 + 1) / 2, (0 + 1) / 2])
    with pytest.raises(AuditError, match="only members or only non-members"):
        error_rates(np.array([0.0]), held_out[held_out["member"]])
    with pytest.raises(AuditError, match="no held-out combination"):
        error_rates(np.array([0.0]), held_out[:0])

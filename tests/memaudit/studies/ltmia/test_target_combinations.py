"""Portions of texts by their ids, and error rates by definition."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.studies.ltmia.target_combinations import error_rates, portions

pytestmark = pytest.mark.usefixtures("one_thread")


def test_portions_are_of_texts_in_all_combinations_alike(combinations):
    ids = combinations["gpt2", "letters", "full"][0]["id"].tolist()
    observed = portions(ids, 0.2, 0.2)
    assert [ids[at] for at in observed.values()] == [
        [one for one in ids if low <= int(one[:8], 16) / 16**8 < high] for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 1))
    ]
    alone = ids[::2]
    assert set(alone[portions(alone, 0.2, 0.2)["test"]]) <= set(ids[observed["test"]])
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
    observed = error_rates(np.array([2.0, 4.5]), held_out)
    assert observed["false_positive_rate"].tolist() == pytest.approx([(2 / 4 + 2 / 3) / 2, (1 / 4 + 1 / 3) / 2])
    assert observed["worst_false_positive_rate"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert observed["true_positive_rate"].tolist() == pytest.approx([(1 / 2 + 1) / 2, (0 + 1) / 2])
    with pytest.raises(AuditError, match="only members or only non-members"):
        error_rates(np.array([0.0]), held_out[held_out["member"]])
    with pytest.raises(AuditError, match="no held-out combination"):
        error_rates(np.array([0.0]), held_out[:0])

"""The audit of the label mechanism refutes halved noise and not the stated noise."""

import numpy as np
import pytest
from tabpate_tables import call, only, results


def test_the_audit_tells_half_the_noise_from_all_of_it(tmp_path):
    call("tabpate_audit_mechanism", [], [tmp_path / "audit.parquet"], runs=5000)
    found = results(tmp_path / "audit.parquet")
    bound = found[found["metric"] == "mu lower bound"].set_index("noise")["estimate"]
    stated = only(found, noise="stated", metric="mu stated")["estimate"]
    assert stated == pytest.approx(np.sqrt(2) / 5.2)
    assert 0.03 < bound["stated"] < 1.1 * stated
    assert bound["halved"] == pytest.approx(0.47, abs=0.12)
    assert only(found, noise="halved", metric="refuted")["estimate"] == 1
    rates = found[found["noise"] == "stated"].set_index("metric")["estimate"]
    assert rates["audited tpr"] + rates["audited fpr"] == pytest.approx(1, abs=0.05)

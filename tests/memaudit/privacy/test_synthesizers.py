"""AIM and MST: settings that guarantee nothing are refused before dpmm is imported."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.synthesizers import Synthesizer


@pytest.mark.parametrize("change", [{"epsilon": 0}, {"epsilon": float("inf")}, {"delta": 1.0}, {"rounds": 0}])
def test_settings_without_a_guarantee_are_refused_though_dpmm_takes_them(change):
    settings = {"method": "mst", "epsilon": 10.0, "delta": 1e-5, "iterations": 30, "rounds": 2} | change
    with pytest.raises(AuditError, match=r"synthesis: .*(guarantees nothing|rounds)"):
        Synthesizer(**settings)

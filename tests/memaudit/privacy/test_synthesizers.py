"""AIM and MST: settings that guarantee nothing are refused before dpmm is imported; columns are those of the domain."""

from types import SimpleNamespace

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.synthesizers import Synthesizer


@pytest.mark.parametrize("change", [{"epsilon": 0}, {"epsilon": float("inf")}, {"delta": 1.0}, {"rounds": 0}])
def test_settings_without_a_guarantee_are_refused_though_dpmm_takes_them(change):
    settings = {"method": "mst", "epsilon": 10.0, "delta": 1e-5, "iterations": 30, "rounds": 2} | change
    with pytest.raises(AuditError, match=r"synthesis: .*(guarantees nothing|rounds)"):
        Synthesizer(**settings)


def test_synthetic_rows_have_the_columns_of_the_domain(monkeypatch):
    fits = []

    def fitted(self, codes, domain):
        fits.append((list(codes), domain))
        return SimpleNamespace(generate=lambda n_records: codes[["b", "a"]].head(n_records).assign(more=0))

    monkeypatch.setattr(Synthesizer, "fitted", fitted)
    codes = pd.DataFrame({"a": [0, 1, 1], "b": [2, 0, 1], "unused": [9, 9, 9]})
    rows = Synthesizer("mst", 1.0, 1e-5, 30, 2).synthesized(codes, {"a": 2, "b": 3}, 2)
    assert rows.equals(codes.loc[:1, ["a", "b"]])
    assert fits == [(["a", "b"], {"a": 2, "b": 3})]

"""Means over settings beside the paper's numbers."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script

from memaudit.common.io import write_table
from memaudit.common.tidy import expand, frame, row


def test_means_are_of_all_settings_beside_printed_numbers(tmp_path):
    """A metric that one setting lacks has no mean; recommended lines are not averaged; a setting that memorizes no more
    than by chance is left out."""

    def rows(case, auc, tpr):
        keys = {"case": case, "predictor": "psmi"}
        ends = {"low": auc - 0.1, "high": auc + 0.1, "n": 50, "null": 0.5}
        yield row("predict", keys | {"truth": "memorized", "records": "natural", "rule": "first"}, "auc", auc, **ends)
        other = {"truth": "memorized", "records": "natural", "rule": "closest instead"}
        yield row("predict", keys | other, "auc", 0.0, **ends)
        for more in ({}, {"profile": "practitioners"}):
            yield row("predict", keys | more | {"tau": 0}, "tpr", tpr, low=tpr, high=tpr, n=9)
        beyond = {"low": 0.01 if case != "c" else -0.01, "high": 0.05, "null": 0.0, "n": 50}
        yield row("predict", {"case": case, "threshold": "4"}, "memorized beyond chance", 0.02, **beyond)

    paths = [tmp_path / f"{case}.parquet" for case in "abc"]
    for path, values in zip(paths, ((0.8, 0.5), (0.6, np.nan), (0.1, 0.5)), strict=True):
        write_table(frame(list(rows(path.stem, *values))), path)
    printed = {"table": "Section 5.4", "case": "mean", "predictor": "psmi", "tau": 0, "metric": "tpr", "printed": 0.658}
    params = SimpleNamespace(memorized=4.0, published=[printed])
    job = SimpleNamespace(input=paths, output=[tmp_path / "out"], params=params)
    load_script("predict_average_settings").main(job)
    observed = expand(pd.read_parquet(tmp_path / "out")).set_index(["source", "metric"])
    assert list(observed.index) == [("here", "auc"), ("paper", "tpr")]
    mean = observed.loc[("here", "auc")]
    assert mean["estimate"] == pytest.approx(0.7)
    assert mean["high"] - mean["estimate"] == pytest.approx(0.1 / np.sqrt(2))
    assert observed.loc[("paper", "tpr"), "estimate"] == 0.658

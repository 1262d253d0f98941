"""Samples with settings of their own, in the environment of the synthesizers: an ample budget keeps the codes."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script

from memaudit.common.io import read_json, write_json
from memaudit.workflow.job import Paths
from memaudit.workflow.synthesizer_environment import interpreter


@pytest.mark.skipif(not interpreter().exists(), reason="no .venv-synth: `make .venv-synth` builds it")
def test_each_sample_has_its_own_method_rows_and_columns(tmp_path):
    shared = {"epsilon": 50.0, "delta": 1e-5, "iterations": 30, "rounds": 2}
    codes = {"0": [0, 1] * 150, "target": [0, 1] * 150}
    samples = [
        shared | {"method": "mst", "rows": 100, "codes": codes, "counts": {"0": 2, "target": 2}},
        shared
        | {"method": "aim", "rows": 60, "codes": codes | {"1": [0] * 300}, "counts": {"0": 2, "1": 3, "target": 2}},
    ]
    write_json(samples, tmp_path / "samples.json")
    files = {"input": Paths([f"samples={tmp_path / 'samples.json'}"]), "output": [tmp_path / "out.json"]}
    facts = load_script("maintenance_synthesize_samples").main(SimpleNamespace(**files, params={}, wildcards={}))
    assert facts["seed"] is None
    first, second = read_json(tmp_path / "out.json")
    assert (set(first), set(second)) == ({"0", "target"}, {"0", "1", "target"})
    assert (len(first["target"]), len(second["target"])) == (100, 60)
    for one in (first, second):
        assert np.mean(np.equal(one["0"], one["target"])) > 0.9

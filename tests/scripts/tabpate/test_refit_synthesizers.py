"""Refits of AIM and MST in their own environment: with the noise off, the canary is seen in what is released."""

from types import SimpleNamespace

import pytest
from conftest import load_script

from memaudit.common.io import read_table
from memaudit.workflow import synthesizer_environment
from memaudit.workflow.job import Paths

needs_dpmm = pytest.mark.skipif(not synthesizer_environment.interpreter().exists(), reason="no .venv-synth")


@needs_dpmm
@pytest.mark.parametrize("method", ["mst", "aim"])
def test_every_refit_is_a_row_and_the_control_tells_the_canary(tmp_path, method):
    params = {"code": "", "method": method, "epsilons": [0.01], "delta": 1e-5, "iterations": 20, "rounds": 2}
    job = SimpleNamespace(input=Paths([]), output=[tmp_path / "refits.parquet"])
    job.params = SimpleNamespace(**params, refits=3)
    facts = load_script("tabpate_refit_synthesizers").main(job)
    assert facts["seed"] is None
    assert set(facts["versions"]) == {"dpmm", "opendp"}
    table = read_table(job.output[0])
    assert len(table) == 12
    control = table[table["noise"] == "off"].groupby("member")
    for score in ("synthetic_records", "noisy_counts"):
        assert control[score].min()[True] > control[score].max()[False]
    assert table[table["noise"] == "stated"]["synthetic_records"].nunique() > 1, "each refit has fresh noise"

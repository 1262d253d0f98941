"""AIM and MST in their own environment: what a budget lets through, and settings and environments that are refused."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, load_script

from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_json, write_table
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.workflow.job import Paths
from memaudit.workflow.synthesizer_environment import interpreter

SCRIPT = load_script("tabpate_synthesize_records")
PARAMS = {"code": "", "method": "mst", "epsilon": 10.0, "delta": 1e-5, "iterations": 30, "rounds": 2, "rows": 200}
LEFT = {"10.0": 9.5, "0.001": 9e-4}  # what bins leave of each epsilon
needs_dpmm = pytest.mark.skipif(not interpreter().exists(), reason="no .venv-synth: `make .venv-synth` builds it")


@pytest.fixture
def job(tmp_path):
    """Two samples in which the label is the first column, and the other column is nothing."""
    rng = np.random.default_rng(0)
    codes = pd.DataFrame({"seed": [5] * 300 + [6] * 300, "0": rng.integers(0, 2, 600), "1": rng.integers(0, 3, 600)})
    codes["target"] = codes["0"]
    codes.loc[0, "1"] = 77
    # Codes of another epsilon are in the same files.
    other = codes.assign(epsilon=1.0, target=1 - codes["target"])
    write_table(pd.concat([codes.assign(epsilon=10.0), other]), tmp_path / "codes.parquet")
    of_sample = {"counts": {"0": 2, "1": 3, "target": 2}, "edges": {}}
    bins = {epsilon: {seed: of_sample | {"epsilon": left} for seed in "56"} for epsilon, left in LEFT.items()}
    write_json(bins, tmp_path / "bins.json")
    files = [f"codes={tmp_path}/codes.parquet", f"bins={tmp_path}/bins.json"]
    params = SimpleNamespace(**PARAMS)
    return SimpleNamespace(input=Paths(files), output=[tmp_path / "out.parquet"], params=params, wildcards={})


@needs_dpmm
@pytest.mark.parametrize("method", ["mst", "aim"])
def test_synthetic_rows_keep_what_a_generous_budget_lets_through(job, method):
    job.params.method = method
    facts = SCRIPT.main(job)
    assert facts["versions"]["dpmm"] in (PROJECT / "requirements-synth.lock").read_text(encoding="utf-8")
    assert "site-packages" in facts["packages"]["numpy"]["file"]
    rows = read_table(job.output[0])
    assert rows.groupby("seed").size().to_dict() == {5: 200, 6: 200}
    assert (rows["target"] == rows["0"]).mean() > 0.95
    assert 0.2 < (rows["target"] == 0).mean() < 0.8
    assert set(rows["1"]) == {0, 1, 2}, "a code that is too large counts as the last"


@needs_dpmm
def test_columns_that_only_other_epsilons_have_are_left_out(job):
    codes = read_table(job.input.codes)
    write_table(codes.assign(**{"2": np.where(codes["epsilon"] == 1, 1.0, np.nan)}), job.input.codes)
    SCRIPT.main(job)
    rows = read_table(job.output[0])
    assert set(rows) == {"0", "1", "target", "seed"}
    assert rows["1"].dtype == "int64"


@needs_dpmm
def test_a_tiny_budget_does_not_tell_and_noise_differs_between_releases_of_the_same_rows(job):
    codes = read_table(job.input.codes)
    first = codes[:300].assign(epsilon=1e-3)
    write_table(pd.concat([first, first.assign(seed=6)]), job.input.codes)
    job.params.epsilon = 1e-3
    SCRIPT.main(job)
    first, second = (
        part.drop(columns="seed").reset_index(drop=True) for _, part in read_table(job.output[0]).groupby("seed")
    )
    assert not first.equals(second)
    # One release may agree by chance.
    assert min((rows["target"] == rows["0"]).mean() for rows in (first, second)) < 0.9


@needs_dpmm
def test_aim_keeps_its_budget_from_one_round_a_column_on_and_the_budget_is_ours():
    program = """
import pandas as pd
from dpmm.models.base.mechanisms import cdp_rho
from dpmm.pipelines import AIMPipeline
codes = pd.DataFrame({name: [0, 1] * 50 for name in "abcd"})
for rounds in (4, 3):
    options = {"n_iters": 5, "rounds": rounds}
    pipeline = AIMPipeline(epsilon=1.0, delta=1e-5, disable_processing=True, n_jobs=1, gen_kwargs=options)
    pipeline.fit(codes, domain=dict.fromkeys("abcd", 2))
    print(sum(0.5 / sigma**2 for _, _, sigma, _ in pipeline.gen.generator.measures))
print(cdp_rho(1.0, 1e-5))
"""
    done = subprocess.run([interpreter(), "-c", program], capture_output=True, text=True, check=True)
    enough, too_few, rho = map(float, done.stdout.split())
    assert enough <= rho * (1 + 1e-9)
    assert too_few == pytest.approx(4 * 0.9 * rho / 3)
    assert rho == pytest.approx(rho_within(Budget(1.0, 1e-5)), rel=1e-4)


@needs_dpmm
def test_an_error_in_the_other_environment_is_the_jobs_own_line(job):
    job.params.rounds = 0
    with pytest.raises(AuditError, match=r"^synthesis: 0 rounds"):
        SCRIPT.main(job)

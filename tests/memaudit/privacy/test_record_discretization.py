"""Codes of records by hand and back, one row for each unit, and AIM and MST in their own environment."""

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, load_script

from memaudit.errors import AuditError
from memaudit.io import read_table, write_json, write_table
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.record_discretization import coded, counts, restored
from memaudit.workflow.job import Paths

COLUMNS = (Column("age", (0.0, 100.0)), Column("job", ("cook", "nurse", "vet")), Column("target", (-1.0, 1.0)))
PUBLIC = Public("people", "made up", 60, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (0.0, 50.0)))
SCRIPT = load_script("tabpate_synthesize_records")
PARAMS = {"code": "", "method": "mst", "epsilon": 10.0, "delta": 1e-5, "iterations": 30, "rounds": 2, "rows": 200}
needs_dpmm = pytest.mark.skipif(not SCRIPT.PYTHON.exists(), reason="no .venv-synth: `make .venv-synth` builds it")


def table(size=300):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(0, 100, size), rng.integers(0, 3, size), rng.uniform(-1, 1, size)])
    return x.astype(np.float32), rng.integers(0, 2, size), [f"unit {number}" for number in range(size)]


def test_codes_are_equal_intervals_of_the_public_bounds_and_places_in_the_public_lists():
    x = np.array([[0, 0, -1], [24.9, 2, 0], [25, np.nan, 1], [100, 1, np.nan], [np.nan, 1, 0.49]], dtype=np.float32)
    codes = coded(x, np.array([0, 1, 1, 0, 1]), list("abcde"), PUBLIC, 4, 3)
    expected = {"0": [0, 0, 1, 3, 2], "1": [0, 2, 3, 1, 1], "2": [0, 2, 3, 2, 2], "target": [0, 1, 1, 0, 1]}
    pd.testing.assert_frame_equal(codes, pd.DataFrame(expected))
    assert counts(PUBLIC, 4, 3) == {"0": 4, "1": 4, "2": 4, "target": 2}


def test_a_number_target_is_cut_like_any_number():
    x, _, units = table(3)
    codes = coded(x, np.array([0.0, 26.0, 50.0]), units, RENTS, 5, 0)
    assert codes.to_dict("list") == {"target": [0, 2, 4]}
    assert counts(RENTS, 5, 0) == {"target": 5}
    _, y = restored(codes, RENTS, 5, np.random.default_rng(0))
    assert ((y >= [0, 20, 40]) & (y <= [10, 30, 50])).all()


def test_removing_one_unit_takes_out_one_row_and_changes_no_other():
    x, y, units = table(40)
    units[3] = units[9] = units[20]
    whole = coded(x, y, units, PUBLIC, 8, 3)
    assert len(whole) == 38
    for unit in set(units):
        rest = np.array([other != unit for other in units])
        left = coded(x[rest], y[rest], np.array(units)[rest], PUBLIC, 8, 3)
        gone = next(place for place in range(38) if place == 37 or not whole.iloc[place].equals(left.iloc[place]))
        pd.testing.assert_frame_equal(whole.drop(index=gone).reset_index(drop=True), left)


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_records_of_codes_have_these_codes(public):
    x, y, units = table()
    x[:5] = np.nan
    codes = coded(x, y, units, public, 7, 3)
    again, labels = restored(codes, public, 7, np.random.default_rng(3))
    assert again.dtype == np.float32
    assert labels.dtype == (np.int64 if public is PUBLIC else np.float64)
    assert np.isnan(again[:5, 1]).all()
    pd.testing.assert_frame_equal(coded(again, labels, units, public, 7, 3), codes)


def test_a_number_is_uniform_within_its_interval():
    codes = pd.DataFrame({"0": np.full(4000, 3), "target": 0})
    x, _ = restored(codes, PUBLIC, 10, np.random.default_rng(0))
    shares = np.histogram(x[:, 0], bins=np.linspace(30, 40, 6))[0] / 4000
    assert shares.sum() == 1
    np.testing.assert_allclose(shares, 0.2, atol=0.03)


def test_columns_beyond_the_cap_are_drawn_from_public_facts_alone():
    x, y, units = table()
    x[:, 1:] = [2, 0.9]
    codes = coded(x, y, units, PUBLIC, 10, 1)
    assert list(codes) == ["0", "target"]
    drawn, _ = restored(codes, PUBLIC, 10, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn[:, 1].astype(int)) / 300, 1 / 3, atol=0.1)
    np.testing.assert_allclose(np.histogram(drawn[:, 2], bins=4, range=(-1, 1))[0] / 300, 0.25, atol=0.1)


@pytest.fixture
def job(tmp_path):
    """Two samples in which the label is the first column, and the other column is nothing."""
    rng = np.random.default_rng(0)
    codes = pd.DataFrame({"seed": [5] * 300 + [6] * 300, "0": rng.integers(0, 2, 600), "1": rng.integers(0, 3, 600)})
    codes["target"] = codes["0"]
    codes.loc[0, "1"] = 77
    write_table(codes, tmp_path / "codes.parquet")
    write_json({"0": 2, "1": 3, "target": 2}, tmp_path / "counts.json")
    files = [f"codes={tmp_path}/codes.parquet", f"counts={tmp_path}/counts.json"]
    return SimpleNamespace(input=Paths(files), output=[tmp_path / "out.parquet"], params=SimpleNamespace(**PARAMS))


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
def test_a_tiny_budget_does_not_tell_and_noise_differs_between_releases_of_the_same_rows(job):
    codes = read_table(job.input.codes)
    write_table(pd.concat([codes[:300], codes[:300].assign(seed=6)]), job.input.codes)
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
    done = subprocess.run([SCRIPT.PYTHON, "-c", program], capture_output=True, text=True, check=True)
    enough, too_few, rho = map(float, done.stdout.split())
    assert enough <= rho * (1 + 1e-9)
    assert too_few == pytest.approx(4 * 0.9 * rho / 3)
    assert rho == pytest.approx(rho_within(Budget(1.0, 1e-5)), rel=1e-4)


@pytest.mark.parametrize("change", [{"epsilon": 0}, {"delta": 1.0}, {"rounds": 0}])
def test_settings_that_dpmm_takes_and_that_promise_nothing_are_refused(change):
    with pytest.raises(AuditError, match=r"synthesis: .*(guarantees nothing|rounds)"):
        SCRIPT.synthesized(pd.DataFrame({"target": [0]}), {"target": 2}, SimpleNamespace(**PARAMS | change))


def test_a_missing_environment_is_named_with_its_remedy(job, monkeypatch, tmp_path):
    monkeypatch.setattr(SCRIPT, "PYTHON", tmp_path / ".venv-synth/bin/python")
    with pytest.raises(AuditError, match=r"make \.venv-synth"):
        SCRIPT.main(job)


@needs_dpmm
def test_an_error_in_the_other_environment_is_the_jobs_own_line(job):
    job.params.rounds = 0
    with pytest.raises(AuditError, match=r"^synthesis: 0 rounds"):
        SCRIPT.main(job)

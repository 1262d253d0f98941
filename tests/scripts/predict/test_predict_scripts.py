"""Theorem 1 as simulated, the list of a user's own records, and the benchmark, each at a tiny size."""

import json
import os
import stat
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from scipy.integrate import quad
from scipy.stats import norm

from memaudit.attacks import psmi
from memaudit.errors import AuditError
from memaudit.io import read_json, write_json, write_table
from memaudit.seeds import generator
from memaudit.studies.predict import ground_truth
from memaudit.tidy import COLUMNS, expand, frame, row
from memaudit.workflow.job import Paths

THEOREM = {"rates": [0.05, 0.2], "separations": [0, 6], "records": 600, "dimensions": 8, "directions": 60, "repeats": 6}
PARAMS = {"seed": 1, "directions": 300, "accuracy": None, "dimensions": 500, "classes": ["no", "yes"]}
RECORDS, WRONG = 120, 12

bench_compute_psmi = load_script("bench_compute_psmi")

predict_average_settings = load_script("predict_average_settings")

predict_rank_own = load_script("predict_rank_own")

predict_simulate_theorem = load_script("predict_simulate_theorem")


@pytest.fixture(scope="module")
def theorem(tmp_path_factory):
    path = tmp_path_factory.mktemp("theorem") / "tidy.parquet"
    job = SimpleNamespace(params=SimpleNamespace(seed=1, theorem=THEOREM), output=[str(path)])
    assert predict_simulate_theorem.main(job) == {"seed": 1}
    tidy = pd.read_parquet(path)
    assert list(tidy) == list(COLUMNS)
    return expand(tidy).set_index(["density", "rate", "separation", "metric"]).sort_index()


def test_the_theorem_holds_for_the_density_that_its_proof_uses(theorem):
    given = theorem.loc["given"]
    assert (given.xs("psmi_outliers", level="metric")["estimate"] == 0).all()
    rest = given.xs((6, "psmi_rest"), level=("separation", "metric"))
    assert (rest["low"] > 0.05).all()


@pytest.mark.parametrize("density", ["joint", "estimated"])
def test_outliers_are_below_zero_where_nobody_knows_that_they_are(theorem, density):
    for rate in THEOREM["rates"]:
        found = theorem.loc[density, rate, 6]
        assert found.loc["psmi_outliers", "high"] < 0 < found.loc["psmi_rest", "low"]


def test_without_separation_nobody_is_an_outlier(theorem):
    assert theorem.loc["joint"].xs(0, level="separation")["estimate"].abs().max() < 1e-12
    # A record is in the fit that it is held against, which lifts it by about 1 / records.
    lifted = theorem.loc["estimated"].xs((0, "psmi_rest"), level=("separation", "metric"))["estimate"]
    assert ((lifted > 0) & (lifted < 4 / THEOREM["records"])).all()


def test_the_true_psmi_of_outliers_is_minus_a_divergence():
    """Its mean over outliers, whose label is drawn beside their state, in one dimension by quadrature."""
    separation, rate = 3.0, 0.2
    rng = np.random.default_rng(0)
    states = rng.standard_normal((40000, 1)) + separation * (rng.integers(0, 2, (40000, 1)) - 0.5)
    label = rng.integers(0, 2, 40000)
    found = predict_simulate_theorem.true_psmi(states, label, np.ones((1, 1)), separation, rate)

    def integrand(x, centre):
        either = (norm.pdf(x, -1.5) + norm.pdf(x, 1.5)) / 2
        return either * np.log(((1 - rate) * norm.pdf(x, centre) + rate * either) / either) / 2

    expected = sum(quad(integrand, -12, 12, args=(centre,))[0] for centre in (-1.5, 1.5))
    assert found.mean() == pytest.approx(expected, abs=4 * found.std() / 200)
    assert expected < -0.1


@pytest.mark.parametrize("rate", [0.0, 0.001, 1.0])
def test_a_rate_that_leaves_a_group_empty_gets_one_clear_line(rate):
    with pytest.raises(AuditError, match=f"rate {rate:g} of 100 records"):
        predict_simulate_theorem.simulate(rate, 6.0, THEOREM | {"records": 100}, np.random.default_rng(0))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A user's records: two classes that lie apart, the first twelve with the other's label; and measured settings."""
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(0)
    truth = np.arange(RECORDS) % 2
    states = rng.normal(size=(RECORDS, 6)) + 5 * truth[:, None] * np.eye(6)[0]
    labels = np.where(np.arange(RECORDS) < WRONG, 1 - truth, truth)
    logits = rng.normal(size=(RECORDS, 2)) + 4 * np.eye(2)[truth]
    table = pd.DataFrame({"id": [f"r{i}|<b>" for i in range(RECORDS)], "label": np.array(["no", "yes"])[labels]})
    table["logits"], table["hidden"] = list(logits), list(states.astype(np.float32))
    table.to_parquet(folder / "all.parquet")
    table[["id", "label"]].to_parquet(folder / "plain.parquet")
    np.save(folder / "states.npy", states.astype(np.float32))
    memorized = rng.random((1, 400)) < 0.3
    scores = rng.normal(size=(1, 400)) + 2 * memorized - 1
    cells = ground_truth.cells(memorized, np.ones_like(memorized), rng)
    settings = ground_truth.recommended(scores, scores, cells, rng)
    share = {"estimate": 0.3, "low": 0.25, "high": 0.35, "null": 0.01}
    facts = {"case": "here", "drop": 0.95, "least_drop": 0.93, "most_drop": 0.97, "targets": 1, "models": 16}
    write_json([setting.facts() | facts | {"memorized": share} for setting in settings], folder / "results.json")
    return folder


def rank_own(folder, output, records="all.parquet", states=None, results="results.json", params=None):
    given = [f"records={folder / records}", f"results={folder / results}"]
    given += [f"states={folder / states}"] if states else []
    made = [f"{name}={output / file}" for name, file in (("ranked", "r.parquet"), ("csv", "r.csv"), ("page", "r.md"))]
    job = SimpleNamespace(input=Paths(given), output=Paths(made), params=SimpleNamespace(**PARAMS | (params or {})))
    before = os.umask(0o022)
    try:
        assert predict_rank_own.main(job) == {"seed": 1}
    finally:
        os.umask(before)
    return pd.read_parquet(output / "r.parquet"), (output / "r.md").read_text()


def test_hidden_states_alone_name_the_mislabelled_records_first(own, tmp_path):
    ranked, _ = rank_own(own, tmp_path, "plain.parquet", "states.npy")
    assert set(ranked["id"][:WRONG]) == {f"r{i}|<b>" for i in range(WRONG)}
    assert list(ranked["rank"]) == list(range(1, RECORDS + 1))
    assert list(ranked) == ["rank", "id", "flagged", "near_threshold", "psmi", "psmi_error", "mahalanobis"]
    assert (ranked["flagged"] == (ranked["psmi"] >= 0)).all()
    assert (ranked["near_threshold"] == (ranked["psmi"].abs() < 1.96 * ranked["psmi_error"])).all()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "r.csv"), ranked, check_dtype=False)


def test_scores_are_those_of_the_library(own, tmp_path):
    ranked, _ = rank_own(own, tmp_path, "plain.parquet", "states.npy")
    labels = pd.read_parquet(own / "plain.parquet")["label"].to_numpy()
    rng = generator(1, "predict", "own", "psmi")
    expected = psmi.estimate(np.load(own / "states.npy"), labels, rng, directions=300)
    by_id = ranked.set_index("id").loc[[f"r{i}|<b>" for i in range(RECORDS)]]
    np.testing.assert_allclose(by_id["psmi"], -expected.psmi, atol=1e-12)
    np.testing.assert_allclose(by_id["psmi_error"], expected.error, rtol=1e-9)


def test_a_table_with_all_columns_allows_every_predictor_and_the_same_psmi(own, tmp_path):
    ranked, _ = rank_own(own, tmp_path)
    assert {"psmi", "mahalanobis", "loss", "logit_gap"} <= set(ranked)
    plain, _ = rank_own(own, tmp_path, "plain.parquet", "states.npy")
    pd.testing.assert_frame_equal(ranked[list(plain)], plain)
    assert ranked["loss"][:WRONG].min() > ranked["loss"][WRONG:].median()


def test_the_page_states_measured_rates_and_escapes_names(own, tmp_path):
    ranked, page = rank_own(own, tmp_path)
    setting = read_json(own / "results.json")[0]
    for name in ("tpr", "fpr"):
        assert "{estimate:.0%} [{low:.0%}, {high:.0%}]".format(**setting[name]) in page
        assert f"{setting[name]['n']}" in page
    assert f"{ranked['flagged'].sum()} are flagged" in page
    assert r"\|&lt;b&gt;" in page
    assert "<b>" not in page


def test_rates_and_threshold_are_read_and_never_typed(own, tmp_path):
    changed = read_json(own / "results.json")
    changed[0]["threshold"], changed[0]["tpr"]["estimate"] = -0.1, 0.123
    write_json(changed, own / "changed.json")
    ranked, page = rank_own(own, tmp_path, results="changed.json")
    assert "12% [" in page
    assert (ranked["flagged"] == (ranked["psmi"] >= -0.1)).all()


def test_another_recommended_predictor_ranks_the_list(own, tmp_path):
    changed = read_json(own / "results.json")
    changed[0] |= {"predictor": "loss", "threshold": 1.0}
    write_json(changed, own / "loss.json")
    ranked, _ = rank_own(own, tmp_path, results="loss.json")
    assert ranked["loss"].is_monotonic_decreasing
    assert not ranked["near_threshold"].any()
    with pytest.raises(AuditError, match="recommends loss"):
        rank_own(own, tmp_path, "plain.parquet", "states.npy", "loss.json")


def test_the_files_are_their_owners_alone(own, tmp_path):
    rank_own(own, tmp_path)
    for name in ("r.parquet", "r.csv", "r.md"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_by_hand_it_needs_neither_torch_nor_transformers(own, tmp_path, project):
    made = [f"ranked={tmp_path / 'r.parquet'}", f"csv={tmp_path / 'r.csv'}", f"page={tmp_path / 'r.md'}"]
    given = [f"records={own / 'plain.parquet'}", f"states={own / 'states.npy'}", f"results={own / 'results.json'}"]
    arguments = ["rank", "--input", *given, "--output", *made, "--params", json.dumps(PARAMS)]
    code = (
        f"import sys, runpy; sys.argv = {arguments!r}; "
        "runpy.run_path('workflow_scripts/predict/rank_own.py', run_name='__main__'); "
        "print({'torch', 'transformers', 'peft', 'tabicl', 'tabpfn'} & {name.split('.')[0] for name in sys.modules})"
    )
    environment = os.environ | {"PYTHONPATH": "workflow_scripts"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "set()"
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == RECORDS


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda table: table.drop(columns="id"), "has no column 'id'"),
        (lambda table: table.drop(columns="label"), "has no column 'label'"),
        (lambda table: table.drop(columns="hidden"), "has no column 'hidden'"),
        (lambda table: table.assign(id="same"), "id of row 1 stands there before"),
        (lambda table: table.assign(label=[None, *table["label"][1:]]), "row 0 has no value"),
        (lambda table: table.assign(loss=[0.1, np.nan, *[0.1] * (RECORDS - 2)]), "row 1 has no value"),
        (lambda table: table.assign(loss="high"), "column loss holds no numbers"),
        (lambda table: table.assign(hidden=[[1.0], *table["hidden"][1:]]), "column hidden must hold lists"),
        (lambda table: table.assign(hidden=[["x"]] * RECORDS), "column hidden must hold lists"),
        (lambda table: table.assign(hidden=1.5), "column hidden must hold lists"),
        (lambda table: table.assign(hidden=[[np.nan] * 6, *table["hidden"][1:]]), "record 0 holds NaN"),
        (lambda table: table.assign(logits=[[np.nan, 1.0], *table["logits"][1:]]), "logits: record 0 has one"),
        (lambda table: table.assign(label=["?", "?", *table["label"][2:]]), "record 0 has a label that is none of"),
        (
            lambda table: table.drop(columns="logits").assign(label=["?", *table["label"][1:]]),
            "record 0 is the only one of its class",
        ),
        (lambda table: table.assign(label="yes"), "120 records of 1 class"),
        (lambda table: table[:0], "column hidden must hold lists|0 records"),
    ],
)
def test_bad_records_get_one_clear_line(own, tmp_path, change, line):
    change(pd.read_parquet(own / "all.parquet")).to_parquet(own / "bad.parquet")
    with pytest.raises(AuditError, match=line) as error:
        rank_own(own, tmp_path, "bad.parquet")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "r.parquet").exists()


def test_bad_files_get_one_clear_line(own, tmp_path):
    np.save(own / "short.npy", np.zeros((3, 2)))
    np.save(own / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (own / "text.npy").write_text("no array")
    write_json({"threshold": 0}, own / "other.json")
    write_json([{"profile": "practitioners"}], own / "partial.json")
    for given, line in (
        ({"records": "gone.parquet"}, "is not there"),
        ({"states": "gone.npy"}, "is not there"),
        ({"states": "short.npy"}, "3 records, but 120 labels"),
        ({"states": "objects.npy"}, "cannot be read"),
        ({"states": "text.npy"}, "cannot be read"),
        ({"results": "gone.json"}, "is not there"),
        ({"results": "other.json"}, "holds no recommended setting"),
        ({"results": "partial.json"}, "holds no recommended setting"),
        ({"params": {"directions": 1}}, "1 directions"),
        ({"params": {"classes": None}}, "a label that is none of the classes"),
    ):
        with pytest.raises(AuditError, match=line) as error:
            rank_own(own, tmp_path, **given)
        assert "\n" not in str(error.value)


def test_the_benchmarks_arrays_find_the_same_psmi():
    states, labels = bench_compute_psmi.drawn(60, 5, 3)
    states = states.astype(np.float64)
    thetas = psmi.draw(generator(1), 20, 5).astype(np.float64)
    expected = psmi.fit(states, labels, thetas).transform(states, labels).psmi
    np.testing.assert_allclose(bench_compute_psmi.of_arrays(states, labels, thetas), expected, atol=1e-12)


def test_the_benchmark_runs_by_hand(tmp_path, project):
    params = {"records": 60, "features": 8, "directions": 20, "classes": 3, "runs": 1, "scratch": str(tmp_path)}
    params["package"] = None
    params["large"] = {"records": 1500, "features": 8, "directions": 4}
    command = [sys.executable, "workflow_scripts/bench/compute_psmi.py", "--output", str(tmp_path / "psmi.json")]
    done = subprocess.run(
        [*command, "--params", json.dumps(params)], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = read_json(tmp_path / "psmi.json")
    assert 0 < found["largest_difference"] < 1e-6  # ours projects float32 states in float32
    assert found["ratio"] == {
        "arrays_over_ours_psmi": pytest.approx(found["arrays"]["cpu_seconds"] / found["ours"]["cpu_seconds"])
    }
    assert found["large"]["file_mib"] * 2**20 == pytest.approx(1500 * 8 * 4, abs=200)
    assert list(tmp_path.iterdir()) == [tmp_path / "psmi.json"]


def test_means_are_of_all_settings_and_stand_beside_what_is_printed(tmp_path):
    """A metric that one setting lacks has no mean; the recommended line, of one predictor too, is not counted twice; a
    setting that memorizes no more than by chance is not counted at all."""

    def rows(case, auc, tpr):
        keys = {"case": case, "predictor": "psmi"}
        ends = {"low": auc - 0.1, "high": auc + 0.1, "n": 50, "null": 0.5}
        yield row("predict", keys | {"truth": "memorized", "records": "all", "rule": "first"}, "auc", auc, **ends)
        other = {"truth": "memorized", "records": "all", "rule": "closest instead"}
        yield row("predict", keys | other, "auc", 0.0, **ends)
        for more in ({}, {"profile": "practitioners"}):
            yield row("predict", keys | more | {"tau": 0}, "tpr", tpr, low=tpr, high=tpr, n=9)
        share = {"low": 0.03, "high": 0.05, "null": 0.01 if case != "c" else 0.04}
        yield row("predict", {"case": case, "threshold": "4"}, "memorized", 0.04, n=50, **share)

    paths = [tmp_path / f"{case}.parquet" for case in "abc"]
    for path, values in zip(paths, ((0.8, 0.5), (0.6, np.nan), (0.1, 0.5)), strict=True):
        write_table(frame(list(rows(path.stem, *values))), path)
    printed = {"table": "Section 5.4", "case": "mean", "predictor": "psmi", "tau": 0, "metric": "tpr", "printed": 0.658}
    params = SimpleNamespace(memorized=4.0, published=[printed])
    job = SimpleNamespace(input=paths, output=[tmp_path / "out"], params=params)
    predict_average_settings.main(job)
    found = expand(pd.read_parquet(tmp_path / "out")).set_index(["source", "metric"])
    assert list(found.index) == [("here", "auc"), ("paper", "tpr")]
    mean = found.loc[("here", "auc")]
    assert mean["estimate"] == pytest.approx(0.7)
    assert mean["high"] - mean["estimate"] == pytest.approx(0.1 / np.sqrt(2))
    assert found.loc[("paper", "tpr"), "estimate"] == 0.658

"""The ranking of a user's own records: scores, page, files and errors."""

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

from memaudit.attacks import psmi
from memaudit.attacks.learned_memorization import tied_normal_scores
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.common.seeds import generator
from memaudit.studies.predict.prediction_metrics import member_entries
from memaudit.studies.predict.recommended_thresholds import recommended
from memaudit.workflow.job import Paths

PARAMS = {"seed": 1, "directions": 300, "accuracy": None, "dimensions": 500, "classes": ["no", "yes"]}
PARAMS |= {"predictor": "psmi"}
RECORDS, WRONG = 120, 12


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
    entries = member_entries(memorized, np.ones_like(memorized), rng)
    settings = recommended(scores, scores, entries, rng)
    table["losses"] = list(np.linspace(1.2, 0.8, 5) * (1 + labels[:, None] * (np.arange(RECORDS) < WRONG)[:, None]))
    table["gaps"] = list(np.linspace(-1, 2, 5) - 3 * (np.arange(RECORDS) < WRONG)[:, None])
    table.drop(columns="logits").to_parquet(folder / "checkpoints.parquet")
    share = {"estimate": 0.3, "low": 0.25, "high": 0.35, "null": 0.01}
    facts = {"case": "here", "drop": 0.95, "least_drop": 0.93, "most_drop": 0.97, "targets": 1, "models": 16}
    known = [setting.facts() | facts | {"memorized": share} for setting in settings]
    learned = {"predictor": "learned", "profile": "learned", "threshold": 1.0, "features": ["psmi", "gradient_norm"]}
    learned |= {"weights": [1.0, 0.5]}
    checkpoints = {
        "predictor": "learned_checkpoints",
        "profile": "learned_checkpoints",
        "features": ["mean_loss", "loss"],
    }
    write_json([*known, known[0] | learned, known[0] | learned | checkpoints], folder / "results.json")
    return folder


def rank_own(folder, output, records="all.parquet", states=None, results="results.json", params=None):
    given = [f"records={folder / records}", f"results={folder / results}"]
    given += [f"states={folder / states}"] if states else []
    made = [f"{name}={output / file}" for name, file in (("ranked", "r.parquet"), ("csv", "r.csv"), ("page", "r.md"))]
    job = SimpleNamespace(input=Paths(given), output=Paths(made), params=SimpleNamespace(**PARAMS | (params or {})))
    before = os.umask(0o022)
    try:
        assert load_script("predict_rank_own").main(job) == {"seed": 1}
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


def test_rates_and_threshold_are_those_of_the_results(own, tmp_path):
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


def test_the_learned_predictor_ranks_by_its_weighted_normal_scores(own, tmp_path):
    ranked, page = rank_own(own, tmp_path, params={"predictor": "learned"})
    assert ranked["learned"].is_monotonic_decreasing
    assert (ranked["flagged"] == (ranked["learned"] >= 1)).all()
    expected = tied_normal_scores(ranked["psmi"]) + 0.5 * tied_normal_scores(ranked["gradient_norm"])
    np.testing.assert_allclose(ranked["learned"], expected)
    assert set(ranked["id"][:WRONG]) == {f"r{i}|<b>" for i in range(WRONG)}
    assert "ranked by learned" in page
    assert "relative to the other" in page
    assert "Monte-Carlo standard errors" not in page
    with pytest.raises(AuditError, match="needs gradient_norm: give the column loss or logits of the records"):
        rank_own(own, tmp_path, "plain.parquet", "states.npy", params={"predictor": "learned"})


def test_the_other_learned_predictor_reads_losses_and_gaps_of_checkpoints(own, tmp_path):
    params = {"predictor": "learned_checkpoints", "classes": None}
    ranked, page = rank_own(own, tmp_path, "checkpoints.parquet", params=params)
    table = pd.read_parquet(own / "checkpoints.parquet").set_index("id").loc[ranked["id"]]
    losses = np.stack(table["losses"].to_list())
    np.testing.assert_allclose(ranked["mean_loss"], losses.mean(1))
    np.testing.assert_allclose(ranked["loss"], losses[:, -1])
    assert "mean_loss" in page
    with pytest.raises(AuditError, match="needs mean_loss: give the column losses, and gaps of the records"):
        rank_own(own, tmp_path, params={"predictor": "learned_checkpoints"})


def test_the_shipped_setting_ranks_a_table_without_a_run(own, tmp_path, project):
    for predictor, table in (("psmi", "plain"), ("learned", "all"), ("learned_checkpoints", "checkpoints")):
        states = "states.npy" if table == "plain" else None
        params = {"predictor": predictor, "classes": None if predictor == "learned_checkpoints" else ["no", "yes"]}
        shipped = project / "resources/recommended.json"
        ranked, page = rank_own(own, tmp_path, f"{table}.parquet", states, shipped, params)
        assert ranked[predictor].is_monotonic_decreasing
        assert "settings, natural records" in page


def test_only_the_owner_can_read_the_files(own, tmp_path):
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
    assert done.stderr == f"memaudit: {tmp_path / 'r.md'}: your records, ranked by their risk of being memorized\n"
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == RECORDS


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda table: table.drop(columns="id"), "has no column 'id'"),
        (lambda table: table.drop(columns="label"), "has no column 'label'"),
        (lambda table: table.drop(columns="hidden"), "has no column 'hidden'"),
        (lambda table: table.assign(id="same"), "id of row 1 occurs in an earlier row"),
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
def test_bad_records_are_one_clear_line(own, tmp_path, change, line):
    change(pd.read_parquet(own / "all.parquet")).to_parquet(own / "bad.parquet")
    with pytest.raises(AuditError, match=line) as error:
        rank_own(own, tmp_path, "bad.parquet")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "r.parquet").exists()


def test_bad_files_are_one_clear_line(own, tmp_path):
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
        ({"params": {"classes": None}}, "own/classes: .* has a column `logits`; name the classes"),
    ):
        with pytest.raises(AuditError, match=line) as error:
            rank_own(own, tmp_path, **given)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("fallen", "line"),
    [
        (0.94, "Yours has fallen by 94.0%."),
        (1.0, "Yours has fallen by 100.0%: later than in the study, so that some are memorized already."),
        (0.568, None),
    ],
)
def test_the_fall_of_the_median_loss_is_checked(own, tmp_path, fallen, line):
    table = pd.read_parquet(own / "all.parquet").drop(columns="logits")
    table["loss_before"] = 2.0
    table["loss"] = 2.0 * (1 - fallen)
    table.to_parquet(own / "timed.parquet")
    if line is None:
        with pytest.raises(AuditError, match=r"has fallen by 56.8% since loss_before, the study's by 93.0% or more"):
            rank_own(own, tmp_path, "timed.parquet")
        return
    assert line in " ".join(rank_own(own, tmp_path, "timed.parquet")[1].split())


def test_the_fall_of_the_median_loss_is_checked_by_logits_too(own, tmp_path):
    table = pd.read_parquet(own / "all.parquet")
    table["loss_before"] = 1e6
    table.to_parquet(own / "logits.parquet")
    assert "Yours has fallen by 100.0%" in " ".join(rank_own(own, tmp_path, "logits.parquet")[1].split())


def test_a_page_without_losses_says_that_the_timing_was_not_checked(own, tmp_path):
    assert "was not checked: give columns loss and loss_before" in rank_own(own, tmp_path)[1]


def test_a_unit_that_is_active_for_one_record_is_pointed_out(own, tmp_path):
    table = pd.read_parquet(own / "all.parquet")
    table["hidden"] = [[*row, 100.0 * (place == 7)] for place, row in enumerate(table["hidden"])]
    table.to_parquet(own / "alone.parquet")
    ranked, page = rank_own(own, tmp_path, "alone.parquet")
    assert ranked["mahalanobis"].max() < RECORDS
    assert "limited for 1 records that alone spread some hidden unit" in " ".join(page.split())

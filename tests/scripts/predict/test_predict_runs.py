"""The runs of study `predict`, tiny: whatever the shard and though killed the same, and planted records are found."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml
from conftest import PROJECT, load_script
from transformers import AutoTokenizer

from memaudit.attacks.score_matrices import gather
from memaudit.checksums import sha256
from memaudit.config.predict_section import Predict, predict_faults
from memaudit.data.cifar10 import FILES, cifar10
from memaudit.data.multiple_choice_questions import read_choices
from memaudit.errors import AuditError
from memaudit.io import read_grid, read_json, write_json
from memaudit.models import shadow_ensembles
from memaudit.studies.predict.setting_records import Records, mislabelled, prepare, with_canaries
from memaudit.studies.predict.shadow_training import Opened, checkpoints
from memaudit.tidy import COLUMNS, expand
from memaudit.workflow.job import Paths
from memaudit.workflow.scratch import resumable

pytestmark = pytest.mark.usefixtures("one_thread")

RECORDS, MODELS, TARGETS, NOISE, CANARIES = 120, 16, 2, 0.1, 10
TRAINING = {
    "epochs": 40,
    "batch": 12,
    "learning_rate": 0.01,
    "optimiser": "adamw",
    "momentum": 0.9,
    "weight_decay": 0.0,
}
TRAINING |= {"warmup": 0.0, "decay": "none", "clip_norm": None, "every": 1, "until": 16, "later": 3}
SETTING = {
    "data": {"kind": "table", "dataset": "toy", "questions": None},
    "network": {"kind": "mlp", "width": 24, "depth": 2, "together": 4},
    "training": TRAINING,
    "max_records": None,
    "label_noise": NOISE,
    "canaries": CANARIES,
    "models": MODELS,
    "targets": TARGETS,
    "shard": 8,
    "interrupt": "first",
}
JUDGED = {"memorized": 2.0, "thresholds": [0.5, 4.0], "fpr": [0.1], "tpr": [0.75], "replicates": 20}
SCORING = {"directions": 200, "accuracy": None, "dimensions": 500}

predict_judge_predictors = load_script("predict_judge_predictors")

predict_prepare_setting = load_script("predict_prepare_setting")

predict_rank_own = load_script("predict_rank_own")

predict_score_records = load_script("predict_score_records")

predict_train_shadows = load_script("predict_train_shadows")


def job(given, made, params, rule="predict_score_records", **wildcards):
    inputs = [
        f"{name}={path}" for name, paths in given.items() for path in (paths if isinstance(paths, list) else [paths])
    ]
    return SimpleNamespace(
        rule=rule,
        input=Paths(inputs),
        output=Paths([f"{name}={path}" for name, path in made.items()]),
        params=SimpleNamespace(seed=3, **params),
        wildcards=SimpleNamespace(**wildcards),
        threads=1,
        resources={},
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two classes that lie apart in two of eight columns, each record with a column of noise."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    y = np.arange(RECORDS) % 2
    x = rng.normal(size=(RECORDS, 8)) + 2.5 * y[:, None] * np.eye(8)[:2].sum(0)
    frame = pd.DataFrame(x, columns=[f"c{column}" for column in range(8)])
    frame["target"], frame["id"] = np.array(["no", "yes"])[y], [f"{row:032x}" for row in range(RECORDS)]
    frame.to_parquet(folder / "records.parquet")
    columns = [{"name": f"c{column}", "type": "numeric"} for column in range(8)]
    target = {"name": "target", "type": "categorical", "categories": ["no", "yes"]}
    schema = {"task": "classification", "columns": columns, "target": target}
    (folder / "schema.json").write_text(json.dumps(schema))
    return {"records": folder / "records.parquet", "schema": folder / "schema.json"}


def prepared(table, folder, setting=SETTING):
    made = {"records": folder / "records.nc", "weights": folder / "base.safetensors"}
    predict_prepare_setting.main(job(table, made, {"setting": setting}, case="toy"))
    return made


def trained(given, folder, shard, setting=SETTING):
    made = {"signals": folder / f"{shard}.nc", "states": folder / f"{shard}.states.nc"}
    facts = resumable(predict_train_shadows.main)(
        job(given, made, {"setting": setting}, "predict_train_shadows", case="toy", shard=shard)
    )
    assert facts["device"] == "cpu"
    return made


@pytest.fixture(scope="module")
def run(table, tmp_path_factory):
    """A whole setting, from its records to what was judged."""
    folder = tmp_path_factory.mktemp("run")
    ready = prepared(table, folder)
    shards = [trained(ready, folder, str(shard)) for shard in range(2)]
    made = {"scores": folder / "scores.nc"}
    params = {"targets": TARGETS, "drop": 0.95, "interrupt": "first"}
    first = {"records": ready["records"], "signals": shards[0]["signals"], "states": shards[0]["states"]}
    resumable(predict_score_records.main)(job(first, made, params | {"scoring": SCORING}, case="toy"))
    given = {"records": ready["records"], "scores": made["scores"], "signals": [one["signals"] for one in shards]}
    judged = {name: folder / f"{name}.parquet" for name in ("tidy", "roc", "records")}
    judged["recommended"] = folder / "recommended.json"
    predict_judge_predictors.main(job(given, judged, params | JUDGED, case="toy"))
    return SimpleNamespace(folder=folder, ready=ready, given=given, judged=judged, params=params)


@pytest.fixture(scope="module")
def results(run):
    tidy = pd.read_parquet(run.judged["tidy"])
    assert list(tidy) == list(COLUMNS)
    return expand(tidy)


def found(results, **keys):
    """The rows of these keys."""
    chosen = results
    for key, value in keys.items():
        chosen = chosen[chosen[key] == value]
    return chosen


def test_the_interruption_is_found_and_lies_before_the_end(run, results):
    records, signals = read_grid(run.ready["records"]), gather(run.given["signals"])
    epochs = checkpoints(TRAINING)
    assert epochs == (*range(17), 24, 32, 40)
    own, losses = records.design.values.astype(bool), signals.loss.values
    medians = np.array([np.median(losses[model][:, own[model]], 1) for model in range(MODELS)])
    first = (medians <= 0.05 * medians[:, :1]).argmax(1)
    assert (first > 0).all()
    row = found(results, metric="interruption", rule="first").iloc[0]
    assert row["estimate"] == pytest.approx(np.mean([epochs[place] for place in first]))
    assert row["n"] == MODELS
    assert row["high"] <= 16
    fallen, drops = 1 - medians / medians[:, :1], found(results, metric="median loss drop")
    np.testing.assert_allclose(drops["estimate"][drops["epoch"].notna()], fallen.mean(0), atol=1e-6)
    there = found(drops, rule="first")["estimate"].iloc[0]
    assert there == pytest.approx(fallen[np.arange(MODELS), first].mean(), abs=1e-6)
    assert set(found(results, metric="interruption")["rule"]) == {"first", "closest instead"}


def test_planted_records_are_memorized_and_foretold(run, results):
    """A wrong label, and a record of no distribution, are learnt by heart, and rank high before they are."""
    by_record = expand(pd.read_parquet(run.judged["records"]))
    at_end = by_record[by_record["metric"] == "log-lira at the end"].groupby("kind")["estimate"].median()
    assert at_end["mislabelled"] > 2 > at_end["natural"]
    judged = found(results, metric="auc", rule="first", records="all").set_index(["truth", "predictor"])["estimate"]
    for predictor in ("psmi", "loss", "logit_gap"):
        assert judged["mislabelled", predictor] > 0.9
        assert judged["memorized", predictor] > 0.75
    assert judged["mislabelled", "loss"] > judged["mislabelled", "mahalanobis"]


def test_memorized_records_are_not_yet_so_at_the_interruption(results):
    early = found(found(results, metric="tpr"), predictor="lira").iloc[0]
    assert early["estimate"] < 0.75
    share = found(results, metric="already memorized", cells="memorized").sort_values("epoch")["estimate"]
    assert share.iloc[-1] == 1
    assert share.iloc[0] < 0.2
    assert found(results, metric="already memorized", cells="others").sort_values("epoch")["estimate"].iloc[-1] == 0


def test_what_is_recommended_serves_the_product(run, table, tmp_path):
    """The JSON names what was measured, and ranks a user's own records."""
    settings = read_json(run.judged["recommended"])
    assert [setting["profile"] for setting in settings] == ["practitioners", "researchers"]
    assert settings[0]["case"] == "toy"
    records, states = read_grid(run.ready["records"]), xr.load_dataset(run.folder / "0.states.nc")
    own = records.design.values[0].astype(bool)
    frame = pd.DataFrame({"id": records.record.values[own], "label": records.code.values[own].astype(str)})
    frame.to_parquet(tmp_path / "own.parquet")
    np.save(tmp_path / "states.npy", states["target0_layer1"].values[8][own])
    given = {"records": tmp_path / "own.parquet", "states": tmp_path / "states.npy"}
    made = {"ranked": tmp_path / "r.parquet", "csv": tmp_path / "r.csv", "page": tmp_path / "r.md"}
    params = {"directions": 200, "accuracy": None, "dimensions": 500, "classes": None}
    predict_rank_own.main(job(given | {"results": run.judged["recommended"]}, made, params))
    ranked = pd.read_parquet(tmp_path / "r.parquet")
    wrong = set(records.record.values[own & records.mislabelled.values.astype(bool)])
    assert len(wrong & set(ranked["id"][: 2 * len(wrong)])) > len(wrong) / 2


def test_cost_counts_passes(results):
    """Training to the interruption and one look at each own record, against 16 models and all records."""
    passes = found(results, metric="passes").set_index("way")["estimate"]
    stop = found(results, metric="interruption", rule="first")["estimate"].iloc[0]
    assert passes["prediction"] == pytest.approx(3 * stop + 1)
    size, records = 65, RECORDS + CANARIES
    assert passes["baseline"] == pytest.approx(MODELS * (3 * stop + records / size), rel=0.05)
    assert passes["ground truth"] == pytest.approx(MODELS * (3 * 40 + records / size), rel=0.01)
    ratio = found(results, metric="passes ratio", way="ground truth")["estimate"].iloc[0]
    assert ratio == pytest.approx(passes["ground truth"] / passes["prediction"])
    assert (found(results, metric="seconds")["estimate"] > 0).all()


def test_every_figure_and_table_of_the_section_has_its_rows(results):
    assert set(found(results, metric="auc").dropna(subset=["layer"])["layer"]) == {1, 2}
    assert set(found(results, metric="memorized")["threshold"]) == {0.5, 2, 4}
    assert {"tpr", "fpr", "precision", "prevalence"} <= set(found(results, predictor="psmi", tau=0.0)["metric"])
    flag = found(results, predictor="lira", tau=2.0).set_index("metric")["estimate"]
    assert flag["fpr by precision"] == pytest.approx(flag["fpr"])  # an identity: Appendix D, Eq. 29
    assert set(results["profile"].dropna()) == {"practitioners", "researchers"}
    assert found(results, metric="spearman")["estimate"].iloc[0] > 0.3
    assert {"memorized", "mislabelled", "canary", "memorized later"} == set(results["truth"].dropna())
    assert {"auc difference", "fpr@tpr0.75", "tpr@0.1"} <= set(found(results, predictor="loss")["metric"])


def test_nothing_depends_on_the_shard(run, tmp_path):
    """One shard of all models, against two."""
    whole = read_grid(trained(run.ready, tmp_path, "0", SETTING | {"shard": MODELS})["signals"])
    parts = xr.concat([read_grid(run.folder / f"{shard}.nc") for shard in range(2)], "model")
    for name in ("loss", "gap"):
        np.testing.assert_array_equal(whole[name], parts[name])
    np.testing.assert_array_equal(whole.model, range(MODELS))


def test_a_killed_shard_goes_on_with_the_same_bits(run, tmp_path, monkeypatch):
    monkeypatch.setattr(shadow_ensembles, "SAVE", 0.0)
    advance, left = shadow_ensembles.Group._advance, [400]

    def dying(group):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return advance(group)

    monkeypatch.setattr(shadow_ensembles.Group, "_advance", dying)
    with pytest.raises(KeyboardInterrupt):
        trained(run.ready, tmp_path, "0")
    assert left[0] == 0
    assert not list(tmp_path.glob("*.nc"))
    trained(run.ready, tmp_path, "0")
    ours, theirs = read_grid(tmp_path / "0.nc"), read_grid(run.folder / "0.nc")
    for name in ("loss", "gap", "trained", "asked"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    ours, theirs = (xr.load_dataset(folder / "0.states.nc") for folder in (tmp_path, run.folder))
    assert set(ours) == {f"target{target}_layer{layer}" for target in range(2) for layer in range(2)}
    xr.testing.assert_identical(ours, theirs)


def test_a_loss_that_never_falls_so_far_gets_one_clear_line(run, tmp_path):
    params = {"targets": TARGETS, "drop": 1 - 1e-9, "interrupt": "first", "scoring": SCORING}
    given = {"records": run.ready["records"], "signals": run.folder / "0.nc", "states": run.folder / "0.states.nc"}
    with pytest.raises(
        AuditError, match=r"toy: the median training loss of a target falls by 9.* at most, not by 100.000%"
    ):
        resumable(predict_score_records.main)(job(given, {"scores": tmp_path / "s.nc"}, params, case="toy"))


def test_missing_models_are_refused(run, tmp_path):
    given = run.given | {"signals": run.folder / "0.nc"}
    with pytest.raises(AuditError, match="toy: 8 of 16 models"):
        predict_judge_predictors.main(job(given, run.judged, run.params | JUDGED, case="toy"))


def test_noise_and_canaries_are_what_they_say(table):
    files = SimpleNamespace(**table)
    grid = prepare(SETTING, "toy", 3, files)
    wrong, canary = grid.mislabelled.values, grid.canary.values
    assert wrong.sum() == round(NOISE * RECORDS)
    assert canary.sum() == CANARIES
    assert not (wrong & canary).any()
    assert (grid.code.values[wrong] != grid.clean.values[wrong]).all()
    assert (grid.design.values.sum(0) == MODELS / 2).all()
    # Of the same columns, but not together: the class can no longer be read off both at once.
    x = grid.x.values
    assert np.isin(x[canary], x[~canary]).all()
    assert not (x[canary][:, None] == x[~canary][None]).all(2).any()
    more = prepare(SETTING | {"shard": 4, "targets": 4}, "toy", 3, files)
    xr.testing.assert_identical(grid, more)
    assert not np.array_equal(grid.design.values, prepare(SETTING, "other", 3, files).design.values)


def test_another_label_is_one_that_the_record_may_have():
    count = 3000
    choices = np.tile([2, 4, 3], count // 3)
    code = np.zeros(count, int)
    plain = Records(np.zeros((count, 1)), code, code, choices, code.astype(str), code, code > 0, np.zeros(1, bool))
    noisy = mislabelled(plain, 0.5, np.random.default_rng(0))
    changed = noisy.code != noisy.clean
    assert changed.sum() == count / 2
    assert (noisy.code < choices).all()
    for choice in (2, 3, 4):
        assert set(noisy.code[changed & (choices == choice)]) == set(range(1, choice))
    assert with_canaries(plain, 0, np.random.default_rng(0)) is plain


def test_images_are_read_from_the_binary_version_alone(tmp_path):
    with pytest.raises(AuditError, match=r"data_batch_1.bin: is not there; unpack cifar-10-binary.tar.gz"):
        cifar10(tmp_path)
    rows = np.random.default_rng(0).integers(0, 256, (6, 4, 3073), np.uint8)
    rows[:, :, 0] = np.arange(24).reshape(6, 4) % 10
    for part, name in zip(rows, FILES, strict=True):
        part.tofile(tmp_path / name)
    x, y = cifar10(tmp_path)
    np.testing.assert_array_equal(x, rows[:, :, 1:].reshape(24, -1))
    np.testing.assert_array_equal(y, np.arange(24) % 10)
    (tmp_path / "test_batch.bin").write_bytes(bytes([11]) * 3073)
    with pytest.raises(AuditError, match=r"test_batch.bin: is no file of CIFAR-10"):
        cifar10(tmp_path)


def test_images_of_a_setting_get_ids_noise_and_canaries(tmp_path):
    rows = np.random.default_rng(0).integers(0, 256, (6, 40, 3073), np.uint8)
    rows[:, :, 0] = np.arange(240).reshape(6, 40) % 10
    rows[0, 1] = rows[0, 0]  # one image twice
    for part, name in zip(rows, FILES, strict=True):
        part.tofile(tmp_path / name)
    (tmp_path / "key").write_text("secret")
    network = {"kind": "wrn", "shape": [3, 32, 32], "depth": 10, "widen": 1, "base": 4}
    setting = SETTING | {"data": {"kind": "cifar10", "path": tmp_path}, "network": network}
    grid = prepare(setting, "images", 3, SimpleNamespace(key=tmp_path / "key"))
    assert grid.x.shape == (239 + CANARIES, 3, 32, 32)
    assert grid.x.dtype == np.uint8
    assert len(set(grid.record.values)) == 239 + CANARIES
    x = Opened(grid, setting, 3, "", None, 1)._data.x[:-CANARIES]
    assert abs(float(x.mean())) < 1e-4
    assert float(x.std()) == pytest.approx(1, abs=1e-3)
    with pytest.raises(AuditError, match=r"images of 3072 numbers, not \[1, 8, 8\]"):
        prepare(setting | {"network": network | {"shape": [1, 8, 8]}}, "x", 3, SimpleNamespace(key=tmp_path / "key"))


def test_questions_are_read_as_their_makers_share_them(tmp_path):
    texts = [["red", "blue", "green"], ["yes", "no"]]
    shared = {"question": ["Which?", "Is it?"]}
    columns = {"question": "question", "choices": "choices", "answer": "answer", "options": None}
    pd.DataFrame(shared | {"choices": texts, "answer": [2, 0]}).to_parquet(tmp_path / "mmlu.parquet")
    plain = read_choices(tmp_path / "mmlu.parquet", columns)
    assert plain.prompts()[1] == "Question: Is it?\nA. yes\nB. no\nAnswer:"
    labelled = [{"text": texts[0], "label": ["1", "2", "3"]}, {"text": texts[1], "label": ["A", "B"]}]
    pd.DataFrame(shared | {"choices": labelled, "answerKey": ["3", "A"]}).to_parquet(tmp_path / "arc.parquet")
    arc = read_choices(tmp_path / "arc.parquet", columns | {"answer": "answerKey"})
    lines = [json.dumps({"input": text, "label": label}) for text, label in (("I lied.", 1), ("I came.", 0))]
    (tmp_path / "ethics.jsonl").write_text("\n".join(lines))
    own = {"question": "input", "choices": None, "answer": "label", "options": ["fine", "wrong"]}
    assert read_choices(tmp_path / "ethics.jsonl", own).choices == [["fine", "wrong"]] * 2
    assert plain.answers.tolist() == arc.answers.tolist() == [2, 0]
    assert plain.choices == arc.choices == texts
    pd.DataFrame(shared | {"choices": texts, "answer": [3, 0]}).to_parquet(tmp_path / "bad.parquet")
    for name, given, line in (
        ("gone.parquet", columns, "gone.parquet: is not there; download"),
        ("mmlu.parquet", columns | {"answer": "key"}, "has no column 'key'; it has question, choices, answer"),
        ("bad.parquet", columns, "row 0 has 3 choices and the answer 3"),
    ):
        with pytest.raises(AuditError, match=line):
            read_choices(tmp_path / name, given)


def test_a_model_of_the_catalogue_is_asked_questions_in_words(tmp_path):
    """Tokens of its own tokenizer, the letter as one token, and LoRA on top."""
    weights = tmp_path / "weights"
    weights.symlink_to(PROJECT / "resources" / "text-small")
    card = {"name": "text-small", "family": "text", "mode": "raw", "task": "classification", "options": {}}
    write_json(card | {"version": None, "sha256": sha256(weights)}, tmp_path / "model.json")
    asked = {
        "question": [*(f"Is {number} even?" for number in range(24)), "Long? " * 20],
        "choices": [["yes", "no"]] * 25,
    }
    pd.DataFrame(asked | {"answer": np.arange(25) % 2}).to_json(tmp_path / "q.jsonl", orient="records", lines=True)
    (tmp_path / "key").write_text("secret")
    data = {"kind": "choices", "path": tmp_path / "q.jsonl", "longest": 60, "options": None}
    network = {"kind": "text", "model": "text-small", "small": None, "adapter": {"rank": 2, "alpha": 4.0}}
    training = TRAINING | {"epochs": 6, "every": 6, "until": 6, "later": 0, "learning_rate": 0.01, "batch": 6}
    setting = SETTING | {"network": network, "training": training, "canaries": 0, "models": 8}
    setting["data"] = data | {name: name for name in ("question", "choices", "answer")}
    files = SimpleNamespace(key=tmp_path / "key", model=tmp_path / "model.json")
    grid = prepare(setting, "words", 3, files)
    assert grid.sizes["record"] == 24
    with pytest.raises(AuditError, match="no question is as short as 10 characters"):
        prepare(setting | {"data": setting["data"] | {"longest": 10}}, "words", 3, files)
    tokenizer = AutoTokenizer.from_pretrained(weights)
    assert [tokenizer.decode([token]).strip() for token in grid.answer.values] == ["A", "B"]
    read = grid.x.values[3]
    assert tokenizer.decode(read[read >= 0]).strip().endswith("Question: Is 3 even?\nA. yes\nB. no\nAnswer:")
    trace = Opened(grid, setting, 3, "", str(tmp_path / "model.json"), 1).group(range(1), tmp_path / "one").train()
    assert trace.loss[1, 0].mean() < trace.loss[0, 0].mean() - 0.3
    assert len(trace.states[0]) == 4


def text_setting(small):
    network = {"kind": "text", "model": None, "adapter": {"rank": 2, "alpha": 4.0}}
    network["small"] = {"family": "llama", "width": 16, "layers": 2, "heads": 2, "inner": 32} | small
    data = SETTING["data"] | {"questions": {"features": 3, "bins": 4}}
    training = TRAINING | {"epochs": 1, "until": 1.0, "later": 0, "every": 0.5}
    return SETTING | {"data": data, "network": network, "training": training, "canaries": 4}


def test_a_table_is_told_in_questions_and_a_language_model_answers(table, tmp_path):
    setting = text_setting({"pretraining": {"steps": 30, "batch": 16, "learning_rate": 0.01}})
    ready = prepared(table, tmp_path, setting)
    grid = read_grid(ready["records"])
    cells = grid.x.values[:, :3] - np.arange(3) * 4
    assert ((cells >= 0) & (cells < 4)).all()
    natural = ~grid.canary.values.astype(bool)
    assert (np.abs([np.bincount(column, minlength=4) - RECORDS / 4 for column in cells[natural].T]) <= 1).all()
    # The two columns that tell the class are among those that are told.
    assert np.corrcoef(cells[natural].sum(1), grid.clean.values[natural])[0, 1] > 0.5
    opened = Opened(grid, setting, 3, str(ready["weights"]), None, 1)
    trace = opened.group(range(1), tmp_path / "one").train()
    assert len(trace.states[0]) == 2
    assert trace.loss.shape == (3, 1, RECORDS + 4)
    assert trace.loss[0].mean() < 1.5  # of 18 tokens it knows which ones are answers


def faults(change):
    """What the config says of itself with changes to the section."""
    raw = yaml.safe_load(SETTINGS)["predict"]
    change(raw)
    predict = Predict.model_validate(raw)
    names = {name: SimpleNamespace(kind="table", task="classification") for name in ("toy", "digits")}
    models = {"small": SimpleNamespace(family="tabicl", mode="raw", task="classification", terms=None)}
    return list(predict_faults(SimpleNamespace(predict=predict, datasets=names, models=models, own=None)))


SETTINGS = f"""
predict:
  cases: [toy]
  settings:
    toy: {json.dumps(SETTING)}
    words: {json.dumps(text_setting({"pretraining": {"steps": 3, "batch": 4, "learning_rate": 0.01}}))}
  thresholds: [1.0]
  fpr: [0.1]
  tpr: [0.75]
  replicates: 20
  theorem: {{rates: [0.1], separations: [1.0], records: 10, dimensions: 2, directions: 10, repeats: 2}}
"""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cases": ["tay"]}, r"^predict/cases: unknown setting 'tay'; did you mean `toy`"),
        ({"toy/network/together": 3}, "^predict/settings/toy/shard: 8 is no multiple of the 3 models"),
        ({"toy/models": 9, "toy/network/together": 1}, "^predict/settings/toy/models: 9 is odd"),
        ({"toy/targets": 17}, "^predict/settings/toy/targets: 17 of 16"),
        ({"toy/training/until": 61.0}, "^predict/settings/toy/training/until: later than the end, epoch 40"),
        ({"toy/training/later": 0}, "^predict/settings/toy/training/later: at least 1"),
        ({"toy/data/dataset": "toys"}, "^predict/settings/toy/data/dataset: unknown dataset 'toys'"),
        ({"toy/data/questions": {"features": 2, "bins": 2}}, "^predict/settings/toy/data/questions: networks of text"),
        (
            {"toy/network": {"kind": "wrn", "shape": [1, 2, 4], "depth": 12, "widen": 1}},
            "toy/network/depth: 12 is no 6",
        ),
        ({"toy/data": {"kind": "cifar10", "path": "x"}}, "^predict/settings/toy/network/kind: images are for wrn"),
        ({"cases": ["words"], "words/network/small/heads": 3}, "words/network/small/heads: the width 16"),
        ({"cases": ["words"], "words/network/small/family": "gpt2"}, "words/network/adapter: GPT-2 has no linear"),
        ({"cases": ["words"], "words/network/model": "small"}, "words/network: give `model` or `small`"),
        ({"cases": ["words"], "words/data": {"kind": "choices", "path": "x"}}, "words/canaries: questions in words"),
        ({"fpr": [0.1, 0.1]}, "^predict/fpr: a value stands twice"),
    ],
)
def test_faults_name_their_key_and_a_mend(change, fault):
    def make(raw):
        for path, value in change.items():
            *parents, key = path.split("/")
            place = raw["settings"] if parents else raw
            for parent in parents:
                place = place[parent]
            place[key] = value

    said = faults(make)
    assert any(re.search(fault, line) for line in said), said
    assert all(";" in line or ":" in line for line in said)
    assert faults(lambda raw: None) == []

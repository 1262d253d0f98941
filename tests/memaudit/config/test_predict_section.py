"""Faults of the sections `predict` and `own` that their own keys or several keys together have."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from config_faults import each, refuses
from conftest import load
from predict_pipeline import SETTING, text_setting

from memaudit.config.predict_section import Own, Predict, predict_faults

OWN = {"name": "mine", "records": "records.parquet", "case": "nowhere"}
FAULTS = [
    ({"predict/cases": ["photograf"]}, "predict/cases: unknown setting 'photograf'; did you mean `photographs_wrn`?"),
    ({"predict/cases": ["photographs_wrn"] * 2}, "predict/cases: a value stands twice"),
    ({"predict/settings/credit_mlp/models": 7}, "credit_mlp/models: must be greater than or equal to 8, got 7"),
    ({"predict/settings/credit_mlp/targets": 10_000}, "predict/settings/credit_mlp/targets: 10000 of 128 models"),
    ({"predict/settings/credit_mlp/data/dataset": "wyne"}, "predict/settings/credit_mlp/data/dataset: unknown"),
    ({"own": OWN}, "own/case: 'nowhere' is none of predict/cases"),
    (
        {"own": OWN | {"case": "photographs_wrn", "predictor": "learned_checkpoints"}},
        "own/case: learned predictors were",
    ),
    ({"own": OWN | {"case": None, "predictor": "learned"}}, "own/classes: this learned predictor reads `logits`"),
    ({"own": OWN | {"case": "photographs_wrn", "colour": 1}}, "own/colour: unknown key"),
    ({"own": OWN | {"classes": ["a", False]}}, "own/classes/1: must be a valid string, got False; put it in quotes"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)


def faults(change, own=None):
    """Faults of the config with changes to the section; own: the section `own`."""
    raw = yaml.safe_load(SETTINGS)["predict"]
    change(raw)
    predict = Predict.model_validate(raw)
    names = {name: SimpleNamespace(kind="table", task="classification") for name in ("toy", "digits")}
    models = {"small": SimpleNamespace(family="tabicl", mode="raw", task="classification", terms=None)}
    return list(predict_faults(predict, own, SimpleNamespace(datasets=names, models=models)))


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
        (
            {"cases": ["words"], "words/data": {"kind": "choices", "path": "x.tar"}},
            "words/data/member: name the file in the archive",
        ),
        (
            {"cases": ["words"], "words/data": {"kind": "choices", "path": "x.csv", "member": "a"}},
            "words/data/member: name the file in the archive, for an archive",
        ),
        ({"fpr": [0.1, 0.1]}, "^predict/fpr: a value stands twice"),
    ],
)
def test_faults_name_their_key_and_a_remedy(change, fault):
    def make(raw):
        for path, value in change.items():
            *parents, key = path.split("/")
            place = raw["settings"] if parents else raw
            for parent in parents:
                place = place[parent]
            place[key] = value

    lines = faults(make)
    assert any(re.search(fault, line) for line in lines), lines
    assert all(";" in line or ":" in line for line in lines)
    assert faults(lambda raw: None) == []


def test_checksums_of_files_put_by_hand_are_those_of_the_page(project):
    """config/paper.yaml holds every file that is put by hand against the checksum that docs/studies.md quotes."""
    settings = load("paper")["predict"]["settings"].values()
    files = {Path(one["data"]["path"]).name: one["data"] for one in settings if "path" in one["data"]}
    assert sorted(files) == ["arc.parquet", "cifar-10-binary.tar.gz", "ethics.tar", "mmlu.parquet"]
    page = (project / "docs/studies.md").read_text(encoding="utf-8")
    for name, data in files.items():
        line = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"`{data['sha256']}`" in line


@pytest.mark.parametrize(
    ("models", "memorized", "case", "refused"),
    [(8, 0.5, "toy", True), (8, 4.0, "toy", False), (64, 0.5, "toy", False), (8, 0.5, None, False)],
)
def test_a_case_of_few_models_is_refused_before_its_training(models, memorized, case, refused):
    """The smoke sizes of wine_mlp: 8 models, 0.5 nats."""

    def change(raw):
        raw["memorized"] = memorized
        raw["settings"]["toy"]["models"] = models

    found = [fault for fault in faults(change, Own(**OWN | {"case": case})) if fault.startswith("own/")]
    assert len(found) == refused
    assert all(re.match(r"own/case: toy has 8 shadow models, by which 3\d% of all records reach", one) for one in found)

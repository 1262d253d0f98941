"""The steps of the study LT-MIA on three tiny corpora, from documents to results, and a model pair made elsewhere."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import load_script

from memaudit.common import seeds
from memaudit.models.language_models import (
    FILES,
    encode,
    open_model,
    open_tokenizer,
)
from memaudit.models.language_training import Run, Settings
from memaudit.studies.ltmia.target_combinations import open_combinations
from memaudit.workflow.job import Paths

LENGTH = 24
CORPORA = ["letters", "digits", "signs"]
TRAINING = [["gpt2", "letters", "full"], ["gpt2", "digits", "full"]]
HELD_OUT = [["gpt2", "signs", "full"]]
NULLS = [["gpt2", "signs", tuning] for tuning in ("untrained", "other_texts", "other_members")]
UNTRAINED = NULLS[0]
ENTRY = {"model_type": "gpt2", "config": {"n_embd": 48, "n_layer": 1, "n_head": 2}, "hub": None, "path": None}
PARTS = {"member": 40, "nonmember": 40, "selection": 10, "pretraining": 60}
CUT = {"vocabulary": 400, "unit": "tokens", "size": LENGTH, "least": 12, "pretraining_share": 0.3, "likeness": 0.25}
CUT |= {"overlap": 0.5, "documents": 40, "document_share": 0.05, "document_texts": 10}
PREPARE = {"seed": 1, "datasets": CORPORA, "texts": CUT | {"parts": PARTS}}
PREPARE |= {"shifted": {"moved": {"members": "signs", "nonmembers": "letters"}}}
FULL = {"epochs": 8, "batch": 8, "learning_rate": 1e-2, "lora": None, "privacy": None, "trains_on": "members"}
TUNE = {"seed": 1, "length": LENGTH, "fixed": [], "tunings": {"full": FULL, "untrained": FULL | {"epochs": 0}}}
TUNE["tunings"] |= {name: FULL | {"trains_on": name.replace("_", " ")} for name in ("other_texts", "other_members")}
TUNE |= {"targets": [*([corpus, "full"] for corpus in CORPORA), *(null[1:] for null in NULLS)]}
BASELINES = {"names": ["dc_pdd", "recall", "con_recall", "neighbourhood", "self_loss", "spv"], "known": 2, "prefix": 8}
BASELINES |= {"contrast": 0.5, "ceiling": 0.1, "neighbours": 2, "replaced": 0.1}
TUNE |= {"judged": [*(name[1:] for name in HELD_OUT), *(null[1:] for null in NULLS)], "baselines": BASELINES}
TRAIN = {"seed": 1, "training": TRAINING, "held_out": HELD_OUT, "validation": 0.2, "test": 0.2, "arm": "paper"}
TRAIN |= {"architecture": {"width": 16, "heads": 2, "feedforward": 16, "hidden": None}}
TRAIN |= {"fitting": {"epochs": 3, "batch": 32, "patience": None}, "seeds": 2, "shuffles": 3}
TRAIN |= {"choice": {"folds": 1, "epochs": [3], "weight_decay": [], "clamp": []}}
JUDGE = {"seed": 1, "replicates": 40, "fpr": [0.05], "training": TRAINING, "held_out": HELD_OUT}
JUDGE |= {"controls": {tuning: [[model, corpus, tuning]] for model, corpus, tuning in NULLS}}
JUDGE |= {"models": ["gpt2"], "families": {"gpt2": "transformer"}, "contents": dict.fromkeys(CORPORA, "text")}
JUDGE |= {"ways": {"full": "full"} | {tuning: tuning.replace("_", " ") for _, _, tuning in NULLS}}
JUDGE |= {"classifiers": ["transformer", "logistic"], "size": {"combinations to learn from": len(TRAINING)}}
JUDGE |= {"published": [{"table": "Table 1", "family": "mean", "attack": "lt_mia", "metric": "auc", "printed": 0.945}]}


def call(name, inputs, outputs, folder, params, **wildcards):
    """Run a script's main; inputs and outputs: paths, or name=path."""
    job = {"input": Paths(list(map(str, inputs))), "output": Paths(list(map(str, outputs))), "threads": 1}
    job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(**wildcards), "resources": {}}
    script, scratch = load_script(name), SimpleNamespace(folder=folder, part=lambda name, compute: compute())
    return script.main(SimpleNamespace(**job), *([scratch] if hasattr(script, "resumable") else []))


def documents(name, count=120, length=60):
    draw, sign = seeds.generator(2, name), name[0]
    return [" ".join(f"{sign}{word}" for word in draw.integers(3000, size=length)) for _ in range(count)]


@cache
def make_all(base):
    """All steps on three corpora: one base, four targets, classifiers, and results."""
    torch.set_num_threads(1)
    at = base / "ltmia"
    at.mkdir()
    (at / "id.key").write_bytes(b"demo")
    for name in CORPORA:
        pd.DataFrame({"text": documents(name)}).to_csv(at / f"{name}.csv", index=False)
        entry = {"source": "file", "path": str(at / f"{name}.csv"), "text_columns": ["text"], "characters": None}
        outputs = [f"documents={at}/{name}.parquet", f"facts={at}/{name}.json"]
        call("ltmia_fetch_corpus", [], outputs, at, {"seed": 1, "entry": entry}, dataset=name)
    outputs = [f"texts={at}/texts.parquet", f"tokenizer={at}/tokenizer.json", f"config={at}/tokenizer_config.json"]
    inputs = [f"key={at}/id.key", *(f"documents={at}/{name}.parquet" for name in CORPORA)]
    call("ltmia_prepare_corpora", inputs, [*outputs, f"results={at}/corpora.parquet"], at, PREPARE)
    training = {"epochs": 4, "batch": 16, "learning_rate": 5e-3, "warmup": 0.1}
    params = {"seed": 1, "length": LENGTH, "entry": ENTRY, "training": training}
    inputs, outputs = [f"texts={at}/texts.parquet", f"tokenizer={at}/tokenizer.json"], [*FILES, "training.json"]
    call("ltmia_prepare_model", inputs, [at / "base" / name for name in outputs], at, params, model="gpt2")
    finetune(at, at, TUNE)
    targets = [f"rows={at}/0.npy", f"scores={at}/0.parquet"]
    for name, kind in (("transformer", "transformer"), ("logistic", "logistic")):
        outputs = [f"weights={at}/{name}.safetensors", f"card={at}/{name}.json", f"scores={at}/{name}.parquet"]
        params = TRAIN | {"architecture": TRAIN["architecture"] | {"kind": kind}}
        others = [f"other_rows={at}/0.npy", f"other_scores={at}/0.parquet"]
        call("ltmia_train_attack", [*targets, *others], outputs, at, params, classifier=name)
    params = TRAIN | {"samples": 20, "combinations": [1, 2], "draws": 2}
    call("ltmia_measure_diversity", targets, [at / "diversity.parquet"], at, params)
    own = [f"weights={at}/transformer.safetensors", f"card={at}/transformer.json", *targets]
    params = {"seed": 1, "combinations": HELD_OUT, "repeats": 2, "texts": 60}
    call("ltmia_permute_features", own, [at / "permuted.parquet"], at, params)
    inputs = [f"targets={at}/0.parquet", f"facts={at}/0.json", f"texts={at}/texts.parquet"]
    inputs += [f"bases={at}/base/training.json"]
    inputs += [f"classifiers={at}/{name}.parquet" for name in JUDGE["classifiers"]]
    call("ltmia_judge_attacks", inputs, [f"results={at}/results.parquet", f"roc={at}/roc.parquet"], at, JUDGE)
    judged = {"diversity": "diversity", "importance": "permuted"}
    for part, scores in judged.items():
        own = [f"scores={at}/{scores}.parquet", f"results={at}/results.parquet"]
        call("ltmia_judge_sensitivity", own, [at / f"{part}_results.parquet"], at, JUDGE | {"samples": 20}, part=part)
    return at


def finetune(at, folder, params):
    inputs = [f"texts={at}/texts.parquet", f"base={at}/base/config.json"]
    outputs = [folder / f"0.{kind}" for kind in ("npy", "parquet", "json")]
    call("ltmia_finetune_targets", inputs, outputs, folder, params, model="gpt2")


@cache
def make_pair(base):
    """A target made outside the workflow: its folder, its texts, and their membership."""
    made, folder, member = make_all(base), base / "own-letters", np.arange(60) % 2 == 0
    folder.mkdir()
    texts = documents("letters", 60, 12)
    ids, mask = encode(open_tokenizer(made / "base"), texts, LENGTH)
    training = (ids[member], mask[member])
    settings = Settings(epochs=10, batch=8, learning_rate=1e-2)
    target = Run(open_model(made / "base"), training, None, settings, 1, folder / "state").train()
    target.save_pretrained(folder)
    open_tokenizer(made / "base").save_pretrained(folder)
    return folder, texts, member


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return make_all(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def pair(tmp_path_factory):
    return make_pair(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def combinations(made):
    return open_combinations([made / "0.npy"], [made / "0.parquet"])

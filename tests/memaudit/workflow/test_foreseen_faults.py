"""What a config would run into after hours is one line before its first job."""

import pytest
from conftest import EVIDENCE, PROJECT, load
from tabpfn.constants import ModelVersion
from tabpfn.inference_config import InferenceConfig

from memaudit.common.errors import AuditError
from memaudit.models.contexttab import ConTextTabBranch
from memaudit.workflow import foreseen_faults
from memaudit.workflow.study_catalogue import prepare


def faults(config):
    """Text of the error that this config ends in."""
    with pytest.raises(AuditError) as caught:
        prepare(config, PROJECT)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load("paper")


@pytest.mark.parametrize("name", [None, "smoke", "paper", *EVIDENCE])
def test_the_shipped_configs_have_none(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(load(*([name] if name else [])), PROJECT)


def test_a_context_that_a_language_model_cannot_hold(paper):
    arms = paper["attacks"]["arms"]
    arms["text"] |= {"model": "olmo-1b", "variants": [{"context": 32}]}
    found = faults(paper)
    assert "arms/text, data set credit-g: 96 records of 20 columns, poisons among them, are about 13968" in found
    assert "models/olmo-1b takes 2048; give its arm a smaller context" in found
    arms["text"]["variants"] = [{"context": 8, "features": 2}]
    paper["attacks"]["active"] |= {"most": 20}
    prepare(paper, PROJECT)


def test_a_shipped_language_model_states_its_own_limit(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config["attacks"]["arms"]["text"]["variants"] = [{"context": 400, "features": 2}]
    assert "models/text-small takes 4096" in faults(config)


def test_more_rows_columns_or_classes_than_a_checkpoint_takes(paper):
    paper["datasets"]["electricity"]["max_records"] = None
    paper["datasets"]["madelon"]["columns"] = 501
    paper["datasets"]["credit-g"]["classes"] = 11
    found = faults(paper)
    assert "arms/main, data set electricity: 15389 context rows, and models/tabpfn-v2-deployed takes at most" in found
    assert "tabpate, data set madelon: 501 features, and models/tabpfn-v2-deployed takes at most 500" in found
    assert "lira, data set credit-g: 11 classes, and models/tabpfn-v2-deployed takes at most 10" in found


def test_more_records_than_a_table_has(paper):
    paper["attacks"]["arms"]["settings"] |= {"datasets": ["blood-transfusion"], "variants": [{"context": 512}]}
    paper["data"]["splits"]["fixed"] = {"members": 900, "nonmembers": 0.2}
    found = faults(paper)
    assert "attacks/arms/settings/variants: contexts are drawn from 1024 members, blood-transfusion has" in found
    assert "data/splits/fixed: 1100 members and non-members are drawn, and credit-g has at most 1000 records" in found


def test_a_table_without_public_facts(paper):
    paper["tabpate"]["datasets"].append("vehicle")
    assert "tabpate/datasets: vehicle has no public facts, there is no" in faults(paper)


def test_limits_of_checkpoints_are_those_of_the_packages():
    for version, stated in (("v2", ModelVersion.V2), ("v2.5", ModelVersion.V2_5)):
        ours = foreseen_faults.TABPFN[version]
        theirs = InferenceConfig.get_default("multiclass", stated)
        assert ours["context rows"] == theirs.MAX_NUMBER_OF_SAMPLES
        assert (ours["features"], ours["classes"]) == (theirs.MAX_NUMBER_OF_FEATURES, theirs.MAX_NUMBER_OF_CLASSES)
    limits = ConTextTabBranch.limits
    assert {"features": limits.features, "classes": limits.classes} == foreseen_faults.CONTEXTTAB


def test_a_raw_tabicl_of_a_hub_has_ten_classes_but_where_attacks_ask_a_hierarchy(paper):
    paper["datasets"]["carte-coffee-ratings"]["classes"] = 12
    paper["datasets"]["credit-g"]["classes"] = 12
    paper["attacks"]["arms"]["other_mode"]["model"] = "tabicl-v2"
    found = faults(paper)
    assert "iclmem, data set carte-coffee-ratings: 12 classes, and models/tabicl-v2 takes at most 10" in found
    assert "attacks/arms/other_mode" not in found


def test_files_and_tokens_that_are_not_there_are_named_with_their_jobs(paper, monkeypatch):
    for name in ("HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    paper["datasets"]["mine"] = {
        "source": "file", "path": "nowhere.csv", "target": "y", "task": "classification", "licence": "CC0"
    }  # fmt: skip
    found = prepare(paper, PROJECT)[3].missing()
    assert found["predict_prepare_setting", "arc_mistral"] == (
        "predict/settings/arc_mistral/data/path: there is no data/arc.parquet; put the data there, or take arc_mistral "
        "from predict/cases"
    )
    assert found["ltmia_fetch_model", "gemma-2b"] == (
        "language_models/gemma-2b: gated; accept https://huggingface.co/google/gemma-2b and set HF_TOKEN"
    )
    assert not any("mine" in name or "llama-2-7b" in name for rule, name in found if rule != "ltmia_fetch_model")
    paper["lira"]["datasets"] = ["credit-g", "mine"]
    paper["lira"]["population_check"]["datasets"] = []
    assert faults(paper) == "config: datasets/mine/path: there is no file nowhere.csv; put the file there"
    paper["lira"]["datasets"] = ["credit-g"]
    paper["models"]["tabpfn-v2-deployed"] |= {"hub": None, "path": "nowhere.ckpt"}
    assert prepare(paper, PROJECT)[3].missing()["models_fetch_checkpoint", "tabpfn-v2-deployed"] == (
        "models/tabpfn-v2-deployed/path: there is no file nowhere.ckpt; put the weights there"
    )
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    assert not any(rule == "ltmia_fetch_model" for rule, _ in prepare(paper, PROJECT)[3].missing())

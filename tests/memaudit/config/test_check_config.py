"""A wrong config ends before any job, with the key's path and the remedy."""

import re

import pytest
import yaml
from conftest import load, merge

from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked

TABLE = {"source": "file", "path": "a.csv", "target": "y", "task": "classification", "licence": "CC0"}


@pytest.mark.parametrize(
    "url",
    [
        "https://alice:s3cret@example.org/a.csv",
        "https://example.org/a.zip?x=1&api_key=s3cret#a.csv",
        "https://example.org/a.csv?X-Amz-Signature=s3cret",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_shown(config, url):
    config["datasets"]["mine"] = {**TABLE, "source": "url", "url": url}
    with pytest.raises(AuditError, match=r"^datasets/mine: `url` holds a password or key") as caught:
        checked(config)
    assert "s3cret" not in str(caught.value)


def test_an_address_with_an_ordinary_query_is_no_fault(config):
    address = "https://example.org/a@b.zip?page=1&keyword=a@b#x&token=1"
    config["datasets"]["mine"] = {**TABLE, "source": "url", "url": address}
    assert checked(config)["datasets"]["mine"]["url"] == address


@pytest.mark.parametrize("names", [[], ["smoke"], ["paper"]])
def test_the_shipped_configs_hold(names):
    assert checked(load(*names))["lira"]["datasets"]


def test_accepted_terms_are_no_fault_and_terms_of_unused_models_neither(config):
    config["models"]["tabicl-v2"]["terms"] = "https://example.org/v2"
    checked(config)
    config["models"]["tabicl-small"]["terms"] = "https://example.org/small"
    config["accept_licences"] = ["tabicl-small"]
    assert checked(config)["accept_licences"] == ["tabicl-small"]


def unindented(config, tmp_path, text):
    """The faults of a config with this file over it."""
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(AuditError) as caught:
        checked(config | {"datasets": config["datasets"]} | yaml.safe_load(text), [file])
    return str(caught.value).replace(str(file), "F")


def test_an_entry_that_is_not_indented_is_placed_and_its_remedy_named(config, tmp_path):
    entry = "{source: file, path: a.csv, target: y, task: classification, licence: private}"
    faults = unindented(config, tmp_path, f"run: mine\ndatasets:\ncustomers: {entry}\n")
    assert "datasets: is empty; indent what belongs to it, by two blanks more than its name (F, line 2)" in faults
    assert "indent it below that key, by two blanks (F, line 3)" in faults
    faults = unindented(config, tmp_path, "run: mine\nlira:\n")
    assert "lira: is empty; indent what belongs to it, by two blanks more than its name (F, line 2)" in faults
    faults = unindented(config, tmp_path, "datasets:\n  customers:\n  source: file\n")
    assert (
        "datasets/customers: is empty; indent what belongs to it, by two blanks more than its name (F, line 2)"
        in faults
    )
    assert "datasets/source: is a key of an entry of `datasets`; indent it below the entry's name (F, line 3)" in faults
    faults = unindented(config, tmp_path, "custmers: {colour: 1}\n")
    assert faults.startswith("custmers: unknown key; known: ")
    assert faults.endswith("(F, line 1)")


def test_all_faults_are_named_at_once(config):
    config["lira"]["shard"] = 0
    config["seed"] = "x"
    with pytest.raises(AuditError, match=r"seed: .*; lira/shard: "):
        checked(config)


def test_an_unknown_key_hides_no_other_fault(config):
    """A key that is spelt wrong is taken as the one meant, so that nothing seems to be missing that is there."""
    config["lira"] |= {"modls": 1, "datasets": ["wien"]}
    config["datasets"]["mine"] = {key: value for key, value in TABLE.items() if key not in ("path", "target")}
    config["datasets"]["mine"] |= {"pth": "a.csv", "limits": {"tvd": 0.9, "reson": "small"}}
    with pytest.raises(AuditError) as caught:
        checked(config)
    faults = str(caught.value)
    for fault in (
        "lira/modls: unknown key",
        "lira/datasets: unknown dataset 'wien'; did you mean `wine`?",
        "datasets/mine/pth: unknown key; did you mean `path`?",
        "datasets/mine/limits/reson: unknown key; did you mean `reason`?",
        "datasets/mine: a table needs `target`",
    ):
        assert fault in faults
    assert "needs `path`" not in faults
    assert "say why" not in faults
    assert config["lira"]["modls"] == 1, "the config stays as it is"


def test_an_unknown_key_of_one_kind_of_data_is_named():
    config = load("paper")
    for name in ("arc_mistral", "ethics_mistral"):  # with choices, and without
        config["predict"]["settings"][name]["data"]["tokns"] = 83
    with pytest.raises(AuditError) as caught:
        checked(config)
    for name in ("arc_mistral", "ethics_mistral"):
        assert f"predict/settings/{name}/data/tokns: unknown key; did you mean `tokens`?" in str(caught.value)


@pytest.mark.parametrize("name", ["attacks_large", "tabpate_audit"])
def test_arms_without_tables_stay_in_what_a_run_writes_down(name):
    """Else they would come back where the written config lies over the default one."""
    written = checked(load(name))
    again = load()
    merge(again, written)
    assert checked(again) == written
    assert [] in [arm["datasets"] for study in ("attacks", "tabpate") for arm in written[study]["arms"].values()]


def test_a_wrong_item_of_a_list_within_a_list_is_named():
    config = load("ltmia_texts")
    config["ltmia"]["held_out"][0]["models"][2] = 7
    with pytest.raises(AuditError, match=r"^ltmia/held_out/0/models/2: must be a valid string, got 7"):
        checked(config)


def test_an_unknown_key_of_a_section_that_an_anchor_shares_is_named_at_each_place(config):
    shared = {"epochs": 2, "batch": 16, "learning_rate": 1e-3, "epochz": 3}
    for classifier in ("first", "second"):
        config["ltmia"]["classifiers"][classifier] = {"training": shared}
    with pytest.raises(AuditError) as caught:
        checked(config)
    for classifier in ("first", "second"):
        assert f"ltmia/classifiers/{classifier}/training/epochz: unknown key" in str(caught.value)


def test_an_unknown_key_beside_a_wrong_value_tells_both(config):
    config["lira"] |= {"nothing_like_it": 1, "models": "many"}
    with pytest.raises(AuditError) as caught:
        checked(config)
    assert "lira/nothing_like_it: unknown key; known: " in str(caught.value)
    assert "lira/models: must be" in str(caught.value)


def test_the_models_that_the_docs_show_are_entries_of_the_catalogue(config, project):
    text = (project / "docs/models.md").read_text(encoding="utf-8")
    examples = {}
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        examples |= yaml.safe_load(block)
    config["models"] |= examples
    assert set(examples) == {"forest", "my-kumo", "my-mitra", "my-tabpfn"}
    assert checked(config)["models"]["forest"]["params"]["n_estimators"] == 300


def test_a_fault_of_several_keys_is_told_once(config):
    config["models"]["tabicl-small"]["terms"] = "https://example.org/small"
    with pytest.raises(AuditError) as caught:
        checked(config)
    told = str(caught.value)
    assert told.count("have terms of their own") == 1
    assert re.search(
        r"^lira/model: the weights of tabicl-small .* if you accept them \(also attacks/arms/main/model, ", told
    )

"""Stand-ins of all that a config fetches, and the overlay that points to them."""

import json

import pandas as pd
import pytest
import yaml
from conftest import PROJECT, load

from memaudit.rehearsal.small_tabpfn import SMALL
from memaudit.rehearsal.stand_ins import environment, make, used

URL = "http://127.0.0.1:1"
STATED = {"tabicl": {"embed_dim": 8, "row_nhead": 2, "icl_num_blocks": 2}, "documents": 6, "questions": 8, "tables": {}}


@pytest.fixture
def few():
    """The paper's config with one data set, one model or one setting of each kind."""
    config = load("paper")
    config["data"]["datasets"] = ["credit-g", "diabetes"]
    for study, empty in (("lira", []), ("attacks", []), ("tabpate", []), ("iclmem", [])):
        config[study] = {"datasets": empty}
    config["lira"] = {"datasets": ["wilt", "carte-coffee-ratings"], "model": "tabicl-v2"}
    config["ltmia"] = {"held_out": [{"models": ["gpt2-small"], "corpora": ["xsum"]}]}
    config["predict"]["cases"] = ["ethics_mistral", "cifar10_wrn"]
    config["datasets"]["wilt"]["rows"] = 10
    return config


def test_what_studies_name_is_used_and_settings_that_do_not_run_are_not(few):
    assert used(few) == {
        "datasets": ["diabetes", "credit-g", "wilt", "carte-coffee-ratings", "xsum"],
        "models": ["tabicl-v2", "mistral-7b"],
        "language_models": ["gpt2-small", "mistral-7b"],
    }


def test_everything_is_made_and_kept_and_the_overlay_says_where(few, tmp_path):
    stated = STATED | {
        "tables": {"carte-coffee-ratings": {"columns": {"a": "text", "b": [0, 1]}, "target": ["0", "1"]}}
    }
    over = make(few, stated, PROJECT / "config" / "public", tmp_path / "made", URL)
    made = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*") if path.is_file()}
    archive = "files/huggingface.co/datasets/inria-soda/carte-benchmark/resolve/main/data_singletable_light.zip"
    assert made >= {
        "openml/40983.xml", "files/openml/40983.arff", archive, "files/tables/credit-g.csv",
        "files/tables/diabetes.parquet", "hub/datasets/EdinburghNLP/xsum/default/train/0000.parquet",
        "hub/models/jingang/TabICL/tabicl-classifier-v2-20260212.ckpt", "by_hand/ethics.tar",
        "hub/models/mistralai/Mistral-7B-v0.1/model.safetensors", "by_hand/cifar-10-binary.tar.gz",
    }  # fmt: skip
    assert over["datasets"]["credit-g"] == {"sha256": None, "source": "url", "url": f"{URL}/files/tables/credit-g.csv"}
    member = few["datasets"]["carte-coffee-ratings"]["url"].partition("#")[2]
    assert over["datasets"]["carte-coffee-ratings"]["url"] == f"{URL}/{archive}#{member}"
    assert over["datasets"]["wilt"] == {}
    assert over["predict"]["settings"]["ethics_mistral"]["data"]["path"].endswith("by_hand/ethics.tar")
    assert len(pd.read_csv(tmp_path / "made/files/tables/credit-g.csv")) == few["datasets"]["credit-g"]["rows"]
    config = json.loads((tmp_path / "made/hub/models/mistralai/Mistral-7B-v0.1/config.json").read_text())
    assert config["max_position_embeddings"] == few["models"]["mistral-7b"]["tokens"]
    # The plan counts with the weights of the stand-ins, which are small.
    weights = over["models"]["mistral-7b"]["parameters"]
    assert weights == 32 * (12 * 32 * config["num_hidden_layers"] + config["vocab_size"])
    assert over["models"]["tabicl-v2"] == {"architecture": stated["tabicl"]}
    tabpfn = [name for name in over["models"] if few["models"][name]["family"] == "tabpfn"]
    for name in tabpfn:
        assert over["models"][name] == {"architecture": SMALL[few["models"][name]["version"]]}
    assert over["language_models"].keys() == {"gpt2-small", "mistral-7b"}
    assert make(few, stated, PROJECT / "config" / "public", tmp_path / "made", URL) == over


def test_the_libraries_are_told_by_their_own_variables(tmp_path):
    variables = environment(tmp_path, URL)
    assert variables["HF_ENDPOINT"] == URL
    assert f"server = {URL}/api/v1/xml" in (tmp_path / "config" / "openml" / "config").read_text()


def test_shapes_are_stated_of_all_tables_that_the_papers_config_uses():
    rules = yaml.safe_load((PROJECT / "config" / "rehearsal.yaml").read_text(encoding="utf-8"))
    paper, known = load("paper"), set()
    for name in used(paper)["datasets"]:
        entry = paper["datasets"][name]
        # An entry of a table that another has before it takes the same file.
        if (entry["source"] == "openml" and entry["id"] not in known) or entry["source"] == "url":
            known.add(entry.get("id"))
            public = (PROJECT / "config" / "public" / f"{name}.yaml").exists()
            assert public or "columns" in rules["stand_ins"]["tables"][name], name

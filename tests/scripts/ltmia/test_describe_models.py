"""The table of base models: losses beside those of n-gram tables, and models whose texts are not known here."""

from ltmia_pipeline import call

from memaudit.common import tidy
from memaudit.common.io import read_table, write_json

LOSSES = {"before": 6.0, "after": 4.0, "unigram": 5.5, "bigram": 4.2}


def described(tmp_path, facts):
    for name, one in facts.items():
        write_json(one, tmp_path / f"{name}.json")
    inputs = [tmp_path / f"{name}.json" for name in facts]
    call("ltmia_describe_models", inputs, [tmp_path / "models.parquet"], tmp_path, {"models": list(facts)})
    return tidy.expand(read_table(tmp_path / "models.parquet")).set_index(["model", "metric"])["estimate"]


def test_a_model_is_judged_by_the_bigram_table(tmp_path):
    weak = {"losses": LOSSES | {"after": 4.2}, "parameters": 10, "texts": 5}
    rows = described(tmp_path, {"gpt2": weak | {"losses": LOSSES}, "opt": weak})
    assert rows["gpt2", "below the bigram table"] == 1
    assert rows["opt", "below the bigram table"] == 0
    assert rows["gpt2", "loss, pre-trained"] == 4.0
    assert rows["opt", "loss, bigram table"] == 4.2


def test_a_model_of_a_hub_has_its_size_alone(tmp_path):
    rows = described(tmp_path, {"pythia": {"origin": "EleutherAI/pythia@1", "parameters": 7}})
    assert rows.to_dict() == {("pythia", "parameters"): 7}

"""The table of base models: losses beside those of n-gram tables, and models whose texts are not known here."""

from memaudit.common import tidy
from memaudit.studies.ltmia.base_model_rows import base_model_rows

LOSSES = {"before": 6.0, "after": 4.0, "unigram": 5.5, "bigram": 4.2}


def described(facts):
    return tidy.expand(tidy.frame(list(base_model_rows(facts)))).set_index(["base", "metric"])["estimate"]


def test_a_model_is_judged_by_the_bigram_table():
    known = {"losses": LOSSES, "parameters": 10, "texts": 5}
    rows = described({"gpt2": known, "opt": known | {"losses": LOSSES | {"after": 4.2}}})
    assert rows["gpt2", "below the bigram table"] == 1
    assert rows["opt", "below the bigram table"] == 0
    assert rows["gpt2", "loss, pre-trained"] == 4.0
    assert rows["opt", "loss, bigram table"] == 4.2


def test_a_model_of_a_hub_has_its_size_alone():
    rows = described({"pythia": {"origin": "EleutherAI/pythia@1", "parameters": 7}})
    assert rows.to_dict() == {("pythia", "parameters"): 7}

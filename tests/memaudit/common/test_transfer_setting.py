"""Numbers of a run that stand beside the paper's."""

from memaudit.common import tidy
from memaudit.common.transfer_setting import METRIC, base_numbers, numbers, rows

CONFIG = {
    "training": [
        {"models": ["a", "b"], "corpora": ["x", "y"], "tuning": "full"},
        {"models": ["a", "c"], "corpora": ["x"], "tuning": "lora"},
    ],
    "held_out": [{"models": ["d", "e"], "corpora": ["z", "w"], "tuning": "full"}],
    "tunings": {"full": {"lora": None}, "lora": {"lora": {"rank": 16}}},
    "texts": {"parts": {"member": 30, "nonmember": 20, "selection": 5}, "length": 64},
    "validation": 0.1,
    "test": 0.2,
    "diversity": {"samples": 70},
}


def test_numbers_of_a_run_are_those_of_its_config():
    assert numbers(CONFIG) == {
        "combinations to learn from": 6,
        "models to learn from": 3,
        "models to learn from tuned with adapters": 2,
        "corpora to learn from": 2,
        "held-out combinations": 4,
        "members of a combination": 30,
        "texts that train the classifier": 6 * 35,
        "texts at every number of combinations": 70,
        "tokens of a text": 64,
    }


def test_base_models_pre_trained_here_are_not_those_of_others():
    found = base_numbers({"a": 10.0, "b": 7e9}, ["a"])
    assert found == {"weights of the largest model": 7e9, "base models pre-trained by others": 1}


def test_every_number_has_a_row():
    table = tidy.expand(tidy.frame(list(rows(numbers(CONFIG)))))
    assert set(table["metric"]) == {METRIC}
    assert dict(zip(table["quantity"], table["estimate"], strict=True)) == numbers(CONFIG)

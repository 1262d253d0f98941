"""Rates of token features and of the classifier's training at a tiny size."""

import pytest

from memaudit.gpu_measurements import token_attack_rates
from memaudit.gpu_measurements.resumable_parts import Setup

SETUP = Setup("cpu", smallest=True, limit=60.0)


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_features_are_those_of_the_cpu(dtype):
    found = token_attack_rates.features(dtype, 64, token_attack_rates.SMALLEST_TEXTS, SETUP)
    assert found["largest_difference_from_cpu"] == 0
    assert found["tokens_per_second"] == pytest.approx(2 * 6 / found["seconds"])
    assert found["logits_mib"] == pytest.approx(2 * 2 * 6 * 500 * {"fp32": 4, "bf16": 2}[dtype] / 2**20)


def test_epochs_of_the_training_are_timed_without_the_first():
    found = token_attack_rates.training("paper", token_attack_rates.SMALLEST_TRAINING, SETUP)
    assert found["repetitions"] == token_attack_rates.SMALLEST_TRAINING["epochs"] - 1
    assert found["texts_per_second"] == pytest.approx(32 / found["seconds"])
    assert found["unpacking_seconds"] > 0


def test_the_vocabulary_is_that_of_the_newest_tokenizers():
    cases = token_attack_rates.feature_cases(smallest=False)
    assert {case.facts["sizes"]["vocabulary"] for case in cases} == {150_000}

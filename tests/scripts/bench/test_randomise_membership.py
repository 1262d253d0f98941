"""The bench of the randomisation null at its smallest size."""

import pytest
from attack_grids import call

from memaudit.common.io import read_json


def test_both_ways_have_the_same_mean_null(project, tmp_path):
    sizes = {"models": 32, "records": 20, "draws": 99, "plain_draws": 99}
    call(project, "bench_randomise_membership", [], [str(tmp_path / "card.json")], **sizes)
    card = read_json(tmp_path / "card.json")
    assert card["mean_auc"] == pytest.approx(card["plain_mean_auc"], abs=0.01)
    assert card["cpu_seconds"] > 0

"""The bench of replicates of ROC curves at its smallest size."""

from attack_grids import call

from memaudit.common.io import read_json


def test_both_ways_have_the_same_numbers(project, tmp_path):
    sizes = {"targets": 12, "records": 15, "memorized": 0.2, "replicates": 20}
    call(project, "bench_resample_curves", [], [str(tmp_path / "card.json")], **sizes)
    card = read_json(tmp_path / "card.json")
    assert card["entries"] == 180
    assert card["largest_difference"] < 1e-12
    assert card["ratio"]["curves_over_entries_over_segments"] > 0

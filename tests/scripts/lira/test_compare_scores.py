"""Scores against the number of shadow models, on planted matrices."""

import pytest
from lira_grids import LIRA, call, results

from memaudit.studies.lira.score_comparison import BASELINE, SCORES


def compared(path, folder):
    call("lira_compare_scores", [path], [folder / "scores.parquet"], lira=LIRA)
    return results(folder / "scores.parquet")


@pytest.fixture(scope="module")
def rows(grid_path, tmp_path_factory):
    return compared(grid_path, tmp_path_factory.mktemp("scores"))


def test_every_score_has_every_metric_at_every_number_of_models_from_8_on(rows):
    shown = rows[rows.attack.isin(SCORES)]
    assert set(shown.metric) == {"auc", "tpr@0.1", "tpr@0.05"}
    assert (shown.groupby(["attack", "models"]).size() == 3).all()
    assert sorted(rows.models.unique()) == [8, 16, 64]


def test_differences_are_paired_with_lira(rows):
    area = rows[rows.metric == "auc"].set_index(["attack", "models"]).estimate
    gaps = rows[rows.metric == "auc difference"]
    assert len(gaps) == 3 * (len(SCORES) - 1)
    for gap in gaps.itertuples():
        name = gap.attack.removesuffix(f" - {BASELINE}")
        assert gap.estimate == pytest.approx(area[name, gap.models] - area[BASELINE, gap.models])
        assert gap.low <= gap.estimate <= gap.high


def test_a_planted_leak_is_above_the_null_and_few_models_are_served_by_a_shared_variance(rows):
    area = rows[rows.metric == "auc"].set_index(["attack", "models"])
    assert (area.estimate > area.null + 0.1).all()
    assert area.estimate["lira shared variance", 8] > area.estimate[BASELINE, 8]


def test_without_a_leak_intervals_hold_the_null(null_path, tmp_path):
    rows = compared(null_path, tmp_path)
    largest = rows[(rows.metric == "auc") & (rows.models == 64)]
    assert ((largest.low < 0.5) & (largest.high > 0.5)).all()
    assert largest.null.between(0.48, 0.52).all()


def test_without_a_population_the_scores_of_lira_remain(whole_path, tmp_path):
    found = compared(whole_path, tmp_path)
    assert set(found.attack) & set(SCORES) == {name for name in SCORES if name.startswith("lira")}
    assert (found[found.metric == "auc"].null.between(0.4, 0.6)).all()

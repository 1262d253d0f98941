"""What is drawn of the strongest score agrees with its rates."""

from types import SimpleNamespace

import numpy as np
from attack_grids import passive
from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.summaries import summarize_results
from memaudit.common import tidy
from memaudit.statistics import roc
from memaudit.statistics.score_histogram import EDGES
from memaudit.statistics.strongest_score import choose
from memaudit.studies.audit import audit_attacks, score_pictures, strongest_attack

PARAMS = SimpleNamespace(seed=1, attacks=ATTACKS, audit=AUDIT | {"threats": ["probabilities"]})


def simulated():
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.repeat([[True, False]] * 60, 50, axis=1), axis=0)
    return rng.normal(1.5 * membership, 1), membership


def estimates(rows, metric):
    return [row["estimate"] for row in rows if row["metric"] == metric]


def test_the_curve_has_points_where_an_interval_can_be_made():
    scores, membership = simulated()
    rng = np.random.default_rng(1)
    rows = list(score_pictures.roc_rows(scores, membership, {}, rng=rng, groups=np.arange(100), replicates=20))
    fprs = [row["null"] for row in rows]
    assert min(fprs) >= roc.FEWEST_ABOVE / 3000
    assert max(fprs) == 1
    assert np.allclose(estimates(rows, "roc tpr"), roc.tpr_at_fpr(scores, membership, fprs))


def test_the_histogram_has_a_row_for_each_bin_and_side():
    scores, membership = simulated()
    rows = list(score_pictures.histogram_rows(scores, membership, 0.01, {}))
    bins = [row for row in rows if row["metric"] == "scores in bin"]
    assert len(bins) == 2 * (len(EDGES) - 1)
    assert {row["n"] for row in bins} == {3000}
    assert np.isclose(sum(estimates(rows, "scores in bin")), 2)
    assert len(estimates(rows, "score threshold")) == 1


def test_scores_of_few_values_have_no_bins():
    scores, membership = simulated()
    rows = list(score_pictures.histogram_rows(np.round(scores), membership, 0.01, {}))
    assert {row["metric"] for row in rows} == {"distinct scores"}


def test_the_curve_passes_through_the_rates_of_the_headline():
    grid = audit_attacks.first_variant(passive(np.random.default_rng(0)))
    panel = audit_attacks.panels(grid, ["probabilities"], ATTACKS["rmia"])["members"]
    keys = {"dataset": "wine", "model": "main", "records": "members"}
    table = tidy.frame(strongest_attack.judged(panel, choose(panel, AUDIT["fpr"]), keys, PARAMS, control=False)[0])
    points = {round(one.fpr, 6): one.tpr for one in summarize_results.curves(table).roc}
    rows = tidy.expand(table)
    headline = rows[(rows["attack"] == "strongest") & (rows["metric"] == "tpr@0.1")]
    assert np.isclose(points[0.1], headline["estimate"].iloc[0])

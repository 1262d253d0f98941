"""Metrics of predictors: brute force, intervals that cover, and common weights."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import mannwhitneyu
from simulated_predictions import grid, judged, planted, values

from memaudit.common.errors import AuditError
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import curve_rows, rows
from memaudit.studies.predict import ground_truth, prediction_metrics
from memaudit.studies.predict.prediction_metrics import member_entries
from memaudit.studies.predict.recommended_thresholds import PSMI_THRESHOLD


def test_the_null_of_the_memorized_share_is_that_of_non_members():
    signals, membership = grid(np.repeat([0.0, 8.0], 300), 64)
    lira, member = ground_truth.log_lira(signals, membership, 2), membership[:2]
    entries, others = (member_entries(lira >= 4, side, np.random.default_rng(0)) for side in (member, ~member))
    observed = prediction_metrics.memorized_share(lira, entries, others, 4)
    assert observed.estimate == pytest.approx(0.5, abs=0.06)
    assert observed.low < observed.estimate < observed.high
    assert observed.null == np.mean(lira[~member] >= 4) < 0.01
    assert observed.n == member.sum()


def test_a_share_is_beyond_chance_where_most_of_it_is_no_chance():
    """Of 5 % memorized records with 0.5 % of chance it is shown; of chance alone, and of 5 % beside 3 %, it is not."""
    shown = {}
    for share, chance in ((0.05, 0.005), (0.01, 0.01), (0.05, 0.03)):
        rng = np.random.default_rng(1)
        member = rng.random((16, 800)) < 0.5
        lira = np.where(rng.random(member.shape) < np.where(member, share, chance), 5.0, 0.0)
        entries, others = (member_entries(lira >= 4, side, np.random.default_rng(0)) for side in (member, ~member))
        found = prediction_metrics.beyond_chance(lira, entries, others, 4)
        observed = (lira >= 4)[member].mean() - 5 * (lira >= 4)[~member].mean()
        assert found.estimate == pytest.approx(observed)
        assert found.low < found.estimate < found.high
        shown[share, chance] = found.low > found.null
    assert shown == {(0.05, 0.005): True, (0.01, 0.01): False, (0.05, 0.03): False}


def test_without_records_outside_a_share_cannot_be_told_from_chance():
    member = np.ones((2, 40), bool)
    entries, others = (member_entries(member, member, np.random.default_rng(0)) for _ in range(2))
    found = prediction_metrics.beyond_chance(np.full(member.shape, 5.0), entries, others.only(~member.ravel()), 4)
    assert np.isnan([found.estimate, found.low, found.high]).all()


def test_the_fpr_follows_from_precision_recall_and_prevalence():
    rng = np.random.default_rng(0)
    truth, flag = rng.random((2, 5000)) < [[0.1], [0.3]]
    precision, recall = truth[flag].mean(), flag[truth].mean()
    assert prediction_metrics.false_positive_rate(precision, recall, truth.mean()) == pytest.approx(flag[~truth].mean())
    assert prediction_metrics.false_positive_rate(1.0, 0.5, 0.1) == 0


@pytest.mark.parametrize("numbers", [(0.0, 0.5, 0.1), (1.2, 0.5, 0.1), (0.5, 0.5, 1.0)])
def test_rates_without_an_fpr_are_an_error(numbers):
    with pytest.raises(AuditError, match="no FPR follows"):
        prediction_metrics.false_positive_rate(*numbers)


def test_the_auc_is_that_of_members_alone():
    scores, memorized, member = planted(targets=2)
    observed = prediction_metrics.judge({"a": np.where(member, scores, np.nan)}, judged(memorized, member))["a"]
    inside, outside = scores[member & memorized], scores[member & ~memorized]
    expected = mannwhitneyu(inside, outside).statistic / inside.size / outside.size
    assert values(observed)["auc"] == pytest.approx(expected)
    assert observed[0].n == member.sum()


def test_rates_are_those_of_the_best_threshold_on_either_axis():
    scores, memorized, _ = planted()
    observed = values(prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.1], tprs=[0.75])["a"])
    flags = scores[None] >= scores.ravel()[:, None, None]
    tpr, fpr = flags[:, memorized].mean(1), flags[:, ~memorized].mean(1)
    assert observed["tpr@0.1"] == pytest.approx(tpr[fpr <= 0.1].max())
    assert observed["fpr@tpr0.75"] == pytest.approx(fpr[tpr >= 0.75].min())


def test_a_constant_score_has_chance_metrics():
    _, memorized, _ = planted()
    observed = values(prediction_metrics.judge({"a": np.zeros(memorized.shape)}, judged(memorized))["a"])
    assert observed == pytest.approx(
        {"auc": 0.5, "tpr@0.01": 0.01, "tpr@0.1": 0.1, "fpr@tpr0.75": 0.75, "fpr@tpr0.9": 0.9}
    )


def test_rates_below_the_resolution_are_marked_as_interpolated():
    scores, memorized, _ = planted(60)
    observed = prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.01, 0.1])["a"]
    assert ["interpolated" in estimate.method for estimate in observed] == [False, True, False, False, False]


@pytest.mark.parametrize("truth", [True, False])
def test_the_ends_of_a_sweep_are_undefined(truth):
    scores, memorized, _ = planted()
    observed = prediction_metrics.judge(
        {"a": scores, "b": -scores}, judged(np.full_like(memorized, truth)), reference="b"
    )["a"]
    assert np.isnan([estimate.estimate for estimate in observed]).all()
    assert "not defined" in observed[0].method
    assert list(rows("predict", {"dataset": "x"}, observed))


def test_intervals_cover_the_planted_auc_and_rates():
    """At least 90 of 100 seeds; records alone, one target."""
    hits = np.zeros(3, int)
    for seed in range(100):
        scores, memorized, _ = planted(150, seed=seed)
        known = judged(memorized, seed=seed, replicates=150)
        observed = [
            *prediction_metrics.judge({"a": scores}, known, fprs=[], tprs=[])["a"],
            *prediction_metrics.error_rates(scores, known, 0.5),
        ]
        truth = [ndtr(2**-0.5), ndtr(0.5), ndtr(-0.5)]
        hits += [one.low <= value <= one.high for one, value in zip(observed, truth, strict=True)]
    assert (hits >= 90).all(), hits
    # Wider ones would cover more.
    assert (hits <= 99).any()


def test_a_rate_near_one_of_a_few_records_is_covered_and_has_a_width():
    """Twelve memorized records that four targets share, of which 97.5 % are found: a bootstrap alone covers 1 of 4."""
    memorized, hits = np.arange(200)[None].repeat(4, 0) < 12, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        # Half of the noise is the record's own.
        noise = np.sqrt(0.5) * (rng.normal(size=200) + rng.normal(size=(4, 200)))
        tpr, _ = prediction_metrics.error_rates(
            noise + 1.96 * memorized, judged(memorized, seed=seed, replicates=100), 0.0
        )
        assert tpr.high - tpr.low > 0.1
        hits += tpr.low <= ndtr(1.96) <= tpr.high
    assert hits >= 54


def test_targets_that_share_their_records_are_no_further_records():
    """Four targets with the same scores are worth one; as 800 records they would halve the interval."""
    scores, memorized, _ = planted()
    widths = []
    for targets in (1, 4):
        known = judged(memorized.repeat(targets, 0), replicates=400)
        auc = prediction_metrics.judge({"a": scores.repeat(targets, 0)}, known, fprs=[], tprs=[])["a"][0]
        widths.append(auc.high - auc.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_targets_that_differ_widen_the_interval():
    scores, memorized, _ = planted(400, 4, shift=0.0)
    unlike = scores + np.array([[-2.0], [2.0], [-2.0], [2.0]]) * memorized
    narrow, wide = (
        prediction_metrics.judge({"a": of}, judged(memorized), fprs=[], tprs=[])["a"][0] for of in (scores, unlike)
    )
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_duplicates_of_a_record_are_drawn_together():
    scores, memorized, _ = planted(100)
    duplicates = np.arange(100).repeat(4)
    alone, together = (
        prediction_metrics.judge(
            {"a": scores[:, duplicates]}, judged(memorized[:, duplicates], groups=groups), fprs=[], tprs=[]
        )["a"][0]
        for groups in (None, duplicates)
    )
    assert (together.high - together.low) == pytest.approx(2 * (alone.high - alone.low), rel=0.25)


def test_predictors_are_compared_under_common_weights():
    scores, memorized, _ = planted()
    better = scores + 0.5 * memorized
    observed = prediction_metrics.judge(
        {"a": scores, "same": 2 * scores, "better": better}, judged(memorized), reference="a"
    )
    assert not [one for one in observed["a"] if "difference" in one.metric]
    same, more = ({one.metric: one for one in observed[name]}["auc difference"] for name in ("same", "better"))
    assert (same.estimate, same.low, same.high, same.detected) == (0, 0, 0, False)
    assert more.estimate == pytest.approx(observed["better"][0].estimate - observed["a"][0].estimate)
    assert more.detected
    assert more.high - more.low < observed["a"][0].high - observed["a"][0].low


def test_a_record_at_the_threshold_is_flagged():
    """Algorithm 1: PSMI of at most 0, so minus PSMI of at least 0."""
    psmi = np.array([[-0.2, 0.0, 0.1, -0.1, 0.3, 0.4]])
    memorized = np.array([[True, True, True, False, False, False]])
    tpr, fpr = prediction_metrics.error_rates(-psmi, judged(memorized), PSMI_THRESHOLD)
    assert (tpr.estimate, tpr.n, fpr.estimate, fpr.n) == (pytest.approx(2 / 3), 3, pytest.approx(1 / 3), 3)
    assert tpr.null == fpr.null == 0.5


def test_the_curves_band_fits_the_tidy_rows():
    scores, memorized, member = planted()
    known, fprs = judged(memorized, member), np.array([0.05, 0.2, 1.0])
    band = prediction_metrics.roc_band(scores, known, fprs)
    expected = values(prediction_metrics.judge({"a": scores}, known, fprs=fprs, tprs=[])["a"])
    np.testing.assert_allclose(band[:, 0], [expected[f"tpr@{fpr:g}"] for fpr in fprs])
    assert (band[:, 1] <= band[:, 0]).all()
    tidy = list(curve_rows("predict", {"predictor": "a"}, fprs, band, known.memorized, known.method))
    assert [row["null"] for row in tidy] == list(fprs)


def test_entries_of_other_shapes_are_an_error():
    _, memorized, member = planted()
    for wrong in (member[:, 1:], np.zeros_like(member)):
        with pytest.raises(AuditError, match="must be \\(target, record\\), with members"):
            judged(memorized, wrong)


def test_a_replicate_without_memorized_records_is_left_out():
    """Of a single memorized record a third of the replicates draw none."""
    scores, memorized, _ = planted(50, share=0.0)
    memorized[0, 0], scores[0, 0] = True, ndtri(0.9)
    observed = prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.1], tprs=[0.75])["a"]
    assert np.isfinite([one.estimate for one in observed]).all()
    # Clopper and Pearson's interval serves the TPR; that of an AUC cannot be judged by one record.
    assert np.isnan(observed[0].low)
    assert np.isfinite([observed[1].low, observed[1].high]).all()
    known = judged(memorized)
    none_drawn = replace(known, weights=known.weights * ~known.memorized)
    assert np.isnan(prediction_metrics.judge({"a": scores}, none_drawn)["a"][0].low)


@pytest.mark.parametrize(("memorized", "shown"), [(9, False), (10, True)])
def test_an_auc_of_fewer_than_ten_memorized_records_has_no_interval(memorized, shown):
    """Of 6 such records it covers in 92 %."""
    rng, truth = np.random.default_rng(0), np.arange(80)[None] < memorized
    entries = member_entries(truth, np.ones_like(truth), rng, replicates=50)
    assert entries.enough == shown
    scores = {"a": rng.standard_normal((1, 80)), "b": rng.standard_normal((1, 80))}
    for of in prediction_metrics.judge(scores, entries, reference="a", fprs=[0.1], tprs=[0.75]).values():
        for one in of:
            rate = one.metric == "tpr@0.1"  # has an interval of a share of 9
            assert np.isfinite([one.low, one.high]).all() == (shown or rate), one
    assert np.isfinite(prediction_metrics.roc_band(scores["a"], entries, np.array([0.3]))[0, 1:]).all() == shown


@pytest.mark.parametrize(("targets", "records", "replicates"), [(30, 60, 40), (2, 20, 200), (12, 12, 100)])
def test_intervals_are_those_of_the_weights_of_all_entries(targets, records, replicates):
    """Also where the entries are few, so that the share of the variance that is linear in their weights is computed."""
    rng = np.random.default_rng(3)
    member = rng.random((targets, records)) < 0.8
    entries = member_entries(member & (rng.random(member.shape) < 0.3), member, rng, replicates=replicates)
    scores = rng.normal(size=member.shape) + member
    auc, *drawn = prediction_metrics.auc_samples(scores, entries)
    weights = entries.drawn(entries.memorized)
    interval, of_all = (
        bootstrap.two_way_interval(np.array(drawn), auc, one, 0, 1)
        for one in (weights, replace(weights, records=entries.weights))
    )
    assert interval == pytest.approx(of_all, abs=1e-9)
    assert weights.records.shape[1] <= min(replicates + 1, entries.weights.shape[1])

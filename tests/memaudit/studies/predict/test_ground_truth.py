"""Ground truth by brute force, planted predictions, the paper's own numbers, and intervals that cover."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import mannwhitneyu, norm

from memaudit.errors import AuditError
from memaudit.statistics.attack_performance import curve_rows, rows
from memaudit.studies.predict import ground_truth, prediction_metrics
from memaudit.studies.predict.interrupted_training import interruption
from memaudit.studies.predict.prediction_metrics import member_entries
from memaudit.studies.predict.recommended_settings import PSMI_THRESHOLD, recommended

# Table 2: how far the median training loss has fallen at epochs 0, 0.2, ..., 1, in percent.
TABLE_2 = {
    "ARC/Mistral": [0, 93.724, 98.015, 99.397, 98.907, 99.222],
    "ETHICS/Mistral": [0, 86.036, 95.198, 98.985, 99.665, 99.739],
    "MMLU/Mistral": [0, 98.967, 99.776, 99.916, 99.916, 99.895],
    "MMLU/Llama": [0, 91.674, 98.186, 99.329, 99.336, 99.267],
    "MMLU/Gemma": [0, 99.543, 99.606, 99.855, 99.980, 99.979],
}


def grid(gaps, models=32, seed=0):
    """Signals of deviation 1, higher by `gaps` for members; a balanced membership matrix."""
    rng = np.random.default_rng(seed)
    membership = rng.random((models, len(gaps))).argsort(0).argsort(0) < models // 2
    return membership * np.asarray(gaps) + rng.standard_normal(membership.shape), membership


def planted(records=200, targets=1, share=0.3, shift=1.0, seed=0):
    """Scores (target, record), N(shift, 1) where memorized and N(0, 1) elsewhere; three entries in four are members."""
    rng = np.random.default_rng(seed)
    memorized = rng.random((targets, records)) < share
    return rng.normal(size=memorized.shape) + shift * memorized, memorized, rng.random(memorized.shape) < 0.75


def judged(memorized, member=None, seed=0, **options):
    member = np.ones_like(memorized) if member is None else member
    return member_entries(memorized, member, np.random.default_rng(seed), **options)


def values(estimates):
    return {estimate.metric: estimate.estimate for estimate in estimates}


def test_log_lira_is_the_ratio_of_gaussians_of_all_other_models():
    signals, membership = grid([0, 1, 3, 6])
    found = ground_truth.log_lira(signals, membership, targets=2)
    assert found.shape == (2, 4)
    for target, record in np.ndindex(2, 4):
        others = np.arange(32) != target
        logs = []
        for inside in (membership[:, record], ~membership[:, record]):
            shadow = signals[others & inside, record]
            logs.append(norm(shadow.mean(), shadow.std()).logpdf(signals[target, record]))
        assert found[target, record] == pytest.approx(logs[0] - logs[1])


def test_log_lira_takes_the_calibrations_options():
    signals, membership = grid([0, 1, 3])
    assert (
        ground_truth.log_lira(signals, membership, convention="ddof1") != ground_truth.log_lira(signals, membership)
    ).all()


def test_global_lira_is_the_share_of_correct_membership_predictions():
    signals, membership = grid([0, 2], 12)
    found = ground_truth.attack_success(signals, membership, leave="self")
    for record in range(2):
        right = [
            ground_truth.log_lira(np.roll(signals, -m, 0), np.roll(membership, -m, 0))[0, record] for m in range(12)
        ]
        assert found[record] == np.mean((np.array(right) > 0) == membership[:, record])


def test_global_lira_without_a_leak_is_right_half_of_the_time():
    found = ground_truth.attack_success(*grid(np.zeros(400)))
    assert found.mean() == pytest.approx(0.5, abs=0.02)
    assert ground_truth.attack_success(*grid(np.full(20, 12.0))).mean() > 0.99


def test_counterfactual_memorization_is_the_mean_in_less_the_mean_out():
    signals, membership = grid([0.0, 3.0])
    expected = [signals[membership[:, r], r].mean() - signals[~membership[:, r], r].mean() for r in range(2)]
    np.testing.assert_allclose(ground_truth.counterfactual_memorization(signals, membership), expected)


def test_global_lira_and_counterfactual_memorization_agree_where_records_differ():
    """Appendix A.3 finds .75 to .88."""
    gaps = np.linspace(0, 3, 150)
    found = ground_truth.agreement(*grid(gaps, 64), np.random.default_rng(0), replicates=50)
    assert found.estimate > 0.75
    assert found.low < found.estimate < found.high
    assert found.p_value < 0.05


def test_the_null_of_the_memorized_share_is_that_of_non_members():
    signals, membership = grid(np.repeat([0.0, 8.0], 300), 64)
    lira, member = ground_truth.log_lira(signals, membership, 2), membership[:2]
    found = prediction_metrics.memorized_share(lira, member_entries(lira >= 4, member, np.random.default_rng(0)))
    assert found.estimate == pytest.approx(0.5, abs=0.06)
    assert found.low < found.estimate < found.high
    assert found.null == np.mean(lira[~member] >= 4) < 0.01
    assert found.n == member.sum()


@pytest.mark.parametrize(
    ("setting", "first", "closest"),
    [
        ("ARC/Mistral", 2, 1),
        ("ETHICS/Mistral", 2, 2),
        ("MMLU/Mistral", 1, 1),
        ("MMLU/Llama", 2, 2),
        ("MMLU/Gemma", 1, 1),
    ],
)
def test_training_is_interrupted_where_the_paper_did(setting, first, closest):
    """Appendix E: at the first checkpoint beyond 95 %, but for ARC at the closest, which lies before."""
    drops = np.array(TABLE_2[setting]) / 100
    found = interruption(2.5 * (1 - drops)[:, None] * np.ones(7))
    np.testing.assert_allclose(found.drops, drops, atol=1e-12)
    assert (found.first, found.closest) == (first, closest)


def test_the_median_falls_where_the_mean_does_not():
    losses = np.array([[1.0, 1, 1, 1, 1], [0.01, 0.02, 0.03, 1, 30], [0.0, 0, 0, 0, 0]])
    assert interruption(losses).first == 1


def test_the_end_of_training_is_no_interruption():
    """Nothing is left to predict: the baseline would be the ground truth."""
    found = interruption(np.array([[2.0], [0.4], [0.1]]))
    assert (found.first, found.closest) == (None, 1)
    assert found.drops[-1] == 0.95


def test_a_drop_that_is_never_reached_is_none_and_the_closest_is_known():
    found = interruption(np.array([[2.0], [1.0], [0.4], [0.6]]))
    assert found.first is None
    assert found.closest == 2


def test_a_loss_that_cannot_fall_is_an_error():
    with pytest.raises(AuditError, match="median loss before training is 0"):
        interruption(np.zeros((3, 4)))


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
    found = prediction_metrics.judge({"a": np.where(member, scores, np.nan)}, judged(memorized, member))["a"]
    inside, outside = scores[member & memorized], scores[member & ~memorized]
    expected = mannwhitneyu(inside, outside).statistic / inside.size / outside.size
    assert values(found)["auc"] == pytest.approx(expected)
    assert found[0].n == member.sum()


def test_rates_are_those_of_the_best_threshold_on_either_axis():
    scores, memorized, _ = planted()
    found = values(prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.1], tprs=[0.75])["a"])
    flags = scores[None] >= scores.ravel()[:, None, None]
    tpr, fpr = flags[:, memorized].mean(1), flags[:, ~memorized].mean(1)
    assert found["tpr@0.1"] == pytest.approx(tpr[fpr <= 0.1].max())
    assert found["fpr@tpr0.75"] == pytest.approx(fpr[tpr >= 0.75].min())


def test_a_constant_score_has_chance_metrics():
    _, memorized, _ = planted()
    found = values(prediction_metrics.judge({"a": np.zeros(memorized.shape)}, judged(memorized))["a"])
    assert found == pytest.approx(
        {"auc": 0.5, "tpr@0.01": 0.01, "tpr@0.1": 0.1, "fpr@tpr0.75": 0.75, "fpr@tpr0.9": 0.9}
    )


def test_rates_below_the_resolution_are_marked_as_interpolated():
    scores, memorized, _ = planted(60)
    found = prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.01, 0.1])["a"]
    assert ["interpolated" in estimate.method for estimate in found] == [False, True, False, False, False]


@pytest.mark.parametrize("truth", [True, False])
def test_the_ends_of_a_sweep_are_undefined(truth):
    scores, memorized, _ = planted()
    found = prediction_metrics.judge(
        {"a": scores, "b": -scores}, judged(np.full_like(memorized, truth)), reference="b"
    )["a"]
    assert np.isnan([estimate.estimate for estimate in found]).all()
    assert "not defined" in found[0].method
    assert list(rows("predict", {"dataset": "x"}, found))


def test_intervals_cover_the_planted_auc_and_rates():
    """At least 90 of 100 seeds; records alone, one target."""
    hits = np.zeros(3, int)
    for seed in range(100):
        scores, memorized, _ = planted(150, seed=seed)
        known = judged(memorized, seed=seed, replicates=150)
        found = [
            *prediction_metrics.judge({"a": scores}, known, fprs=[], tprs=[])["a"],
            *prediction_metrics.error_rates(scores, known, 0.5),
        ]
        truth = [ndtr(2**-0.5), ndtr(0.5), ndtr(-0.5)]
        hits += [one.low <= value <= one.high for one, value in zip(found, truth, strict=True)]
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
    found = prediction_metrics.judge(
        {"a": scores, "same": 2 * scores, "better": better}, judged(memorized), reference="a"
    )
    assert not [one for one in found["a"] if "difference" in one.metric]
    same, more = ({one.metric: one for one in found[name]}["auc difference"] for name in ("same", "better"))
    assert (same.estimate, same.low, same.high, same.detected) == (0, 0, 0, False)
    assert more.estimate == pytest.approx(found["better"][0].estimate - found["a"][0].estimate)
    assert more.detected
    assert more.high - more.low < found["a"][0].high - found["a"][0].low


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


def test_recommended_settings_are_the_two_lines_of_table_1():
    scores, memorized, member = planted(2000, share=0.4, shift=2.0)
    known = judged(memorized, member)
    practitioners, researchers = recommended(scores - 1, scores, known, np.random.default_rng(0))
    assert (practitioners.predictor, practitioners.threshold, practitioners.layer) == ("psmi", 0.0, "last")
    assert values(practitioners.rates) == values(prediction_metrics.error_rates(scores - 1, known, 0.0))
    assert researchers.predictor == "loss"
    # Two Gaussians of one deviation are parted best halfway.
    assert researchers.threshold == pytest.approx(1.0, abs=0.35)
    assert values(researchers.rates)["tpr"] == pytest.approx(ndtr(2 - researchers.threshold), abs=0.06)
    assert sum(rate.n for rate in researchers.rates) == pytest.approx(known.memorized.size / 2, rel=0.1)


def test_a_threshold_is_judged_on_other_records_than_it_was_chosen_on():
    """Chosen and judged on the same records, an uninformative loss gains .15 here."""
    gains = []
    for seed in range(60):
        scores, memorized, _ = planted(120, shift=0.0, seed=seed)
        rates = recommended(scores, scores, judged(memorized, replicates=2), np.random.default_rng(seed))[1].rates
        gains.append(rates[0].estimate - rates[1].estimate)
    assert np.mean(gains) == pytest.approx(0, abs=0.05)


def test_without_memorized_records_nothing_is_optimised():
    scores, memorized, _ = planted()
    settings = recommended(scores, scores, judged(np.zeros_like(memorized)), np.random.default_rng(0))
    assert [setting.profile for setting in settings] == ["practitioners"]
    assert np.isnan(settings[0].rates[0].estimate)


def test_a_settings_facts_hold_its_rates():
    scores, memorized, _ = planted()
    facts = recommended(scores, scores, judged(memorized), np.random.default_rng(0))[0].facts()
    tpr = prediction_metrics.error_rates(scores, judged(memorized), 0.0)[0]
    assert facts["tpr"] == {"estimate": tpr.estimate, "low": tpr.low, "high": tpr.high, "n": tpr.n}
    assert (facts["profile"], facts["layer"], facts["chosen"]) == ("practitioners", "last", "fixed")


def test_entries_of_other_shapes_are_an_error():
    _, memorized, member = planted()
    for wrong in (member[:, 1:], np.zeros_like(member)):
        with pytest.raises(AuditError, match="must be \\(target, record\\), with members"):
            judged(memorized, wrong)


def test_a_replicate_without_memorized_records_is_left_out():
    """Of a single memorized record a third of the replicates draw none."""
    scores, memorized, _ = planted(50, share=0.0)
    memorized[0, 0], scores[0, 0] = True, ndtri(0.9)
    found = prediction_metrics.judge({"a": scores}, judged(memorized), fprs=[0.1], tprs=[0.75])["a"]
    assert np.isfinite([[one.estimate, one.low, one.high] for one in found]).all()
    known = judged(memorized)
    none_drawn = replace(known, weights=known.weights * ~known.memorized)
    assert np.isnan(prediction_metrics.judge({"a": scores}, none_drawn)["a"][0].low)

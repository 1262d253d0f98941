"""Results on held-out combinations: means, differences, contrasts and negative controls."""

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import PROJECT
from simulated_texts import ATTACKS, FAMILIES, TEXTS, names, rows, scores, study

from memaudit.claims.headlines import Headline, state
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.statistics import roc


@pytest.fixture(scope="module")
def observed():
    return list(study(scores()).attacks(ATTACKS))


def test_a_familys_mean_is_that_of_its_combinations_and_families_weigh_alike(observed):
    table = scores()
    areas = {
        name: roc.auc(own["lt_mia"].to_numpy(), own["member"].to_numpy())
        for name, own in table.groupby(["model", "dataset"])
    }
    of_family = {
        family: np.mean([area for (model, _), area in areas.items() if FAMILIES[model] == family])
        for family in FAMILIES.values()
    }
    means = rows(observed, role="held out", metric="auc", attack="lt_mia", model=None, dataset=None)
    by_family = means.set_index("family")["estimate"]
    for family, area in of_family.items():
        assert by_family[family] == pytest.approx(area)
    assert by_family["mean"] == pytest.approx(np.mean(list(of_family.values())))


def test_paired_differences_are_far_narrower_than_the_intervals_of_what_they_compare(observed):
    gap = rows(observed, family="mean", attack="lt_mia - ez", metric="auc difference").iloc[0]
    areas = rows(observed, role="held out", family="mean", metric="auc", model=None).set_index("attack")
    assert gap["estimate"] == pytest.approx(areas.loc["lt_mia", "estimate"] - areas.loc["ez", "estimate"])
    assert gap["low"] > 0
    widths = areas["high"] - areas["low"]
    assert gap["high"] - gap["low"] < 0.8 * widths["ez"]
    assert gap["null"] == 0


def test_code_has_a_row_of_its_own_for_a_classifier_trained_on_text_only():
    """The paper's claim on code is about such a classifier and not about one that was trained on code too."""
    for contents, count in ((["prose"], 1), (["prose", "lines"], 0), (["lines"], 0)):
        table = rows(study(scores(), training=names(["t"], contents)).attacks(["lt_mia"]), metric="auc")
        assert len(table[table["control"] == "code after text alone"]) == count
        assert len(table[table["control"] == "code"]) == 1


def test_equal_attacks_have_a_difference_of_zero():
    table = scores(lead=0.0)
    gap = rows(study(table).attacks(ATTACKS), family="mean", attack="lt_mia - ez", metric="auc difference").iloc[0]
    assert (gap["estimate"], gap["low"], gap["high"]) == (0, 0, 0)


def test_the_signed_rank_test_is_over_combinations(observed):
    gap = rows(observed, family="mean", metric="wilcoxon p-value", attack="lt_mia - ez").iloc[0]
    assert gap["n"] == 8
    assert gap["estimate"] == pytest.approx(2 / 2**8)  # all eight have the same sign
    assert rows(observed, family="state space", metric="wilcoxon p-value").empty


def test_the_headline_is_the_paired_difference_and_says_what_its_interval_is_about(observed):
    views = yaml.safe_load((PROJECT / "config/views/ltmia.yaml").read_text())
    sentences = [Headline(**one) for one in views["headlines"]["sentences"]]
    first, *_ = state("ltmia", sentences, tidy.frame(observed))["sentence"]
    gap = rows(observed, family="mean", attack="lt_mia - ez", metric="auc difference").iloc[0]
    assert f"less that of EZ-MIA, corrected, is {gap['estimate']:.3g} [{gap['low']:.3g}, {gap['high']:.3g}]" in first
    assert "models (4), given the corpora (2, too few)" in first


def test_classifiers_of_shuffled_labels_are_a_null_with_the_smallest_auc_that_it_shows():
    table, rng = scores(), np.random.default_rng(5)
    for number in range(4):
        table[f"shuffled {number}"] = rng.normal(size=len(table)) + 0.3 * (number % 2 - 0.5) * table["member"]
    found = rows(study(table).shuffled_training(), control="labels shuffled in training").set_index("metric")
    assert found.loc["auc", "low"] < 0.5 < found.loc["auc", "high"]
    half = found.loc["auc", "high"] - found.loc["auc", "estimate"]
    assert found.loc["smallest detectable auc", "estimate"] == pytest.approx(0.5 + half * (1 + 1.2816 / 1.96), rel=1e-3)
    assert not list(study(scores()).shuffled_training())


def test_rates_that_new_texts_of_training_combinations_do_not_resolve_say_too_few():
    training = scores(models=("t",), datasets=("old",)).assign(mlp=lambda table: table["lt_mia"])
    tested = training.iloc[:40]
    evaluation = study(scores().assign(mlp=0.0, transformer=1.0), fpr=[0.1, 0.03])
    found = rows(evaluation.classifiers(tested.rename(columns={"lt_mia": "transformer"}), ["transformer", "mlp"]))
    few = found[found["metric"] == "tpr@0.03"].set_index(["classifier", "records"])
    assert np.isnan(few.loc[("mlp", "training"), "estimate"])
    assert few.loc[("mlp", "training"), "method"] == "too few: a combination has fewer than 33 non-members"
    assert few.loc[("mlp", "held out"), "estimate"] >= 0
    assert found[(found["metric"] == "tpr@0.1") & (found["records"] == "training")]["estimate"].notna().all()


def test_targets_that_fail_the_blind_check_are_in_no_mean():
    table = pd.concat([scores(), scores(models=("a",), datasets=("moved",), strength=5.0)])
    evaluation = study(table, unfit=names(FAMILIES, ["lines"]), controls={"moved": names("a", ["moved"])})
    observed = list(evaluation.attacks(ATTACKS))
    one = rows(observed, role="held out", family="transformer", metric="auc", attack="ez", model=None, dataset=None)
    prose = table[(table["dataset"] == "prose") & table["model"].isin(["a", "b"])]
    areas = [roc.auc(own["ez"].to_numpy(), own["member"].to_numpy()) for _, own in prose.groupby("model")]
    assert one["estimate"].iloc[0] == pytest.approx(np.mean(areas))
    assert rows(observed, role="moved", metric="auc", attack="ez")["estimate"].iloc[0] > 0.99
    assert rows(observed, control="text less code").empty
    with pytest.raises(AuditError, match="no target passes the blind check"):
        study(table, unfit=names(FAMILIES, ["lines", "prose"]))


def test_adapters_are_compared_on_the_same_models_and_corpora():
    table = pd.concat([scores(), scores(models=("a",), datasets=("prose",), tuning="lora", strength=0.2, seed=0)])
    evaluation = study(table, controls={"lora": names("a", ["prose"], "lora")})
    gap = rows(evaluation.attacks(ATTACKS), control="full less lora tuning", attack="ez", metric="auc difference").iloc[
        0
    ]
    full, lora = (
        table[(table["model"] == "a") & (table["dataset"] == "prose") & (table["tuning"] == tuning)]
        for tuning in ("full", "lora")
    )
    areas = [roc.auc(own["ez"].to_numpy(), own["member"].to_numpy()) for own in (full, lora)]
    assert gap["estimate"] == pytest.approx(areas[0] - areas[1])
    assert gap["n"] == 2 * TEXTS


def test_transformers_of_similar_size_are_those_within_a_factor_of_two(observed):
    whole, near = (
        rows(observed, control=f"other families less transformers{of}", attack="ez", metric="auc difference").iloc[0]
        for of in ("", " of their size")
    )
    assert whole["n"] == 8 * TEXTS
    assert near["n"] == 6 * TEXTS  # without b, ten times as large


def test_thirds_by_likelihood_hold_all_texts_and_the_correlation_is_over_combinations(observed):
    thirds = [
        rows(observed, control=f"{name} third of reference likelihood", attack="ez", metric="auc").iloc[0]
        for name in ("low", "middle", "high")
    ]
    assert sum(third["n"] for third in thirds) == 8 * TEXTS
    assert rows(observed, metric="spearman").empty  # the reference finds all combinations equally likely
    table = scores()
    easier = table.groupby(["model", "dataset"]).ngroup()
    observed = study(table.assign(loss=table["loss"] + easier)).attacks(ATTACKS)
    ranked = rows(observed, metric="spearman", attack="ez").iloc[0]
    assert ranked["n"] == 8
    assert -1 <= ranked["estimate"] <= 1


def test_importance_is_the_loss_of_auc_where_a_group_is_permuted():
    whole = scores(datasets=("prose",), lead=0.0)[["model", "dataset", "tuning", "id", "member", "ez"]]
    whole = whole.rename(columns={"ez": "score"})
    permuted = whole.assign(score=np.random.default_rng(0).permutation(whole["score"]))
    parts = [whole.assign(permuted="none", repeat=0), permuted.assign(permuted="comparison", repeat=0)]
    parts += [whole.assign(permuted="target", repeat=repeat) for repeat in (0, 1)]
    by_key = rows(study(scores()).importance(pd.concat(parts), FAMILIES), family="mean").set_index("features")
    assert by_key.loc["target", ["estimate", "low", "high"]].tolist() == [0, 0, 0]
    assert by_key.loc["comparison", "estimate"] == pytest.approx(0.26, abs=0.08)
    assert by_key.loc["comparison", "low"] > 0


def test_diversity_is_a_mean_over_draws():
    table = scores()
    keys = ["model", "dataset", "tuning", "id", "member"]
    drawn = pd.concat(
        [
            table[[*keys, "ez"]].assign(combinations=1, strength=strength, draw=draw, score=table[name])
            for strength, first in (("", "ez"), ("weak", "lt_mia"))
            for draw, name in enumerate((first, "lt_mia"))
        ]
    )
    in_training = scores(models=("t",), datasets=("old",))[[*keys, "ez"]]
    in_training = in_training.assign(score=in_training["ez"], combinations=1)
    parts = [in_training.assign(strength=strength, draw=draw) for strength in ("", "weak") for draw in (0, 1)]
    found = list(study(scores()).diversity(pd.concat([drawn, *parts]), [["t", "old", "full"]], 20))
    by_key = rows(found, metric="auc", strength=None).set_index("records")
    means = [
        np.mean(
            [
                np.mean(
                    [
                        roc.auc(own[name].to_numpy(), own["member"].to_numpy())
                        for _, own in table.groupby(["model", "dataset"])
                    ]
                )
            ]
        )
        for name in ("ez", "lt_mia")
    ]
    assert by_key.loc["held out", "estimate"] == pytest.approx(np.mean(means))
    assert by_key.loc["training", "estimate"] == pytest.approx(
        roc.auc(in_training["score"].to_numpy(), in_training["member"].to_numpy())
    )
    assert by_key["samples"].tolist() == [20, 20]
    leads = rows(found, metric="lead over ez", records="held out")
    assert leads["estimate"].tolist() == pytest.approx([(means[1] - means[0]) / 2, means[1] - means[0]])
    assert leads["strength"].fillna("").tolist() == ["", "weak"]
    rival = rows(found, metric="ez auc", records="held out", strength="weak").iloc[0]
    assert (rival["estimate"], rival["each"]) == (pytest.approx(means[0]), 1)


def test_curves_end_at_one_and_begin_at_the_first_non_member():
    fprs = np.geomspace(2 / TEXTS, 1, 5)
    by_key = rows(study(scores()).curves(["ez", "lt_mia"], fprs), dataset="state space", attack="lt_mia")
    assert by_key["fpr"].tolist() == pytest.approx(fprs, rel=1e-5)
    assert by_key["estimate"].is_monotonic_increasing
    assert by_key["estimate"].iloc[-1] == 1
    assert (by_key["low"] <= by_key["estimate"]).all()

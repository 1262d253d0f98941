"""Attacks on held-out combinations: what is resampled, what is paired, and what the nulls give."""

import numpy as np
import pandas as pd
import pytest

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.statistics import roc
from memaudit.studies.ltmia import transfer_bootstrap as transfer
from memaudit.studies.ltmia.transfer_bootstrap import Draws
from memaudit.studies.ltmia.transfer_evaluation import Study

FAMILIES = {"a": "transformer", "b": "transformer", "m": "state space", "r": "linear attention"}
CONTENTS = {"prose": "text", "lines": "code", "moved": "text"}
TEXTS = 120


def scores(models=tuple(FAMILIES), datasets=("prose", "lines"), tuning="full", lead=0.5, strength=1.0, seed=0):
    """Gaussian scores: the mean of members is `strength` above that of others, for lt_mia `lead` more."""
    rng, parts = np.random.default_rng(seed), []
    for dataset in datasets:
        ids = [f"{dataset}{number:04d}" for number in range(TEXTS)]
        for model in models:
            member = rng.permutation(TEXTS) < TEXTS // 2
            common = rng.normal(size=TEXTS)
            own = dict.fromkeys(("loss", "ref_loss", "ez"), common + strength * member)
            own["lt_mia"] = common + (strength + lead) * member
            keys = {"model": model, "dataset": dataset, "tuning": tuning, "id": ids, "member": member}
            parts.append(pd.DataFrame(keys | own))
    return pd.concat(parts, ignore_index=True)


def names(models, datasets, tuning="full"):
    return [[model, dataset, tuning] for model in models for dataset in datasets]


def study(table, **changes):
    held = names(FAMILIES, ("prose", "lines"))
    given = {
        "training": names(["t"], ["prose"]),
        "held_out": held,
        "controls": {},
        "families": FAMILIES,
        "contents": CONTENTS,
        "fpr": [0.1],
        "seed": 1,
    }
    given |= {"ways": {"full": "full", "lora": "lora"}, "unfit": [], "replicates": 60}
    given |= {"sizes": {"a": 100, "b": 1000, "m": 120, "r": 90}}
    return Study(table, **given | changes)


def rows(found, **keys):
    table = tidy.expand(tidy.frame(list(found)))
    for key, value in keys.items():
        column = table.reindex(columns=[key])[key]
        table = table[column.isna() if value is None else column == value]
    return table


ATTACKS = ["loss", "ref_loss", "ez", "lt_mia"]


@pytest.fixture(scope="module")
def found():
    return list(study(scores()).attacks(ATTACKS))


def test_a_familys_mean_is_that_of_its_combinations_and_families_weigh_alike(found):
    table = scores()
    areas = {
        name: roc.auc(own["lt_mia"].to_numpy(), own["member"].to_numpy())
        for name, own in table.groupby(["model", "dataset"])
    }
    of_family = {
        family: np.mean([area for (model, _), area in areas.items() if FAMILIES[model] == family])
        for family in FAMILIES.values()
    }
    means = rows(found, role="held out", metric="auc", attack="lt_mia", model=None, dataset=None)
    told = means.set_index("family")["estimate"]
    for family, area in of_family.items():
        assert told[family] == pytest.approx(area)
    assert told["mean"] == pytest.approx(np.mean(list(of_family.values())))


def test_paired_differences_are_far_narrower_than_the_intervals_of_what_they_compare(found):
    gap = rows(found, family="mean", attack="lt_mia - ez", metric="auc difference").iloc[0]
    areas = rows(found, role="held out", family="mean", metric="auc", model=None).set_index("attack")
    assert gap["estimate"] == pytest.approx(areas.loc["lt_mia", "estimate"] - areas.loc["ez", "estimate"])
    assert gap["low"] > 0
    widths = areas["high"] - areas["low"]
    assert gap["high"] - gap["low"] < 0.8 * widths["ez"]
    assert gap["null"] == 0


def test_code_is_told_apart_where_a_classifier_learnt_from_text_alone():
    """The paper's claim on code is about such a classifier; one that learnt from code, too, says nothing of it."""
    for learnt, count in ((["prose"], 1), (["prose", "lines"], 0), (["lines"], 0)):
        table = rows(study(scores(), training=names(["t"], learnt)).attacks(["lt_mia"]), metric="auc")
        assert len(table[table["control"] == "code after text alone"]) == count
        assert len(table[table["control"] == "code"]) == 1


def test_equal_attacks_differ_by_nothing():
    table = scores(lead=0.0)
    gap = rows(study(table).attacks(ATTACKS), family="mean", attack="lt_mia - ez", metric="auc difference").iloc[0]
    assert (gap["estimate"], gap["low"], gap["high"]) == (0, 0, 0)


def test_the_signed_rank_test_is_over_combinations(found):
    gap = rows(found, family="mean", metric="wilcoxon p-value", attack="lt_mia - ez").iloc[0]
    assert gap["n"] == 8
    assert gap["estimate"] == pytest.approx(2 / 2**8)  # all eight have one sign
    assert rows(found, family="state space", metric="wilcoxon p-value").empty


def test_texts_are_resampled_alike_in_all_combinations_of_a_corpus():
    """The same scores under two models: their difference has no interval; of two corpora it has one."""
    one = scores(models=("a",), datasets=("prose",))
    both = pd.concat([one, one.assign(model="m"), one.assign(model="r", dataset="lines", id=one["id"] + "x")])
    judged = transfer.judged(both, ["ez"], [0.1], np.random.default_rng(0), 50)
    samples = judged.samples["ez"][..., 0]
    np.testing.assert_array_equal(samples[0], samples[1])
    assert np.ptp(samples[0] - samples[2]) > 0


def test_combinations_are_drawn_within_families_and_each_family_keeps_its_weight():
    draws = Draws.of(["x", "x", "x", "y"], 500, np.random.default_rng(0))
    assert draws.share.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert draws.weights.sum(1) == pytest.approx(np.ones(500))
    assert draws.weights[:, 3] == pytest.approx(np.full(500, 1 / 2))
    values = np.array([0.0, 1.0, 2.0, 5.0])[:, None]
    assert draws.mean(values) == pytest.approx([3.0])
    spread = draws.means(np.repeat(values[:, None], 500, 1))[:, 0].std()
    assert spread == pytest.approx(np.sqrt(2 / 3 / 3) / 2, rel=0.1)  # of a mean of three, at half the weight


def test_intervals_of_the_mean_cover_it():
    """Members one deviation above others: AUC Phi(1 / sqrt 2) = .760, in at least 18 of 20 intervals."""
    covered = 0
    for seed in range(20):
        table = scores(seed=seed)
        held = transfer.judged(
            table.drop(columns=["loss", "ref_loss", "lt_mia"]), ["ez"], [0.1], np.random.default_rng(seed), 60
        )
        draws = Draws.of(held.keys["model"].map(FAMILIES), 60, np.random.default_rng(seed))
        row = next(transfer.mean_rows(held, draws))
        covered += row["low"] <= 0.7602 <= row["high"]
    assert covered >= 17


def test_shuffled_membership_leaves_nothing(found):
    shuffled = rows(found, control="shuffled membership", metric="auc")
    assert ((shuffled["estimate"] - 0.5).abs() < 0.06).all()
    assert shuffled["attack"].tolist() == ATTACKS


def test_what_cannot_pass_the_blind_check_is_in_no_mean():
    table = pd.concat([scores(), scores(models=("a",), datasets=("moved",), strength=5.0)])
    told = study(table, unfit=["lines"], controls={"moved": names("a", ["moved"])})
    found = list(told.attacks(ATTACKS))
    one = rows(found, role="held out", family="transformer", metric="auc", attack="ez", model=None, dataset=None)
    prose = table[(table["dataset"] == "prose") & table["model"].isin(["a", "b"])]
    areas = [roc.auc(own["ez"].to_numpy(), own["member"].to_numpy()) for _, own in prose.groupby("model")]
    assert one["estimate"].iloc[0] == pytest.approx(np.mean(areas))
    assert rows(found, role="moved", metric="auc", attack="ez")["estimate"].iloc[0] > 0.99
    assert rows(found, control="text less code").empty
    with pytest.raises(AuditError, match="no corpus passes the blind check"):
        study(table, unfit=["lines", "prose"])


def test_adapters_are_compared_on_the_same_models_and_corpora():
    table = pd.concat([scores(), scores(models=("a",), datasets=("prose",), tuning="lora", strength=0.2, seed=0)])
    told = study(table, controls={"lora": names("a", ["prose"], "lora")})
    gap = rows(told.attacks(ATTACKS), control="full less lora tuning", attack="ez", metric="auc difference").iloc[0]
    full, lora = (
        table[(table["model"] == "a") & (table["dataset"] == "prose") & (table["tuning"] == tuning)]
        for tuning in ("full", "lora")
    )
    areas = [roc.auc(own["ez"].to_numpy(), own["member"].to_numpy()) for own in (full, lora)]
    assert gap["estimate"] == pytest.approx(areas[0] - areas[1])
    assert gap["n"] == 2 * TEXTS


def test_transformers_of_similar_size_are_those_within_a_factor_of_two(found):
    whole, near = (
        rows(found, control=f"other families less transformers{of}", attack="ez", metric="auc difference").iloc[0]
        for of in ("", " of their size")
    )
    assert whole["n"] == 8 * TEXTS
    assert near["n"] == 6 * TEXTS  # without b, ten times as large


def test_thirds_by_likelihood_hold_all_texts_and_the_correlation_is_over_combinations(found):
    thirds = [
        rows(found, control=f"{name} third of reference likelihood", attack="ez", metric="auc").iloc[0]
        for name in ("low", "middle", "high")
    ]
    assert sum(third["n"] for third in thirds) == 8 * TEXTS
    assert rows(found, metric="spearman").empty  # the reference finds all combinations equally likely
    table = scores()
    easier = table.groupby(["model", "dataset"]).ngroup()
    found = study(table.assign(loss=table["loss"] + easier)).attacks(ATTACKS)
    ranked = rows(found, metric="spearman", attack="ez").iloc[0]
    assert ranked["n"] == 8
    assert -1 <= ranked["estimate"] <= 1


def test_importance_is_the_loss_of_auc_where_a_group_is_dealt():
    whole = scores(datasets=("prose",), lead=0.0)[["model", "dataset", "tuning", "id", "member", "ez"]]
    whole = whole.rename(columns={"ez": "score"})
    dealt = whole.assign(score=np.random.default_rng(0).permutation(whole["score"]))
    parts = [whole.assign(permuted="none", repeat=0), dealt.assign(permuted="comparison", repeat=0)]
    parts += [whole.assign(permuted="target", repeat=repeat) for repeat in (0, 1)]
    told = rows(study(scores()).importance(pd.concat(parts), FAMILIES), family="mean").set_index("features")
    assert told.loc["target", ["estimate", "low", "high"]].tolist() == [0, 0, 0]
    assert told.loc["comparison", "estimate"] == pytest.approx(0.26, abs=0.08)
    assert told.loc["comparison", "low"] > 0


def test_diversity_is_a_mean_over_draws():
    table = scores().rename(columns={"ez": "score"})
    keys = ["model", "dataset", "tuning", "id", "member"]
    drawn = pd.concat(
        [
            table[[*keys, "score"]].assign(combinations=1, draw=draw, score=table[name])
            for draw, name in enumerate(("score", "lt_mia"))
        ]
    )
    learnt = scores(models=("t",), datasets=("old",)).rename(columns={"ez": "score"})[[*keys, "score"]]
    drawn = pd.concat([drawn, *(learnt.assign(combinations=1, draw=draw) for draw in (0, 1))])
    told = rows(study(scores()).diversity(drawn, [["t", "old", "full"]], 20), metric="auc").set_index("records")
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
        for name in ("score", "lt_mia")
    ]
    assert told.loc["held out", "estimate"] == pytest.approx(np.mean(means))
    assert told.loc["training", "estimate"] == pytest.approx(
        roc.auc(learnt["score"].to_numpy(), learnt["member"].to_numpy())
    )
    assert told["samples"].tolist() == [20, 20]


def test_curves_end_at_one_and_begin_at_the_first_non_member():
    fprs = np.geomspace(2 / TEXTS, 1, 5)
    told = rows(study(scores()).curves(["ez", "lt_mia"], fprs), dataset="state space", attack="lt_mia")
    assert told["fpr"].tolist() == pytest.approx(fprs, rel=1e-5)
    assert told["estimate"].is_monotonic_increasing
    assert told["estimate"].iloc[-1] == 1
    assert (told["low"] <= told["estimate"]).all()

"""A claim is reproduced only where intervals say so; an inconclusive result is "not testable", with the size needed."""

import re
from pathlib import Path

import numpy as np
import pytest

from memaudit.claims.claim_comparisons import comparisons
from memaudit.claims.claim_predicates import Claim, load
from memaudit.claims.row_selection import Selection, select
from memaudit.claims.verdicts import verdicts
from memaudit.common import tidy
from memaudit.workflow.run_config import read_yaml

SHIPPED = {one.id: one for one in load(Path(__file__).parents[3] / "config" / "claims.yaml")}
PUBLISHED = read_yaml(Path(__file__).parents[3] / "config" / "published.yaml")
VECTORS = read_yaml(Path(__file__).parent / "claim_vectors.yaml")
HOLDS = ("reproduced", "direction only", "identity")


def row(metric, estimate, half=0.01, **keys):
    return tidy.row("lira", keys, metric, estimate, low=estimate - half, high=estimate + half, n=100)


def claim(relation="greater", **parts):
    base = {"id": "x", "paper": "p", "place": "Figure 1", "text": "t", "study": "lira", "relation": relation}
    sides = {
        "left": {"metric": "tpr", "where": {"strategy": "naive"}},
        "right": {"metric": "tpr", "where": {"strategy": "pp"}},
    }
    return Claim.model_validate(base | sides | parts)


def verdict(one, *rows):
    return verdicts([one], tidy.frame(list(rows))).iloc[0]


def both(naive, pp, half=0.01, **keys):
    return row("tpr", naive, half, strategy="naive", **keys), row("tpr", pp, half, strategy="pp", **keys)


def test_disjoint_intervals_reproduce_and_the_verdict_names_its_numbers():
    result = verdict(claim(), *both(0.5, 0.4, dataset="wine", fpr=0.1))
    assert result["verdict"] == "reproduced"
    assert "0.5 [0.49, 0.51] against 0.4 [0.39, 0.41]" in result["ours"]
    assert "dataset=wine, fpr=0.1" in result["ours"]


def test_a_verdict_that_holds_names_first_what_holds():
    found = verdict(
        claim(share=0.6), *both(0.5, 0.49, dataset="a"), *both(0.9, 0.1, dataset="b"), *both(0.8, 0.1, dataset="c")
    )
    assert found["verdict"] == "reproduced"
    assert found["ours"].startswith("dataset=c: 0.8 [")


def test_an_effect_that_leaves_the_metric_no_room_is_not_testable():
    room = {"metric": "auc", "where": {"strategy": "any"}}
    one = claim(effect=0.1, room=room)
    near, far = (row("auc", value, strategy="pp") for value in (0.95, 0.85))
    found = verdict(one, *both(0.41, 0.4), near)
    assert found["verdict"] == "not testable at this scale"
    assert found["reason"] == "auc is 0.95 or more already, so that 0.1 more are out of reach"
    assert verdict(one, *both(0.41, 0.4), near, far)["verdict"] == "not reproduced"


def test_a_claim_is_judged_where_a_decision_says_that_there_is_something_to_judge():
    signal = {"metric": "detected", "at_least": 1}
    one = claim(provided=signal, by="dataset")
    given, other = row("detected", 1, 0, dataset="a"), row("detected", 0, 0, dataset="b")
    sides = [*both(0.5, 0.4, dataset="a"), *both(0.3, 0.4, dataset="b")]
    found = verdict(one, given, other, *sides)
    assert (found["verdict"], found["reason"]) == ("reproduced", "holds in 1 of 1 comparisons")
    # What is given elsewhere says nothing of the settings that are compared.
    found = verdict(one, given, other, *both(0.5, 0.4, dataset="b"))
    assert found["verdict"] == "not testable at this scale"
    assert found["reason"] == "detected is 0: dataset=b; it needs a setting in which it is 1"


def test_a_sentence_on_a_part_is_not_judged_where_the_part_is_the_whole():
    sides = {"left": {"metric": "tpr", "where": {"of": "part"}}, "right": {"value": 0.1}}
    one = claim(**sides, unlike={"metric": "tpr", "where": {"of": "all"}})
    whole, part = row("tpr", 0.5, of="all"), row("tpr", 0.4, of="part")
    found = verdict(one, whole, whole | {"setting": part["setting"]})
    assert found["verdict"] == "not testable at this scale"
    assert found["reason"] == "its results are those with of all; it needs a run in which they differ"
    assert verdict(one, whole, part)["verdict"] == "reproduced"


def test_a_share_of_all_runs_is_judged_only_where_the_run_has_those_that_it_must_cover():
    one = claim(covers={"metric": "auc", "where": {"source": None, "epoch": {"at_least": 500}}})
    printed = row("auc", 0.7, epoch=500, source="paper")
    found = verdict(one, *both(0.5, 0.4), row("auc", 0.7, epoch=20), printed)
    assert found["verdict"] == "not testable at this scale"
    assert "no results of auc, source none, epoch at least 500; the paper's" in found["reason"]
    assert verdict(one, *both(0.5, 0.4), row("auc", 0.7, epoch=500))["verdict"] == "reproduced"


def test_a_missing_side_is_the_one_whose_conditions_are_named():
    sides = {"left": {"metric": "tpr", "where": {"fpr": 0.1}}, "right": {"metric": "tpr", "where": {"fpr": 0.01}}}
    found = verdict(claim(**sides), row("tpr", 0.5, fpr=0.1))
    assert found["reason"] == "no results of lira to compare in metric tpr: none with fpr 0.01"


def test_overlapping_intervals_do_not_reproduce_and_say_why():
    result = verdict(claim(), *both(0.5, 0.4, half=0.06))
    assert result["verdict"] == "not testable at this scale"
    assert "intervals too wide" in result["reason"]


def test_the_opposite_is_told_from_an_undecided_comparison():
    result = verdict(claim(), *both(0.3, 0.4, dataset="a"), *both(0.5, 0.49, dataset="b"), *both(0.9, 0.1, dataset="c"))
    assert result["verdict"] == "not reproduced"
    assert "holds in 1 of 3 comparisons, 1 show the opposite, 1 cannot tell" in result["reason"]
    assert result["ours"].startswith("dataset=a: 0.3 [")


def test_sides_are_paired_within_a_setting_never_across():
    rows = (*both(0.5, 0.4, fpr=0.1), *both(0.2, 0.1, fpr=0.01))
    assert len(comparisons(claim(), tidy.expand(tidy.frame(list(rows))))) == 2
    assert verdict(claim(), *rows)["verdict"] == "reproduced"


def test_a_mean_over_other_tables_is_not_held_against_the_papers():
    number = {"value": 0.3, "tolerance": 0.05, "tables": 5, "of": {"metric": "auc", "where": {"dataset": "mean"}}}
    for tables, expected in (
        (5, "does not agree with 0.3"),
        (4, "no mean over 5 tables to compare with the paper's, 0.3"),
    ):
        mean = row("auc", 0.5, dataset="mean") | {"method": f"mean of {tables} data sets taken as given"}
        result = verdict(claim(numbers=[number]), *both(0.5, 0.4), mean)
        assert result["verdict"] == "direction only"
        assert expected in result["reason"]


def test_loss_and_logit_gap_that_rank_alike_are_one_comparison():
    rows = [part for name in ("loss", "logit_gap") for part in both(0.5, 0.4, predictor=name)]
    assert "holds in 1 of 1" in verdict(claim(), *rows)["reason"]
    assert "holds in 2 of 2" in verdict(claim(), *rows[:2], *both(0.6, 0.4, predictor="psmi"))["reason"]


def test_a_share_of_comparisons_may_be_enough_where_the_claim_says_so():
    rows = (*both(0.5, 0.4, fpr=0.1), *both(0.2, 0.2, fpr=0.01))
    assert verdict(claim(), *rows)["verdict"] == "not testable at this scale"
    assert verdict(claim(share=0.5), *rows)["verdict"] == "reproduced"


@pytest.mark.parametrize(("held", "expected"), [(2, "not testable at this scale"), (3, "reproduced")])
def test_one_of_many_comparisons_is_enough_only_where_more_hold_than_by_chance(held, expected):
    """Of 24 intervals on noise alone two or more lie above it in every eighth run, three or more in every fiftieth."""
    rows = [one for fpr in range(24) for one in both(0.5, 0.4 if fpr < held else 0.5, fpr=fpr / 100)]
    assert verdict(claim(share=0.01), *rows)["verdict"] == expected


def test_a_comparison_that_has_an_interval_cannot_speak_for_nine_that_have_none():
    rows = [one for fpr in range(9) for one in both(0.5, 0.4, half=np.nan, fpr=fpr / 10)]
    found = verdict(claim(), *both(0.5, 0.4, fpr=1.0), *rows)
    assert (found["verdict"], "9 have no interval" in found["reason"]) == ("not testable at this scale", True)


def test_a_paired_difference_decides_over_overlapping_intervals():
    paired = claim(difference={"metric": "tpr_difference", "where": {"strategy": "naive-pp"}})
    rows = both(0.5, 0.45, half=0.1)
    assert verdict(paired, *rows)["verdict"] == "not testable at this scale"
    difference = row("tpr_difference", 0.05, 0.01, strategy="naive-pp")
    assert verdict(paired, *rows, difference)["verdict"] == "reproduced"
    against = row("tpr_difference", -0.05, 0.01, strategy="naive-pp")
    assert "1 show the opposite" in verdict(paired, *rows, against)["reason"]


@pytest.mark.parametrize(
    ("estimate", "half", "expected"),
    [
        (0.05, 0.02, "reproduced"),
        (0.01, 0.02, "not reproduced"),  # holds chance, and nothing as large as the paper's
        (0.01, 0.005, "direction only"),  # smaller than the paper's
        (0.02, 0.03, "not testable at this scale"),  # holds both
        (-0.05, 0.02, "not reproduced"),
    ],
)
@pytest.mark.parametrize("relation", ["greater", "less"])
def test_an_interval_without_the_effect_that_the_paper_prints_shows_the_opposite(relation, estimate, half, expected):
    sign = 1 if relation == "greater" else -1
    one = claim(relation, left={"metric": "gap"}, right={"value": 0}, effect=0.04)
    assert verdict(one, row("gap", sign * estimate, half))["verdict"] == expected


def test_a_sentence_with_an_effect_fails_without_one_and_hardly_ever_with_it():
    """2,000 studies of standard error 0.01: without an effect, and with one as large as the paper's."""
    rng, one = np.random.default_rng(0), claim(left={"metric": "gap"}, right={"value": 0}, effect=0.04)
    shares = {}
    for truth in (0.0, 0.04):
        rows = [row("gap", value, 0.0196, fpr=fpr) for fpr, value in enumerate(rng.normal(truth, 0.01, 2000))]
        outcomes = [found.outcome for found in comparisons(one, tidy.expand(tidy.frame(rows)))]
        shares[truth] = {name: outcomes.count(name) / len(outcomes) for name in ("holds", "opposite")}
    assert shares[0.0]["holds"] == pytest.approx(0.025, abs=0.01)
    assert shares[0.0]["opposite"] > 0.95
    assert shares[0.04]["opposite"] <= 0.025 + 0.01
    assert shares[0.04]["holds"] > 0.95


def test_too_small_a_scale_or_no_rows_or_no_interval_is_not_testable():
    rows = both(0.5, 0.4, models=64)
    assert verdict(claim(needs={"models": 256}), *rows)["verdict"] == "not testable at this scale"
    assert "models >= 256" in verdict(claim(needs={"models": 256}), *rows)["reason"]
    assert verdict(claim(where={"access": "oracle"}), *rows)["verdict"] == "not testable at this scale"
    assert verdict(claim(), *both(0.5, 0.4, half=np.nan))["reason"].startswith("the rows have no interval; it needs ")


@pytest.mark.parametrize(
    ("estimate", "half", "expected"),
    [(0.705, 0.002, "reproduced"), (0.705, 0.02, "not testable at this scale"), (0.73, 0.002, "not reproduced")],
)
def test_close_needs_the_whole_interval_within_the_tolerance(estimate, half, expected):
    close = claim("close", left={"metric": "ratio"}, right={"value": 0.7071}, tolerance=0.01)
    assert verdict(close, row("ratio", estimate, half, size=500))["verdict"] == expected


def test_a_relative_tolerance_is_in_units_of_the_right_side_also_for_differences():
    parts = {"tolerance": 0.1, "relative": True}
    difference = {"metric": "tpr_difference", "where": {"strategy": "naive-pp"}}
    assert verdict(claim("close", **parts), *both(0.52, 0.5, half=0.005))["verdict"] == "reproduced"
    assert verdict(claim("close", **parts), *both(0.07, 0.05, half=0.005))["verdict"] == "not reproduced"
    paired = claim("close", difference=difference, **parts)
    close, far = (row("tpr_difference", value, 0.001, strategy="naive-pp") for value in (0.02, 0.06))
    assert verdict(paired, *both(0.5, 0.5), close)["verdict"] == "reproduced"
    assert verdict(paired, *both(0.5, 0.5), far)["verdict"] == "not reproduced"


def test_a_rate_can_be_held_against_the_target_of_its_own_setting():
    above = claim(left={"metric": "fpr", "where": {"strategy": "naive"}}, right={"key": "fpr", "factor": 2})
    assert verdict(above, row("fpr", 0.03, 0.005, strategy="naive", fpr=0.01))["verdict"] == "reproduced"
    assert verdict(above, row("fpr", 0.15, 0.005, strategy="naive", fpr=0.1))["verdict"] == "not reproduced"


def test_at_most_holds_within_its_margin_and_only_there():
    bound = claim("at_most", tolerance=0.05)
    assert verdict(bound, *both(0.4, 0.4))["verdict"] == "reproduced"
    assert verdict(bound, *both(0.5, 0.4))["verdict"] == "not reproduced"


@pytest.mark.parametrize(
    ("estimates", "expected"),
    [
        ((0.3, 0.2, 0.1), "reproduced"),
        ((0.1, 0.2, 0.3), "not reproduced"),
        ((0.3, 0.1, 0.2), "not reproduced"),
        ((0.2, 0.2, 0.19), "not testable at this scale"),
    ],
)
def test_a_trend_needs_disjoint_ends_and_no_step_back(estimates, expected):
    falls = claim("decreases", left={"metric": "fpr"}, right=None, along="models")
    rows = [row("fpr", value, models=models) for models, value in zip((16, 64, 256), estimates, strict=True)]
    assert verdict(falls, *rows[::-1])["verdict"] == expected


def test_an_intervals_width_is_a_quantity():
    parts = {"right": None, "along": "models", "tolerance": 0.2, "relative": True}
    narrows = claim("decreases", left={"metric": "tpr", "quantity": "width"}, **parts)
    for halves, expected in (
        ((0.2, 0.1, 0.05), "reproduced"),
        ((0.1, 0.1, 0.09), "not testable at this scale"),
        ((0.05, 0.1, 0.2), "not reproduced"),
    ):
        rows = [row("tpr", 0.5, half, models=models) for models, half in zip((16, 64, 256), halves, strict=True)]
        assert verdict(narrows, *rows)["verdict"] == expected


def test_largest_picks_the_largest_scale_that_there_is():
    at_end = {
        side: {"metric": "tpr", "where": {"strategy": side_id, "models": "largest"}}
        for side, side_id in (("left", "naive"), ("right", "pp"))
    }
    rows = (*both(0.1, 0.4, models=16), *both(0.5, 0.4, models=256))
    assert verdict(claim(**at_end), *rows)["verdict"] == "reproduced"


def test_null_selects_the_rows_without_a_key():
    real = both(0.5, 0.4, dataset="wine")
    toy = both(0.1, 0.4, dataset="toy", true_epsilon=1.0)
    assert verdict(claim(where={"true_epsilon": None}), *real, *toy)["verdict"] == "reproduced"
    assert verdict(claim(where={"true_epsilon": None}), *real)["verdict"] == "reproduced"
    assert verdict(claim(), *real, *toy)["verdict"] == "not reproduced"


def test_any_takes_whatever_a_key_is_and_joins_no_pair_over_it():
    rows = row("tpr", 0.5, strategy="naive", model="a"), row("tpr", 0.4, strategy="pp", model="b")
    sides = {
        side: {"metric": "tpr", "where": {"strategy": strategy, "model": "any"}}
        for side, strategy in (("left", "naive"), ("right", "pp"))
    }
    assert verdict(claim(), *rows)["verdict"] == "not testable at this scale"
    assert verdict(claim(**sides), *rows)["verdict"] == "reproduced"


def test_a_claim_is_not_tested_where_what_it_supposes_is_no_better_than_chance():
    supposes = {"metric": "accuracy", "where": {"arm": "text"}}
    rows = both(0.5, 0.4)
    assert verdict(claim(), *rows)["verdict"] == "reproduced"
    told = verdict(claim(provided=supposes), *rows)
    assert (told["verdict"], "above chance" in told["reason"]) == ("not testable at this scale", True)
    for estimate, expected in ((0.8, "reproduced"), (0.505, "not testable at this scale")):
        accuracy = row("accuracy", estimate, arm="text") | {"null": 0.5}
        assert verdict(claim(provided=supposes), *rows, accuracy)["verdict"] == expected


def test_a_setting_without_what_is_supposed_is_not_judged():
    """Of two settings, where the claim holds in the one and the other shows the opposite."""
    supposes = {"metric": "accuracy"}
    rows = [
        row(metric, value, dataset=name)
        for name, values in {"a": (0.5, 0.4), "b": (0.3, 0.4)}.items()
        for metric, value in zip(("tpr_x", "tpr_y"), values, strict=True)
    ]
    sides = {"left": {"metric": "tpr_x"}, "right": {"metric": "tpr_y"}, "provided": supposes, "by": "dataset"}
    for chances, expected in (((0.8, 0.505), "reproduced"), ((0.8, 0.8), "not reproduced")):
        given = [row("accuracy", one, dataset=name) | {"null": 0.5} for one, name in zip(chances, "ab", strict=True)]
        assert verdict(claim(**sides), *rows, *given)["verdict"] == expected
    given = [row("accuracy", 0.505, dataset=name) | {"null": 0.5} for name in "ab"]
    assert verdict(claim(**sides), *rows, *given)["verdict"] == "not testable at this scale"


def test_true_and_false_in_yaml_select_pythons_true_and_false():
    sides = {
        "left": {"metric": "predicted_tpr", "where": {"corrected": False}},
        "right": {"metric": "measured_tpr"},
    }
    rows = (
        row("predicted_tpr", 0.5, dataset="a", corrected=False),
        row("predicted_tpr", 0.3, dataset="a", corrected=True),
        row("measured_tpr", 0.3, dataset="a"),
    )
    assert verdict(claim(**sides), *rows)["verdict"] == "reproduced"


@pytest.mark.long
@pytest.mark.parametrize("truth", [0.0, 0.1])
def test_verdicts_are_rarely_wrong_where_the_truth_is_known(truth):
    """300 claims on five comparisons with 95 % intervals: without an effect hardly one is reproduced or rejected, with
    an effect of five standard errors nearly all are reproduced and none is rejected.
    """
    rng, one, found = np.random.default_rng(4), claim(left={"metric": "gap"}, right={"value": 0.0}), []
    for estimates in truth + 0.02 * rng.normal(size=(300, 5)):
        rows = [row("gap", value, 1.96 * 0.02, dataset=f"d{i}") for i, value in enumerate(estimates)]
        found.append(verdict(one, *rows)["verdict"])
    rejected, reproduced = (found.count(name) / len(found) for name in ("not reproduced", "reproduced"))
    assert rejected <= 0.05
    assert reproduced <= 0.01 if truth == 0 else reproduced >= 0.95


def test_the_opposite_in_a_few_of_many_comparisons_is_tolerated_as_the_share_says():
    rows = [one for number in range(10) for one in both(0.5 if number else 0.3, 0.4, dataset=f"d{number}")]
    assert verdict(claim(), *rows)["verdict"] == "reproduced"
    rows = [one for number in range(10) for one in both(0.5 if number > 2 else 0.3, 0.4, dataset=f"d{number}")]
    assert verdict(claim(), *rows)["verdict"] == "not reproduced"


@pytest.mark.parametrize(
    ("mean", "half", "expected", "reason"),
    [
        (0.73, 0.01, "reproduced", "agrees with 0.73"),
        (0.583, 0.006, "direction only", "does not agree with 0.73"),
        (0.70, 0.05, "direction only", "about 6.3 times as many shadow models and records would decide"),
        (0.5, 0.02, "not testable at this scale", "cannot tell"),
        (0.3, 0.02, "not reproduced", "show the opposite"),
    ],
)
def test_a_printed_number_is_tested(mean, half, expected, reason):
    """At .7 +- .05 the nearer end of .73 +- .05 is .02 away: (.05 / .02)^2 = 6.25 times the data would clear it."""
    numbered = claim(left={"metric": "auc"}, right={"value": 0.5}, numbers=[{"value": 0.73, "tolerance": 0.05}])
    found = verdict(numbered, row("auc", mean, half, dataset="wine"))
    assert found["verdict"] == expected
    assert reason in found["reason"]
    assert "against 0.73 in the paper" in found["ours"]


def test_the_size_that_would_decide_is_the_squared_ratio_of_widths_and_does_decide():
    """A tenth above the bound with half-widths .1 + .1: four times the data halve both, which then just touch it."""
    rows = both(0.5, 0.4, half=0.1)
    assert "about 4 times as many shadow models and records would decide" in verdict(claim(), *rows)["reason"]
    larger = both(0.5, 0.4, half=0.1 / np.sqrt(4.01))
    assert verdict(claim(), *larger)["verdict"] == "reproduced"
    assert "even 1000 times as many" in verdict(claim(), *both(0.4001, 0.4))["reason"]
    assert "no size is sure to decide" in verdict(claim(), *both(0.4, 0.4))["reason"]


def test_with_several_comparisons_the_size_is_that_of_as_many_as_are_needed():
    rows = [one for name, naive in (("a", 0.5), ("b", 0.45), ("c", 0.9)) for one in both(naive, 0.4, 0.1, dataset=name)]
    assert "about 16 times as many" in verdict(claim(share=1), *rows)["reason"]
    assert "about 4 times as many" in verdict(claim(share=0.6), *rows)["reason"]
    # One more that shows the opposite, and the claim fails: its size counts, too.
    against = both(0.3, 0.4, 0.1, dataset="d")
    assert "about 4 times as many" in verdict(claim(share=1), *rows, *against)["reason"]


def test_too_small_a_run_names_the_size_that_is_needed():
    assert (
        "models is at most 64, 4 times as many are needed"
        in verdict(claim(needs={"models": 256}), *both(0.5, 0.4, models=64))["reason"]
    )


def test_what_holds_by_construction_is_an_identity():
    assert verdict(claim(identity=True), *both(0.5, 0.4))["verdict"] == "identity"
    assert verdict(claim(identity=True), *both(0.3, 0.4))["verdict"] == "not reproduced"


@pytest.mark.parametrize(("control", "expected"), [(1.5, "reproduced"), (0.8, "not testable at this scale")])
def test_a_bound_counts_only_where_its_positive_control_exceeds_it(control, expected):
    low = {"quantity": "low"}
    bound = claim(
        "at_most",
        left={"metric": "bound", "where": {"arm": "private"}, **low},
        right={"key": "epsilon"},
        control={"metric": "bound", "where": {"arm": "plain", "epsilon": "any"}, **low},
    )
    private, plain = (
        row("bound", value, 0, arm=arm, epsilon=epsilon, dataset="wine")
        for value, arm, epsilon in ((0.2, "private", 1), (control, "plain", "inf"))
    )
    found = verdict(bound, private, plain)
    assert found["verdict"] == expected
    assert ("positive control" in found["reason"]) == (control < 1)
    refuted = row("bound", 1.2, 0, arm="private", epsilon=1, dataset="wine")
    assert verdict(bound, refuted, row("bound", 1.5, 0, arm="plain", epsilon="inf", dataset="wine"))["verdict"] == (
        "not reproduced"
    )


def table(name, side):
    """Tidy results of claim_vectors.yaml; side 0 fulfils the claim, side 1 is null or reversed."""
    vector, rows = VECTORS[name], []
    for metric, keys, *estimates in vector["rows"]:
        half = (estimates[2] if len(estimates) > 2 else vector).get("half", 0.005)
        half, estimate = half[side] if isinstance(half, list) else half, estimates[side]
        facts = {"n": vector.get("n", 1000), "null": vector.get("chance", np.nan)}
        if tables := next((number.tables for number in SHIPPED[name].numbers if number.tables), None):
            facts["method"] = f"mean of {tables} data sets taken as given"
        rows.append(
            tidy.row(
                SHIPPED[name].study,
                vector["common"] | keys,
                metric,
                estimate,
                low=estimate - half,
                high=estimate + half,
                **facts,
            )
        )
    return tidy.frame(rows)


def test_every_shipped_claim_has_vectors():
    assert set(VECTORS) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_claim_is_reproduced_by_its_own_table_and_not_by_a_null_or_reversed_one(name):
    one = SHIPPED[name]
    fulfilled, null = (verdicts([one], table(name, side)).iloc[0] for side in (0, 1))
    assert fulfilled["verdict"] == ("identity" if one.identity else "reproduced"), fulfilled["reason"]
    assert null["verdict"] not in HOLDS, null["reason"]


@pytest.mark.parametrize("name", [name for name, one in SHIPPED.items() if one.numbers])
def test_a_shipped_claim_whose_numbers_differ_is_direction_only(name):
    one = SHIPPED[name]
    numbers = [number.model_copy(update={"value": number.value + 9 * number.margin}) for number in one.numbers]
    found = verdicts([one.model_copy(update={"numbers": numbers})], table(name, 0)).iloc[0]
    assert found["verdict"] == "direction only"


# Numbers that are derived from printed ones, or printed in a text only.
DERIVED = {
    "attacks-text-leaks": "midway between 0.73 and 0.74",
    "iclmem-signal-is-moderate": "midway between the ends of Table 8, 0.56 and 0.668",
    "iclmem-calibration-removes-flags": "241 and 11 of 530 runs",
    "tabpate-attack-finds-members-without-privacy": "Section 5.3",
    "tabpate-attack-reduced": "Section 5.3",
    "tabpate-attack-reduced-at-low-fpr": "Section 5.3",
}


def test_tested_numbers_are_those_of_published_yaml_or_are_differences_and_ratios_of_them():
    printed = {}
    for study, rows in PUBLISHED.items():
        values = [row["printed"].values() if isinstance(row["printed"], dict) else [row["printed"]] for row in rows]
        printed[study] = {value for of_row in values for value in of_row}
    for name, one in SHIPPED.items():
        for number in one.numbers if name not in DERIVED else ():
            metric = (number.of or one.difference or one.left).metric
            derived = metric.endswith((" difference", " ratio", " growth"))
            assert derived or number.value in printed[one.study], (name, number.value)


# Printed tables with an entry that is no printed number, nor the difference of two.
ROUNDED = {
    "lira-ratio-is-sqrt-fpc": "square root of 0.5",
    "lira-bias-grows-with-fraction": "square roots of 0.875, 0.5 and 0.25",
    "iclmem-eight-of-ten": "no AUC is printed of the two tasks without a detection",
    "iclmem-no-manipulation-adds-much": "another manipulation than the largest",
    "iclmem-calibration-removes-flags": "241 of 530 runs",
    "ltmia-lead-grows-at-strict-thresholds": "2.8 over 1.6, unrounded",
    "predict-definitions-agree": "another setting: always greater than 0.75",
}


@pytest.mark.parametrize("name", [name for name, vector in VECTORS.items() if vector.get("printed")])
def test_a_printed_table_holds_printed_numbers(name):
    """What the claim supposes of a run, such as an accuracy above chance, is no part of it."""
    one = SHIPPED[name]
    rows = PUBLISHED.get(one.study, [])
    printed = {float(value) for value in re.findall(r"\d+\.?\d*", f"{one.value} {one.text}")}
    for row in rows:
        printed.update(row["printed"].values() if isinstance(row["printed"], dict) else [row["printed"]])
    gaps = np.abs(np.subtract.outer(list(printed), list(printed)))
    for metric, _, estimate, *_ in VECTORS[name]["rows"]:
        if metric not in {supposed.metric for supposed in one.provided} - {one.left.metric} and name not in ROUNDED:
            gap = "difference" in metric and np.isclose(gaps, abs(estimate), atol=6e-4).any()
            assert gap or abs(estimate) in printed, (metric, estimate)


def test_every_claim_with_a_printed_table_names_where_it_is_printed():
    assert all(SHIPPED[name].place != "not in the paper" for name, vector in VECTORS.items() if vector.get("printed"))


def test_shipped_claims_without_results_are_not_testable_and_each_has_a_reason():
    found = verdicts(list(SHIPPED.values()), tidy.frame([row("tpr", 0.5, dataset="wine")]))
    assert (found["verdict"] == "not testable at this scale").all()
    assert found["reason"].str.len().min() > 0


CHANCE = (
    "lira-naive-gap-stabilises",
    "attacks-number-of-perturbations-marginal",
    "attacks-perturbation-scale-marginal",
    "predict-three-alike",
    "tabpate-even-queries-suffice",
)


@pytest.mark.parametrize("name", CHANCE)
def test_that_two_settings_agree_is_no_result_where_both_are_at_chance(name):
    results = table(name, 0)
    differs = results["metric"].str.contains("difference")
    results["estimate"] = results["estimate"].where(differs, results["null"])
    results.loc[differs, "estimate"] = 0.0
    results["low"], results["high"] = results["estimate"] - 0.005, results["estimate"] + 0.005
    assert verdicts([SHIPPED[name]], results)["verdict"].tolist() == ["not testable at this scale"]


def value_of(rows, selection):
    return rows["high"] - rows["low"] if selection.quantity == "width" else rows["estimate"]


def set_values(rows, chosen, values, selection):
    """Give the chosen rows these values, and intervals of the width that they had (or that the value is)."""
    half = (rows.loc[chosen, "high"] - rows.loc[chosen, "low"]) / 2
    if selection.quantity == "width":
        half, values = values / 2, rows.loc[chosen, "estimate"]
    rows.loc[chosen, "estimate"], rows.loc[chosen, "low"], rows.loc[chosen, "high"] = (
        values,
        values - half,
        values + half,
    )


def opposed(one, rows, kind):
    """The fulfilled table without its relation (null) or with the opposite one (reversed); its controls stay.

    Where the sentence says that nothing differs, null and reversed are a large difference to either side.
    """
    rows, equal = rows.copy(), one.relation in ("close", "at_most")
    paired = select(rows, one.difference, one.where) if one.difference and not one.along else rows.head(0)
    chosen, selection = (paired, one.difference) if len(paired) else (select(rows, one.left, one.where), one.left)
    values = value_of(chosen, selection)
    if one.along:
        centre = (values.max() + values.min()) / 2
    elif len(paired):
        centre = 0.0
    elif isinstance(one.right, Selection):
        others = select(rows, one.right, one.where)
        centre = value_of(others, one.right).mean()
        if kind == "reversed" and not equal:
            set_values(rows, others.index, value_of(others, one.right) * 0 + values.mean(), one.right)
            set_values(rows, chosen.index, values * 0 + centre, selection)
            return rows
    else:
        centre = one.right.factor * (chosen[one.right.key] if one.right.key else one.right.value)
    far = 3 * one.tolerance * (abs(centre) if one.relative and not len(paired) else 1) + 1
    shift = {"null": far, "reversed": -far if one.relation == "close" else 2 * far}[kind] if equal else 0
    distance = (
        (values - centre if one.along else abs(values - centre)) if kind == "reversed" and not equal else 0 * values
    )
    away = centre + distance if one.relation == "less" else centre - distance
    set_values(rows, chosen.index, away + shift, selection)
    return rows


@pytest.mark.parametrize("kind", ["null", "reversed"])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_claim_is_reproduced_neither_by_a_null_nor_by_a_reversed_table(name, kind):
    """Of its own table, which does reproduce it; a reversed one is the opposite, not merely undecided."""
    one = SHIPPED[name]
    results, numbers = table(name, 0), ["estimate", "low", "high"]
    results[numbers] = opposed(one, tidy.expand(results), kind)[numbers]
    found = verdicts([one], results).iloc[0]
    if kind == "null" and one.identity and one.relation in ("greater", "less"):
        # No interval can tell at the bound itself, and an identity is one all the same: its evidence is none.
        assert (found["verdict"], "1 cannot tell" in found["reason"]) == ("identity", True), found["reason"]
        return
    assert found["verdict"] not in HOLDS, found["reason"]
    if kind == "reversed":
        assert found["verdict"] == "not reproduced", found["reason"]


def test_each_printed_number_must_have_results_that_agree():
    """Two numbers for two attacks: the many results of the one do not speak for the other, nor for its absence."""
    numbers = [
        {"value": value, "tolerance": 0.05, "of": {"metric": "auc", "where": {"attack": name}}}
        for name, value in (("a", 0.7), ("b", 0.9))
    ]
    one = claim(left={"metric": "auc"}, right={"value": 0.5}, numbers=numbers)
    many = [row("auc", 0.7, attack="a", dataset=f"d{i}") for i in range(9)]
    for others, expected, reason in (
        ([row("auc", 0.9, attack="b")], "reproduced", "agrees with 0.7 (within 0.05); agrees with 0.9"),
        ([row("auc", 0.6, attack="b")], "direction only", "agrees with 0.7 (within 0.05); does not agree with 0.9"),
        ([], "direction only", "no result with an interval to compare with 0.9"),
    ):
        found = verdict(one, *many, *others)
        assert found["verdict"] == expected
        assert reason in found["reason"]


def test_a_sentence_about_several_is_not_reproduced_without_one_of_them():
    every = claim(left={"metric": "auc", "where": {"attack": ["a", "b"]}}, right={"value": 0.5}, share=1)
    found = verdict(every, row("auc", 0.7, attack="a"))
    assert (found["verdict"], "no results with attack b" in found["reason"]) == ("not testable at this scale", True)
    assert verdict(every, row("auc", 0.7, attack="a"), row("auc", 0.7, attack="b"))["verdict"] == "reproduced"
    assert verdict(every, row("auc", 0.3, attack="a"))["verdict"] == "not reproduced"


def test_an_identity_is_one_also_where_intervals_are_too_wide():
    close = claim("close", left={"metric": "fpr"}, right={"value": 0.1}, tolerance=0.01, identity=True)
    assert verdict(close, row("fpr", 0.1, 0.05))["verdict"] == "identity"


def test_a_need_may_be_a_product_of_columns():
    """Twenty false positives of a record at M / 2 OUT entries each: models * fpr of at least 40."""
    resolved = claim(needs={"models*fpr": 40})
    assert verdict(resolved, *both(0.5, 0.4, models=512, fpr=0.1))["verdict"] == "reproduced"
    found = verdict(resolved, *both(0.5, 0.4, models=512, fpr=0.01))
    assert "models*fpr is at most 5.12, 7.8 times as many are needed" in found["reason"]


def test_a_paired_difference_of_its_ends_decides_a_trend():
    grows = claim("increases", left={"metric": "auc"}, right=None, along="k", difference={"metric": "gap"})
    rows = [row("auc", value, 0.1, k=k, dataset="a") for k, value in ((0, 0.5), (10, 0.55), (20, 0.6))]
    assert verdict(grows, *rows)["verdict"] == "not testable at this scale"
    for estimate, expected in ((0.1, "reproduced"), (-0.1, "not reproduced")):
        paired = row("gap", estimate, 0.02, k=20, less=0, dataset="a")
        found = verdict(grows, *rows, paired)
        assert (found["verdict"], "(paired)" in found["ours"]) == (expected, True)
        others = [
            row("gap", estimate, 0.02, k=20, less=10, dataset="a"),
            row("gap", estimate, k=20, less=0, dataset="b"),
        ]
        assert verdict(grows, *rows, *others)["verdict"] == "not testable at this scale"


def test_everything_that_a_claim_supposes_must_be_given():
    supposes = [{"metric": "leak"}, {"metric": "utility"}]
    leak, useful, useless = (
        row(metric, value, dataset="a") | {"null": 0.5}
        for metric, value in (("leak", 0.7), ("utility", 0.7), ("utility", 0.505))
    )
    one, rows = claim(provided=supposes, by="dataset"), both(0.5, 0.4, dataset="a")
    assert verdict(one, *rows, leak, useful)["verdict"] == "reproduced"
    found = verdict(one, *rows, leak, useless, row("utility", 0.9, dataset="other") | {"null": 0.5})
    assert (found["verdict"], "utility is not above chance: dataset=a" in found["reason"]) == (
        "not testable at this scale",
        True,
    )
    assert "about 4 times as many" in found["reason"]


def test_rows_are_judged_where_a_condition_lies_near_its_nominal_value():
    one = claim(provided={"metric": "fpr", "near": 0.25}, by=["dataset", "fpr"])
    at = {"dataset": "a", "fpr": 0.1}, {"dataset": "a", "fpr": 0.01}, {"dataset": "b", "fpr": 0.1}
    rates = [
        row("fpr", rate, 0.002, **keys) | {"null": keys["fpr"]}
        for rate, keys in zip((0.1, 0.02, 0.031), at, strict=True)
    ]
    reversed_elsewhere = [*both(0.5, 0.4, **at[0]), *both(0.4, 0.5, **at[1]), *both(0.4, 0.5, **at[2])]
    found = verdict(one, *reversed_elsewhere, *rates)
    assert (found["verdict"], found["reason"]) == ("reproduced", "holds in 1 of 1 comparisons")
    far = verdict(one, *reversed_elsewhere, *rates[1:])
    assert far["verdict"] == "not testable at this scale"
    assert "fpr is not shown to be within 25% of 0.01: dataset=a" in far["reason"]
    wide = row("fpr", 0.1, 0.05, **at[0]) | {"null": 0.1}
    found = verdict(one, *both(0.5, 0.4, **at[0]), wide)
    assert found["verdict"] == "not testable at this scale"
    assert "about 4 times as many" in found["reason"]
    absent = verdict(one, *both(0.5, 0.4, **at[0]))["reason"]
    assert absent == "no results of lira say whether its fpr is near its nominal value"


def test_a_condition_can_be_tested_by_some_of_the_keys_of_a_claim():
    """What leaks without privacy has an epsilon of its own; of two releases the one that is of use is judged."""
    supposes = [{"metric": "leak", "by": "dataset"}, {"metric": "utility"}]
    one = claim(provided=supposes, by=["dataset", "epsilon"])
    rows = [
        *both(0.5, 0.4, dataset="a", epsilon=10.0),
        *both(0.4, 0.5, dataset="a", epsilon=1.0),
        *both(0.4, 0.5, dataset="b", epsilon=10.0),
    ]

    def given(leaks, utilities):
        places = [("a", 10.0), ("a", 1.0), ("b", 10.0)]
        for name, value in zip("ab", leaks, strict=True):
            yield row("leak", value, dataset=name, epsilon=np.inf) | {"null": 0.5}
        for (name, epsilon), value in zip(places, utilities, strict=True):
            yield row("utility", value, dataset=name, epsilon=epsilon) | {"null": 0.5}

    found = verdict(one, *rows, *given((0.8, 0.5), (0.8, 0.5, 0.8)))
    assert (found["verdict"], found["reason"]) == ("reproduced", "holds in 1 of 1 comparisons")
    found = verdict(one, *rows, *given((0.8, 0.8), (0.8, 0.8, 0.8)))
    assert found["reason"] == "holds in 1 of 3 comparisons, 2 show the opposite"
    found = verdict(one, *rows, *given((0.5, 0.5), (0.8, 0.8, 0.8)))
    assert (found["verdict"], "leak is not above chance: dataset=a" in found["reason"]) == (
        "not testable at this scale",
        True,
    )
    found = verdict(one, *rows, *given((0.8, 0.8), (0.5, 0.5, 0.5)))
    assert "utility is not above chance: dataset=a, epsilon=10" in found["reason"]


def test_a_key_that_no_result_has_tells_no_conditions_apart():
    one = claim(provided={"metric": "utility"}, by=["dataset", "epsilon"])
    for utility, expected in ((0.8, "reproduced"), (0.5, "not testable at this scale")):
        given = row("utility", utility, dataset="a") | {"null": 0.5}
        assert verdict(one, *both(0.5, 0.4, dataset="a"), given)["verdict"] == expected


def test_of_two_conditions_on_one_metric_the_one_that_is_not_fulfilled_is_named():
    supposes = [{"metric": "fpr", "where": {"side": 1}}, {"metric": "fpr", "where": {"side": 2}, "near": 0.25}]
    rates = [row("fpr", rate, 0.002, side=side) | {"null": 0.1} for side, rate in ((1, 0.2), (2, 0.3))]
    assert "within 25% of 0.1: side=2" in verdict(claim(provided=supposes), *both(0.5, 0.4), *rates)["reason"]


def test_a_lower_bound_alone_can_be_above_chance():
    bound = tidy.row("lira", {}, "auc", 0.7, low=0.6, high=np.inf, null=0.5)
    assert verdict(claim(provided={"metric": "auc"}), *both(0.5, 0.4), bound)["verdict"] == "reproduced"


def test_a_claim_can_need_several_comparisons():
    several = [one for name in "ab" for one in both(0.5, 0.4, dataset=name)]
    assert verdict(claim(least=2), *several)["verdict"] == "reproduced"
    found = verdict(claim(least=2), *several[:2])
    assert found["verdict"] == "not testable at this scale"
    assert found["reason"] == "its conditions are fulfilled in 1 of 1 comparisons, and it needs 2"
    rates = [row("fpr", rate, 0.002, dataset=name) | {"null": 0.1} for name, rate in (("a", 0.1), ("b", 0.2))]
    near = {"provided": {"metric": "fpr", "near": 0.25}, "by": "dataset"}
    assert "fulfilled in 1 of 2 comparisons" in verdict(claim(**near, least=2), *several, *rates)["reason"]


def test_a_reason_names_the_condition_that_no_result_meets():
    found = verdict(claim(where={"dataset": ["adult", "wilt"]}), *both(0.5, 0.4, dataset="wine"))
    assert "none with dataset adult or wilt" in found["reason"]
    printed = [row("tpr", 0.9, strategy="naive", dataset="adult", source="paper")]
    found = verdict(claim(where={"dataset": ["adult"], "source": None}), *both(0.5, 0.4, dataset="wine"), *printed)
    assert "none with dataset adult" in found["reason"]


@pytest.mark.parametrize(("metric", "counts"), [("auc", False), ("balanced accuracy", True)])
def test_an_attack_on_a_constant_student_is_no_evidence_and_its_utility_is(metric, counts):
    sides = {name: {"metric": metric, "where": {"arm": arm}} for name, arm in (("left", "a"), ("right", "b"))}
    keys = [{"dataset": "wine", "arm": arm, "epsilon": 1} for arm in ("a", "b")]
    rows = [
        tidy.row("tabpate", key, metric, value, low=value - 0.01, high=value + 0.01, n=100)
        for key, value in zip(keys, (0.9, 0.5), strict=True)
    ]
    found = verdict(claim(study="tabpate", **sides), *rows)
    assert found["verdict"] == "reproduced"
    for place, key in enumerate(keys):
        constant = tidy.row("tabpate", key, "constant students", 1)
        found = verdict(claim(study="tabpate", **sides), *rows, constant)
        assert found["verdict"] == ("reproduced" if counts else "not testable at this scale"), place
        why = f"constant, or were taught fewer labels than classes: dataset=wine, arm={key['arm']}"
        assert counts or why in found["reason"]

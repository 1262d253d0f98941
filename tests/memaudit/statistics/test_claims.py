"""A claim is reproduced only where intervals say so; an inconclusive result is an honest "not testable"."""

from pathlib import Path

import numpy as np
import pytest

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.statistics.claims import Claim, comparisons, load, verdicts

SHIPPED = Path(__file__).parents[3] / "config" / "claims.yaml"
KEYS = {
    "access",
    "strategy",
    "models",
    "score",
    "true_epsilon",
    "draw",
    "population",
    "size",
    "side",
    "corrected",
    "fpr",
    "dataset",
    # of the study of attacks
    *("source", "arm", "model", "records", "threat", "attack", "poison", "ablation", "value"),
    # of the study of private in-context learning
    *("task", "approach", "epsilon", "noise"),
    # of the study of fine-tuned in-context models
    *("by", "category", "check", "context", "epoch", "labels", "learning_rate", "of", "outcome", "peak", "queries"),
    *("regime", "rule", "runs", "signal", "stage"),
    # of the study of the learned attack on language models
    *("role", "family", "tuning", "classifier", "combinations", "samples", "features", "control"),
    # of the study of prediction
    *("case", "truth", "rule", "predictor", "tau", "profile", "cells", "epoch", "layer", "threshold", "way", "with"),
    *("rate", "separation", "density"),
}


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


def test_a_share_of_comparisons_may_be_enough_where_the_claim_says_so():
    rows = (*both(0.5, 0.4, fpr=0.1), *both(0.2, 0.2, fpr=0.01))
    assert verdict(claim(), *rows)["verdict"] == "not testable at this scale"
    assert verdict(claim(share=0.5), *rows)["verdict"] == "reproduced"


def test_a_paired_difference_decides_over_overlapping_intervals():
    paired = claim(difference={"metric": "tpr_difference", "where": {"strategy": "naive-pp"}})
    rows = both(0.5, 0.45, half=0.1)
    assert verdict(paired, *rows)["verdict"] == "not testable at this scale"
    difference = row("tpr_difference", 0.05, 0.01, strategy="naive-pp")
    assert verdict(paired, *rows, difference)["verdict"] == "reproduced"
    against = row("tpr_difference", -0.05, 0.01, strategy="naive-pp")
    assert "1 show the opposite" in verdict(paired, *rows, against)["reason"]


def test_too_small_a_scale_or_no_rows_or_no_interval_is_not_testable():
    rows = both(0.5, 0.4, models=64)
    assert verdict(claim(needs={"models": 256}), *rows)["verdict"] == "not testable at this scale"
    assert "models >= 256" in verdict(claim(needs={"models": 256}), *rows)["reason"]
    assert verdict(claim(where={"access": "oracle"}), *rows)["verdict"] == "not testable at this scale"
    assert verdict(claim(), *both(0.5, 0.4, half=np.nan))["reason"] == "the rows have no interval"


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
    narrows = claim("decreases", left={"metric": "tpr", "quantity": "width"}, right=None, along="models")
    rows = [row("tpr", 0.5, half, models=models) for models, half in ((16, 0.2), (64, 0.1), (256, 0.05))]
    assert verdict(narrows, *rows)["verdict"] == "reproduced"


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("relation: bigger", "x, relation"),
        ("relation: greater\n  colour: red", "x, colour"),
        ("relation: increases", "along"),
        ("relation: greater\n  right: {value: 1, key: fpr}", "either value or key"),
    ],
)
def test_a_wrong_claim_is_named_with_its_key(tmp_path, change, message):
    path = tmp_path / "claims.yaml"
    right = "" if "right" in change else "  right: {value: 1}\n"
    path.write_text(
        "- id: x\n  paper: p\n  place: q\n  text: t\n  study: lira\n  left: {metric: tpr}\n" + right + f"  {change}\n"
    )
    with pytest.raises(AuditError, match=message):
        load(path)


def test_an_id_given_twice_is_refused(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(SHIPPED.read_text() * 2)
    with pytest.raises(AuditError, match="stands twice"):
        load(path)


def test_shipped_claims_select_by_keys_that_results_have():
    for one in load(SHIPPED):
        sides = [side for side in (one.left, one.right, one.difference) if hasattr(side, "where")]
        used = set(one.where).union(*(side.where for side in sides), {one.along} - {None})
        assert used <= KEYS, one.id


def test_shipped_claims_without_results_are_not_testable_and_each_has_a_reason():
    table = verdicts(load(SHIPPED), tidy.frame([row("tpr", 0.5, dataset="wine")]))
    assert (table["verdict"] == "not testable at this scale").all()
    assert table["reason"].str.len().min() > 0

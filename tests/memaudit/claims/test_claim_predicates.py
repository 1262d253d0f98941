"""The language of claims: a wrong claim is named with its key, and shipped claims select by keys that results have."""

from pathlib import Path

import pytest

from memaudit.claims.claim_predicates import Claim, Condition, load
from memaudit.common.errors import AuditError

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
    *(
        "case",
        "truth",
        "rule",
        "predictor",
        "tau",
        "profile",
        "cells",
        "epoch",
        "layer",
        "threshold",
        "judged",
        "way",
        "with",
    ),
    *("rate", "separation", "density"),
    # of differences and ratios: what is subtracted from what
    *("less", "between", "nonmembers"),
}


BASE = {"id": "x", "paper": "p", "place": "q", "text": "t", "study": "lira", "relation": "greater"}
WIDTH = {"metric": "tpr", "quantity": "width"}


@pytest.mark.parametrize(
    "sides", [{"left": WIDTH, "right": WIDTH}, {"relation": "decreases", "left": WIDTH, "along": "m"}]
)
def test_a_width_needs_a_margin_since_it_has_no_interval(sides):
    with pytest.raises(ValueError, match="give a tolerance as its margin"):
        Claim.model_validate(BASE | sides)
    assert Claim.model_validate(BASE | sides | {"tolerance": 0.2, "relative": True}).tolerance == 0.2


def test_a_control_belongs_to_an_upper_bound():
    sides = {"left": {"metric": "epsilon"}, "right": {"value": 1}, "control": {"metric": "epsilon"}}
    with pytest.raises(ValueError, match="belongs to the relation at_most"):
        Claim.model_validate(BASE | sides)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relation": "close", "tolerance": 0.1}, "belongs to greater and less"),
        ({"relation": "greater", "relative": True}, "belongs to greater and less"),
        ({"relation": "greater", "tolerance": 0.1}, "larger than `tolerance`"),
    ],
)
def test_an_effect_belongs_to_a_sentence_that_something_is_larger(changes, message):
    sides = {"left": {"metric": "auc"}, "right": {"value": 0.5}, "effect": 0.1}
    with pytest.raises(ValueError, match=message):
        Claim.model_validate(BASE | sides | changes)
    assert Claim.model_validate(BASE | sides | {"relation": "less"}).effect == 0.1


def test_a_printed_number_with_which_nothing_would_agree_is_refused():
    sides = {"left": {"metric": "auc difference"}, "right": {"value": 0}}
    number = {"value": 0.019, "tolerance": 0.03}
    with pytest.raises(ValueError, match=r"a result of 0 would agree with 0\.019: give a smaller tolerance"):
        Claim.model_validate(BASE | sides | {"numbers": [number]})
    assert Claim.model_validate(BASE | sides | {"numbers": [number | {"tolerance": 0.01}]}).numbers


def test_keys_of_a_condition_are_some_of_those_of_the_claim():
    sides = {"left": {"metric": "auc"}, "right": {"value": 0.5}, "relation": "greater", "by": ["dataset", "epsilon"]}
    leak, useful = {"metric": "auc", "by": "dataset"}, {"metric": "accuracy"}
    assert Claim.model_validate(BASE | sides | {"provided": [leak, useful]}).provided[0].by == ["dataset"]
    for provided in ([], leak):
        with pytest.raises(ValueError, match="for which values of all its keys"):
            Claim.model_validate(BASE | sides | {"provided": provided})
    with pytest.raises(ValueError, match="not among the claim's `by`"):
        Claim.model_validate(BASE | sides | {"provided": [leak | {"by": "arm"}, useful]})


def test_a_condition_is_of_an_interval_or_of_a_decision():
    with pytest.raises(ValueError, match="give either near or at_least"):
        Condition(metric="auc", near=0.1, at_least=1)
    assert [Condition(metric="auc", **one).place for one in ({}, {"near": 0.1}, {"at_least": 1})] == [
        "above chance", "near its nominal value", "1",
    ]  # fmt: skip


def test_room_is_that_of_an_effect():
    sides = {"left": {"metric": "auc difference"}, "right": {"value": 0}, "room": {"metric": "auc"}}
    with pytest.raises(ValueError, match="`room` is for an `effect`"):
        Claim.model_validate(BASE | sides)
    assert Claim.model_validate(BASE | sides | {"effect": 0.1}).room


def test_what_an_interval_depends_on_follows_from_the_study():
    sides = {"left": {"metric": "auc"}, "right": {"value": 1}}
    assert Claim.model_validate(BASE | sides).resampled == "shadow models and records"
    assert Claim.model_validate(BASE | sides | {"units": "runs"}).resampled == "runs"


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
        sides = [
            one.left,
            one.right,
            one.difference,
            one.control,
            one.room,
            one.covers,
            one.unlike,
            *(number.of for number in one.numbers),
        ]
        sides = [side for side in sides if hasattr(side, "where")]
        used = set(one.where).union(*(side.where for side in sides), {one.along} - {None})
        assert used <= KEYS, one.id

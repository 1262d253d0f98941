"""The page of an audit of predictions says what its summary permits, and escapes names of columns."""

import pytest
from audit_examples import HOSTILE
from prediction_examples import ACCUSED, FILES, control, scores

from memaudit.auditing.prediction_page import of_hundred, render, sentences
from memaudit.auditing.prediction_summary import FileCounts, Number, PredictionSummary, judged

FACTS = {"names": [HOSTILE, "n.csv"], "types": {HOSTILE: "numeric"}, "left_out": {"note": "free text"}}


def a_summary(files=FILES, **options):
    return judged(PredictionSummary(verdict="invalid", files=FileCounts(**files), fpr=0.01, **scores(**options)))


def page(**options):
    return " ".join(render(a_summary(**options), FACTS, {"seed": 0}).split())


CASES = {
    "beyond": ({}, "better than the controls do, which cannot see memory."),
    "shift beside": (
        {"controls": [control("blind", 0.1, detected=True)]},
        "the blind attack also detected a difference",
    ),
    "unclear": (
        {"controls": [control("blind", 0.01), control("stand-in", 0.2)]},
        "this audit cannot tell memory from shift.</strong> A member ranks above a non-member in 70 [65, 75] of 100",
    ),
    "nothing": ({"detected": False}, "No difference between members and non-members was detected"),
    "invalid": ({"splits": 4}, "This audit is invalid: the attack detected a difference in 4 of 5 random splits"),
    "lookup": ({"lookup": False}, "the attack did not detect a planted model"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_says_what_was_found(case):
    options, said = CASES[case]
    text = page(**options)
    assert said in text
    assert "600 members and 497 non-members this audit detects an AUC of 0.580" in text
    assert HOSTILE not in text
    assert "Non-members must be what members would be" in text


def test_accusations_without_a_false_one_have_an_interval_alone():
    text = page(accusations=ACCUSED)
    assert "<strong>[40, 100]</strong> of 100 accused are in the data, if 10 of 100 candidates are" in text
    assert "It accused 60 of 600 members and 0 of 497 non-members. The share" in text
    assert "No non-member was accused" in text


def test_too_few_non_members_give_no_precision():
    assert "at least 400 are needed, there are 497" in page()


def test_references_are_a_control_and_their_lack_is_said():
    assert "<code>--reference</code>" in page()
    text = page(files=FILES | {"references": 2}, controls=[control("blind", 0.2), control("references", 0.2)])
    assert "the loss of 2 given models that, as you state, saw neither file" in text
    assert "<code>--reference</code>" not in text


def test_without_features_and_references_shift_is_not_excluded():
    text = page(files=FILES | {"features": 0}, controls=[control("blind", 0.2)])
    assert "The files have no features to compare, and there are no reference models" in text


def test_numbers_for_readers():
    assert of_hundred(Number(estimate=0.714, low=0.65, high=0.77)) == "71 [65, 77]"
    assert of_hundred(Number(estimate=None, low=0.65, high=1)) == "[65, 100]"
    assert of_hundred(Number(estimate=0.7, low=None, high=None)) == "-"
    assert sentences(a_summary().model_copy(update={"smallest_auc": None}))[-1].endswith("with probability 0.8.")

"""What an audit of files of predictions says, and the smallest leaks that it would have detected."""

import pytest
from prediction_examples import ACCUSED, FILES, scores

from memaudit.auditing.predictions import prediction_sentences as words
from memaudit.auditing.predictions.prediction_summary import FileCounts, Number, PredictionSummary, judged


def a_summary(**options):
    return judged(PredictionSummary(verdict="invalid", files=FileCounts(**FILES), fpr=0.01, **scores(**options)))


def test_shares_are_of_a_hundred():
    assert words.of_hundred(Number(estimate=0.714, low=0.65, high=0.77)) == "71 [65, 77]"
    assert words.of_hundred(Number(estimate=None, low=0.65, high=1)) == "[65, 100]"
    assert words.of_hundred(Number(estimate=0.7, low=None, high=None)) == "-"


def test_power_is_said():
    summary = a_summary(accusations=ACCUSED)
    assert "detects an AUC of 0.580" in words.smallest_auc(summary)
    assert "detects with probability 0.8 that 3.3 of 100 members are accused" in words.smallest_tpr(summary)
    assert "no AUC would" in words.smallest_auc(summary.model_copy(update={"smallest_auc": None}))
    assert "no share" in words.smallest_tpr(a_summary())


def test_the_smallest_difference_is_beside_none_alone():
    assert not [one for one in words.sentences(a_summary()) if "probability 0.8" in one]
    assert "detects an AUC of 0.580" in words.sentences(a_summary(detected=False))[-1]


@pytest.mark.parametrize("options", [{}, {"detected": False}, {"splits": 4}, {"lookup": False}])
def test_an_invalid_audit_has_its_reason_and_every_verdict_its_advice(options):
    summary = a_summary(**options)
    assert bool(words.invalid(summary)) == (summary.verdict == "invalid")
    assert words.advice(summary)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (False, "limit who may query it, or publish labels alone: by whether answers are right no difference was"),
        (True, "limit who may query it; labels alone leak, too: whether an answer is right has an AUC of 0.60 ["),
    ],
)
def test_labels_alone_are_a_remedy_only_where_they_are_not_shown_to_leak(labels, said):
    assert said in words.advice(a_summary(labels=labels))

"""Pictures of an audit of predictions say what their numbers are about."""

from prediction_examples import ACCUSED, FILES, RIGHT, scores

from memaudit.auditing.predictions.prediction_pictures import pictures
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged


def drawn(**options):
    found = PredictionSummary(verdict="invalid", files=FileCounts(**FILES), fpr=0.01, **scores(**options))
    return pictures(judged(found))


def test_captions_speak_of_files_and_not_of_contexts():
    found = drawn(accusations=RIGHT)
    captions = [one.caption for one in (*found["people"], found["roc"], found["histogram"])]
    assert all(captions)
    assert not [one for one in captions if "context" in one or "without a leak" in one.lower() or "{" in one]
    assert "Without a difference between the files the line" in found["roc"].caption
    assert "Where 1 % are accused wrongly, 10.0 [8.0, 12.0] % are identified" in found["roc"].caption


def test_without_a_threshold_the_histogram_has_none():
    assert "accused" not in drawn()["histogram"].drawing
    assert "accused" in drawn(accusations=RIGHT)["histogram"].drawing


def test_a_share_without_an_estimate_has_its_reason():
    (one,) = drawn(accusations=ACCUSED)["people"]
    assert one.drawing is None
    assert one.reason.startswith("no non-member was accused")

"""Tidy results become questions with their adversaries and controls."""

from dataclasses import replace

from memaudit.auditing.summaries import summarize_inference
from memaudit.common import tidy
from memaudit.statistics.attack_performance import Estimate, rows

METRICS = ("members", "non-members", "without model", "gain", "accuracy excess", "probability excess")


def test_numbers_and_names_are_looked_up():
    keys, estimates = (
        {"dataset": "table", "question": "c0"},
        [Estimate(one, 0.3, 0.2, 0.4, 64, "", 0.1) for one in METRICS],
    )
    estimates[4] = replace(estimates[4], p_value=0.03, detected=True)
    results = [*rows("audit", keys | {"adversary": "calibrated"}, estimates)]
    results += [tidy.row("audit", keys, "answers", 4, n=8)]
    looked_up = [replace(one, metric=f"lookup {one.metric}") for one in estimates[-2:]]
    results += rows("audit", keys | {"adversary": "calibrated", "planted": "lookup"}, looked_up)
    planted = {"dataset": "table", "planted": "innocent"}
    results += [tidy.row("audit", planted, "found", 1, n=4), tidy.row("audit", planted, "check failed", 0, n=4)]
    found = summarize_inference.inference(tidy.frame(results), {"c0": "wage"})
    (wage,) = found.questions
    assert (wage.column, wage.answers, wage.targets, found.contexts) == ("wage", 4, 8, 8)
    assert wage.adversaries[0].detected
    assert wage.adversaries[0].gain.detected is None
    assert wage.lookup.detected
    assert wage.adversaries[0].lookup_found
    assert (found.innocents, found.innocents_found, found.failed()) == (4, 1, False)
    assert wage.adversaries[0].members.null == 0.1
    (halves,) = summarize_inference.inference(tidy.frame(results), {}).questions
    assert halves.column is None
    assert halves.adversaries[0].members.null == 0.25  # a guess among four, not the place that was most frequent
    assert halves.adversaries[0].excess.null == 0.1

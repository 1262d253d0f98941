"""Tidy results become the parts of the summary."""

import math

import pandas as pd

from memaudit.auditing.summaries import summarize_results
from memaudit.common import tidy


def result(keys, metric, estimate, low=0.0, high=1.0):
    return tidy.row("tabpate", keys, metric, estimate, low=low, high=high, null=0.5)


def test_private_contexts_are_listed_beside_the_records_themselves():
    arms = [("non_private", math.inf), ("dp_tabicl", 1.0), ("class_moments", 10.0), ("class_moments", 1.0)]
    accuracies = [result({"arm": arm, "epsilon": epsilon}, "balanced accuracy", 0.8) for arm, epsilon in arms]
    accuracies.append(result({"arm": "aim", "epsilon": 1.0}, "balanced accuracy", 0.7))
    difference = {"arm": "class_moments - non_private", "epsilon": 1.0}
    accuracies.append(result(difference, "balanced accuracy difference", -0.05))
    attacked = {"arm": "class_moments", "epsilon": 1.0, "attack": "lira"}
    attack = [
        result(attacked | {"records": "members"}, "auc", 0.51),
        result(attacked | {"records": "members"}, "auc detected", 0.0),
        result(attacked | {"records": "placebo"}, "auc", 0.99),
        result(attacked | {"attack": "loss", "records": "members"}, "auc", 0.98),
    ]
    contexts = summarize_results.private_contexts(tidy.frame(accuracies), tidy.frame(attack))
    assert [(one.method, one.epsilon) for one in contexts] == [
        ("class_moments", 1.0),
        ("class_moments", 10.0),
        ("dp_tabicl", 1.0),
        ("non_private", None),
    ]
    strict = contexts[0]
    assert strict.balanced_accuracy_difference.estimate == -0.05
    assert (strict.auc.estimate, strict.auc.detected) == (0.51, False)
    assert contexts[1].auc is contexts[1].balanced_accuracy_difference is None


def test_probes_of_fine_tuned_models_use_the_loss_of_queried_records():
    keys = {"arm": "lr_1e_3", "epoch": 10, "records": "query", "signal": "loss"}
    results = [
        result(keys, "auc", 0.6),
        result(keys | {"signal": "in-context loss"}, "auc", 0.7),
        result(keys | {"signal": "margin"}, "auc", 0.99),
        result(keys | {"records": "context"}, "auc", 0.98),
        result(keys | {"arm": "placebo"}, "auc", 0.5),
        result(keys | {"arm": "placebo", "signal": "in-context loss"}, "auc", 0.55),
    ]
    tests = [result({"arm": "lr_1e_3", "epoch": 10, "signal": "loss"}, "auc detected", 1.0)]
    tuned, placebo = summarize_results.tuned(tidy.frame(results), tidy.frame(tests))
    assert (tuned.epoch, tuned.placebo, tuned.auc.estimate, tuned.auc.detected) == (10, False, 0.6, True)
    assert tuned.auc_in_context.estimate == 0.7
    assert (placebo.placebo, placebo.auc.detected, placebo.auc_in_context.estimate) == (True, None, 0.55)


def test_an_attack_is_found_with_its_precision_at_each_base_rate():
    keys = {"model": "main", "threat": "probabilities passive", "attack": "lira", "poison": 0, "records": "members"}
    rows = [tidy.row("audit", keys, metric, value, n=64) for metric, value in {"auc": 0.7, "auc detected": 1.0}.items()]
    rows += [tidy.row("audit", keys, "tpr@0.01", 0.1, n=64), tidy.row("audit", keys, "queries", 1.0, n=64)]
    rows.append(tidy.row("audit", keys | {"base rate": 0.1}, "precision", 0.5, n=64))
    (one,) = summarize_results.adversaries(tidy.frame(rows))
    assert (one.attack, one.poison, one.cells, one.queries) == ("lira", 0, 64, 1.0)
    assert (one.auc.estimate, one.auc.detected, one.auc.low) == (0.7, True, None)
    assert list(one.tpr) == ["0.01"]
    assert one.precision["0.1"].estimate == 0.5


def test_agreement_on_the_list_comes_with_its_test_and_extrapolation():
    keys = {"dataset": "wine", "model": "main"}
    names = ["spearman", "overlap_listed", "overlap_listed extrapolated", "overlap_listed detected"]
    found = summarize_results.stability(tidy.frame([tidy.row("audit", keys, name, 0.4) for name in names]))
    assert list(found) == names[:3]
    assert found["overlap_listed"].detected
    assert found["spearman"].detected is None


def test_calibration_errors_are_looked_up_by_kind():
    errors = {"lira": 0.1, "calibrated": 0.01}
    rows = [tidy.row("audit", {"posterior": kind}, "calibration error", error) for kind, error in errors.items()]
    found = summarize_results.calibration(tidy.frame(rows))
    assert {kind: one.estimate for kind, one in found.items()} == errors


def test_the_most_vulnerable_records_come_with_their_posteriors():
    risk = pd.DataFrame(
        {"row": [7, 3], "id": ["a", "b"], "vulnerability": [2.0, 1.0], "low": [1.0, None], "high": [3.0, None]}
    )
    risk = risk.assign(shows=[True, False], **{"posterior_0.1": [0.4, 0.2]})
    (one,) = summarize_results.exposed(risk, 1)
    assert (one.row, one.vulnerability.estimate, one.posteriors, one.shows) == (7, 2.0, {"0.1": 0.4}, True)
    assert summarize_results.exposed(risk, 2)[1].vulnerability.low is None

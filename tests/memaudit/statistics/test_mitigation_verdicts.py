"""Verdicts on mitigations, both ways, and how often a useless one is advised."""

import numpy as np
import pytest
from audit_examples import mitigation, value

from memaudit.statistics.mitigation_verdicts import CHEAP, Verdict, has_intervals, holm, simultaneous, verdicts


def verdict(strict_leak=True, **how):
    (found,) = verdicts([mitigation(**how)], strict_leak)
    return found


def test_a_mitigation_is_advised_if_auc_tpr_and_cost_all_hold():
    assert verdict().advised
    assert verdict().verdict == "lowers the leak at little cost"
    for how, words in {
        "auc": ((-0.1, -0.3, 0.01), "the AUC is not shown to fall"),
        "tpr": ((-0.01, -0.03, 0.0), "the share identified at the strict threshold is not shown to fall"),
        "cost": ((0.0, -0.03, 0.03), "may cost more than 2 points of balanced accuracy"),
    }.items():
        found = verdict(**{how: words[0]})
        assert (found.advised, found.verdict) == (False, words[1])
    assert verdict(auc=(0.1, 0.05, 0.15)).verdict == "raises the AUC"
    assert verdict(tpr=(0.1, 0.05, 0.15)).verdict == "raises the share identified at the strict threshold"
    assert verdict(cost=(-0.1, -0.15, -0.05)).verdict == "costs more than 2 points of balanced accuracy"


def test_a_fall_of_the_auc_is_told_for_every_attack_as_the_verdict_judges_it():
    attacks = ("strongest", "strongest labels", "white-box")
    for change, lower in (((-0.1, -0.15, -0.05), True), ((-0.003, -0.008, -0.001), False), ((0.1, 0.05, 0.2), False)):
        found = verdicts([mitigation(attack=name, auc=change) for name in attacks], strict_leak=True)
        assert [one.auc_falls for one in found] == [lower] * 3
    assert not verdict(reason="too few records").auc_falls


def test_changes_that_are_0_as_printed_have_one_verdict():
    for change in ((0.003, 0.001, 0.004), (0.0, -0.001, 0.001), (-0.003, -0.004, -0.001), (0.01, 0.004, 0.02)):
        assert verdict(auc=change).verdict == "the AUC is not shown to fall"
        assert not verdict(auc=change).advised
    for change in ((0.0003, 0.0001, 0.0004), (-0.0003, -0.0004, -0.0001)):
        assert verdict(tpr=change).verdict == "the share identified at the strict threshold is not shown to fall"
    labels, copies = (
        mitigation("labels only", attack=name, auc=auc)
        for name, auc in {"strongest": (-0.1, -0.15, -0.05), "perturbation": (0.003, 0.001, 0.004)}.items()
    )
    assert verdicts([labels, copies], strict_leak=True)[0].advised


def test_the_strict_threshold_decides_only_where_a_leak_is_detected_there():
    flat = (-0.01, -0.03, 0.02)
    assert verdict(strict_leak=False, tpr=flat).advised
    assert not verdict(strict_leak=True, tpr=flat).advised


def test_the_estimate_of_the_cost_does_not_decide():
    assert not verdict(cost=(CHEAP + 0.01, CHEAP - 0.01, CHEAP + 0.03)).advised
    assert verdict(cost=(0.0, 0.0, 0.0)).advised


def test_labels_alone_are_not_dropped_for_noisy_copies_that_cannot_tell():
    labels = mitigation("labels only", auc=(-0.075, -0.1, -0.05), cost=(0.0, 0.0, 0.0))
    for change, advised in {(-0.1, -0.3, 0.1): True, (0.1, 0.05, 0.2): False}.items():
        copies = mitigation("labels only", auc=change, attack="strongest labels")
        found, own = verdicts([labels, copies], strict_leak=True)
        assert found.advised == advised
        assert ("many queries undo it" in found.verdict) != advised
        assert own == Verdict()


def test_a_mitigation_that_was_not_tested_says_why_and_does_not_count():
    missing, good = verdicts([mitigation("context 50", reason="too few"), mitigation()], strict_leak=True)
    assert (missing.verdict, missing.advised, missing.p_value) == ("not tested: too few", False, None)
    assert good.p_value == verdicts([mitigation()], strict_leak=True)[0].p_value
    gone = mitigation().model_copy(update={"auc_difference": value(-0.1, None, None)})
    assert not has_intervals(gone)
    assert "not tested: too few people" in verdicts([gone], strict_leak=True)[0].verdict


def test_references_have_no_verdict():
    none, random = verdicts([mitigation("none"), mitigation("layer random")], strict_leak=True)
    assert none.verdict == random.verdict == ""
    assert not none.advised
    assert not random.advised


def test_holm_corrects_for_the_best_of_several():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({}) == {}
    barely = mitigation("barely", auc=(-0.1, -0.194, -0.006))
    assert verdicts([barely], strict_leak=True)[0].advised
    others = [mitigation(f"bags {n}", auc=(0.0, -0.1, 0.1)) for n in range(5)]
    found = verdicts([barely, *others], strict_leak=True)[0]
    assert (found.advised, found.verdict) == (False, "not beyond chance for the best of 6 mitigations")


def test_the_interval_of_the_best_of_several_is_wider():
    low, high = simultaneous(value(-0.1, -0.2, -0.05), 1)
    assert (low, high) == pytest.approx((-0.2, -0.05))
    low, high = simultaneous(value(-0.1, -0.2, -0.05), 6)
    assert low < -0.2
    assert high > -0.05


def test_useless_mitigations_are_rarely_advised():
    """Five mitigations without an effect on the AUC, at no cost: at most .05 of the audits advise one."""
    rng, advised = np.random.default_rng(0), 0
    for _ in range(1000):
        errors = rng.normal(0, 0.02, 5)
        found = [mitigation(f"bags {n}", auc=(e, e - 0.0392, e + 0.0392)) for n, e in enumerate(errors)]
        advised += any(one.advised for one in verdicts(found, strict_leak=True))
    assert advised / 1000 <= 0.06

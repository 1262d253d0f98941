"""Every attack of the registry has a status, and each reason follows from the options and the model."""

import pytest
from audit_examples import a_summary, adversary, inferred, seen_inside

from memaudit.attacks.registry import REGISTRY, of_one_query
from memaudit.auditing.findings.attack_inventory import ELSEWHERE, Audited, inventory

BOTH = ("labels", "probabilities")


def audited(threats=BOTH, family="tabicl", classes=2, infers=False):
    return Audited(threats, family, classes, infers)


def status(summary, label, threats=BOTH, **model):
    (found,) = [one for one in inventory(summary, audited(threats, **model)) if one.attack.startswith(f"{label} (")]
    return found.status, found.reason


def with_headline(summary, **update):
    changed = [one.model_copy(update=update) for one in summary.adversaries]
    return summary.model_copy(update={"adversaries": changed})


def test_every_attack_is_listed_once_and_those_that_were_run_come_first():
    found = inventory(a_summary(), audited())
    assert len({one.attack for one in found}) == len(found) == len(REGISTRY) + len(ELSEWHERE) + 3
    ran = [one.status == "run" for one in found]
    assert ran == sorted(ran, reverse=True)
    assert all((one.status == "run") == (not one.reason) for one in found)


def test_an_attack_that_only_a_control_had_was_not_run():
    summary = a_summary()
    summary = summary.model_copy(update={"adversaries": [*summary.adversaries, adversary("companions", attack="rmia")]})
    assert status(summary, "LiRA")[0] == "run"
    assert status(summary, "RMIA")[0] == "left out"


def test_what_the_threats_exclude_was_not_permitted():
    summary = a_summary()
    assert status(summary, "Brainwash") == (
        "not permitted",
        "the threat poison was not chosen: the adversary adds no rows to the context",
    )
    assert status(summary, "Brainwash", [*BOTH, "poison"])[0] == "left out"
    assert status(summary, "Perturbation", ["probabilities"])[0] == "not permitted"
    labels = with_headline(summary, threat="label-only passive", attack="lira correctness")
    labels.adversaries[0].attack = "strongest"
    assert status(labels, "RMIA", ["labels"]) == (
        "not permitted",
        "the threat is labels alone: the adversary reads no probabilities",
    )


def test_what_the_model_cannot_answer_is_not_possible():
    assert status(a_summary(), "Absolute error")[0] == "not possible"
    table = a_summary().table.model_copy(update={"kind": "regression"})
    numbers = a_summary().model_copy(update={"table": table})
    assert status(numbers, "Entropy") == (
        "not possible",
        "needs a model that predicts classes; this one predicts numbers",
    )
    assert status(numbers, "Memorization by fine-tuning")[0] == "not possible"


ATTENTION = ("Attention, uncalibrated", "LiRA on attention", "Attention, LiRA and RMIA combined")
INSIDE = (*BOTH, "white-box")


@pytest.mark.parametrize("label", ATTENTION)
def test_attention_is_read_where_the_user_permits_it_and_the_model_has_it(label):
    forbidden = "the threat white-box was not chosen: the adversary does not see inside the model"
    assert status(a_summary(), label) == ("not permitted", forbidden)
    quick = a_summary().model_copy(update={"stage": "quick"})
    assert status(quick, label) == ("not permitted", forbidden)
    assert status(quick, label, INSIDE) == ("left out", "for time: this page holds the first numbers alone")
    assert status(a_summary(), label, INSIDE) == (
        "left out",
        "has no results: the stage that runs it is not finished",
    )
    for threats in (BOTH, INSIDE):
        assert status(a_summary(), label, threats, family="estimator") == (
            "not possible",
            "needs attention on the context, as of TabICL and TabPFN; this model is of the family estimator",
        )
        assert status(a_summary(), label, threats, classes=40) == (
            "not possible",
            "needs at most 10 classes, the target has 40",
        )


def test_attention_that_was_read_was_run():
    assert status(seen_inside(a_summary()), ATTENTION[0], INSIDE) == ("run", "")


def test_every_reason_is_one_of_the_model_the_options_or_the_stage():
    """No attack of the registry falls through to a reason that does not hold."""
    for stage in ("quick", "full"):
        summary = a_summary().model_copy(update={"stage": stage})
        ran = [adversary(attack=name) for name in of_one_query("probabilities")]
        summary = summary.model_copy(update={"adversaries": [*summary.adversaries, *ran]})
        reasons = {one.reason for one in inventory(summary, audited())}
        assert not any("stage that runs it" in reason for reason in reasons)


def test_the_first_numbers_leave_many_queries_out_for_time():
    quick = a_summary().model_copy(update={"stage": "quick"})
    assert "for time" in status(quick, "Perturbation")[1]


def test_optional_studies_are_run_where_they_have_results():
    assert status(a_summary(memory=(0.7, 0.6, 0.8)), "Memorization by fine-tuning")[0] == "run"
    assert status(a_summary(), "Memorization by fine-tuning")[0] == "left out"
    assert status(a_summary(), "Attribute inference")[0] == "left out"


def test_inference_that_was_requested_is_not_said_to_be_missing_from_the_options():
    reasons = {"quick": "for time: this page holds the first numbers alone", "full": "has no results: the stage"}
    for stage, reason in reasons.items():
        summary = a_summary().model_copy(update={"stage": stage})
        asked = inventory(summary, audited((*BOTH, "linkability"), infers=True))
        for name in ("Attribute inference", "Linking two halves"):
            assert next(one for one in asked if one.attack.startswith(name)).reason.startswith(reason)
        plain = [one.reason for one in inventory(summary, audited())]
        unchosen = {"no column was named to be inferred (setting infer)", "the threat linkability was not chosen"}
        assert unchosen <= set(plain)


def test_inference_and_linking_were_run_where_they_have_results():
    for name, option in (("Attribute inference", "setting infer"), ("Linking two halves", "threat linkability")):
        (plain,) = [one for one in inventory(a_summary(), audited()) if one.attack.startswith(name)]
        assert plain.status == "left out"
        assert option in plain.reason
        (asked,) = [one for one in inventory(inferred(a_summary()), audited()) if one.attack.startswith(name)]
        assert asked.status == "run"

"""Every attack of the registry has a status, and each reason follows from the options and the model."""

from audit_examples import a_summary, adversary, inferred

from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.attack_inventory import ELSEWHERE, inventory

BOTH = ("labels", "probabilities")


def status(summary, label, threats=BOTH):
    (found,) = [one for one in inventory(summary, threats) if one.attack.startswith(f"{label} (")]
    return found.status, found.reason


def with_headline(summary, **update):
    changed = [one.model_copy(update=update) for one in summary.adversaries]
    return summary.model_copy(update={"adversaries": changed})


def test_every_attack_is_listed_once_and_those_that_were_run_come_first():
    found = inventory(a_summary(), BOTH)
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
        "--threats poison was not given: the adversary adds no rows to the context",
    )
    assert status(summary, "Brainwash", [*BOTH, "poison"])[0] == "left out"
    assert status(summary, "Perturbation", ["probabilities"])[0] == "not permitted"
    labels = with_headline(summary, threat="label-only passive", attack="lira correctness")
    labels.adversaries[0].attack = "strongest"
    assert status(labels, "RMIA", ["labels"]) == (
        "not permitted",
        "--threats labels: the adversary reads no probabilities",
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


def test_the_first_numbers_leave_many_queries_out_for_time():
    quick = a_summary().model_copy(update={"stage": "quick"})
    assert "for time" in status(quick, "Perturbation")[1]


def test_optional_studies_are_run_where_they_have_results():
    assert status(a_summary(memory=(0.7, 0.6, 0.8)), "Memorization by fine-tuning")[0] == "run"
    assert status(a_summary(), "Memorization by fine-tuning")[0] == "left out"
    assert status(a_summary(), "Attribute inference")[0] == "left out"


def test_inference_and_linking_were_run_where_they_have_results():
    for name, option in (("Attribute inference", "--infer"), ("Linking two halves of a record by the answers", "")):
        (plain,) = [one for one in inventory(a_summary(), BOTH) if one.attack.startswith(name)]
        assert plain.status == "left out"
        assert option in plain.reason
        (asked,) = [one for one in inventory(inferred(a_summary()), BOTH) if one.attack.startswith(name)]
        assert asked.status == "run"

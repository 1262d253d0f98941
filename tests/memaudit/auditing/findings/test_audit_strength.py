"""Sentences on the strength of an audit, on the page, on the screen and in the exit code."""

import pytest
from audit_examples import FACTS, STRENGTH, a_summary, annex, controlled, many_queries, seen_inside, value

from memaudit.auditing import command_line, failure_limits, runner
from memaudit.auditing.findings import audit_strength, recommendations, white_box_findings
from memaudit.auditing.page import audit_page
from memaudit.auditing.summaries.summary import Measured


def with_strength(leak=True, **update):
    return a_summary(leak=leak).model_copy(update={"strength": STRENGTH.model_copy(update=update)})


MISSED = {"lookup": value(0.55, 0.48, 0.62, detected=False)}
LEAKING = {"innocents": 4, "innocents_found": 3, "innocent_failed": True}


def words(html):
    return " ".join(html.split())


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        (MISSED, "the attack did not detect a planted model that looks its records up"),
        (LEAKING, "the attack detected a leak in 3 of 4 planted models without one"),
    ],
)
def test_a_failed_check_makes_the_audit_invalid_on_page_screen_and_exit(update, reason, monkeypatch, tmp_path, capsys):
    summary = with_strength(**update)
    html = words(audit_page.render(summary, FACTS, annex()))
    assert html.index(f"This audit is invalid: {reason}. Do not use its numbers.") < html.index("Records rated")
    monkeypatch.setattr(runner, "run", lambda request, settings, report: report("quick", summary.model_dump()))
    assert command_line.main(["audit", "t.csv", "--target", "y", "--into", str(tmp_path)]) == failure_limits.INVALID
    assert f"invalid, because {reason}; do not use these numbers" in capsys.readouterr().out


def test_a_valid_audit_exits_with_0(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "run", lambda request, settings, report: report("quick", a_summary().model_dump()))
    assert command_line.main(["audit", "t.csv", "--target", "y", "--into", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"lookup": False}, "does not detect a planted model that looks its records up (AUC 0.55)"),
        ({"leaking": True}, "detects a leak in 3 of 3 planted models without one"),
    ],
)
def test_an_attack_whose_control_fails_is_withdrawn(fault, reason):
    summary = many_queries(a_summary(leak=False), **fault)
    assert not recommendations.leaks(summary)
    html = words(audit_page.render(summary, FACTS, annex()))
    assert f"Withdrawn: “Strongest of the attacks on labels” {reason}; do not use its numbers" in html
    section = html[html.index('<section id="adversaries"') : html.index('<section id="exposed"')]
    assert section.count("<strong>withdrawn</strong>") == 1
    assert audit_strength.faults(summary) == []  # the headline has controls of its own


def test_an_attack_is_withdrawn_by_its_own_control_alone():
    summary = many_queries(many_queries(a_summary(), lookup=False), "boundary")
    labels, boundary = summary.adversaries[-2:]
    assert audit_strength.withdrawn(many_queries(a_summary(), lookup=False), labels)
    assert not audit_strength.withdrawn(summary, boundary)
    assert not audit_strength.withdrawn(summary, summary.headline)


def test_an_attack_whose_controls_hold_is_evidence():
    summary = many_queries(a_summary(leak=False))
    assert recommendations.leaks(summary)
    html = words(audit_page.render(summary, FACTS, annex()))
    assert "Controls of “Strongest of the attacks on labels”: a planted lookup is detected" in html
    assert "withdrawn" not in html.lower()


def test_attention_that_misses_a_planted_lookup_is_withdrawn():
    missed = controlled("white-box", lookup=False, innocents=0)
    summary = seen_inside(a_summary()).model_copy(update={"controls": [missed]})
    assert "does not detect a planted model" in audit_strength.white_box(summary)
    assert not recommendations.attention_leaks(summary)
    assert white_box_findings.findings(summary) == []
    html = words(audit_page.render(summary, FACTS, annex()))
    assert html[html.index('<section id="inside"') :].count("<strong>withdrawn</strong>") == 2


def test_the_smallest_leak_stands_beside_no_leak_on_page_and_screen(capsys):
    summary = with_strength(leak=False)
    sentence = (
        "With 32 contexts and 400 records this audit detects a leak with an AUC of 0.520 with a "
        "probability of at least about 0.8; a "
        "smaller one is more likely to be missed."
    )
    strict = "if they identify 1.9 of 100 members; by chance they identify 1."
    html = words(audit_page.render(summary, FACTS, annex()))
    head = html[html.index('class="headline"') : html.index('class="glance"')]
    assert sentence in head
    assert strict in html[html.index('id="worth"') : html.index('id="strength"')]
    command_line.report("quick", summary.model_dump())
    printed = capsys.readouterr().out
    assert sentence in printed
    assert strict in printed
    leaking = words(audit_page.render(with_strength(), FACTS, annex()))
    assert sentence not in leaking[: leaking.index('id="worth"')]


def test_labels_that_do_not_show_a_lookup_are_no_fault():
    summary = with_strength(**MISSED, smallest_auc=None, auc_effect=None, lookup_changed=0.05)
    labels = [one.model_copy(update={"threat": "label-only passive"}) for one in summary.adversaries]
    summary = summary.model_copy(update={"adversaries": labels})
    assert audit_strength.faults(summary) == []
    assert (
        "gives the same labels in 95 of 100 answers about members without a lookup" in audit_strength.checks(summary)[0]
    )
    assert "no planted effect of any size" in audit_strength.smallest_auc(summary)
    visible = summary.model_copy(update={"strength": summary.strength.model_copy(update={"lookup_changed": 0.5})})
    assert audit_strength.faults(visible) == [audit_strength.LOOKUP]


def test_constant_answers_are_said_to_show_any_difference():
    summary = with_strength(units=None, smallest_auc=None, smallest_tpr=None)
    assert "do not vary between contexts" in audit_strength.smallest_auc(summary)
    html = words(audit_page.render(summary, FACTS, annex()))
    section = html[html.index('<section id="strength"') : html.index('<section id="scores"')]
    assert section.count("do not vary between contexts") == 1


def test_first_numbers_say_that_the_smallest_leak_follows():
    summary = with_strength(units=None, smallest_auc=None, smallest_tpr=None, estimated=False)
    assert audit_strength.smallest_auc(summary) == audit_strength.smallest_tpr(summary) == audit_strength.LATER


def test_the_page_tells_the_leakage_with_many_contexts_and_as_deployed():
    html = words(audit_page.render(a_summary(), FACTS, annex()))
    section = html[html.index('<section id="strength"') : html.index('<section id="scores"')]
    assert "Extrapolated to many shadow contexts this score has an AUC of 0.74 [0.70, 0.78]" in section
    assert "with the 64 contexts here it has 0.70." in section
    assert "taken to hold 500 rows; the headline holds for 200." in section
    assert "Extrapolated from contexts of 50, 100, 200 records, the AUC there is 0.64 [0.58, 0.70]" in section
    assert "many, extrapolated</th>" in section
    assert "500, extrapolated</th>" in section


def test_what_cannot_be_extrapolated_is_said_with_its_reason():
    summary = a_summary()
    none = {"auc": None, "reason": "32 contexts are too few to extrapolate from"}
    one_size = {"measured": summary.deployed.measured[-1:], "auc": None, "reason": "it was measured at fewer sizes"}
    update = {
        "growth": summary.growth.model_copy(update=none),
        "deployed": summary.deployed.model_copy(update=one_size),
    }
    told = summary.model_copy(update=update | {"stage": "quick"})
    assert audit_strength.growth(told).endswith("cannot be extrapolated: 32 contexts are too few to extrapolate from.")
    assert "it was measured at fewer sizes (the first numbers measure one size)." in audit_strength.deployed(told)
    assert "extrapolated</th>" not in audit_page.render(told, FACTS, annex())
    as_measured = summary.deployed.model_copy(update={"to": 200})
    assert audit_strength.deployed(summary.model_copy(update={"deployed": as_measured})).endswith(
        "200 rows, as many as the contexts of this audit."
    )


@pytest.mark.parametrize(
    ("aucs", "words_of_trend"),
    [
        ((0.87, 0.88, 0.95), "Larger contexts leaked more about each record in this audit: AUC 0.870 with 70 records"),
        ((0.95, 0.88, 0.87), "Larger contexts leaked less about each record in this audit: AUC 0.950 with 70 records"),
        ((0.87, 0.8, 0.88), "Whether a larger context leaks more or less about each record is not shown: AUC 0.870"),
        ((0.87,), "How the leak changes with the size of the context was not measured."),
    ],
)
def test_the_limits_say_how_the_measured_aucs_change_with_the_size_of_the_context(aucs, words_of_trend):
    at = [Measured(number=70 * 2**place, auc=value(auc, auc - 0.05, auc + 0.04)) for place, auc in enumerate(aucs)]
    summary = a_summary()
    summary = summary.model_copy(update={"deployed": summary.deployed.model_copy(update={"measured": at})})
    html = words(audit_page.render(summary, FACTS, annex()))
    limits = html[html.index('<section id="limits"') : html.index('<section id="annex"')]
    assert words_of_trend in limits
    assert "usually" not in limits


def test_duplicates_that_a_deployed_context_holds_are_counted():
    def told(count):
        summary = a_summary()
        return audit_strength.duplicates(
            summary.model_copy(update={"table": summary.table.model_copy(update={"duplicates": count})})
        )

    assert told(0) == ""
    assert told(1).startswith("1 row that is equal to another one was left out of the contexts")
    assert told(12).startswith("12 rows that are equal to others were left out of the contexts")
    assert "can show more than is measured here" in told(12)


def test_one_deployed_context_is_told_at_the_largest_base_rate():
    summary = a_summary()
    assert "30 to 90 of 100 accusations" in audit_strength.in_one_context(summary)
    assert audit_strength.in_one_context(summary) in " ".join(audit_page.render(summary, FACTS, annex()).split())
    assert audit_strength.in_one_context(summary.model_copy(update={"deployments": []})) == ""

"""Every rule gives its recommendation exactly when its condition holds."""

import pytest
from audit_examples import a_summary, advised, mitigation, seen_inside, stability, value

from memaudit.auditing.findings import recommendations


def rules(**how):
    return {advice.rule for advice in a_summary(**how).advice}


def test_each_rule_applies_when_its_condition_holds():
    assert rules() == {
        "a leak is detected",
        "a leak is detected, and a mitigation lowers it at little cost",
        "a leak is detected, and the list of most vulnerable records is stable",
        "a group leaks more than the others",
    }
    assert "a leak is detected, and the list of most vulnerable records is not stable" in rules(stable=0.2)
    assert {
        "a leak is detected, and no mitigation is shown to lower it at little cost",
        "a leak is detected, and some mitigations could not be tested, or are not shown to help",
    } <= rules(helps=False)
    assert "a group leaks more than the others" not in rules(excess=0.02)
    assert rules(leak=False, excess=0.0, showing=0) == {"no leak is detected"}
    some = "no leak is detected, but the presence of single records shows"
    assert rules(leak=False, excess=0.0) == {"no leak is detected", some}
    assert some not in rules()
    assert "private contexts were tested" in rules(cost=-0.01)
    assert "private contexts were tested" not in rules() | rules(cost=-0.01, placebo=True)
    assert "the fine-tuned model memorizes records" in rules(memory=(0.7, 0.6, 0.8))
    assert "fine-tuned, and no memorization is detected" in rules(memory=(0.55, 0.45, 0.65))
    assert rules(placebo=True, excess=0.0) == {"the negative control is detected"}


def test_control_characters_of_a_columns_name_are_escaped():
    summary = a_summary()
    evil = summary.groups[0].model_copy(update={"column": "a\x1b[2Jb"})
    texts = [one.text for one in recommendations.advise(summary.model_copy(update={"groups": [evil]}))]
    assert any(r"column 'a\x1b[2Jb' (the setting show-values" in text for text in texts)
    assert all(text.isprintable() for text in texts)


def text_of(summary, words):
    return next((one.text for one in summary.advice if words in one.rule), "")


def test_no_epsilon_is_recommended_from_the_private_table():
    for cost in (-0.3, -0.01, 0.05):
        text = text_of(a_summary(cost=cost), "private contexts were tested")
        assert "Do not choose epsilon by the accuracies of this page" in text
        assert "epsilon 1" not in text


def test_a_mitigation_that_could_not_be_told_or_tested_is_named_with_the_reason():
    mitigations = [
        mitigation("decimals 1", tpr=(-0.006, -0.02, 0.009)),
        mitigation("labels only"),
        mitigation("labels only", auc=(-0.13, -0.3, 0.05), attack="strongest labels"),
        mitigation("context 50", reason="record 3 has fewer than 2 shadow models"),
    ]
    found = advised(a_summary(), mitigations=mitigations)
    assert (
        "Of 2 mitigations tested, only “labels without probabilities” is shown to lower the leak and to cost at most 2 "
        "points of balanced accuracy: AUC -0.10 [-0.16, -0.04]" in text_of(found, "a mitigation lowers")
    )
    assert "Whether many queries of labels near the record detect as much" in text_of(found, "a mitigation lowers")
    told = text_of(found, "some mitigations")
    assert (
        "“probabilities rounded to 1 digit” (the share identified at the strict threshold is not shown to fall)" in told
    )
    assert "“fewer members, 50” (not tested: record 3 has fewer than 2 shadow models)" in told
    assert "labels without probabilities" not in told


def test_a_weaker_mitigation_is_named_beside_the_best():
    found = advised(a_summary(), mitigations=[mitigation(), mitigation("bags 8", auc=(-0.2, -0.25, -0.15))])
    text = text_of(found, "a mitigation lowers")
    assert (
        "“averages over 8 parts of the members”, “averages over 4 parts of the members” are shown to lower the leak"
        in text
    )
    assert "Of these “averages over 8 parts of the members” lowers the leak most: AUC -0.20" in text


def test_a_mitigation_that_costs_too_much_is_not_beaten_by_the_advised_one():
    costly = mitigation("bags 8", auc=(-0.2, -0.25, -0.15), cost=(-0.02, -0.05, 0.01))
    text = text_of(advised(a_summary(), mitigations=[mitigation(), costly]), "a mitigation lowers")
    assert "only “averages over 4 parts of the members” is shown to lower the leak and to cost at most 2 points" in text
    assert "lowers the leak most" not in text


def test_the_negative_control_is_never_blamed_on_the_table():
    text = text_of(a_summary(placebo=True), "negative control")
    assert "not the table" in text
    assert "differ" not in text


def test_a_list_is_stable_only_if_it_is_shared_beyond_chance_and_half_of_it_is_expected_again():
    cases = {(0.6, True): True, (0.6, False): False, (0.4, True): False}
    for (whole, beyond_chance), stable in cases.items():
        update = {"stability": stability(whole, beyond_chance)}
        assert recommendations._stable(a_summary().model_copy(update=update)) == stable
    assert not recommendations._stable(a_summary().model_copy(update={"stability": {}}))


def test_of_many_mitigations_that_are_not_advised_the_reasons_are_counted():
    names, reasons = (
        ("bags 4", "decimals 1", "labels only", "context 60"),
        ("not shown", "not shown", "costly", "costly; not shown"),
    )
    every = [mitigation(name).model_copy(update={"verdict": why}) for name, why in zip(names, reasons, strict=True)]
    assert recommendations._not_advised(every) == (
        "Not advised are 4 mitigations, which a table of the page names: not shown (3); costly (2)"
    )
    assert recommendations._not_advised(every[2:3]) == "Not advised: “labels without probabilities” (costly)"


@pytest.mark.parametrize(
    ("tested", "said"),
    [
        ([], "protects them alone, as far as this audit has tested. Then"),
        ([{"auc_falls": False}], "protects them alone: the leak of the others is not shown to fall. Then"),
        ([{"auc_falls": True}], "protects them. Then"),
    ],
)
def test_leaving_the_list_out_is_said_to_protect_others_only_where_that_was_shown(tested, said):
    dropped = [mitigation("layer dropped").model_copy(update=update) for update in tested]
    found = a_summary().model_copy(update={"stability": stability(0.6), "mitigations": dropped})
    assert said in recommendations._act_on_list(found)


def test_a_group_is_named_only_after_correction_for_the_choice():
    group = a_summary().groups[0]
    alone = group.model_copy(update={"excess": value(0.1, 0.02, 0.18, 0.0, False)})
    assert recommendations.stands_out(a_summary()) == [group]
    assert not recommendations.stands_out(a_summary().model_copy(update={"groups": [alone]}))


def test_fine_tuning_with_a_detected_negative_control_claims_no_memorization():
    summary = a_summary(memory=(0.7, 0.6, 0.8))
    assert recommendations.remembered(summary)
    placebo = summary.tuned[0].model_copy(update={"placebo": True})
    only_in_context = a_summary(memory=(0.55, 0.45, 0.65))
    assert not recommendations.remembered(only_in_context)
    assert recommendations.hinted(only_in_context)
    assert not recommendations.remembered(summary.model_copy(update={"tuned": [*summary.tuned, placebo]}))


def test_what_other_contexts_would_name_is_a_bound_and_is_of_one_row_of_each_person():
    summary = a_summary().model_copy(update={"stability": stability(0.6)})
    assert "of this list as many other contexts are expected to name 60 % again, and at least 45 %," in (
        recommendations._act_on_list(summary)
    )
    person = summary.headline.model_copy(update={"records": "persons"})
    of_persons = summary.model_copy(update={"adversaries": [person, *summary.adversaries]})
    assert "of such a list of one row of each person as many other contexts" in recommendations._act_on_list(of_persons)


def test_attention_that_leaks_is_not_to_be_shown_unless_its_control_is_detected():
    for detected, control in ((True, False), (True, True), (False, False)):
        advice = recommendations.advise(seen_inside(a_summary(leak=False), detected, control))
        assert ("attention leaks" in {one.rule for one in advice}) == (detected and not control)
        assert any("The attacks on answers detected no leak" in one.text for one in advice) == (
            detected and not control
        )
    assert "attention leaks" not in rules()


def test_the_first_screen_says_what_to_do_and_what_it_costs():
    assert "“averages over 4 parts of the members” changes the AUC by -0.10 and balanced accuracy by -0.5 points" in (
        recommendations.in_short(a_summary())
    )
    assert "attention weights" not in recommendations.in_short(a_summary())
    assert "Show nobody its attention weights." in recommendations.in_short(seen_inside(a_summary()))
    assert recommendations.in_short(a_summary(leak=False)).startswith("Read what was not tested")
    assert recommendations.in_short(a_summary(placebo=True)).startswith("Do not use these numbers")
    assert recommendations.in_short(seen_inside(a_summary(leak=False))).startswith("Keep the model's attention")

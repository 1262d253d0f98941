"""Every rule gives its recommendation exactly when its condition holds."""

from audit_examples import a_summary, stability, value

from memaudit.auditing import recommendations


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
    assert "a leak is detected, and no mitigation lowers it at little cost" in rules(helps=False)
    assert "a group leaks more than the others" not in rules(excess=0.02)
    assert rules(leak=False, excess=0.0) == {"no leak is detected"}
    assert "a private context costs little" in rules(cost=-0.01)
    assert "private contexts were tested, and cost more" in rules(cost=-0.3)
    (text,) = (one.text for one in a_summary(cost=-0.01).advice if "private context" in one.rule)
    assert "(TabPATE, moments of each class; epsilon 1)" in text
    unattacked = a_summary(cost=-0.01).private[0].model_copy(update={"auc": None})
    assert not recommendations.cheap_privacy(a_summary().model_copy(update={"private": [unattacked]}))
    assert "the fine-tuned model memorizes records" in rules(memory=(0.7, 0.6, 0.8))
    assert "fine-tuned, and no memorization is detected" in rules(memory=(0.55, 0.45, 0.65))
    assert rules(placebo=True, excess=0.0) == {"the negative control is detected"}


def test_control_characters_of_a_columns_name_are_escaped():
    summary = a_summary()
    evil = summary.groups[0].model_copy(update={"column": "a\x1b[2Jb"})
    texts = [one.text for one in recommendations.advise(summary.model_copy(update={"groups": [evil]}))]
    assert any(r"column 'a\x1b[2Jb' (--show-values" in text for text in texts)
    assert all(text.isprintable() for text in texts)


def test_a_mitigation_is_judged_by_the_attack_that_it_lowers_least():
    summary = a_summary()
    lower, same = (
        summary.mitigations[0],
        summary.mitigations[0].model_copy(update={"auc_difference": value(0, -0.1, 0.1)}),
    )
    assert recommendations.helps(summary.model_copy(update={"mitigations": [lower]}))
    assert not recommendations.helps(summary.model_copy(update={"mitigations": [lower, same]}))


def test_a_list_is_stable_only_if_it_is_shared_beyond_chance_and_half_of_it_is_expected_again():
    cases = {(0.6, True): True, (0.6, False): False, (0.4, True): False}
    for (whole, beyond_chance), stable in cases.items():
        update = {"stability": stability(whole, beyond_chance)}
        assert recommendations._stable(a_summary().model_copy(update=update)) == stable
    assert not recommendations._stable(a_summary().model_copy(update={"stability": {}}))


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

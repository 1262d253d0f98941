"""A larger audit is advised only where it could change a finding, and as it can be had."""

from types import SimpleNamespace

import pytest
from audit_examples import STRENGTH, a_summary, advised, mitigation, value

from memaudit.auditing.findings import larger_audit, recommendations
from memaudit.auditing.running import stages
from memaudit.statistics.mitigation_verdicts import QUERIES, STRONGEST, verdicts


def summary(high=0.56, **update):
    """A complete audit of 32 contexts that detects no leak of at least .52; high: end of the AUC's interval."""
    found = a_summary(leak=False, showing=0, excess=0.0)
    main = found.headline.model_copy(update={"auc": value(0.51, 0.49, high, detected=False)})
    others = [one for one in found.adversaries if one.attack != "strongest"]
    return advised(found, adversaries=[main, *others], **update)


def most(found):
    """The summary with as many contexts as an audit has at most; it has all records already."""
    return found.model_copy(update={"shadow_sets": stages.MOST_SETS})


def text(found, rule):
    return next(one.text for one in recommendations.advise(found) if one.rule == rule)


def test_a_larger_audit_is_had_by_minutes_or_without_quick_and_not_beyond_the_most():
    assert larger_audit.larger(summary()) == larger_audit.MINUTES
    assert larger_audit.larger(summary(stage="quick")) == larger_audit.QUICK
    assert larger_audit.larger(summary(stage="quick", whole_minutes=3)) == larger_audit.MINUTES
    assert larger_audit.larger(most(summary())) == ""
    more = most(summary(table=summary().table.model_copy(update={"taken": 900})))
    assert larger_audit.larger(more) == larger_audit.MINUTES


def test_without_a_leak_more_minutes_are_advised_only_where_a_detectable_leak_is_not_excluded():
    rule = "no leak is detected"
    assert "More minutes narrow the interval, which reaches to an AUC of 0.560." in text(summary(), rule)
    first = text(summary(stage="quick"), rule)
    assert "An audit without the setting quick narrows the interval, which reaches to an AUC of 0.560." in first
    for decided in (summary(high=0.515), most(summary())):
        assert "narrow" not in text(decided, rule)
    never = STRENGTH.model_copy(update={"units": None, "smallest_auc": None})
    assert "narrow" not in text(summary(strength=never), rule)
    unknown = never.model_copy(update={"estimated": False})
    assert "More minutes narrow" in text(summary(strength=unknown), rule)


@pytest.mark.parametrize(
    ("how", "open_"),
    [({"auc": (-0.01, -0.1, 0.08)}, True), ({"cost": (-0.1, -0.12, -0.08)}, False), ({"auc": (0.1, 0.05, 0.2)}, False)],
)
def test_narrower_intervals_are_advised_for_mitigations_without_a_decided_reason_against_them(how, open_):
    found = advised(a_summary(), mitigations=[mitigation(**how)])
    rule = "a leak is detected, and some mitigations could not be tested, or are not shown to help"
    assert ("What is not shown may hold all the same. More minutes narrow" in text(found, rule)) == open_
    assert larger_audit.may_be_advised(found.mitigations[0]) == open_


def test_a_list_that_is_not_stable_gets_no_more_contexts_beyond_the_most():
    rule = "a leak is detected, and the list of most vulnerable records is not stable"
    assert text(a_summary(stable=0.2), rule).endswith("More minutes make the list more stable.")
    assert text(most(a_summary(stable=0.2)), rule).endswith("other shadow contexts would name others.")


def test_an_audit_that_chance_may_have_made_is_repeated_with_another_seed():
    assert larger_audit.again(summary()) == "another seed and more minutes"
    assert larger_audit.again(summary(stage="quick")) == "another seed and without the setting quick"
    assert larger_audit.again(most(summary())) == "another seed"


@pytest.mark.parametrize(
    ("auc", "cost", "queried", "decided"),
    [
        ((0.05, 0.1), (-0.01, 0.01), (-0.1, 0.1), True),
        ((-0.1, -0.05), (-0.2, -0.1), (-0.1, 0.1), True),
        ((-0.1, -0.05), (-0.01, 0.01), (0.05, 0.1), True),
        ((-0.1, 0.1), (-0.01, 0.01), (-0.1, 0.1), False),
        ((-0.1, -0.05), (-0.2, 0.01), (-0.1, 0.1), False),
    ],
    ids=["raises", "costs", "undone", "open", "may cost"],
)
def test_the_words_of_a_decided_verdict_are_those_of_the_verdicts(auc, cost, queried, decided):
    def tried(attack, change):
        ends = [SimpleNamespace(estimate=sum(pair) / 2, low=pair[0], high=pair[1]) for pair in (change, change, cost)]
        names = dict(zip(("auc_difference", "tpr_difference", "cost"), ends, strict=True))
        return SimpleNamespace(name="bags 4", attack=attack, reason="", measure="accuracy", **names)

    verdict, _ = verdicts([tried(STRONGEST, auc), tried(QUERIES, queried)], strict_leak=False)
    one = mitigation().model_copy(update={"verdict": verdict.verdict, "advised": verdict.advised})
    assert verdict.verdict
    assert larger_audit.may_be_advised(one) is not decided

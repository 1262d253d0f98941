"""The page of an audit of predictions says what its summary permits, and escapes names of columns."""

import re

import pytest
from audit_examples import HOSTILE
from prediction_examples import ACCUSED, FILES, RIGHT, control, scores

from memaudit.auditing.findings.protection import Record
from memaudit.auditing.predictions.prediction_glossary import TERMS
from memaudit.auditing.predictions.prediction_page import render
from memaudit.auditing.predictions.prediction_protection import in_terms_of_data_protection
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged

FACTS = {"names": [HOSTILE, "n.csv"], "types": {HOSTILE: "numeric"}, "left_out": {"note": "free text"}}


def a_summary(files=FILES, **options):
    return judged(PredictionSummary(verdict="invalid", files=FileCounts(**files), fpr=0.01, **scores(**options)))


def page(**options):
    return " ".join(render(a_summary(**options), FACTS, {"seed": 0}).split())


CASES = {
    "beyond": ({}, "better than controls that cannot see memory: a sign of memory, and no proof."),
    "shift beside": (
        {"controls": [control("blind", 0.1, detected=True)]},
        "the blind attack also detected a difference",
    ),
    "unclear": (
        {"controls": [control("blind", 0.01), control("stand-in", 0.2)]},
        "this audit cannot tell memory from shift.</strong> A member ranks above a non-member in 70 [65, 75] of 100",
    ),
    "nothing": ({"detected": False}, "No difference between members and non-members was detected"),
    "invalid": ({"splits": 4}, "This audit is invalid: the attack detected a difference in 4 of 5 random splits"),
    "lookup": ({"lookup": False}, "the attack did not detect a planted model"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_says_what_was_found(case):
    options, said = CASES[case]
    text = page(**options)
    assert said in text
    assert "600 members and 497 non-members this audit detects an AUC of 0.580" in text
    assert HOSTILE not in text
    assert "Non-members must be what members would be" in text


def test_rows_that_are_no_people_are_called_by_their_noun():
    summary = a_summary(accusations=ACCUSED).model_copy(update={"rows_are": "modules"})
    text = " ".join(render(summary, FACTS, {"seed": 0}).split())
    assert "tell which modules are in its data?" in text
    assert "600 members, 497 non-members (modules)" in text
    assert "told whether one of the modules would be predicted otherwise" in text
    assert "probabilities as confidential, as the table is: limit" in text
    said = re.sub(r"<[^>]+>", "", text.split("</style>")[-1].split("Glossary")[1])
    assert not re.search(r"\b(people|persons?|personal|candidates who)\b", said)


def test_accusations_without_a_false_one_have_an_interval_alone():
    text = page(accusations=ACCUSED)
    assert "<strong>[40, 100]</strong> of 100 accused are in the data, if 10 of 100 candidates are" in text
    assert "It accused 60 of 600 members and 0 of 497 non-members. The share" in text
    assert "No non-member was accused" in text


def test_sentences_on_accusations_have_a_space_between():
    text = page(accusations=ACCUSED, controls=[control("blind", 0.01)])
    assert "an interval and no estimate. Accusations may be right because the files differ" in text


def test_too_few_non_members_give_no_precision():
    assert "at least 400 are needed, there are 497" in page()


def test_references_are_a_control_and_their_lack_is_said():
    assert "<code>--reference</code>" in page()
    text = page(files=FILES | {"references": 2}, controls=[control("blind", 0.2), control("references", 0.2)])
    assert "the loss of 2 given models that, as you state, saw neither file" in text
    assert "<code>--reference</code>" not in text


def test_without_features_and_references_shift_is_not_excluded():
    text = page(files=FILES | {"features": 0}, controls=[control("blind", 0.2)])
    assert "The files have no features to compare, and there are no reference models" in text


def test_pictures_stand_before_their_tables_and_the_annex_is_folded():
    text = page(accusations=RIGHT)
    assert text.index('id="figure-people-10"') < text.index("of 100 accused are in the data")
    assert text.index('id="figure-roc"') < text.index("<summary>Table: all scores</summary>")
    assert text.index("<summary>Show the annex</summary>") < text.index("Settings and hashes")
    assert "Not drawn" not in text


def test_an_invalid_audit_draws_nothing():
    text = page(accusations=RIGHT, splits=4)
    assert text.count("Not drawn: this audit is invalid") == 2
    assert "figure-people" not in text


def test_terms_lead_to_the_glossary():
    text = page(accusations=RIGHT)
    below = set(re.findall(r'<div id="term-([\w-]+)">', text))
    used = set(re.findall(r'href="#term-([\w-]+)"', text))
    assert used <= below == set(TERMS)
    assert {"member", "memory", "shift", "control", "accusation"} <= used


def test_the_section_on_data_protection_is_there():
    summary = a_summary(accusations=RIGHT)
    found = in_terms_of_data_protection(summary, FACTS, Record(HOSTILE, "2999-12-31", "2026-11-23", {}))
    text = " ".join(render(summary.model_copy(update={"protection": found}), FACTS, {}).split())
    assert "This is no legal verdict" in text
    assert "<dd>2999-12-31</dd>" in text
    assert text.count('class="blank"') == 2
    assert HOSTILE not in text

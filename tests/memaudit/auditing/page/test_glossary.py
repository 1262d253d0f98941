"""Every term of the page leads to the glossary, and its note is not announced twice."""

import re

import pytest
from audit_examples import FACTS, a_summary, annex, inferred, seen_inside

from memaudit.auditing.page import audit_page, glossary


def test_a_term_is_a_link_with_a_note_that_is_escaped():
    made = glossary.term("<b>", "auc")
    assert made.startswith('<a class="term" href="#term-auc" aria-describedby="term-auc">&lt;b&gt;')
    assert 'aria-hidden="true">How often a record' in made
    with pytest.raises(KeyError):
        glossary.term("x", "unheard of")


def test_all_terms_stand_below_and_those_used_lead_there():
    html = audit_page.render(a_summary(cost=-0.1), FACTS, annex())
    below = set(re.findall(r'<div id="term-([\w-]+)">', html))
    assert below == set(glossary.of_target(numbers=False))
    used = set(re.findall(r'href="#term-([\w-]+)"', html))
    assert used <= below
    assert {"auc", "precision", "base-rate", "fpr", "detected", "mitigation"} <= used


def test_a_page_explains_the_quality_of_its_own_target():
    assert glossary.of_target(numbers=False).keys() == glossary.TERMS.keys() - {"r2"}
    assert glossary.of_target(numbers=True).keys() == glossary.TERMS.keys() - {"balanced"}


def test_the_context_of_a_fitted_model_is_its_training_data():
    read, fitted = glossary.of_target(False), glossary.of_target(False, fitted=True)
    assert read.keys() == fitted.keys()
    assert {key for key in read if read[key] != fitted[key]} == {"context", "shadow"}
    assert "its training data" in fitted["context"][1]


def test_no_note_stands_in_the_name_of_a_column_on_a_phone():
    html = audit_page.render(seen_inside(inferred(a_summary(cost=-0.1))), FACTS, annex())
    names = set(re.findall(r'data-label="([^"]*)"', html))
    notes = [meaning for _, meaning in glossary.TERMS.values()]
    assert names
    assert not [name for name in names if any(note in name for note in notes)]

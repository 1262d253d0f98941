"""The page escapes names, loads nothing, and states what was detected."""

import re

from audit_examples import FACTS, HOSTILE, a_summary, annex

from memaudit.auditing import audit_page
from memaudit.auditing.summary import Value


def test_names_are_escaped_and_nothing_is_loaded_from_elsewhere():
    html = audit_page.render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "{{ 7*7 }}" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"|url\(|@import', html)
    assert "default-src 'none'" in html


def test_every_table_has_headers_and_every_section_a_name():
    html = audit_page.render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE)
    tables = re.findall(r"<table>.*?</table>", html, re.DOTALL)
    assert len(tables) >= 8
    for table in tables:
        assert 'scope="col"' in table
        assert 'scope="row"' in table
    for part, title in re.findall(r'<section id="(\w+)" aria-labelledby="([\w-]+)"', html):
        assert f'id="{title}"' in html
        assert f'href="#{part}"' in html
    assert html.count("<h1") == 1


def test_the_headline_states_whether_a_leak_was_detected():
    assert "leaks who is in its context" in audit_page.render(a_summary(), FACTS, annex())
    quiet = audit_page.render(a_summary(leak=False), FACTS, annex())
    assert "No leak was detected" in quiet
    assert "leaks who is in its context" not in quiet
    assert "This audit is invalid" in audit_page.render(a_summary(placebo=True), FACTS, annex())


def test_both_negative_controls_have_a_line():
    summary = a_summary()
    exchanged = summary.placebo().model_copy(update={"records": "companions"})
    summary = summary.model_copy(update={"adversaries": [*summary.adversaries, exchanged]})
    html = audit_page.render(summary, FACTS, annex())
    assert summary.companions() == [exchanged]
    assert "negative control, memberships exchanged</th>" in html
    assert "negative control</th>" in html


def test_the_registry_describes_the_adversary():
    described = {one.attack: audit_page.description(one) for one in a_summary().adversaries}
    assert described["lira"] == "reads probabilities, one query"
    poisoned = a_summary().main().model_copy(update={"attack": "lira poisoned", "poison": 5})
    assert audit_page.description(poisoned) == "reads probabilities, adds mislabelled copies to the context (5)"


def test_numbers_are_printed_with_their_interval_and_a_dash_without_an_estimate():
    value = Value(estimate=0.71, low=0.65, high=0.77)
    assert audit_page.number(value) == "0.71 [0.65, 0.77]"
    assert audit_page.signed(value) == "+0.71 [+0.65, +0.77]"
    assert audit_page.percent(value) == "71 [65, 77]"
    assert audit_page.number(None) == audit_page.signed(Value(estimate=None)) == "-"


def test_an_option_is_not_broken_and_a_text_is_escaped():
    assert audit_page.unbroken("more --minutes <b>") == 'more <span class="value">--minutes</span> &lt;b&gt;'


def test_marks_stay_on_the_axis():
    value = Value(estimate=2.0, low=0.5, high=3.0, null=0.0)
    assert audit_page.mark(value, 0.0, 1.0) == {"estimate": 234.0, "low": 120.0, "high": 234.0, "null": 6.0}
    assert audit_page.mark(Value(estimate=None), 0.0, 1.0) is None

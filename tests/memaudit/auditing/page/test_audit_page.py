"""The page escapes names, loads nothing, and states what was detected."""

import re

import page_states
import pytest
from audit_examples import (
    FACTS,
    HOSTILE,
    a_summary,
    adversary,
    advised,
    annex,
    controlled,
    inferred,
    mitigation,
    seen_inside,
    value,
)

from memaudit.auditing.findings import recommendations
from memaudit.auditing.page import audit_page
from memaudit.auditing.summaries.group_parts import LeftOut, Subgroup, Subpopulation
from memaudit.auditing.summaries.summary import Utility, Value


def test_names_are_escaped_and_nothing_is_loaded_from_elsewhere():
    html = audit_page.render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "{{ 7*7 }}" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"|url\(|@import', html)
    assert "default-src 'none'" in html


def test_the_page_names_no_option_of_the_command_which_python_lacks():
    for name, made in page_states.STATES.items():
        assert name.startswith("predictions") or not re.findall(r"(?<![\w-])--[a-z][\w-]*", plain(made())), name


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


def test_accusations_beyond_chance_are_not_passed_over_where_the_auc_detects_nothing():
    summary = a_summary(leak=False)
    head = summary.headline
    strict = head.model_copy(update={"tpr": {"0.01": value(0.03, 0.02, 0.04, 0.01, True)}})
    others = [strict if one is head else one for one in summary.adversaries]
    summary = summary.model_copy(update={"adversaries": others})
    text = " ".join(audit_page.render(summary, FACTS, annex()).split())
    assert "No leak was detected over all records</strong>" in text
    assert (
        "but at a threshold that also accuses 1 of 100 who are not in the data, accusations are right more often than"
        in text
    )
    rules = [one.rule for one in recommendations.advise(summary)]
    assert "no leak is detected over all records, but at the strict threshold" in rules
    assert "at the strict threshold" not in " ".join(one.rule for one in recommendations.advise(a_summary(leak=False)))


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
    assert described["strongest"] == described["lira"]
    labels = a_summary().headline.model_copy(update={"threat": "label-only passive"})
    assert audit_page.description(labels) == "reads labels, one query"
    poisoned = a_summary().headline.model_copy(update={"attack": "lira poisoned", "poison": 5})
    assert audit_page.description(poisoned) == "reads probabilities, adds mislabelled copies to the context (5)"


def test_numbers_are_printed_with_their_interval_and_a_dash_without_an_estimate():
    value = Value(estimate=0.71, low=0.65, high=0.77)
    assert audit_page.number(value) == "0.71 [0.65, 0.77]"
    assert audit_page.signed(value) == "+0.71 [+0.65, +0.77]"
    assert audit_page.percent(value) == "71 [65, 77]"
    assert audit_page.number(None) == audit_page.signed(Value(estimate=None)) == "-"


def test_an_option_is_not_broken_and_a_text_is_escaped():
    assert audit_page.unbroken("more --minutes <b>") == 'more <span class="value">--minutes</span> &lt;b&gt;'


def test_a_zero_has_no_sign_and_no_posterior_is_certain():
    zero = Value(estimate=-0.001, low=-0.004, high=0.0)
    assert audit_page.number(zero) == "0.00 [0.00, 0.00]"
    assert audit_page.signed(zero) == "+0.00 [+0.00, +0.00]"
    assert [audit_page.posterior(share) for share in (0.999, 0.994, 0.5, 0.001)] == [
        "over 99 %",
        "99 %",
        "50 %",
        "under 1 %",
    ]
    assert audit_page.percent(Value(estimate=None)) == "-"


def test_the_axis_of_the_vulnerability_scores_holds_all_of_them():
    large = Value(estimate=7.3, low=-1.2, high=9.1, null=0.0)
    assert audit_page.score_axis([large, Value(estimate=1.0)]) == (-2.0, 10.0)
    summary = a_summary()
    exposed = [summary.exposed[0].model_copy(update={"vulnerability": large})]
    html = audit_page.render(summary.model_copy(update={"exposed": exposed}), FACTS, annex())
    assert "-2 to 10</span>" in " ".join(html.split())


def test_the_counts_of_the_page_say_why_a_row_is_not_rated():
    def counts(**update):
        table = a_summary().table.model_copy(update=update)
        return " ".join(audit_page.render(a_summary().model_copy(update={"table": table}), FACTS, annex()).split())

    duplicates = counts(rows=1458, taken=1458, duplicates=114, records=1344)
    assert "114 repeat another row and are left out. Of 1344 records that were queried" in duplicates
    assert "drawn at random" not in duplicates
    assert "of the 1344 others 1000 were drawn at random" in counts(rows=1458, taken=1458, duplicates=114, records=1000)
    assert "of which 900 were drawn at random" in counts(rows=1000, taken=900, records=900)


def test_first_numbers_say_what_would_measure_the_rest():
    first = a_summary().model_copy(update={"stage": "quick", "mitigations": [], "groups": []})
    text = " ".join(audit_page.render(first, FACTS, annex()).split())
    assert 'An audit without the setting <code class="value">quick</code> has them.' in text
    short = first.model_copy(update={"whole_minutes": 3})
    text = " ".join(audit_page.render(short, FACTS, annex()).split())
    assert "They did not fit the time budget: on this computer about 3 minutes would do" in text
    assert '<code class="value">quick</code> has them' not in text


def test_a_stricter_rate_than_one_record_is_said_to_be_left_out():
    summary = a_summary()
    assert "false positive rate of 0.1 % is left out" in " ".join(audit_page.render(summary, FACTS, annex()).split())
    stricter = summary.deployments[0].model_copy(update={"fpr": 0.001})
    both = summary.model_copy(update={"deployments": [*summary.deployments, stricter]})
    html = audit_page.render(both, FACTS, annex())
    assert "is left out: fewer than one" not in html
    assert '<th scope="row">0.1 %</th>' in html


def test_without_an_accusation_that_can_be_judged_there_is_no_table_of_one_deployment():
    """Few records: both false positive rates are left out, and no table stands empty."""
    text = " ".join(audit_page.render(a_summary().model_copy(update={"deployments": []}), FACTS, annex()).split())
    assert "false positive rate of 1 % is left out" in text
    assert "false positive rate of 0.1 % is left out" in text
    assert "One deployment</caption>" not in text
    assert "One context is judged by" not in text


def test_planted_models_are_described_as_the_audited_model_answers():
    summary = a_summary()
    classes = " ".join(audit_page.render(summary, FACTS, annex()).split())
    assert "gives the true class of each record in its context probability 1, and all other answers" in classes
    table = summary.table.model_copy(update={"kind": "regression"})
    numbers = " ".join(audit_page.render(summary.model_copy(update={"table": table}), FACTS, annex()).split())
    section = numbers[numbers.index('id="strength"') : numbers.index('id="scores"')]
    assert "predicts the true number of each record in its context" in section
    assert "that is more exact about each member (the error smaller" in section
    assert "class" not in re.sub(r"<[^>]*>", "", section)


def test_fine_tuning_is_told_alike_in_the_table_and_in_the_advice():
    memory = " ".join(audit_page.render(a_summary(memory=(0.55, 0.45, 0.65)), FACTS, annex()).split())
    section = memory[memory.index('id="tuned"') : memory.index('id="limits"')]
    assert "not distinguishable from chance</span>" in section
    assert "Fine-tuning memorizes records" not in section
    assert "With the context of the fine-tuning the AUC is above 0.5 (epoch 50: 0.80)" in section


def test_persons_are_the_headline_and_rows_the_second_line():
    summary = a_summary()
    persons = summary.headline.model_copy(
        update={"records": "persons", "auc": Value(estimate=0.83, low=0.8, high=0.86)}
    )
    persons.auc.null = 0.5
    html = audit_page.render(
        summary.model_copy(update={"adversaries": [persons, *summary.adversaries]}), FACTS, annex()
    )
    text = " ".join(html.split())
    assert "0.83 [0.80, 0.86] (chance 0.50), by person" in text
    assert "The same by row</dt><dd>0.70 [0.65, 0.75]" in text
    assert "32, of about 200 records each" in text
    assert "the headline holds for about 200" in text
    assert "how often a person that is in the context ranks above one that is not" in text
    assert "it is the presence of the person that shows in the answers about a row" in text
    assert "of the records whose answers vary, one row of each person: rank correlation" in text
    assert "Contexts of this number of persons." in text
    assert "expected of as many other contexts as here 0.46)" in text
    assert "expected of as many other contexts as here 0.80, at least 0.65)" in text


def test_rows_that_differ_in_the_target_alone_are_records_and_not_persons():
    text = " ".join(page_states.STATES["rows alike"]().split())
    assert text.count("12 of the 500 different rows have the same features as another one and a different target") == 1
    assert "(chance 0.50), by record" in text
    assert "of a record are in a context together" in text
    assert "Contexts of this number of records." in text
    assert "rows with the same features and different targets together; else one row of the table" in text
    assert not re.search(r"by person|a person's rows|of persons|each person", text)


def test_one_deployment_and_the_choice_of_the_score_are_stated():
    text = " ".join(audit_page.render(a_summary(), FACTS, annex()).split())
    cells = re.sub(r' data-label="[^"]*"', "", text)
    assert "<td>60 [50, 70]</td><td>62 [30, 90]</td> <td>93 % (31 contexts)</td>" in cells
    assert "18 [10, 25] of 100 are estimated" in text
    assert (
        "Chosen by AUC: “RMIA” (75 % of the contexts), “LiRA” (25 % of the contexts); for accusations: “LiRA” (100 %)."
        in text
    )


def test_marks_stay_on_the_axis():
    value = Value(estimate=2.0, low=0.5, high=3.0, null=0.0)
    assert audit_page.mark(value, 0.0, 1.0) == {"estimate": 234.0, "low": 120.0, "high": 234.0, "null": 6.0}
    assert audit_page.mark(Value(estimate=None), 0.0, 1.0) is None


def page(summary):
    return " ".join(audit_page.render(summary, FACTS, annex()).split())


def test_the_worst_subpopulation_says_whether_the_other_half_confirms_it():
    for confirmed, words in {
        True: "<strong>confirmed</strong>",
        False: "not confirmed. For that the interval must lie above 0",
    }.items():
        excess = value(0.1, 0.02, 0.18, 0.0, confirmed)
        groups = [Subgroup(column=HOSTILE, number=2, name=None), Subgroup(column="age", number=1, name=None)]
        worst = Subpopulation(
            groups=groups, records=80, confirmed=41, searched=300, auc=value(0.7, 0.6, 0.8), excess=excess
        )
        text = page(a_summary().model_copy(update={"groups": [], "subpopulation": worst}))
        assert words in text
        assert "300 subpopulations" in text
        assert "{{ 7*7 }}, group 2 and age, group 1; it has 80 records, 39 in the half that was searched and 41" in text
        assert "excess over the other records of that half +0.10 [+0.02, +0.18]" in text


def test_the_head_states_how_well_the_audited_model_predicts():
    text = page(a_summary())
    assert "</dt><dd>0.90 [0.80, 1.00] (always the most frequent class: 0.50), <" in text
    assert "0.90 [0.80, 1.00] (chance 0.50), on records that are in no context</dd>" in text
    error = Utility(
        model="main", accuracy=None, balanced_accuracy=None, r2=value(0.6, 0.5, 0.7), rmse=value(41.23, 38, 44.44, 65.2)
    )
    other = error.model_copy(update={"model": "model_2", "rmse": value(77, 70, 80)})
    table = a_summary().table.model_copy(update={"kind": "regression"})
    numbers = page(a_summary().model_copy(update={"table": table, "utilities": [error, other]}))
    assert "root mean square error 41.2 [38.0, 44.4] (predicting the mean: 65.2)," in numbers
    assert "0.60 [0.50, 0.70], on records that are in no context</dd>" in numbers
    assert "mean square error 77" not in numbers


@pytest.mark.parametrize(
    ("error", "shown", "chance"),
    [
        (value(31868.2, 30100, 33500.4, 100234.6), "31868 [30100, 33500]", "100235"),
        (value(41.23, 38, 44.44, 165.2), "41.2 [38.0, 44.4]", "165.2"),
        (value(0.00123, 0.0011, 0.0014, 0.002), "0.00123 [0.00110, 0.00140]", "0.00200"),
        (value(0.0, 0.0, 0.0, 1.5), "0.00 [0.00, 0.00]", "1.50"),
    ],
)
def test_an_error_and_that_of_the_mean_have_one_notation(error, shown, chance):
    assert (audit_page.significant(error), audit_page.significant_chance(error)) == (shown, chance)


def test_a_column_that_is_the_same_in_all_rows_is_said_to_be():
    name = next(one["name"] for one in FACTS["columns"].values() if one["use"])
    assert "the same in all rows" not in page(a_summary())
    assert audit_page.render(a_summary(), FACTS | {"constant": [name]}, annex()).count("yes, the same in all rows") == 1


def test_groups_that_are_too_small_are_named_with_their_records():
    left_out = [
        LeftOut(column="kind", number=3, name=None, records=8),
        LeftOut(column=HOSTILE, number=None, name=None, records=30),
    ]
    text = page(a_summary().model_copy(update={"small_groups": left_out}))
    assert "or beyond the largest groups of a column: kind, group 3 (8 records); &lt;" in text
    assert "all others (30 records)." in text
    assert "Left out, as too small" not in page(a_summary())


def test_the_first_numbers_say_which_options_they_leave_out():
    text = page(a_summary().model_copy(update={"stage": "quick"}))
    assert "mitigations, groups, hidden values, further models" in text
    assert 'An audit without the setting <code class="value">quick</code> has them' in text
    assert "whether or not they were requested" in text
    assert "whether or not they were requested" not in page(a_summary())


def test_each_mitigation_has_its_verdict_on_the_page():
    reason = mitigation("context 50", reason="record 3 is in too few contexts")
    text = page(advised(a_summary(), mitigations=[mitigation(), mitigation("decimals 1", tpr=(0, -0.1, 0.1)), reason]))
    assert "<strong>lowers the leak at little cost</strong>" in text
    assert "the share identified at the strict threshold is not shown to fall" in text
    assert "not tested: record 3 is in too few contexts" in text


def test_the_page_does_not_let_epsilon_be_chosen_by_the_private_table():
    section = page(a_summary(cost=-0.01))
    assert "do not choose epsilon by them" in section[section.index('id="private"') :]


def test_the_head_counts_records_as_the_list_does():
    assert "the presence of 3 shows all the same" in page(a_summary(leak=False))
    assert "shows all the same" not in page(a_summary(leak=False, showing=0)) + page(a_summary())
    text = page(a_summary())
    assert "Records whose presence shows</dt><dd>3 of 400: the interval" in text
    assert "The 1 most vulnerable of 400 records." in text
    assert "400 are rated" in text


def test_every_picture_is_drawn_with_a_title_a_description_and_a_caption():
    html = audit_page.render(a_summary(), FACTS, annex())
    drawings = re.findall(r'<svg class="drawing".*?</svg>', html, re.DOTALL)
    assert len(drawings) == 7
    for one in drawings:
        title, described = re.search(r'aria-labelledby="([\w-]+)" aria-describedby="([\w-]+)"', one).groups()
        assert 'role="img"' in one
        assert f'id="{title}">' in one
        assert f'id="{described}">' in one
    assert html.count("<figcaption>") == 6  # the figures of the accused share one note
    assert "Not drawn" not in html


def test_pictures_stand_before_the_text_and_tables_behind_it():
    html = audit_page.render(a_summary(), FACTS, annex())
    for name in ("worth", "strength", "scores", "exposed", "mitigations"):
        section = html[html.index(f'<section id="{name}"') :]
        section = section[: section.index("</section>")]
        assert section.index('class="drawing"') < section.index('class="lead"') < section.index("<table>")
        assert "<details" in section
    annexed = html[html.index('<section id="annex"') :]
    assert annexed.index("<details") < annexed.index("<table>")


def test_pictures_of_an_invalid_audit_are_left_out_with_the_reason():
    html = audit_page.render(a_summary(placebo=True), FACTS, annex())
    assert 'class="drawing"' not in html
    assert html.count("Not drawn: this audit is invalid, so its numbers are not drawn.") == 7


def test_a_model_is_called_by_its_class():
    named = a_summary().model_copy(update={"models": {"main": "sklearn.ensemble.RandomForestClassifier"}})
    assert "in the context of RandomForestClassifier?" in page(named)


def test_an_adversary_who_sees_attention_has_a_section_and_leaves_the_headline():
    summary = seen_inside(a_summary(leak=False))
    html = audit_page.render(summary, FACTS, annex())
    assert "No leak was detected" in html
    assert 'href="#inside"' in html
    assert "An adversary who also sees the model&#39;s attention ranks" in html
    assert "sees the answer and the attention inside the model, one query</th>" in html
    section = html[html.index('<section id="inside"') :].partition("</section>")[0]
    assert section.count('<tr><th scope="row"') == 4
    assert section.count("negative control") >= 2
    assert 'id="inside"' not in audit_page.render(a_summary(), FACTS, annex())


def test_numbers_of_attention_are_withdrawn_where_its_control_is_detected():
    html = audit_page.render(seen_inside(a_summary(), control=True), FACTS, annex())
    assert "The attack on attention also detects its negative control" in html
    assert "This audit is invalid" not in html
    assert "no leak is detected" in audit_page.render(seen_inside(a_summary(), detected=False), FACTS, annex())


def test_anonymous_keys_stand_with_the_adversary_who_sees_attention_and_not_among_verdicts():
    keyed = [mitigation(name, attack="white-box") for name in ("none", "keys 16")]
    text = page(advised(seen_inside(a_summary()), mitigations=[mitigation(), *keyed]))
    assert text.count("means of 16") == 1
    assert text.count(">k-anonymous keys of 16") == 0
    refused = mitigation("keys", attack="white-box", reason="it is audited as deployed")
    text = page(advised(seen_inside(a_summary()), mitigations=[mitigation(), refused]))
    assert "K-anonymous keys, inside the model, not tested: it is audited as deployed." in text
    assert "means of 16" not in text


def test_inference_has_a_section_that_says_what_is_due_to_membership():
    plain = audit_page.render(a_summary(), FACTS, annex())
    assert 'id="inference"' not in plain
    html = audit_page.render(inferred(a_summary()), FACTS, annex())
    section = re.search(r'<section id="inference".*?</section>', html, re.DOTALL)[0]
    assert 'href="#inference"' in html
    assert HOSTILE not in section
    assert "the model gives away more about its members" in section
    assert "most probable one. Or they know half" in " ".join(section.split())
    quiet = audit_page.render(inferred(a_summary(), detected=False), FACTS, annex())
    assert "gives away more about its members" not in quiet
    invalid = audit_page.render(inferred(a_summary(), failed=True), FACTS, annex())
    assert "These numbers are invalid" in invalid
    assert "gives away more about its members" not in invalid


def test_an_attack_without_a_test_of_its_own_is_not_said_to_be_chance():
    part = adversary("targets", None, "boundary")
    summary = a_summary()
    found = {"adversaries": [*summary.adversaries, part], "controls": [controlled("boundary")]}
    text = page(summary.model_copy(update=found))
    line = text[text.index("Boundary distance</small>") :].partition("</tr>")[0]
    assert "no test of its own" in line
    assert "not distinguishable" not in line


def test_costs_are_in_points_and_keep_the_sign_of_a_small_one():
    assert audit_page.points(value(-0.026, -0.05, -0.003)) == "-2.6 [-5.0, -0.3]"
    assert audit_page.points(None) == "-"


def test_the_first_screen_keeps_the_white_box_headline_apart():
    html = " ".join(audit_page.render(seen_inside(a_summary()), FACTS, annex()).split())
    main, apart = html.split('<p class="second">')
    assert "AUC" not in main.partition('<p class="headline">')[2].partition("</p>")[0]
    assert "attention ranks a member above a non-member" in apart.partition("</p>")[0]
    assert 'class="second"' not in audit_page.render(a_summary(), FACTS, annex())


def test_small_shares_are_printed_of_100():
    assert audit_page.hundredths(Value(estimate=0.079, low=0.062, high=0.0961)) == "7.9 [6.2, 9.6]"
    assert audit_page.hundredths(Value(estimate=None)) == "-"


PEOPLE = re.compile(r"\b(people|persons?|personal|everybody|[Ww]ho is|Whoever is)\b")


def test_rows_that_are_not_people_have_the_users_noun():
    """Of a page with each section; the glossary and its explanations define the terms in general."""
    summary = inferred(seen_inside(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8))))
    persons = [
        one.model_copy(update={"records": "persons"}) for one in summary.adversaries if one.attack == "strongest"
    ]
    grouped = summary.model_copy(update={"adversaries": [persons[0], *summary.adversaries]})
    for one, accused in ((summary, "modules"), (grouped, "groups of modules")):
        text = plain(audit_page.render(advised(one, rows_are="modules"), FACTS, annex()))
        assert f"Which {accused} can be recognised in" in text
        assert f"leaks which {accused} are in its context. Of 100 {accused} that an adversary" in text
        assert "Modules rated" in text
        assert PEOPLE.findall(text.replace("They are not people (setting records)", "")) == []
        assert len(PEOPLE.findall(plain(audit_page.render(advised(one), FACTS, annex())))) > 3


def test_a_fitted_model_has_training_data_and_no_context_that_it_reads():
    of_context = plain(audit_page.render(a_summary(), FACTS, annex()))
    assert "The context holds the records that the model reads with each question" in of_context
    html = audit_page.render(advised(a_summary(), fitted=True), FACTS, annex())
    text = plain(html)
    assert "can be recognised in the training data of" in text
    assert "The model leaks who is in its training data." in text
    assert "The context holds the records that the model is fitted on, its training data" in text
    for reads in (
        "in its context. ",
        "reads with each question",
        "reads together with each question",
        "keeps the rows",
    ):
        assert reads not in text
        assert reads not in html


def plain(html):
    """The page's text before its annex, without styles and explanations of terms."""
    page = html.partition('<section id="annex"')[0]
    html = re.sub(r'<style.*?</style>|<span class="tip".*?</span>', "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


@pytest.mark.parametrize("leak", [True, False])
def test_the_head_of_the_page_stands_alone_in_a_notebook(leak):
    summary = a_summary(leak=leak)
    head, page = audit_page.render_head(summary), audit_page.render(summary, FACTS, annex())
    assert head.startswith('<div class="memaudit">')
    assert head.rstrip().endswith("</div>")
    assert not re.search(r"<script|<link|<a |url\(|@import|src=|href=", head)
    words = [" ".join(re.sub(r"<span class=.tip.*?</span>|<[^>]+>", "", part).split()) for part in (head, page)]
    finding = "The model leaks who is in its context." if leak else "No leak was detected"
    for said in (finding, f"AUC of the strongest score{summary.headline.auc.estimate:.2f} [", "What to do:"):
        assert said in words[0].replace("AUC of the strongest score ", "AUC of the strongest score")
    assert head.count('class="drawing"') == len(summary.headline.precision)
    rules = head[head.index("<style>") : head.index("</style>")].removeprefix("<style>").strip()
    assert rules.startswith(".memaudit {")  # of this output alone, not of others in the notebook
    assert rules.count("{") == rules.count("}")
    assert rules.endswith("}")

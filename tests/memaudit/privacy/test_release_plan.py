"""What a budget buys: closed forms of zCDP, and the refusal of what teaches nothing."""

from dataclasses import replace

import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget, rho_within
from memaudit.privacy.composition import Cost, fits
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.release_plan import check_labels, columns_in_lines, in_lines, most_labels
from memaudit.privacy.tabpate_release import Settings, planned

ONE = Budget(1.0, 1e-5)
COLUMNS = (Column("age", (18, 100)), Column("colour", ("blue", "red")))
CLASSES = Public("customers", "a form", 5000, "classification", COLUMNS, Column("target", ("no", "yes")))
NUMBER = Public("customers", "a form", 5000, "regression", COLUMNS, Column("target", (0.0, 1.0)))
PAPER = {"teachers": 25, "queries": 500, "threshold": 15.0}


def bought(public=CLASSES, budget=ONE, **settings):
    chosen = Settings(**settings)
    return most_labels(planned(chosen, budget, public), chosen, public)


def test_a_check_and_a_label_cost_what_the_paper_says():
    """rho = 1 / (2 sigma1^2) + 1 / sigma2^2."""
    for sigma1, sigma2 in ((12.0, 8.0), (20.0, 20.0), (30.0, 40.0)):
        cost = 1 / (2 * sigma1**2) + 1 / sigma2**2
        assert bought(**PAPER, sigma1=sigma1, sigma2=sigma2) == int(rho_within(ONE) / cost)


def test_the_papers_noise_buys_at_most_one_label_at_epsilon_one():
    assert bought(**PAPER, sigma1=12.0, sigma2=8.0) <= 1
    assert bought(**PAPER, sigma1=20.0, sigma2=20.0) == 8


def test_the_example_of_the_document_buys_something():
    assert bought(teachers=100, queries=500, threshold=60.0, sigma1=30.0, sigma2=30.0) == 18


@pytest.mark.parametrize(("releases", "fit"), [(7, True), (8, False)])
def test_seven_releases_of_the_document_fit_three_times_its_budget(releases, fit):
    settings = Settings(queries=300, prior="moments", alpha=1.0, by_class=True, narrowed=True, labels="group")
    cost = Cost(ONE, planned(settings, ONE, CLASSES).guarantee(CLASSES))
    assert fits([cost] * releases, Budget(3.0, 1e-5)) == fit


def test_noise_that_fits_all_queries_buys_all_of_them():
    assert bought(teachers=25, queries=200) == 200
    assert bought(NUMBER, teachers=25, queries=200) == 200
    assert bought(queries=300, prior="moments", alpha=1.0, by_class=True, labels="group") == 300


def test_fewer_labels_than_classes_are_refused():
    settings = Settings(**PAPER, sigma1=12.0, sigma2=8.0)
    plan = planned(settings, ONE, CLASSES)
    with pytest.raises(AuditError, match=r"buys at most [01] labels, too few for 2 classes; use a larger sigma2"):
        check_labels(plan, settings, CLASSES)
    wider = Settings(**PAPER, sigma1=20.0, sigma2=20.0)
    check_labels(planned(wider, ONE, CLASSES), wider, CLASSES)


def test_the_lines_state_labels_noise_and_cost():
    settings = Settings(**PAPER, sigma1=20.0, sigma2=20.0)
    lines = in_lines(planned(settings, ONE, CLASSES), settings, CLASSES)
    assert lines[0] == f"labels: at most {bought(**PAPER, sigma1=20.0, sigma2=20.0)} of 500 queries"
    assert lines[1] == "noise of a label: sigma 20 votes; 25 teachers"
    assert "one that is not costs 50% of a label" in lines[2]
    assert lines[-1].startswith("cost: rho 0.0306")


def test_moments_alone_ask_no_model():
    settings = Settings(queries=300, prior="moments", alpha=1.0, by_class=True, narrowed=True, labels="group")
    lines = in_lines(planned(settings, ONE, CLASSES), settings, CLASSES)
    assert lines[1].startswith("no model is asked")
    narrowing, drawing = (line for line in lines if line.startswith("noise of moments"))
    assert narrowing.startswith("noise of moments of all records, which narrow the bounds first: sigma ")
    assert drawing.startswith("noise of moments of each class, from which the queries are drawn: sigma ")


def test_moments_of_numbers_and_without_narrowing_are_those_of_all_records():
    settings = Settings(queries=300, prior="moments", alpha=1.0, labels="group")
    lines = in_lines(planned(settings, ONE, NUMBER), settings, NUMBER)
    (one,) = (line for line in lines if line.startswith("noise of moments"))
    assert one.startswith("noise of moments of all records, from which the queries are drawn: sigma ")
    by_votes = Settings(teachers=25, queries=200)
    assert not any("moments" in line for line in in_lines(planned(by_votes, ONE, NUMBER), by_votes, NUMBER))


def test_each_column_has_a_line_by_the_facts_and_the_entry():
    columns = (Column("Größe (cm)", (18, 1234567.5)), Column("\x1b[31m", ("blue", "red")))
    public = Public("customers", "a form", 5000, "classification", columns, Column("target", ("no", "yes")))
    entry = {"target": "churn", "group": "household", "drop": ["name"], "decimal": ",", "typed": False}
    assert columns_in_lines(public, entry) == [
        "'Größe (cm)'  numeric, from 18 to 1234567.5, decimal comma, as declared",
        r"'\x1b[31m'    categorical, 2 texts are known",
        "'churn'       categorical, 2 texts are known, the target",
        "'household'   the protected unit",
        "'name'        left out: `drop`",
    ]
    typed = {"target": "churn", "group": None, "drop": [], "decimal": None, "typed": True}
    assert columns_in_lines(public, typed)[0].endswith("from 18 to 1234567.5")
    wide = replace(public, columns=tuple(Column(f"c{place}", (0, 1)) for place in range(50)))
    assert columns_in_lines(wide, typed)[-1] == "... and 11 more"

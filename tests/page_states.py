"""Pages of audits in the states that a reader can meet, from made-up summaries, for tests of how they look."""

from audit_examples import FACTS, a_summary, advised, annex, inferred, mitigation, seen_inside
from prediction_examples import ACCUSED, FILES, RIGHT, control, scores

from memaudit.auditing.findings import protection
from memaudit.auditing.findings.protection import Record
from memaudit.auditing.page import audit_page
from memaudit.auditing.predictions import prediction_page, prediction_protection
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged

LONG = "household_income_before_tax_and_transfers_of_the_previous_year_in_national_currency"
COLUMNS = {"c0": {"name": LONG, "type": "categorical", "use": True}}
TABLE = FACTS | {"name": f"{LONG}.csv", "target": LONG, "columns": COLUMNS}
BY_HAND = Record("", "", "2026-11-23", {"memaudit": "0.1.0", "commit": "0" * 40})
FILLED = BY_HAND._replace(owner="A. Reviewer, data-protection officer", review_by="2999-12-31")


def of_table(summary, record=BY_HAND, **facts):
    """The page of an audit of a table."""
    named = [one.model_copy(update={"column": LONG}) for one in summary.groups]
    summary = summary.model_copy(update={"models": {"main": "tabicl-small"}, "groups": named})
    known = TABLE | facts
    section = protection.in_terms_of_data_protection(summary, known, ("labels", "probabilities"), record, "tabicl")
    return audit_page.render(summary.model_copy(update={"protection": section}), known, annex())


def of_predictions(files=FILES, record=BY_HAND, **options):
    """The page of an audit of files of predictions."""
    facts = {"names": [f"members_{LONG}.csv", "nonmembers.csv"], "types": {LONG: "numeric"}, "left_out": {}}
    found = judged(PredictionSummary(verdict="invalid", files=FileCounts(**files), fpr=0.01, **scores(**options)))
    section = prediction_protection.in_terms_of_data_protection(found, facts, record)
    settings = {"seed": 0, "sha256 of members": "0" * 64}
    return prediction_page.render(found.model_copy(update={"protection": section}), facts, settings)


def by_person(summary):
    """The summary with persons as the headline."""
    persons = summary.headline.model_copy(update={"records": "persons"})
    return summary.model_copy(update={"adversaries": [persons, *summary.adversaries]})


def of_rows_alike(summary):
    """The summary where rows that differ in the target alone are the headline."""
    return by_person(summary.model_copy(update={"table": summary.table.model_copy(update={"alike": 12})}))


def of_numbers(summary):
    """The summary of a table whose target is a number."""
    return summary.model_copy(update={"table": summary.table.model_copy(update={"kind": "regression"})})


def first_numbers(summary):
    """The summary as the first stage leaves it."""
    absent = {part: [] for part in ("groups", "mitigations", "private", "tuned")}
    return advised(summary, stage="quick", **absent)


CASES = ("none", "bags 4", "decimals 2", "labels only", "context 50", "layer drop", "layer coarsen", "layer random")
EVERY = [mitigation(name, cost=(0.01 * n, -0.01, 0.02 * n)) for n, name in enumerate(CASES, 1)]
STATES = {
    "white-box and inference": lambda: of_table(inferred(seen_inside(advised(a_summary(), mitigations=EVERY)))),
    "every option": lambda: of_table(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FILLED),
    "invalid": lambda: of_table(a_summary(placebo=True)),
    "quick": lambda: of_table(first_numbers(a_summary())),
    "no leak": lambda: of_table(a_summary(leak=False, showing=0)),
    "by person": lambda: of_table(by_person(a_summary()), group=LONG),
    "rows alike": lambda: of_table(of_rows_alike(a_summary())),
    "regression": lambda: of_table(of_numbers(a_summary()), task="a number, predicted by regression", classes=0),
    "predictions": lambda: of_predictions(accusations=RIGHT, record=FILLED),
    "predictions, shift": lambda: of_predictions(controls=[control("blind", 0.01, True)], accusations=ACCUSED),
    "predictions, nothing": lambda: of_predictions(FILES | {"by_person": True}, detected=False),
    "predictions, invalid": lambda: of_predictions(splits=4, accusations=RIGHT),
}

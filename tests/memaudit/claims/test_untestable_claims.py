"""Why a claim cannot be tested in a run."""

import pandas as pd

from memaudit.claims.claim_predicates import Claim
from memaudit.claims.untestable_claims import conditions_text, lacking, missing
from memaudit.common import tidy


def claim(**parts):
    sides = {"left": {"metric": "tpr", "where": {"fpr": 0.1}}, "right": {"value": 0.1}, "relation": "greater"}
    return Claim.model_validate({"id": "a", "paper": "lira", "place": "", "text": "", "study": "lira"} | sides | parts)


def table(*rows):
    return tidy.expand(
        pd.DataFrame([tidy.row("lira", keys, metric, value, **facts) for metric, value, keys, facts in rows])
    )


def test_what_is_supposed_and_is_not_above_chance_says_how_much_data_would_put_it_there():
    supposing = claim(provided={"metric": "auc"})
    beside_chance = table(("auc", 0.6, {"fpr": 0.1}, {"low": 0.4, "high": 0.8, "null": 0.5}))
    assert "about 4 times as many shadow models and records would decide" in lacking(supposing, beside_chance)
    above = table(("auc", 0.6, {"fpr": 0.1}, {"low": 0.55, "high": 0.65, "null": 0.5}))
    assert lacking(supposing, above) == lacking(claim(), above) == ""


def test_the_condition_that_no_row_meets_and_the_size_that_is_missing_are_named():
    rows = table(("tpr", 0.5, {"fpr": 0.01, "models": 64}, {"low": 0.4, "high": 0.6}))
    assert missing(claim(), rows) == "no results of lira to compare in metric tpr: none with fpr 0.1"
    few = missing(claim(left={"metric": "tpr"}, needs={"models": 256}), rows)
    assert few.endswith("with models >= 256: models is at most 64, 4 times as many are needed")


def test_conditions_are_listed():
    assert conditions_text({"fpr": 0.1, "source": None}) == "fpr 0.1, source none"

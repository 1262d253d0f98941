"""Headlines: sentences with intervals and nulls, conditions, errors of their entries."""

import pandas as pd
import pytest

from memaudit import tidy
from memaudit.statistics.headlines import Headline, state


def headline(**changes):
    entry = {
        "answers": "memorized",
        "per": ["dataset"],
        "where": {"models": "largest"},
        "values": {"auc": {"metric": "auc"}},
        "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}",
    }
    return Headline.model_validate(entry | changes)


def results():
    return tidy.frame(
        [
            tidy.row("demo", {"dataset": name, "models": m}, "auc", 0.6, low=low, high=0.7, null=0.5)
            for name, low in (("wine", 0.55), ("iris", 0.45))
            for m in (8, 16)
        ]
    )


def test_a_headline_says_its_value_with_interval_and_null():
    stated = state("demo", [headline()], results())
    assert stated["sentence"].tolist()[0] == "wine: AUC 0.6 [0.55, 0.7]; by chance 0.5"
    assert len(stated) == 2


def test_a_headline_that_forgets_a_key_is_refused():
    with pytest.raises(ValueError, match="two results for one auc"):
        state("demo", [headline(where={})], results())


def test_a_headline_without_one_of_its_values_is_not_said():
    values = {"auc": {"metric": "auc"}, "tpr": {"metric": "tpr"}}
    assert state("demo", [headline(values=values)], results()).empty


@pytest.mark.parametrize(("low", "said"), [(0.4, False), (0.55, True)])
def test_a_headline_is_said_where_what_it_supposes_lies_above_chance(low, said):
    supposed = tidy.row("demo", {"dataset": "wine"}, "share", 0.6, low=low, high=0.7, null=0.5)
    table = pd.concat([results(), tidy.frame([supposed])])
    found = state("demo", [headline(provided={"metric": "share"})], table)
    assert set(found["sentence"].str[:4]) == ({"wine"} if said else set())


def test_a_headline_shows_whole_rows_only():
    with pytest.raises(ValueError, match="leave `quantity` out"):
        headline(values={"auc": {"metric": "auc", "quantity": "width"}})

"""A headline states its values with interval and null, once for each combination of its keys."""

import pandas as pd
import pytest
from report_examples import headline, results

from memaudit.claims.headlines import state
from memaudit.common import tidy


def test_a_headline_states_its_value_with_interval_and_null():
    stated = state("demo", [headline()], results())
    assert stated["sentence"].tolist()[0] == "wine: AUC 0.6 [0.55, 0.7]; by chance 0.5"
    assert len(stated) == 2


def test_a_sentence_may_name_another_key_and_the_size_of_a_value():
    stated = state(
        "demo",
        [headline(sentence="{dataset}: {auc.estimate:g} of {auc.keys[models]:g} models, n = {auc.n}")],
        results(),
    )
    assert stated["sentence"].tolist()[0] == "wine: 0.6 of 16 models, n = 0"


def test_a_headline_that_forgets_a_key_is_refused():
    with pytest.raises(ValueError, match="two results for one auc"):
        state("demo", [headline(where={})], results())


def test_a_headline_without_one_of_its_values_is_omitted():
    values = {"auc": {"metric": "auc"}, "tpr": {"metric": "tpr"}}
    assert state("demo", [headline(values=values)], results()).empty


@pytest.mark.parametrize(("low", "stated"), [(0.4, False), (0.55, True)])
def test_a_headline_is_stated_only_if_its_condition_lies_above_chance(low, stated):
    supposed = tidy.row("demo", {"dataset": "wine"}, "share", 0.6, low=low, high=0.7, null=0.5)
    table = pd.concat([results(), tidy.frame([supposed])])
    found = state("demo", [headline(provided={"metric": "share"})], table)
    assert set(found["sentence"].str[:4]) == ({"wine"} if stated else set())


@pytest.mark.parametrize(
    ("low", "high", "word"), [(0.1, 0.4, "above"), (-0.4, -0.1, "below"), (-0.1, 0.4, "not shown to differ from")]
)
def test_a_sentence_may_say_whether_a_value_differs_from_chance(low, high, word):
    row = tidy.row("demo", {"dataset": "wine"}, "gap", (low + high) / 2, low=low, high=high, null=0.0)
    one = headline(values={"gap": {"metric": "gap"}}, where={}, sentence="{gap.shown} {gap.null:g}")
    assert state("demo", [one], tidy.frame([row]))["sentence"].tolist() == [f"{word} 0"]


def test_a_headline_shows_whole_rows_only():
    with pytest.raises(ValueError, match="leave `quantity` out"):
        headline(values={"auc": {"metric": "auc", "quantity": "width"}})

"""Each method of the comparison releases a context of its own kind from the same private records."""

import numpy as np
import pytest
from private_records import by_first_column, private

from memaudit.privacy.accounting import Budget
from memaudit.privacy.release_methods import CONTEXTS, released

VOTES = {"teachers": 5, "queries": 20}
SETTINGS = {
    "tabpate": VOTES,
    "tabpate-tuned": VOTES | {"candidates": [0.0, 0.2], "share": 0.1},
    "class-moments": {"queries": 20, "narrowed": True},
    "prompt-pate": VOTES,
    "dp-tabicl": {"prototypes": 8},
}


def release_of(method, epsilon=10.0, records=None):
    entry = {"method": method, "settings": dict(SETTINGS[method])}
    rng = np.random.default_rng(1)
    return released(entry, records or private(), Budget(epsilon, 1e-5), by_first_column, rng)


@pytest.mark.parametrize("method", CONTEXTS)
def test_a_context_lies_within_the_public_bounds_and_is_not_the_records_themselves(method):
    context = release_of(method)
    assert len(context.x) == len(context.y) == SETTINGS[method].get("queries", 8)
    assert ((context.x >= 0) & (context.x <= 10)).all()
    assert set(context.y) <= {0, 1}
    assert not {row.tobytes() for row in context.x} & {row.tobytes() for row in private().x}


def test_prompt_pate_labels_public_records_and_at_most_as_many_as_there_are():
    records = private(public_records=7)
    context = release_of("prompt-pate", records=records)
    assert context.queried == 7
    assert {row.tobytes() for row in context.x} <= {row.tobytes() for row in records.unlabelled}


def test_with_an_ample_budget_labels_are_those_of_the_teachers():
    context = release_of("tabpate", epsilon=500.0)
    assert (context.y == (context.x[:, 0] > 5)).all()


def test_dp_tabicl_is_pure_and_queries_no_teacher():
    context = release_of("dp-tabicl")
    assert context.statement == {"pure_epsilon": 10.0}
    assert context.queried == 0
    assert np.bincount(context.y).tolist() == [4, 4]


def test_a_method_without_a_context_is_refused():
    with pytest.raises(ValueError, match="dp-sgd releases no context"):
        released({"method": "dp-sgd", "settings": {}}, private(), Budget(1.0, 1e-5), by_first_column, None)

"""Cached answers of PATE teachers, and shadow contexts of a table."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.public_facts import Column, Public
from memaudit.studies.tabpate.evaluation_tables import Table
from memaudit.studies.tabpate.shadow_students import NON_PRIVATE, CachedPredictions, draw


def test_repeated_queries_are_cached_and_returned_in_order():
    sizes = []

    def predict(contexts, queries):
        sizes.append(len(contexts))
        return np.stack([np.full((len(queries), 2), x.sum() + y.sum()) for x, y in contexts])

    known, queries = CachedPredictions(predict), np.zeros((3, 2), dtype=np.float32)
    one, two, same = ((np.full((2, 2), fill, dtype=np.float32), np.arange(2)) for fill in (1, 2, 1))
    assert known([one, two, same], queries)[:, 0, 0].tolist() == [5, 9, 5]
    assert known([two, one], queries)[:, 0, 0].tolist() == [9, 5]
    assert sizes == [2]
    assert known([one], queries[:2]).shape == (1, 2, 2)
    assert known([(one[0], one[1][::-1])], queries).shape == (1, 3, 2)
    assert sizes == [2, 1, 1], "other queries, or labels in another order, are other queries"


PUBLIC = Public("toy", "made up", 40, "classification", (Column("a", (0.0, 40.0)),), Column("target", ("no", "yes")))
ROLES = {"test": 0.25, "held_out": 0.3, "max_records": None}
ARMS = {"private": {"method": "tabpate", "settings": {"queries": 10, "teachers": 2}}}


def table(public=PUBLIC):
    x, y = np.arange(40, dtype=np.float32)[:, None], np.arange(40) % 2
    names = [f"r{i:02d}" for i in range(40)]
    return Table(
        public,
        pd.DataFrame({"id": names, "target": public.target.values[0]}),
        x,
        y,
        np.array(names),
        b"a key of the tests",
    )


def wanted(sets=16):
    return SimpleNamespace(sets=sets, seed=1, roles=ROLES, arms=ARMS, delta=1e-4)


def test_each_private_record_is_in_half_of_every_block_of_shadow_contexts():
    shadows = draw(table(), wanted())
    matrix, private = shadows.membership, shadows.role == "private"
    assert matrix.shape == (16, 40)
    assert (matrix[:8].sum(0) == 4 * private).all()
    assert (matrix[8:].sum(0) == 4 * private).all()
    assert (draw(table(), wanted(8)).membership == matrix[:8]).all()
    assert shadows.largest == matrix.sum(1).max()


def test_the_mechanism_is_given_the_members_of_a_shadow_context_and_the_public_records():
    shadows = draw(table(), wanted())
    given = shadows.private(3)
    assert given.x[:, 0].tolist() == np.flatnonzero(shadows.membership[3]).tolist()
    assert len(given.unlabelled) == (shadows.role == "held out").sum()
    assert given.public.records == 10, "half of the nominal 21 private records"


@pytest.mark.parametrize(("labels", "expected"), [([1, 1], 1), ([], 0)])
def test_a_context_of_one_class_or_none_predicts_it_or_the_first(labels, expected):
    shadows = draw(table(), wanted())
    x = np.zeros((len(labels), 1), dtype=np.float32)
    records = replace(shadows.private(0), x=x, y=np.array(labels, dtype=int))
    logits = shadows.answers(NON_PRIVATE, None, records, np.zeros((3, 1), np.float32), None)
    assert (logits.argmax(1) == expected).all()
    assert (np.isneginf(logits).sum(1) == 1).all()


def test_number_targets_and_partial_blocks_are_refused():
    number = replace(PUBLIC, task="regression", target=Column("target", (0.0, 1.0)))
    with pytest.raises(AuditError, match="the target is a number"):
        draw(table(number), wanted())
    with pytest.raises(AuditError, match="multiple of 8"):
        draw(table(), wanted(12))

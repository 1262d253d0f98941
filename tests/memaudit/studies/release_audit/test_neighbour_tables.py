"""Neighbours differ in the canary alone, and the worst key lets it decide one vote."""

import numpy as np
import pandas as pd

from memaudit.privacy.teacher_votes import votes
from memaudit.studies.release_audit.broken_releases import TwoShards
from memaudit.studies.release_audit.neighbour_tables import MARKED, base_rows, decided, marks_model, neighbours, read

ROWS = base_rows(22, 22, marked=5)
BOTH = pd.concat([ROWS, pd.DataFrame([MARKED])], ignore_index=True)


def test_tables_differ_in_one_record():
    pair = neighbours(read(ROWS), read(BOTH))
    assert len(pair.inside.x) == len(pair.outside.x) + 1
    assert set(pair.outside.units) < set(pair.inside.units)


def test_the_model_is_decided_by_one_record():
    plain, marked = np.array([[0.5, 0]], np.float32), np.array([[0.5, 0], [1, 0]], np.float32)
    assert (marks_model([(plain, None), (marked, None)], plain).argmax(-1) == [[0], [1]]).all()


def counts(private):
    return votes(private.teacher_contexts(11), np.zeros((1, 2), np.float32), 2, marks_model)[0]


def test_the_canary_decides_one_vote_or_two_where_its_record_is_in_two_shards():
    pair = decided(read(ROWS), read(BOTH), 11, 5)
    assert [counts(one).tolist() for one in (pair.outside, pair.inside)] == [[6, 5], [5, 6]]
    twice = decided(read(ROWS), read(BOTH), 11, 5, TwoShards)
    assert (counts(twice.inside) - counts(twice.outside)).tolist() == [-2, 2]

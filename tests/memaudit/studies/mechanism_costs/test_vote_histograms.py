"""Votes are those of teachers with disjoint shards; too small shards are left out."""

import numpy as np

from memaudit.common.project_paths import PROJECT
from memaudit.studies.mechanism_costs import label_counts, vote_histograms
from memaudit.studies.private_gain.gain_tables import gain_table
from memaudit.studies.private_gain.measured_gains import Student


def test_rows_have_the_votes_of_all_teachers(monkeypatch):
    seen = []
    monkeypatch.setattr(label_counts, "ORDERS", np.array([8.0]))
    monkeypatch.setattr(vote_histograms, "QUERIES", 5)
    monkeypatch.setattr(vote_histograms, "SETTINGS", {10: label_counts.SETTINGS[10], 50: label_counts.SETTINGS[50]})
    counted = vote_histograms.votes

    def votes(contexts, queries, classes, predict):
        seen.append((sum(len(y) for _, y in contexts), counted(contexts, queries, classes, predict)))
        return seen[-1][1]

    monkeypatch.setattr(vote_histograms, "votes", votes)
    folder = PROJECT / "resources/tables"
    rows = list(vote_histograms.rows("credit-g", str(folder)))
    assert [(row["teachers"], row["epsilon"]) for row in rows] == [(10, 1.0), (10, 10.0)]
    ((records, counts),) = seen
    assert records == rows[0]["records"] == 750
    assert counts.sum(axis=1).tolist() == [10] * 5
    assert rows[0]["agreed"] == (counts.max(axis=1) >= 9).mean()
    student = Student.of(gain_table("credit-g", folder), 0)
    assert not set(student.tested[:5]) & set(student.drawn)

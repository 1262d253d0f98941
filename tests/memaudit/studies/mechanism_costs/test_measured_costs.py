"""Each part has the rows of its own computation."""

import pytest

from memaudit.studies.mechanism_costs import label_counts, measured_costs, selection_costs, vote_histograms


@pytest.mark.parametrize(
    ("part", "rows"), [("labels", ["agreement"]), ("selection", ["way"]), ("votes digits", ["digits", "folder"])]
)
def test_a_part_has_its_rows_and_seconds(part, rows, monkeypatch):
    monkeypatch.setattr(label_counts, "rows", lambda: iter(["agreement"]))
    monkeypatch.setattr(selection_costs, "rows", lambda: iter(["way"]))
    monkeypatch.setattr(vote_histograms, "rows", lambda *given: iter(given))
    found = measured_costs.measure(part, "folder")
    assert found["rows"] == rows
    assert found["cpu_seconds"] >= 0
    assert part in measured_costs.PARTS

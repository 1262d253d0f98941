"""The parts of a file of config/views/: what may be left out, what may not, and how keys are called."""

import pytest
from pydantic import ValidationError

from memaudit.workflow.view_schema import Figure, Layout, Sentence, StudyFile, Table

SHOWN = {"title": "AUC", "caption": "Of all.", "results": ["auc"]}


def test_a_layout_is_given_on_as_the_table_takes_it():
    layout = Layout.model_validate({"rows": ["dataset"], "columns": ["metric"], "with_null": True})
    assert layout.model_dump(exclude_unset=True) == {"rows": ["dataset"], "columns": ["metric"], "null": True}


def test_tables_and_figures_are_shown_unless_a_condition_is_empty():
    assert Table.model_validate(SHOWN).if_ is True
    assert Table.model_validate(SHOWN | {"if": []}).if_ == []
    assert Figure.model_validate(SHOWN).where == {}


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Table, SHOWN | {"results": []}),
        (Table, SHOWN | {"where": {}}),
        (Figure, SHOWN | {"layout": None}),
        (Sentence, {"answers": "trust", "sentence": "x", "per": [], "values": {"x": {"metric": "auc", "n": 1}}}),
        (StudyFile, {"title": "a", "question": "b", "paper": None, "thresholds": [], "columns": []}),
    ],
    ids=["no results", "a figure's key", "a table's key", "a key of a value", "no tables"],
)
def test_what_is_unknown_or_missing_is_refused(model, values):
    with pytest.raises(ValidationError):
        model.model_validate(values)

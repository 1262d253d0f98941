"""Tables of the comparison: records by role, encoded by public facts, with their units."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json, write_table
from memaudit.data.record_ids import make_key
from memaudit.studies.tabpate.evaluation_tables import open_table

FACTS = """source: a test
records: 80
task: {task}
target: {target}
columns:
  age: [0, 100]
"""
ROLES = {"test": 0.25, "held_out": 0.3, "max_records": None}


@pytest.fixture
def opened(tmp_path):
    """Open a table of 80 records, two of each unit unless `grouped` is false."""

    def call(target='["p", "q"]', task="classification", values=("p", "q"), grouped=True):
        records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(80)], "age": np.arange(80.0)})
        records["target"] = np.resize(values, 80)
        if grouped:
            records["group"] = [f"u{i // 2}" for i in range(80)]
        write_table(records, tmp_path / "records.parquet")
        write_json({"columns": [{"name": "age", "type": "numeric"}]}, tmp_path / "schema.json")
        (tmp_path / "towns.yaml").write_text(FACTS.format(task=task, target=target))
        make_key(tmp_path / "key", "a test")
        return open_table(*(str(tmp_path / name) for name in ("records.parquet", "schema.json", "towns.yaml", "key")))

    return call


def test_each_record_is_private_public_or_tested_and_units_stay_together(opened):
    table = opened()
    role = table.roles(ROLES, 1, 0)
    assert set(role) == {"private", "held out", "test"}
    for unit in np.unique(table.units):
        assert len(set(role[table.units == unit])) == 1
    assert (role == table.roles(ROLES, 1, 0)).all()
    assert (role != table.roles(ROLES, 1, 1)).any(), "another repeat has other roles"
    assert table.tested(role).tolist() == np.flatnonzero(role == "test").tolist()


def test_held_out_records_are_private_unless_a_method_takes_them_as_public(opened):
    table = opened()
    role = table.roles(ROLES, 1, 0)
    with_public, all_private = (table.private(role, ROLES, held_out) for held_out in (True, False))
    assert with_public.x[:, 0].tolist() == table.x[role == "private", 0].tolist()
    assert len(all_private.x) == (role != "test").sum()
    assert with_public.unlabelled[:, 0].tolist() == table.x[role == "held out", 0].tolist()
    assert with_public.units == table.units[role == "private"].tolist()


def test_the_nominal_number_of_records_is_that_of_the_sample(opened):
    table, settings = opened(), ROLES | {"max_records": 40}
    role = table.roles(settings, 1, 0)
    assert [table.private(role, settings, held_out).public.records for held_out in (False, True)] == [30, 21]
    assert table.public.records == 80


def test_without_a_group_each_record_is_its_own_unit(opened):
    assert opened(grouped=False).units.tolist() == [f"r{i:02d}" for i in range(80)]


def test_a_number_target_has_no_classes(opened):
    assert opened().classes == 2
    assert opened("[0, 2]", "regression", (0.5, 1.5)).classes is None


def test_a_student_of_a_context_that_no_model_takes_has_a_fixed_answer(opened):
    def unused(contexts, queries):
        raise AssertionError("the model was queried")

    queries, one = np.zeros((3, 1), np.float32), np.zeros((2, 1), np.float32)
    classes, numbers = opened(), opened("[0, 2]", "regression", (0.5, 1.5))
    assert classes.student_answers((one, np.array([1, 1])), queries, unused).tolist() == [[-np.inf, 0]] * 3
    assert classes.student_answers((one[:0], np.array([])), queries, unused).tolist() == [[0, -np.inf]] * 3
    assert classes.student_answers((one, np.array([1, 0])), queries, unused).tolist() == [[0, -np.inf]] * 3
    assert numbers.student_answers((one[:1], np.array([0.5])), queries, unused).tolist() == [1, 1, 1]
    assert numbers.student_answers((one, np.array([0.5, 1.0])), queries, unused).tolist() == [0.75] * 3


def test_a_student_answers_by_the_model_with_its_context(opened):
    def means(contexts, queries):
        ((x, y),) = contexts
        assert (x.dtype, y.dtype) == (np.float32, np.int64)
        return np.stack([np.stack([queries[:, 0], y.mean() - queries[:, 0]], 1)])

    context = np.array([[1.0], [2.0]]), np.array([0.0, 1.0])
    answers = opened().student_answers(context, np.array([[3.0]]), means)
    assert answers.tolist() == [[3.0, -2.5]]


def test_answers_of_some_records_are_nan_elsewhere(opened):
    answers = opened().on_all_records(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5, 7]))
    assert answers.shape == (80, 2)
    assert answers[[5, 7]].tolist() == [[1, 2], [3, 4]]
    assert np.isnan(np.delete(answers, [5, 7], axis=0)).all()


def test_a_class_that_the_public_facts_lack_is_refused(opened):
    with pytest.raises(AuditError, match="target: 26 records have a class that it does not list"):
        opened(values=("p", "q", "r"))

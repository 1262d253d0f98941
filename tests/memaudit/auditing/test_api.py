"""The audit from Python: models by value, and tables that are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import memaudit
from memaudit.auditing import api
from memaudit.common.errors import AuditError
from memaudit.models import given_estimator
from memaudit.models.given_estimator import GivenEstimator


def test_the_audit_is_imported_on_first_use():
    assert memaudit.audit is api.audit
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        memaudit.audti  # noqa: B018


def test_an_estimator_is_named_by_its_class_and_parameters():
    name, params = api._named(RandomForestClassifier(n_estimators=7))
    assert name == "sklearn.ensemble._forest.RandomForestClassifier"
    assert params["n_estimators"] == 7


@pytest.mark.parametrize("model", [object(), RandomForestClassifier])
def test_what_is_no_estimator_is_refused(model):
    with pytest.raises(AuditError, match="not an estimator; give an object with fit, predict and get_params"):
        memaudit.audit(np.zeros((80, 2)), np.arange(80) % 2, model=model)


@pytest.mark.parametrize("model", [make_pipeline(RandomForestClassifier()), OneVsRestClassifier(LogisticRegression())])
def test_an_estimator_that_cannot_be_named_is_pickled_with_the_form_of_the_table(model, tmp_path):
    table, roles = api._with_roles(pd.DataFrame({"age": [1, 2], "target": ["a", "b"]}), [True, False], None)
    assert api._named(model) is None
    name, params = api._pickled(model, table, roles, tmp_path / "own.pkl", seed=0)
    held = given_estimator._read(**params)
    assert name == f"{GivenEstimator.__module__}.{GivenEstimator.__qualname__}"
    assert held.columns == {"c0": "age", "c1": "target"}
    assert (held.values, held.labels) == ({"c1": {"a": "a", "b": "b"}}, {"true": True, "false": False})
    assert type(held.estimator) is type(model)


def test_the_page_calls_a_pipeline_by_its_last_step():
    assert api._called(make_pipeline(RandomForestClassifier())) == "Pipeline of RandomForestClassifier"
    assert api._called(OneVsRestClassifier(LogisticRegression())) == "OneVsRestClassifier"


def test_an_estimator_keeps_its_given_parameters():
    _, params = api._named(RandomForestClassifier(max_features=None, n_estimators=np.int64(7).item()))
    assert (params["max_features"], params["n_estimators"]) == (None, 7)
    assert "max_depth" not in params


def test_too_few_targets_are_refused():
    with pytest.raises(AuditError, match="X has 3 rows and y 2"):
        api.audit(pd.DataFrame({"a": [1, 2, 3]}), [0, 1])


def test_python_leaves_no_copy_of_a_table_that_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(AuditError, match="the same in all rows"):
        memaudit.audit(np.zeros((80, 2)) + np.arange(80)[:, None] % 7, np.zeros(80))
    assert not list(tmp_path.iterdir())


def test_a_failed_audit_tells_its_cause_and_no_folder_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    X = np.random.default_rng(0).normal(size=(80, 2))
    with pytest.raises(AuditError, match=r"the quick stage has failed \(.*NoSuchModel") as error:
        memaudit.audit(X, np.arange(80) % 2, model="sklearn.ensemble.NoSuchModel", quick=True)
    assert "with into=FOLDER its files and Snakemake's messages are kept" in str(error.value)
    assert str(tmp_path) not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_added_columns_get_names_that_the_table_does_not_have():
    assert api._free("target", pd.DataFrame({"Target": [1], "target_": [2]})) == "target__"

"""The audit from Python: models by value, and tables that are refused."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audit_examples import FACTS, a_summary
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import memaudit
from memaudit.auditing import api
from memaudit.auditing.reading.memory_table import with_roles
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
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


class ByColumn(ClassifierMixin, BaseEstimator):
    """A class of an importable module that is none of scikit-learn."""

    def __init__(self, column="town"):
        self.column = column

    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), X[self.column].map(str).str.len().mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


TABLE = pd.DataFrame({"age": [1, 2], "town": ["a", "b"]})


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(RandomForestClassifier()),
        OneVsRestClassifier(LogisticRegression()),
        LogisticRegression(class_weight={True: 3, False: 1}),
        ByColumn(),
        ByColumn("age"),
        HistGradientBoostingClassifier(categorical_features=["town"]),
    ],
)
def test_an_estimator_that_is_taken_as_it_is_is_written_with_the_form_of_the_table(model, tmp_path):
    table, _, stored = with_roles(TABLE, [True, False], None)
    assert api._named(model) is None
    settings = api._written(table, api._content(model, TABLE, [True, False], stored, seed=0), tmp_path)
    assert settings["models"] == [f"{GivenEstimator.__module__}.{GivenEstimator.__qualname__}"]
    assert settings["labels"] == [api._called(model)]
    content = given_estimator._read(**settings["params"])
    assert content.frame.columns == {"c0": "age", "c1": "town"}
    assert content.frame.values == {"c1": {"a": "a", "b": "b"}}
    assert content.frame.labels == {"true": True, "True": True, "false": False, "False": False}
    assert type(content.estimator) is type(model)


def test_a_tuple_is_a_plain_parameter():
    assert api._named(MLPClassifier((8, 8)))[1] == {"hidden_layer_sizes": [8, 8]}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "two columns are called 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["1", 1]), [0, 1], "two columns are called '1'"),
        (pd.DataFrame([[1], [2]], columns=pd.MultiIndex.from_tuples([("a", "b")])), [0, 1], "several levels"),
        (pd.DataFrame({"__index_level_0__": [1, 2]}), [0, 1], "a name of Parquet's"),
        (pd.DataFrame({"a": [1, "b"]}), [0, 1], "a column mixes types"),
        (TABLE, [[0], [1]], r"y the shape \(2, 1\)"),
        ({"a": 1}, [0], "is no table"),
    ],
)
def test_a_table_that_is_none_is_refused_in_one_line(X, y, message):
    with pytest.raises(AuditError, match=message):
        memaudit.audit(X, y)


def read_as(kind):
    """Facts of the intake of a table of 260 rows, of which 255 have a target."""
    return FACTS | {"name": "t", "target": "target", "rows": 260, "without_target": 5, "taken": 255, "kind": kind}


def test_a_model_that_does_not_fit_is_refused_by_the_users_name():
    stored = ["c0", "c1"]
    with pytest.raises(AuditError, match="model Pipeline of SVC: gives no probabilities"):
        api._content(make_pipeline(SVC()), TABLE, [0, 1], stored, 0)
    with pytest.raises(AuditError, match="column 'a': holds unhashable type"):
        api._content(make_pipeline(Ridge()), pd.DataFrame({"a": [[1], [2]]}), [0, 1], ["c0"], 0)
    content = api._content(make_pipeline(Ridge()), TABLE, [0, 1], stored, 0)
    with pytest.raises(AuditError, match="Pipeline of Ridge: a regressor, but the task is classification"):
        api._say(content, "schema", read_as("classification"))
    with pytest.raises(AuditError, match=r"\('town': free text\); .* df\.drop\(columns=\['town'\]\)"):
        api._say(content, "schema", read_as("regression") | {"left_out": {"town": "free text"}})


def test_the_page_calls_a_pipeline_by_its_last_step():
    assert api._called(make_pipeline(RandomForestClassifier())) == "Pipeline of RandomForestClassifier"
    assert api._called(OneVsRestClassifier(LogisticRegression())) == "OneVsRestClassifier"


def test_an_estimator_keeps_its_given_parameters():
    _, params = api._named(RandomForestClassifier(max_features=None, n_estimators=np.int64(7).item()))
    assert (params["max_features"], params["n_estimators"]) == (None, 7)
    assert "max_depth" not in params


def test_how_the_table_was_read_is_printed(capsys):
    looks = {"price": "text in the file, although its values look like numbers; only a declared type reads them so"}
    told = {"persons": {"owner": 200}, "readings": looks}
    api._say(("tabicl-small", {}), "schema", read_as("classification") | told)
    printed = capsys.readouterr().out
    assert "memaudit: 260 rows, 255 with a target (2 classes)\n" in printed
    assert "audit again with groups; without it" in printed
    assert "memaudit: left out: 'note': free text\n" in printed
    assert "memaudit: 'price': texts that look like numbers are read as words; to have numbers read convert" in printed
    assert "schema.yaml" not in printed


def test_the_line_of_a_late_audit_names_arguments(capsys):
    api._say(("tabicl-small", {}), "late", "took 6.3 minutes where 2 were asked: ...; --quick leaves it out")
    assert capsys.readouterr().out == "memaudit: took 6.3 minutes where 2 were asked: ...; quick=True leaves it out\n"


def test_a_report_is_shown_with_its_main_results_and_its_folder(tmp_path):
    folder = tmp_path / "audit"
    folder.mkdir()
    write_json(a_summary().model_dump(), folder / "summary.json")
    shown = repr(api.Report(folder))
    assert shown.startswith(f"Report('{folder}')\n  result: AUC 0.70 [0.65, 0.75], chance 0.50: a leak is detected\n")
    assert "leaks who is in its context.</strong>" in api.Report(folder)._repr_html_()
    api.Report(folder).delete()
    assert repr(api.Report(folder)) == f"Report('{folder}')\n  deleted"
    assert api.Report(folder)._repr_html_() == "<p>memaudit: deleted</p>"


def test_a_report_of_another_version_says_so(tmp_path):
    write_json({"stage": "full"}, tmp_path / "summary.json")
    assert repr(api.Report(tmp_path)).endswith("\n  made by another version of memaudit; audit again")


def test_the_last_line_names_the_page_and_how_to_remove_the_copy(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(api.runner, "run", lambda request, settings, report: None)
    report = api.audit(TABLE, [0, 1])
    last = (
        f"memaudit: the page is '{report.folder}/report.html'; report.delete() removes its folder, which holds a copy"
    )
    assert capsys.readouterr().out.splitlines()[-1].startswith(last)


def test_a_target_that_is_none_is_refused():
    with pytest.raises(AuditError, match=r"X has 2 rows and y the shape \(\)"):
        api.audit(TABLE, 3)


@pytest.mark.parametrize("targets", [{}, {"y": [0, 1], "target": "age"}])
def test_the_target_is_given_in_one_form(targets):
    with pytest.raises(AuditError, match=r"^y, target: give exactly one of them"):
        api.audit(TABLE, **targets)


def test_targets_and_groups_may_be_columns_of_the_table(tmp_path, monkeypatch):
    requests = []
    monkeypatch.setattr(api.runner, "run", lambda request, settings, report: requests.append(request))
    api.audit(TABLE.assign(churn=[0, 1], owner=["p", "q"]), target="churn", groups="owner", into=tmp_path / "audit")
    assert (requests[0].target, requests[0].group) == ("churn", "owner")
    assert list(pd.read_parquet(tmp_path / "audit" / api.GIVEN)) == ["age", "town", "churn", "owner"]


def test_too_few_targets_are_refused():
    with pytest.raises(AuditError, match=r"X has 3 rows and y the shape \(2,\)"):
        api.audit(pd.DataFrame({"a": [1, 2, 3]}), [0, 1])


@pytest.mark.parametrize(("given", "name"), [({}, "your table"), ({"name": "donors"}, "donors")])
def test_the_page_calls_the_table_as_it_was_named_and_not_by_the_file_of_the_copy(tmp_path, monkeypatch, given, name):
    requests = []
    monkeypatch.setattr(api.runner, "run", lambda request, settings, report: requests.append(request))
    api.audit(TABLE, [0, 1], into=tmp_path / "audit", **given)
    assert requests[0].name == name


def test_python_leaves_no_copy_of_a_table_that_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(AuditError, match="the same in all rows"):
        memaudit.audit(np.zeros((80, 2)) + np.arange(80)[:, None] % 7, np.zeros(80))
    assert not list(tmp_path.iterdir())


def test_a_failed_audit_tells_its_cause_and_keeps_its_logs_alone(tmp_path, monkeypatch, capfd):
    class Unfit(LogisticRegression):
        def fit(self, X, y):
            raise ValueError("the solver is out of order")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    X = np.random.default_rng(0).normal(size=(80, 2))
    with pytest.raises(AuditError, match=r"a job of the first numbers has failed \(.*out of order") as error:
        memaudit.audit(X, np.arange(80) % 2, model=Unfit(), quick=True)
    [folder] = tmp_path.iterdir()
    assert f"its logs are in {folder}, with into=FOLDER all files are kept" in str(error.value)
    kept = [path for path in folder.rglob("*") if not path.is_dir()]
    assert {path.suffix for path in kept} == {".log"}
    shown = re.findall(r"has failed; see (\S+)", "".join(capfd.readouterr()))
    assert shown
    assert {Path(name) for name in shown} <= set(kept)

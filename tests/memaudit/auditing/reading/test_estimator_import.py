"""Import paths of estimators that no job could import are refused, with the name that was probably meant."""

import re

import pytest

from memaudit.auditing import runner
from memaudit.auditing.reading import estimator_import
from memaudit.auditing.reading.request import Request
from memaudit.common.errors import AuditError


def entry(path):
    return {"audited-1": {"family": "estimator", "estimator": path}}


def test_classes_that_jobs_can_import_pass(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("print('loaded')\nclass Rule: pass\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    estimator_import.require(entry("mine.Rule") | {"tuned": {"family": "tabicl", "path": "weights"}})


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (
            "fractions.Fracton",
            "AttributeError: module 'fractions' has no attribute 'Fracton'. Did you mean: 'Fraction'?",
        ),
        ("nosuch_package.Rule", "ModuleNotFoundError: No module named 'nosuch_package'"),
        ("mine.Rule", "ModuleNotFoundError: No module named 'mine'"),
    ],
)
def test_others_are_one_line(tmp_path, monkeypatch, path, reason):
    """A file in the working folder is none that jobs, which run elsewhere, could import."""
    (tmp_path / "mine.py").write_text("class Rule: pass\n")
    monkeypatch.chdir(tmp_path)
    line = f"--model '{path}': cannot be imported ({reason}); give package.module.Class, and put the folder"
    with pytest.raises(AuditError, match=re.escape(line)) as raised:
        estimator_import.require(entry(path))
    assert "\n" not in str(raised.value)


def test_a_class_that_ends_python_while_it_is_imported_is_refused(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("import os; os._exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(AuditError, match=re.escape("cannot be imported (exit code 3)")):
        estimator_import.require(entry("mine.Rule"))


def test_an_audit_of_such_a_class_leaves_no_folder(tmp_path):
    settings = runner.Settings(tmp_path / "into", models=["fractions.Fracton"])
    with pytest.raises(AuditError, match="Did you mean: 'Fraction'"):
        runner.run(Request(str(tmp_path / "t.csv"), "y"), settings, print)
    assert not (tmp_path / "into").exists()

"""`./memaudit audit` of targets as they are: numbers by regression, many classes, and what these do not support."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import with_library
from sklearn.datasets import load_diabetes

from memaudit.attacks import registry
from memaudit.auditing.api import Report

pytestmark = [pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A function that audits a table by the command, first numbers alone: exit code, what it printed, the report."""
    desk = tmp_path_factory.mktemp("targets")

    def audit(table, *arguments):
        into = desk / f"audit-{len(list(desk.iterdir()))}"
        table.to_csv(desk / "t.csv", index=False)
        command = [sys.executable, "-m", "memaudit", "audit", "t.csv", "--target", "y", "--into", into, "--quick"]
        env = with_library()
        done = subprocess.run(
            [*command, "--cores", "1", *arguments], cwd=desk, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr, Report(into)

    return audit


def numbers():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X.assign(y=y)[:160]


@pytest.fixture(scope="module")
def regression(audited):
    return audited(numbers())


def test_a_number_is_audited_by_regression(regression):
    code, printed, report = regression
    assert code == 0, printed
    assert "(a number, predicted by regression)" in printed
    assert "model: 'tabicl-small-regression'" in printed
    summary = report.summary
    assert (summary.table.kind, summary.models["main"]) == ("regression", "tabicl-small-regression")
    scores = {one.attack for one in summary.adversaries}
    assert scores == {"strongest", *registry.of_one_query("probabilities", "regression")}
    assert summary.headline.auc.detected
    assert not summary.placebo().auc.detected
    (quality,) = summary.utilities
    assert quality.balanced_accuracy is None
    assert 0 < quality.r2.estimate < 1
    assert quality.rmse.estimate < quality.rmse.null
    assert report.risk["row"].is_unique


def test_the_page_of_a_regression_speaks_of_numbers(regression):
    page = (regression[2].folder / "report.html").read_text(encoding="utf-8")
    assert "The target is a number, predicted by regression." in page
    assert "reads the whole answer, one query" in page
    assert "LiRA on the error" in page
    assert not [word for word in ("quartile", "true label", "labels alone", "alanced accuracy") if word in page]


def test_a_regressor_of_a_package_is_audited_by_its_predictions(audited):
    code, printed, report = audited(
        numbers(), "--model", "sklearn.neighbors.KNeighborsRegressor", "--threats", "labels"
    )
    assert code == 0, printed
    summary = report.summary
    scores = {one.attack for one in summary.adversaries}
    assert scores == {"strongest", *registry.of_one_query("label-only", "regression")}
    assert "reads predicted numbers, one query" in (report.folder / "report.html").read_text(encoding="utf-8")


def test_twenty_classes_are_audited_by_the_shipped_model(audited):
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(20), 8)
    table = pd.DataFrame(rng.normal(size=(20, 4))[kinds] * 2 + rng.normal(size=(160, 4)), columns=list("abcd"))
    code, printed, report = audited(table.round(3).assign(y=[f"k{kind:02d}" for kind in kinds]))
    assert code == 0, printed
    assert "(20 classes)" in printed
    summary = report.summary
    assert summary.models["main"] == "tabicl-small"
    accuracy = summary.utilities[0].accuracy
    assert accuracy.low > accuracy.null
    assert "The target has 20 classes." in (report.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--epsilon", "1", "--public", "facts.yaml"],
            "--epsilon: private contexts hold classes, but the target is a number; leave --epsilon out",
        ),
        (["--finetune"], "--finetune: the probe of a fine-tuned model needs classes, but the target is a number"),
        (["--threats", "labels", "poison"], "--threats poison: mislabelled copies need classes"),
        (["--model", "tabpfn-v2-deployed"], "the target is a number, which this model does not predict"),
        (["--task", "classification"], "114 classes, an audit takes at most 100"),
    ],
)
def test_what_numbers_do_not_support_is_refused_in_one_line(audited, arguments, line):
    code, printed, report = audited(numbers(), *arguments)
    assert code == 1
    assert line in printed
    assert printed.startswith("memaudit: ")
    assert printed.count("\n") == 1
    assert not report.folder.exists()

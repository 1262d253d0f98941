"""Leave-one-out answers are those of a loop over the contexts."""

import pytest
import torch
from tabicl._model.tabicl import TabICL

from memaudit.errors import AuditError
from memaudit.io import write_json
from memaudit.models.leave_one_out import leave_one_out
from memaudit.models.predictive_distributions import Binned
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.tabicl import TabICLBranch

SIZES = {"embed_dim": 8, "col_num_blocks": 2, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1, "row_nhead": 2}
SIZES |= {"row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2}
FOREST = {"class": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 3}}
RIDGE = {"class": "sklearn.linear_model.Ridge", "params": {}}
ROWS = 17


def tabicl(classes, clip=None, **architecture):
    """A random TabICL whose answers vary: no layer starts at zero."""
    torch.manual_seed(0)
    module = TabICL(**SIZES, max_classes=classes, num_quantiles=19, **architecture)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return TabICLBranch(module, "cpu", clip)


def estimator(folder, task, entry):
    write_json(entry, folder / "estimator.json")
    return EstimatorBranch.load(folder, {"name": "rival", "task": task, "mode": "raw", "options": {}}, "cpu", None)


MODELS = {
    "tabicl": lambda folder: tabicl(4),
    "tabicl, own scaling": lambda folder: tabicl(4, clip=6.0),
    "tabicl v1": lambda folder: tabicl(4, col_target_aware=False, icl_ssmax=False),
    "tabicl regression": lambda folder: tabicl(0),
    "estimator": lambda folder: estimator(folder, "classification", FOREST),
    "estimator regression": lambda folder: estimator(folder, "regression", RIDGE),
}


@pytest.fixture
def rows():
    """Rows with missing cells, a column that one row alone makes vary, and a class that one row alone has."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 4, generator=generator)
    x[3, 1], x[:, 2] = torch.nan, 0
    x[5, 2] = 1
    y = (x[:, 0] > 0).long()
    y[7] = 3
    return x, y


def targets(model, y):
    return y if model.task == "classification" else y + torch.linspace(0, 1, ROWS)


def loop(model, x, y):
    """One context after the other."""
    ask = model.logits if model.task == "classification" else model.distribution
    kept = [torch.arange(len(x)) != left for left in range(len(x))]
    with torch.no_grad():
        return [ask(x[keep][None], y[keep][None], x[~keep][None]) for keep in kept]


def assert_as_a_loop(found, expected):
    if isinstance(found, Binned):
        assert found.mean().shape == (len(expected),)
        for part in ("borders", "log_mass", "scales"):
            reference = torch.cat([getattr(answer, part)[0] for answer in expected])
            torch.testing.assert_close(getattr(found, part), reference, atol=1e-5, rtol=1e-5)
        return
    for row, answer in enumerate(expected):
        width = answer.shape[-1]
        torch.testing.assert_close(found[row, :width], answer[0, 0], atol=1e-5, rtol=1e-5)
        assert (found[row, width:] == -torch.inf).all()


@pytest.mark.parametrize("contexts", [None, 1, 5])
@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_a_loop_over_the_contexts(name, contexts, rows, tmp_path):
    model = MODELS[name](tmp_path)
    x, y = rows[0], targets(model, rows[1])
    found = leave_one_out(model, x, y, contexts)
    assert_as_a_loop(found, loop(model, x, y))
    if model.task == "classification":
        assert found.shape == (ROWS, 4)
        assert found[7, 3] == -torch.inf, "no other row has this class"


@pytest.mark.parametrize("contexts", [None, 1])
@pytest.mark.parametrize("name", sorted(set(MODELS) - {"estimator regression"}))  # one row has no folds
def test_two_rows_are_each_answered_from_the_other(name, contexts, tmp_path):
    model = MODELS[name](tmp_path)
    x, y = torch.tensor([[0.0, 1.0], [2.0, 3.0]]), torch.tensor([0, 2])
    y = y if model.task == "classification" else y.float()
    assert_as_a_loop(leave_one_out(model, x, y, contexts), loop(model, x, y))


def test_one_row_has_no_others(rows):
    with pytest.raises(AuditError, match="a context of 1 rows has no other rows; give at least two"):
        leave_one_out(tabicl(4), rows[0][:1], rows[1][:1])

"""ConTextTab through its package: what is passed, what comes back, what is refused. The package is a stand-in."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models.contexttab import ConTextTabBranch

NAN = float("nan")
SCHEMA = {
    "task": "classification",
    "columns": [
        {"name": "age in years", "type": "numeric"},
        {"name": "work", "type": "categorical", "categories": ["Private", "State gov"]},
        {"name": "since", "type": "date"},
    ],
    "target": {"name": "income", "type": "categorical", "categories": ["low", "high", "middle"]},
}
CARD = {"name": "sap", "family": "contexttab", "task": "classification", "mode": "as_deployed", "version": None}
CARD |= {"options": {}}
X = torch.tensor([[39, 0, 20000], [0.5, 1, NAN], [NAN, NAN, 0.5], [51, 0, 1]])
Y = torch.tensor([0, 2, 0, 2])
# The surface of sap_rpt_oss, as far as it is known here: the constructor asks the hub for its checkpoint by name, `fit`
# keeps the context, classes come in sorted order, and columns that are constant in context and queries together are
# dropped.
STAND_IN = """
import numpy as np
import pandas as pd
import torch


def hf_hub_download(repo_id, filename, **_):
    raise OSError("there is no network")


class SAP_RPT_OSS_Classifier:
    def __init__(self, checkpoint="2025-11-04_sap-rpt-one-oss.pt", bagging=8, max_context_size=8192,
                 drop_constant_columns=True, test_chunk_size=1000):
        self.settings = {"bagging": bagging, "max_context_size": max_context_size}
        self.path = hf_hub_download(repo_id="SAP/sap-rpt-1-oss", filename=checkpoint)
        self.weights = torch.load(self.path, map_location="cpu", weights_only=False)
        self.calls = []

    def fit(self, X, y):
        self.X, self.y, self.classes_ = X, y, np.unique(y)
        self.calls.append(("fit", X, y))
        return self

    def predict_proba(self, X):
        self.calls.append(("predict_proba", X))
        kept = pd.concat([self.X, X]).nunique(dropna=False).gt(1).sum()
        share = np.where(X.iloc[:, 0] > 40, 1.0, 0.1 * kept)
        rest = (1 - share) / max(len(self.classes_) - 1, 1)
        return np.column_stack([share, *[rest] * (len(self.classes_) - 1)])
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    (tmp_path / "sap_rpt_oss.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sap_rpt_oss", raising=False)
    yield
    sys.modules.pop("sap_rpt_oss", None)


@pytest.fixture
def weights(tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    torch.save({"layer": torch.zeros(2)}, folder / "sap.pt")
    return folder


def opened(weights, schema=SCHEMA, **options):
    return ConTextTabBranch.load(weights, CARD | {"options": options}, "cpu", schema)


def test_a_missing_package_is_named_before_anything_else(tmp_path):
    with pytest.raises(
        AuditError, match=r"sap_rpt_oss cannot be imported .*; pip install git\+https://github.com/SAP"
    ) as e:
        ConTextTabBranch.load(tmp_path, CARD | {"mode": "raw", "options": {"a": 1}}, "cpu", None)
    assert "\n" not in str(e.value)


@pytest.mark.usefixtures("package")
def test_the_package_reads_names_and_not_codes(weights):
    branch = opened(weights)
    branch.logits(X[None], Y[None], X[None, 3:])
    (_, context, labels), (_, query) = branch._estimator.calls
    assert list(context) == list(query) == ["age in years", "work", "since"]
    assert context["work"].tolist() == ["Private", "State gov", None, "Private"]
    np.testing.assert_array_equal(context["age in years"], [39, 0.5, NAN, 51])
    assert context["since"].tolist()[::2] == [pd.Timestamp("2024-10-04"), pd.Timestamp("1970-01-01 12:00")]
    assert context["since"].isna().tolist() == [False, True, False, False]
    assert labels.tolist() == ["low", "middle", "low", "middle"]
    assert query["age in years"].tolist() == [51]


@pytest.mark.usefixtures("package")
def test_classes_stand_in_the_schemas_order_and_an_absent_one_is_impossible(weights):
    logits = opened(weights).logits(X[None], torch.tensor([[0, 1, 0, 1]]), X[None, :2])
    assert logits.shape == (1, 2, 3)
    assert torch.isneginf(logits[..., 2]).all()
    # The package sorts: `high` comes first, and has 0.1 for each of three columns.
    torch.testing.assert_close(logits[0, 0, :2].exp(), torch.tensor([0.7, 0.3]))


@pytest.mark.usefixtures("package")
def test_a_probability_of_zero_is_not_an_absent_class(weights):
    logits = opened(weights).logits(X[None], Y[None], X[None, 3:])[0, 0]
    assert logits[[0, 2]].isfinite().all()
    assert logits[0] > logits[2] + 50


@pytest.mark.usefixtures("package")
def test_another_query_does_not_change_a_prediction_unless_computed_together(weights):
    context, queries = X[:1].repeat(3, 1), X[:2]
    labels = torch.tensor([0, 2, 0])
    alone, pair = (opened(weights).logits(context[None], labels[None], q[None]) for q in (queries[:1], queries))
    torch.testing.assert_close(pair[:, :1], alone)
    together = opened(weights, queries="together").logits(context[None], labels[None], queries[None])
    assert not torch.allclose(together[0, 0, [0, 2]], alone[0, 0, [0, 2]])


@pytest.mark.usefixtures("package")
def test_contexts_are_fitted_one_by_one_with_one_set_of_weights(weights):
    branch = opened(weights, bagging=1)
    assert branch._estimator.settings == {"bagging": 1, "max_context_size": 8192}
    assert branch._estimator.path == str(weights / "sap.pt")
    branch.logits(X.expand(2, -1, -1), Y.expand(2, -1), X[:2].expand(2, -1, -1))
    assert [call[0] for call in branch._estimator.calls] == ["fit", "predict_proba", "predict_proba"] * 2


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "raw"}, "sap: ConTextTab runs only through its package; set `mode: as_deployed`"),
        ({"task": "regression"}, "head gives a point, not a distribution"),
        ({"options": {"seed": 1}}, "unknown option 'seed'; known: queries, bagging, max_context_size"),
        ({"options": {"queries": "both"}}, "option queries is 'both'; set alone or together"),
    ],
)
def test_a_card_that_asks_for_something_else_is_refused(weights, change, message):
    with pytest.raises(AuditError, match=message):
        ConTextTabBranch.load(weights, CARD | change, "cpu", SCHEMA)


@pytest.mark.usefixtures("package")
def test_a_schema_is_needed_and_free_text_is_read_if_it_lists_it(weights):
    with pytest.raises(AuditError, match="give the table's schema"):
        opened(weights, None)
    with pytest.raises(AuditError, match="column 'note' holds texts that are no categories"):
        opened(weights, SCHEMA | {"columns": [{"name": "note", "type": "text"}]})
    branch = opened(weights, SCHEMA | {"columns": [{"name": "note", "type": "text", "categories": ["paid late"]}]})
    assert branch._frame(torch.tensor([[0.0]]))["note"].tolist() == ["paid late"]


@pytest.mark.usefixtures("package")
def test_a_checkpoint_that_is_none_is_named(weights):
    (weights / "sap.pt").write_text("junk")
    with pytest.raises(
        AuditError, match=r"sap.pt: sap_rpt_oss cannot open it \(.+\); it needs its own checkpoint"
    ) as e:
        opened(weights)
    assert "\n" not in str(e.value)
    (weights / "sap.pt").unlink()
    with pytest.raises(AuditError, match=r"holds 0 checkpoints \*\.pt"):
        opened(weights)


@pytest.mark.usefixtures("package")
def test_a_pickle_that_would_run_code_is_refused(weights):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {weights / 'owned'}",)

    torch.save(Evil(), weights / "sap.pt")
    with pytest.raises(AuditError, match="sap_rpt_oss cannot open it"):
        opened(weights)
    assert not (weights / "owned").exists()

"""`as_deployed`: the packages' estimators, called as by hand, fed from the card and the schema."""

import socket

import numpy as np
import pandas as pd
import pytest
import torch
from tabicl import TabICLClassifier, TabICLRegressor
from tabicl._model.tabicl import TabICL
from tabpfn import TabPFNClassifier, TabPFNRegressor

from memaudit.common.errors import AuditError
from memaudit.models.deployed_estimators import Deployed
from memaudit.models.tabicl import the_file
from memaudit.rehearsal import small_tabpfn

SIZES = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1, "row_nhead": 2}
SIZES |= {"row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False, "num_quantiles": 19}
ROWS, QUERIES, COLUMNS = 24, 5, 4
FAMILIES = [("tabicl", "v2"), ("tabpfn", "v2"), ("tabpfn", "v3")]
KINDS = {
    ("tabicl", "classification"): TabICLClassifier,
    ("tabicl", "regression"): TabICLRegressor,
    ("tabpfn", "classification"): TabPFNClassifier,
    ("tabpfn", "regression"): TabPFNRegressor,
}
FP32 = {
    "tabicl": {"use_amp": False, "use_fa3": False, "allow_auto_download": False},
    "tabpfn": {"inference_precision": torch.float32},
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def weights(folder, family, version, task):
    """A folder with one small random checkpoint."""
    if family == "tabpfn":
        small_tabpfn.write(folder, version, task)
        return folder
    torch.manual_seed(0)
    config = SIZES | {"max_classes": 0 if task == "regression" else 4}
    module = TabICL(**config)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    folder.mkdir()
    torch.save({"config": config, "state_dict": module.state_dict()}, folder / "small.ckpt")
    return folder


def card(family, version, task="classification", **options):
    return {"family": family, "version": version, "task": task, "options": options}


def tables(task, count=2):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(count, ROWS + QUERIES, COLUMNS, generator=generator)
    x[..., 2] = torch.randint(0, 3, x.shape[:2], generator=generator).float()
    x[:, ::7, 1] = torch.nan
    y = torch.arange(ROWS).expand(count, -1) % 3 if task == "classification" else 10 + 3 * x[:, :ROWS, 0]
    return x[:, :ROWS], y.clone(), x[:, ROWS:]


SCHEMA = {
    "columns": [{"name": name, "type": "numeric"} for name in ("age", "height")]
    + [{"name": "colour", "type": "categorical", "categories": ["blue", "green", "red"]}]
    + [{"name": "born", "type": "date"}],
    "target": {"name": "y", "type": "categorical", "categories": ["no", "yes", "maybe", "often", "never"]},
}


@pytest.mark.parametrize(("family", "version"), FAMILIES)
def test_probabilities_are_the_packages_own(tmp_path, family, version):
    """Of a batch of contexts, categories given as such, with the seed and the number of views of the card."""
    folder = weights(tmp_path / "weights", family, version, "classification")
    model = Deployed.load(folder, card(family, version, seed=7, n_estimators=3), "cpu", SCHEMA)
    batch = tables("classification")
    logits = model.logits(*batch)
    assert logits.shape == (2, QUERIES, max(5, model.limits.classes or 0))
    own = FP32[family] | {"model_path": the_file(folder), "device": "cpu", "random_state": 7, "n_estimators": 3}
    for table, (x, y, query) in enumerate(zip(*batch, strict=True)):
        frames = [
            pd.DataFrame(part.double().numpy(), columns=["age", "height", "colour", "born"]) for part in (x, query)
        ]
        for frame in frames:
            names = frame["colour"].map({0: "blue", 1: "green", 2: "red"})
            frame["colour"] = pd.Categorical(names, categories=["blue", "green", "red"])
        expected = KINDS[family, "classification"](**own).fit(frames[0], y.numpy()).predict_proba(frames[1])
        assert expected.std(0).min() > 1e-4, "the answers do not depend on the query"
        np.testing.assert_allclose(logits[table, :, :3].exp(), expected, atol=1e-6)
        assert (logits[table, :, 3:] == -torch.inf).all()


@pytest.mark.parametrize(("family", "version"), FAMILIES)
def test_large_targets_keep_bins_of_a_width(tmp_path, family, version):
    """In float32, in which TabICL answers, whose step is 0.125 at 2^20: borders would fall together."""
    model = Deployed.load(
        weights(tmp_path / "weights", family, version, "regression"),
        card(family, version, "regression", n_estimators=2),
        "cpu",
        None,
    )
    context_x, context_y, query_x = tables("regression", 1)
    context_y = (8 * context_y).round() / 8
    near, far = (model.distribution(context_x, context_y + shift, query_x) for shift in (0, 2**20))
    assert far.borders.diff(dim=-1).min() > 0
    assert far.entropy().isfinite().all()
    # Means of some 50: bars are summed in float32, of which 1e-5 are 80 steps; borders that fall together cost 0.1.
    torch.testing.assert_close(far.mean() - 2**20, near.mean(), atol=0.3 if family == "tabicl" else 5e-4, rtol=0)


@pytest.mark.parametrize(("family", "version"), FAMILIES)
def test_distributions_are_the_packages_own(tmp_path, family, version):
    folder = weights(tmp_path / "weights", family, version, "regression")
    model = Deployed.load(folder, card(family, version, "regression", n_estimators=2), "cpu", None)
    batch = tables("regression")
    found = model.distribution(*batch)
    own = FP32[family] | {"model_path": the_file(folder), "device": "cpu", "random_state": 0, "n_estimators": 2}
    for table, (x, y, query) in enumerate(zip(*(part.double().numpy() for part in batch), strict=True)):
        fitted = KINDS[family, "regression"](**own).fit(x, y)
        if family == "tabicl":
            quantiles = fitted.predict(query, output_type="raw_quantiles")
            np.testing.assert_allclose(found.borders[table], quantiles, atol=0.01)
            continue
        full = fitted.predict(query, output_type="full")
        np.testing.assert_allclose(found.mean()[table], full["mean"], atol=1e-3)
        density = -full["criterion"](full["logits"].double(), torch.full((QUERIES,), 11.0, dtype=torch.float64))
        np.testing.assert_allclose(
            found.log_density(torch.full((2, QUERIES, 1), 11.0))[table, :, 0], density, atol=1e-3
        )


def test_a_class_that_a_context_lacks_is_impossible(tmp_path):
    folder = weights(tmp_path / "weights", "tabicl", "v2", "classification")
    model = Deployed.load(folder, card("tabicl", "v2", n_estimators=2), "cpu", None)
    context_x, context_y, query_x = tables("classification", 1)
    logits = model.logits(context_x, 2 * context_y, query_x)
    assert logits.isfinite().all(1)[0].tolist() == [True, False, True, False, True]
    expected = model.logits(context_x, context_y, query_x)
    torch.testing.assert_close(logits[..., ::2], expected[..., :3])


def test_an_earlier_context_leaves_no_trace(tmp_path):
    folder = weights(tmp_path / "weights", "tabpfn", "v2", "classification")
    model = Deployed.load(folder, card("tabpfn", "v2", n_estimators=2), "cpu", None)
    batch = tables("classification", 3)
    together = model.logits(*batch)
    alone = [model.logits(*(part[table : table + 1] for part in batch)) for table in (2, 0, 1)]
    torch.testing.assert_close(together, torch.cat([alone[1], alone[2], alone[0]]))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_queries_alone_do_not_see_each_other(tmp_path, task):
    """In v2 a column that is constant but for its missing cells couples them; asked alone nothing does."""
    folder = weights(tmp_path / "weights", "tabpfn", "v2", task)
    context_x, context_y, query_x = tables(task, 1)
    context_x[..., 1] = torch.where(torch.arange(ROWS) % 2 == 0, torch.nan, 3.0)
    other = query_x.clone()
    query_x[..., 1], other[0, 1:, 1] = 3.0, 50.0
    other[0, 0] = query_x[0, 0]

    def first(queries, rows):
        model = Deployed.load(folder, card("tabpfn", "v2", task, n_estimators=2, queries=queries), "cpu", None)
        if task == "classification":
            return model.logits(context_x, context_y, rows)[:, 0, :3].exp()
        return model.distribution(context_x, context_y, rows).mean()[:, 0]

    torch.testing.assert_close(first("alone", query_x), first("alone", other), rtol=0, atol=0)
    assert (first("together", query_x) - first("together", other)).abs().max() > 1e-4


def test_a_context_of_equal_targets_is_named(tmp_path):
    folder = weights(tmp_path / "weights", "tabpfn", "v2", "regression")
    model = Deployed.load(folder, card("tabpfn", "v2", "regression"), "cpu", None)
    context_x, context_y, query_x = tables("regression", 1)
    with pytest.raises(AuditError, match="targets are all equal: TabPFN has no distribution"):
        model.distribution(context_x, torch.ones_like(context_y), query_x)


def test_a_context_that_the_package_refuses_is_named(tmp_path):
    folder = weights(tmp_path / "weights", "tabpfn", "v3", "classification")
    model = Deployed.load(folder, card("tabpfn", "v3"), "cpu", None)
    context_x, context_y, query_x = tables("classification", 1)
    with pytest.raises(AuditError, match="TabPFNClassifier refuses a context"):
        model.logits(torch.ones_like(context_x), context_y, query_x)


def refusal(folder, facts):
    with pytest.raises(AuditError) as caught:
        Deployed.load(folder, facts, "cpu", None)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("family", ["tabicl", "tabpfn"])
def test_a_missing_file_is_named_and_not_fetched(tmp_path, family):
    assert "0 files, expected one checkpoint" in refusal(tmp_path, card(family, "v2"))


@pytest.mark.parametrize(("family", "version"), FAMILIES)
def test_a_file_that_the_card_does_not_describe_is_named(tmp_path, family, version):
    folder = weights(tmp_path / "weights", family, version, "classification")
    assert "but the card says v1" in refusal(folder, card(family, "v1"))
    assert "not for regression" in refusal(folder, card(family, version, "regression"))


def test_options_that_are_not_known_are_named(tmp_path):
    assert "as_deployed has no clip; it has seed, n_estimators, queries" in refusal(
        tmp_path, card("tabicl", "v2", clip=6)
    )
    assert "queries is 'apart'; set one of together, alone" in refusal(tmp_path, card("tabicl", "v2", queries="apart"))
    assert "n_estimators is 0; set a whole number from 1 on" in refusal(tmp_path, card("tabicl", "v2", n_estimators=0))
    assert "seed is '7'; set a whole number from 0 on" in refusal(tmp_path, card("tabpfn", "v2", seed="7"))


def test_the_limits_are_the_packages_own(tmp_path):
    """On a CPU TabPFN v2 refuses more than a thousand rows; TabICL has no limit."""
    pfn = Deployed.load(weights(tmp_path / "a", "tabpfn", "v2", "classification"), card("tabpfn", "v2"), "cpu", None)
    assert (pfn.limits.rows, pfn.limits.features, pfn.limits.classes) == (1000, 500, 10)
    icl = Deployed.load(weights(tmp_path / "b", "tabicl", "v2", "classification"), card("tabicl", "v2"), "cpu", None)
    assert (icl.limits.rows, icl.limits.features, icl.limits.classes) == (None, None, None)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_answers_have_the_same_bits_whatever_order_a_process_gives_to_sets_of_texts(tmp_path, task):
    """TabICL keeps its views in the order of such a set, which PYTHONHASHSEED draws."""
    model = Deployed.load(weights(tmp_path / "weights", "tabicl", "v2", task), card("tabicl", "v2", task), "cpu")
    fit, batch = model.estimator.fit, tables(task, 1)

    def answers(backwards):
        def fitted(x, y):
            views = vars(fit(x, y).ensemble_generator_)
            for name in ("ensemble_configs_", "feature_shuffles_", "class_shuffles_"):
                if name in views:
                    views[name] = type(views[name])(sorted(views[name].items(), reverse=backwards))
            orders.append(list(views["ensemble_configs_"]))
            return model.estimator

        model.estimator.fit = fitted
        return model.logits(*batch) if task == "classification" else model.distribution(*batch).mean()

    orders = []
    assert answers(False).equal(answers(True))
    assert orders == [["none", "power"], ["power", "none"]]

"""Other packages as deployed: each answers as its own classes do, called as by hand, with small random weights."""

import subprocess

import numpy as np
import pandas as pd
import pytest
import small_packages
import torch

from memaudit.common.checksums import sha256
from memaudit.common.deployed_packages import PACKAGES
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.data.model_hub import copy_model
from memaudit.gpu_measurements import package_weights
from memaudit.gpu_measurements.package_equality import SameDraws
from memaudit.models.batched_queries import Question, answer
from memaudit.models.model_folder import load
from memaudit.models.packaged_models import PackagedModel

pytestmark = pytest.mark.long

ROWS, QUERIES = 24, 5
SCHEMA = {
    "columns": [
        {"name": "age", "type": "numeric"},
        {"name": "height", "type": "numeric"},
        {"name": "colour", "type": "categorical", "categories": ["blue", "green", "red"]},
        {"name": "born", "type": "date"},
    ],
    "target": {"name": "y", "type": "categorical", "categories": ["no", "yes", "maybe", "often", "never"]},
}
VERSION = {"sdm": "kumo-small"}
FAMILIES = [pytest.param(family, marks=small_packages.needs(family)) for family in PACKAGES]
TASKS = [
    pytest.param(family, task, marks=small_packages.needs(family))
    for family in PACKAGES
    for task in PACKAGES[family].tasks
]
OPTIONS = {"mitra": {"fine_tune": False}, "tabfm": {"n_estimators": 4}, "sdm": {"n_estimators": 4}}


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """A function: the folder of a family's weights, written once."""
    made = {}

    def of(family, task="classification"):
        key = family, task if family == "sdm" else "any"
        if key not in made:
            made[key] = small_packages.write(family, tmp_path_factory.mktemp(family) / "weights", task)
        return made[key]

    return of


@pytest.fixture(scope="session")
def opened(weights):
    """A function: a family's model, opened once for all tests."""
    made = {}

    def of(family, task="classification", **options):
        key = family, task, tuple(options.items())
        if key not in made:
            facts = card(family, task, **options)
            with package_weights.shape(family, small=True):
                made[key] = PackagedModel.load(weights(family, task), facts, "cpu", SCHEMA)
        return made[key]

    return of


def card(family, task="classification", **options):
    return {
        "name": "mine",
        "family": family,
        "mode": "as_deployed",
        "version": VERSION.get(family),
        "task": task,
        "options": OPTIONS.get(family, {}) | options,
    }


def tables(task="classification", count=2):
    """Numbers with gaps, a category with a gap, and dates with a gap."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(count, ROWS + QUERIES, 4, generator=generator)
    x[..., 2] = torch.randint(0, 3, x.shape[:2], generator=generator).float()
    x[..., 3] = torch.randint(0, 9000, x.shape[:2], generator=generator).float()
    x[:, ::7, 1], x[:, 3, 2], x[:, 5, 3] = torch.nan, torch.nan, torch.nan
    x[:, ROWS + 1, 2], x[:, ROWS + 2, 0] = torch.nan, torch.nan
    y = torch.arange(ROWS).expand(count, -1) % 3 if task == "classification" else 10 + 3 * x[:, :ROWS, 0]
    return x[:, :ROWS], y.clone(), x[:, ROWS:]


def users_frame(x):
    """Rows as a user has them, made here independently of the adapters."""
    frame = pd.DataFrame(x.double().numpy(), columns=["age", "height", "colour", "born"])
    frame["colour"] = frame["colour"].map({0: "blue", 1: "green", 2: "red"}).astype(object)
    frame["born"] = pd.Timestamp("1970-01-01") + pd.to_timedelta(frame["born"], unit="D")
    return frame


def predicted(model, batch):
    return model.logits(*batch) if model.task == "classification" else model.distribution(*batch).mean()


@pytest.mark.parametrize(("family", "task"), TASKS)
def test_answers_depend_on_the_query_and_the_context_alone(opened, family, task):
    model = opened(family, task)
    x, y, queries = tables(task, 1)
    y = 2 * y if task == "classification" else y
    first = predicted(model, (x, y, queries))
    torch.testing.assert_close(predicted(model, (x, y, queries)), first, rtol=0, atol=0)  # no earlier context shows
    if task == "classification":
        # `classes_`: codes 0, 2 and 4 of five.
        assert torch.isfinite(first[0]).all(0).tolist() == [True, False, True, False, True]
        torch.testing.assert_close(first[0].exp().sum(-1), torch.ones(QUERIES), atol=1e-5, rtol=0)
        first = first[..., ::2].exp()
    assert (first[0].std(0) > 1e-5).any(), "the answers do not depend on the query"
    other = predicted(model, (x[:, 1:], y[:, 1:], queries))
    other = other[..., ::2].exp() if task == "classification" else other
    assert (other - first).abs().max() > 1e-5, "the answers do not depend on the context"


@pytest.mark.parametrize(("family", "task"), TASKS)
def test_no_query_changes_another_ones_answer_where_a_package_is_said_to_be_so(opened, family, task):
    options = {} if PACKAGES[family].alone else {"queries": "alone"}
    model = opened(family, task, **options)
    assert model.alone
    x, y, queries = tables(task, 1)
    together = predicted(model, (x, y, queries))
    far = queries.clone()
    far[0, 1:, 0], far[0, 1:, 2] = 1e4, 1
    torch.testing.assert_close(predicted(model, (x, y, far))[:, :1], together[:, :1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_constant_and_an_empty_column_are_taken(opened, family):
    model = opened(family)
    x, y, queries = tables(count=1)
    x[..., 1], queries[..., 1], x[..., 0] = torch.nan, torch.nan, 1.0
    assert torch.isfinite(model.logits(x, y, queries)[..., :3]).all()


@small_packages.needs("mitra")
def test_mitra_is_fine_tuned_on_each_context_from_the_same_weights(opened):
    """The package's default; what it draws is seeded, so that a question has one answer."""
    model, x_y_queries = opened("mitra", fine_tune=True), tables(count=1)
    first = model.logits(*x_y_queries)
    torch.testing.assert_close(model.logits(*x_y_queries), first, rtol=0, atol=0)
    in_context = opened("mitra").logits(*x_y_queries)
    assert (in_context[..., :3].exp() - first[..., :3].exp()).abs().max() > 1e-4


@small_packages.needs("sdm")
def test_networks_of_structured_data_models_answer_as_called_by_hand(weights, opened):
    import sdm

    model = opened("sdm", n_estimators=3, seed=7)
    x, y, queries = tables(count=1)
    with package_weights.shape("sdm", small=True):
        own = sdm.models.KumoTabular(task="classification", size="small", pretrained=False, device="cpu")
    own.models["classification"].load_state_dict(torch.load(weights("sdm") / "weights.pt"))
    frames = [users_frame(part[0]).assign(born=part[0, :, 3].numpy()) for part in (x, queries)]
    kinds = {"age": "numerical", "height": "numerical", "colour": "categorical", "born": "numerical"}
    rows, asked = (sdm.TableTensor.from_pandas(one, kinds, device="cpu") for one in frames)
    labels = sdm.TableTensor.from_pandas(pd.DataFrame({"y": list(map(str, y[0].tolist()))}), {"y": "categorical"})
    answer = own(rows, labels, asked, num_estimators=3, generator=torch.Generator().manual_seed(7))
    order = [answer.columns["numerical"].index(name) for name in "012"]
    expected = answer.numerical[:, order]
    torch.testing.assert_close(model.logits(x, y, queries)[0, :, :3].exp(), expected, atol=1e-6, rtol=0)


@small_packages.needs("sdm")
def test_structured_data_models_reads_a_checkpoint_of_tabicl(tmp_path):
    """Of the published sizes, which the package takes alone."""
    from tabicl._model.tabicl import TabICL

    torch.manual_seed(0)
    torch.save({"config": {}, "state_dict": TabICL(zero_init=False).state_dict()}, tmp_path / "tabicl.ckpt")
    facts = card("sdm", n_estimators=2) | {"version": "tabicl-v2"}
    logits = PackagedModel.load(tmp_path, facts, "cpu", SCHEMA).logits(*tables(count=1))
    assert logits[0].isfinite().all(0).tolist() == [True, True, True, False, False]
    assert "tabicl-v2 cannot open" in refusal(tmp_path, facts | {"task": "regression"})
    assert "kumo-small cannot open" in refusal(tmp_path, facts | {"version": "kumo-small"})


@pytest.mark.parametrize("family", FAMILIES)
def test_fetched_weights_are_opened_by_their_card(weights, tmp_path, family):
    """As the rules of a study do: copied with a card, checked, and queried on the device of the run."""
    (tmp_path / "weights").mkdir()
    source = weights(family)
    copy_model(source if PACKAGES[family].folder else next(source.iterdir()), tmp_path / "weights")
    write_json(card(family) | {"sha256": sha256(tmp_path / "weights")}, tmp_path / "model.json")
    with package_weights.shape(family, small=True):
        model = load(tmp_path / "model.json", schema=SCHEMA)
    x, y, queries = tables(count=2)
    questions = [Question(x[0], y[0], queries[0]), Question(x[1], y[1], queries[1][:2])]
    assert [one.shape for one in answer(model, questions)] == [(QUERIES, 5), (2, 5)]


@small_packages.needs("tabfm")
def test_tabfm_answers_as_called_by_hand(weights, opened):
    from tabfm import TabFMClassifier, tabfm_v1_0_0_pytorch

    model = opened("tabfm", seed=7)
    x, y, queries = tables(count=1)
    network = tabfm_v1_0_0_pytorch.load("classification", str(weights("tabfm")), device="cpu", dtype=None)
    own = TabFMClassifier(model=network, n_estimators=4, random_state=7, use_amp=False)
    expected = own.fit(users_frame(x[0]), y[0].numpy()).predict_proba(users_frame(queries[0]))
    np.testing.assert_allclose(model.logits(x, y, queries)[0, :, :3].exp(), expected, atol=1e-6)


BY_HAND = {
    "tabdpt": """
from tabdpt import TabDPTClassifier, TabDPTRegressor
kind = TabDPTClassifier if "label" in data else TabDPTRegressor
own = kind(model_weight_path=path, device="cpu", verbose=False)
own.fit(data["x"], data["label"] if "label" in data else data["number"])
if "label" in data:
    answer = own.ensemble_predict_proba(data["queries"], n_ensembles=3, seed=7)
else:
    from tabdpt.bar_distribution import distribution_median
    answer = distribution_median(own.predict(data["queries"], n_ensembles=3, seed=7, output_type="full"))
"""
}


@pytest.mark.parametrize("task", ["classification", "regression"])
@small_packages.needs("tabdpt")
def test_tabdpt_answers_as_called_by_hand(weights, opened, tmp_path, task):
    """Its classifier, which takes classes 0 .. k-1 and has no `classes_`, and the medians of its distributions."""
    model = opened("tabdpt", task, n_estimators=3, seed=7)
    x, y, queries = tables(task, 1)
    arrays = {"x": x[0].double().numpy(), "queries": queries[0].double().numpy()}
    arrays["label" if task == "classification" else "number"] = y[0].numpy().astype(int if task[0] == "c" else float)
    np.savez(tmp_path / "data.npz", **arrays)
    code = f"import sys, numpy as np\npath, data = sys.argv[1], np.load(sys.argv[2])\n{BY_HAND['tabdpt']}"
    code += "\nnp.save(sys.argv[3], answer)"
    command = [small_packages.DEPLOYED, "-W", "ignore", "-c", code, str(weights("tabdpt") / "tabdpt.safetensors")]
    subprocess.run([*command, str(tmp_path / "data.npz"), str(tmp_path / "answer.npy")], check=True)
    expected = torch.from_numpy(np.load(tmp_path / "answer.npy"))
    if task == "classification":
        found = model.logits(x, 2 * y, queries)[0, :, ::2].exp()
        torch.testing.assert_close(found, expected.float(), atol=1e-6, rtol=0)
        return
    below = model.distribution(x, y, queries)
    mass = below.log_mass.exp().cumsum(-1)[0]
    place = torch.searchsorted(below.borders[0].contiguous(), expected[:, None].double())
    assert (mass.gather(-1, (place - 1).clamp(min=0)) <= 0.5 + 1e-6).all()
    assert (mass.gather(-1, place) >= 0.5 - 1e-6).all()


def refusal(weights, facts, schema=SCHEMA):
    with pytest.raises(AuditError) as caught:
        PackagedModel.load(weights, facts, "cpu", schema)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_that_is_no_checkpoint_is_named(tmp_path, family):
    for name in ("model.safetensors", "config.json")[: 2 if PACKAGES[family].folder else 1]:
        (tmp_path / name).write_bytes(b"no weights")
    told = refusal(tmp_path, card(family))
    assert told.startswith(f"mine: {PACKAGES[family].distribution}")
    assert "cannot open" in told
    assert str(tmp_path) in told


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (card("mitra", "regression"), "mine: task: autogluon.tabular predicts no distribution of numbers"),
        (card("tabdpt", clip=3), "mine: options/clip: tabdpt has seed, n_estimators"),
        (card("sdm") | {"version": None}, "mine: version: name the network, one of tabicl-v2, kumo-small"),
    ],
)
def test_a_card_that_the_package_does_not_fit_is_named(tmp_path, facts, told):
    assert told in refusal(tmp_path, facts)


def test_a_missing_schema_is_named(tmp_path):
    assert "give the table's schema" in refusal(tmp_path, card("tabdpt"), None)


@small_packages.needs("tabdpt")
def test_a_context_that_the_package_refuses_is_named(opened):
    model = opened("tabdpt")
    x, y, queries = tables(count=1)
    with pytest.raises(AuditError, match=r"tabdpt refuses a context of 24 rows \(AssertionError: Number of classes"):
        model.logits(x, torch.zeros_like(y), queries)
    assert torch.isfinite(model.logits(x, y, queries)[..., :3]).all(), "it answers no more"


@small_packages.needs("tabdpt")
def test_a_context_of_equal_targets_is_named(opened):
    model = opened("tabdpt", "regression")
    x, y, queries = tables("regression", 1)
    with pytest.raises(AuditError, match="targets are all equal: tabdpt has no distribution"):
        model.distribution(x, torch.ones_like(y), queries)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_answers_as_the_cpu_does(weights, family):
    """In fp32 on both, with the same views; Mitra computes in bf16."""
    batch = tables()
    with package_weights.shape(family, small=True):
        models = [PackagedModel.load(weights(family), card(family), where, SCHEMA) for where in ("cpu", "cuda")]
    with SameDraws():
        answers = [model.logits(*batch) for model in models]
    off = 0.05 if family == "mitra" else 1e-4
    torch.testing.assert_close(*(one[..., :3].exp() for one in answers), atol=off, rtol=0)

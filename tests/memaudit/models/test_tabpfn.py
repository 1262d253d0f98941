"""TabPFN's raw answers are those of the package's estimator, asked with every query alone."""

import re
from copy import deepcopy
from importlib import import_module

import numpy as np
import pytest
import torch
from tabpfn import TabPFNClassifier, TabPFNRegressor

from memaudit.common.errors import AuditError
from memaudit.models.tabpfn import COUPLED, TabPFNBranch
from memaudit.rehearsal import small_tabpfn
from memaudit.rehearsal.small_tabpfn import VERSIONS

TASKS = ("classification", "regression")
ESTIMATORS = {"classification": TabPFNClassifier, "regression": TabPFNRegressor}
PLAIN = {"name": "none", "categorical_name": "numeric", "append_original": False, "global_transformer_name": None}
NEUTRAL = {"PREPROCESS_TRANSFORMS": [PLAIN], "REGRESSION_Y_PREPROCESS_TRANSFORMS": (None,), "SUBSAMPLE_SAMPLES": None}
NEUTRAL |= {"FEATURE_SHIFT_METHOD": None, "CLASS_SHIFT_METHOD": None, "POLYNOMIAL_FEATURES": "no"}
NEUTRAL |= {"FINGERPRINT_FEATURE": False, "OUTLIER_REMOVAL_STD": None, "MIN_UNIQUE_FOR_NUMERICAL_FEATURES": 0}

every = pytest.mark.parametrize(("version", "task"), [(version, task) for version in VERSIONS for task in TASKS])
both = pytest.mark.parametrize("task", TASKS)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Of every version and task: the file and the branch that reads it."""
    folder = tmp_path_factory.mktemp("models")
    opened = {}
    for version in VERSIONS:
        for task in TASKS:
            file = small_tabpfn.write(folder / version / task, version, task)
            opened[version, task] = file, load(file.parent, version, task)
    return opened


def load(folder, version, task):
    return TabPFNBranch.load(folder, {"version": version, "task": task, "mode": "raw", "options": {}}, "cpu", None)


def tables(task, count=2, rows=8, queries=3, seed=0):
    """Contexts and queries of four numbers and a category; every third context has a constant column, some miss cells.

    The classes of a context are two to four of five, and no context has them all.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, rows + queries, 5)).astype(np.float32)
    x[..., 4] = rng.choice([0, 1, 2, 5], x.shape[:2])
    x[::3, :, 2] = 1
    x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.normal(50, 3, (count, rows)).astype(np.float32)
    if task == "classification":
        pools = [rng.choice(5, rng.integers(2, 5), replace=False) for _ in range(count)]
        y = np.stack([np.concatenate([pool, rng.choice(pool, rows - len(pool))]) for pool in pools])
    return tuple(torch.from_numpy(part) for part in (x[:, :rows], y, x[:, rows:]))


def estimator(file, task, **settings):
    """The package's estimator with all that `raw` leaves out switched off by its public settings."""
    return ESTIMATORS[task](
        model_path=str(file),
        n_estimators=1,
        softmax_temperature=1.0,
        device="cpu",
        inference_precision=torch.float32,
        ignore_pretraining_limits=True,
        fit_mode="low_memory",
        memory_saving_mode=False,
        inference_config=NEUTRAL | settings,
    )


def official(file, task, context_x, context_y, query_x, alone=True, **settings):
    """Probabilities (m, C) of classes or bars by the package, queries put one by one or together."""
    fitted = estimator(file, task, **settings).fit(context_x.numpy(), context_y.numpy())
    answers = []
    for query in query_x.split(1 if alone else len(query_x)):
        if task == "regression":
            answers.append(fitted.predict(query.numpy(), output_type="full")["logits"].softmax(-1))
        else:
            probabilities = torch.zeros(len(query), small_tabpfn.CLASSES)
            probabilities[:, fitted.classes_] = torch.from_numpy(fitted.predict_proba(query.numpy()))
            answers.append(probabilities)
    return torch.cat(answers)


def ours(model, *table):
    with torch.no_grad():
        return model.forward(*table).softmax(-1)


def difference(first, second):
    return (first - second).abs().max().item()


@pytest.mark.parametrize(("count", "queries"), [(1, 4), (3, 3), (64, 1)])
@every
def test_answers_are_the_estimators(models, version, task, count, queries):
    file, model = models[version, task]
    context_x, context_y, query_x = tables(task, count, 6, queries)
    answers = ours(model, context_x, context_y, query_x)
    assert answers.flatten(0, 1).std(0).max() > 3e-3, "the model says the same of every table"
    checked = range(count) if count < 64 else range(0, count, 7)
    for table in checked:
        expected = official(file, task, context_x[table], context_y[table], query_x[table])
        torch.testing.assert_close(answers[table], expected, atol=1e-5, rtol=0)


@every
def test_swapped_queries_are_noticed(models, version, task):
    """The comparison with the package can fail: a row in another's place is seen."""
    file, model = models[version, task]
    context_x, context_y, query_x = (part[:1] for part in tables(task))
    swapped = query_x[:, [1, 0, 2]]
    expected = official(file, task, context_x[0], context_y[0], query_x[0])
    assert difference(ours(model, context_x, context_y, swapped)[0], expected) > 1e-3


def lonely(task):
    """A table whose column 1 has one value and missing cells in the context: there queries can meet."""
    context_x, context_y, query_x = (part[1:] for part in tables(task))
    context_x[0, :, 1], context_x[0, 2, 1] = 1, torch.nan
    query_x[0, :, 1] = torch.tensor([1, 2, torch.nan])
    return context_x, context_y, query_x


@every
def test_a_neighbour_does_not_change_my_prediction(models, version, task):
    file, model = models[version, task]
    context_x, context_y, query_x = lonely(task)
    expected = official(file, task, context_x[0], context_y[0], query_x[0])
    torch.testing.assert_close(ours(model, context_x, context_y, query_x)[0], expected, atol=1e-5, rtol=0)
    together = official(file, task, context_x[0], context_y[0], query_x[0], alone=False)
    assert (difference(together, expected) > 1e-3) == (version in COUPLED), "what couples queries has changed"


@every
def test_a_constant_column_in_the_batch(models, version, task):
    """It is dropped where it is constant, and nowhere else."""
    _, model = models[version, task]
    context_x, context_y, query_x = tables(task, 2)
    context_x, query_x = (part[..., :4].nan_to_num() for part in (context_x, query_x))
    context_x[0, :, 0] = query_x[0, :, 0] = 1
    batched = ours(model, context_x, context_y, query_x)
    for table in range(2):
        alone = ours(model, *(part[[table]] for part in (context_x, context_y, query_x)))
        torch.testing.assert_close(batched[table], alone[0], atol=1e-5, rtol=0)
    with torch.no_grad():
        unsorted = model._run(context_x, model._targets(context_y), query_x)["standard"][:, 0]
        dropped = model._run(context_x[:1, :, 1:], model._targets(context_y[:1]), query_x[:1, :, 1:])["standard"][:, 0]
    assert difference(unsorted.softmax(-1), dropped.softmax(-1)) > 1e-3, "the package's modules have changed"


@pytest.mark.parametrize("version", ["v2", "v2.5", "v2.6"])
@both
def test_the_row_fingerprint_is_off(models, version, task):
    file, model = models[version, task]
    context_x, context_y, query_x = tables(task)
    expected = official(file, task, context_x[0], context_y[0], query_x[0], FINGERPRINT_FEATURE=True)
    assert difference(ours(model, context_x, context_y, query_x)[0], expected) > 1e-3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_class_that_a_context_lacks_has_no_probability(models, version):
    """Contexts of one batch have classes of their own, numbered from 0 for the module."""
    model = models[version, "classification"][1]
    context_x, context_y, query_x = tables("classification", 2)
    context_y[0], context_y[1] = torch.tensor([1, 4] * 4), torch.tensor([0, 1, 2, 3] * 2)
    logits = model.logits(context_x, context_y, query_x)
    assert logits.isfinite()[0, 0].nonzero()[:, 0].tolist() == [1, 4]
    assert logits.isfinite()[1, 0].nonzero()[:, 0].tolist() == [0, 1, 2, 3]
    renamed = model.logits(context_x[:1], torch.tensor([[0, 1] * 4]), query_x[:1])
    torch.testing.assert_close(logits[0, :, [1, 4]], renamed[0, :, :2], atol=1e-5, rtol=0)
    lost = model.loss(logits, context_y, torch.zeros(2, 3, dtype=torch.int64))
    assert lost[0].isinf().all()
    assert lost[1].isfinite().all()


def test_codes_of_categories_are_numbers(models):
    """An estimator that is told of categories puts them first and counts their codes in the context; no more."""
    file, model = models["v3.5", "classification"]
    context_x, context_y, query_x = (part[0] for part in tables("classification", 1))
    context_x[:, 4], query_x[:, 4] = torch.tensor([0, 1, 2, 3] * 2), torch.tensor([1, 3, 0])
    told = estimator(file, "classification").set_params(categorical_features_indices=[4])
    told.fit(context_x.numpy(), context_y.numpy())
    first = [4, 0, 1, 2, 3]
    answers = ours(model, context_x[None][..., first], context_y[None], query_x[None][..., first])[0]
    expected = torch.from_numpy(told.predict_proba(query_x.numpy())).float()
    torch.testing.assert_close(answers[:, told.classes_], expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_regressors_loss_and_distribution_are_the_packages(models, version):
    file, model = models[version, "regression"]
    context_x, context_y, query_x = tables("regression")
    query_y = torch.tensor([[40.0, 50.0, 51.0], [49.0, 53.0, 70.0]])
    with torch.no_grad():
        lost = model.loss(model.forward(context_x, context_y, query_x), context_y, query_y)
        predicted = model.distribution(context_x, context_y, query_x)
    fitted = estimator(file, "regression").fit(context_x[0].numpy(), context_y[0].numpy())
    for query in range(3):
        answer = fitted.predict(query_x[0, [query]].numpy(), output_type="full")
        expected = answer["criterion"](answer["logits"].double(), query_y[0, [query]].double())
        density = predicted.log_density(query_y[..., None])[0, query]
        torch.testing.assert_close(-density.double(), expected, atol=1e-4, rtol=0)
        deviation = context_y[0].double().std(correction=0)
        torch.testing.assert_close(lost[0, [query]].double(), expected - deviation.log(), atol=1e-4, rtol=0)
        assert predicted.mean()[0, query].item() == pytest.approx(answer["mean"][0], abs=1e-3)


def test_large_targets_keep_their_mean(models):
    """The distribution goes back by the very mean and deviation that the module's targets were scaled with."""
    _, model = models["v2", "regression"]
    context_x, context_y, query_x = tables("regression")
    context_y = (4 * context_y).round() / 4  # a step of float32 at 2^21
    near, far = (model.distribution(context_x, context_y + shift, query_x) for shift in (0, 2**21))
    torch.testing.assert_close(far.mean() - 2**21, near.mean(), atol=1e-4, rtol=0)


def test_a_constant_target_is_predicted(models):
    _, model = models["v3", "regression"]
    context_x, context_y, query_x = tables("regression")
    mean = model.distribution(context_x, torch.full_like(context_y, 7), query_x).mean()
    torch.testing.assert_close(mean, torch.full_like(mean, 7), atol=1e-3, rtol=0)


@every
def test_a_step_along_the_gradient_helps(models, version, task):
    """As much as the gradient says; and every weight has one, but those of the other task's head."""
    model = deepcopy(models[version, task][1])
    context_x, context_y, query_x = tables(task)

    def lost():
        return model.loss(model.forward(context_x, context_y, query_x), context_y, context_y[:, :3]).mean()

    before = lost()
    before.backward()
    trained = {name: weight for name, weight in model.module.named_parameters() if weight.requires_grad}
    moved = {name: weight for name, weight in trained.items() if weight.grad is not None and weight.grad.any()}
    other = "regression|heads.output" if task == "classification" else "multiclass|classification|many_class"
    assert all(re.search(other, name) for name in trained.keys() - moved.keys())
    with torch.no_grad():
        length = sum(weight.grad.square().sum() for weight in moved.values())
        for weight in moved.values():
            weight.sub_(1e-3 / length * weight.grad)
        assert (before - lost()).item() == pytest.approx(1e-3, rel=0.3)


@every
def test_attention_is_that_of_the_last_layer(models, version, task, monkeypatch):
    """Of its queries and keys as they reach the attention itself, here caught on their way."""
    _, model = models[version, task]
    context_x, context_y, query_x = tables(task, 2)
    context_x[0, :, 2] += torch.arange(8)  # all columns vary: one batch
    found = model.attention(context_x, context_y, query_x)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 3))
    assert found.std(-1).min() > 1e-3
    calls = []
    package = import_module(type(model.module).__module__)
    attend = package.scaled_dot_product_attention

    def caught(q, k, *rest, **more):
        calls.append((q, k))
        return attend(q, k, *rest, **more)

    monkeypatch.setattr(package, "scaled_dot_product_attention", caught)
    model.forward(context_x, context_y, query_x)
    heads = 2 if version in COUPLED else 4
    q, k = [(q, k) for q, k in calls if q.shape[2] == heads and q.shape[1] >= 3 and k.shape[1] in (8, 11)][-1]
    q, k = (part.unflatten(0, (2, -1))[:, -1].transpose(1, 2) for part in (q[:, -3:], k))
    weights = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1).mean(1)[..., -8:]
    torch.testing.assert_close(found, weights / weights.sum(-1, keepdim=True), atol=1e-5, rtol=0)


@both
def test_a_context_without_a_column_that_varies_is_refused(models, task):
    _, model = models["v2", task]
    context_x, context_y, query_x = tables(task)
    context_x[1] = 1
    with pytest.raises(AuditError, match="a context in which every column is constant"):
        model.forward(context_x, context_y, query_x)


@every
def test_the_order_of_the_context_changes_no_answer(models, version, task):
    model = models[version, task][1]
    assert model.orderless
    context_x, context_y, query_x = tables(task)
    order = torch.tensor([3, 1, 7, 0, 2, 6, 5, 4])
    expected = ours(model, context_x, context_y, query_x)
    found = ours(model, context_x[:, order], context_y[:, order], query_x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert difference(ours(model, context_x, context_y[:, order], query_x), expected) > 1e-3


probed = pytest.mark.parametrize(("version", "task"), [(version, task) for version in ("v3", "v3.5") for task in TASKS])


@probed
def test_scaled_by_its_context_beforehand_a_table_is_answered_as_ever(models, version, task):
    """With constant columns, which go, and missing cells, which stay marked."""
    model = models[version, task][1]
    network = model.without_scaling()
    for table in range(2):
        context_x, context_y, query_x = (part[table : table + 1] for part in tables(task))
        cells = [model.scale(x[0], context_x[0])[None] for x in (context_x, query_x)]
        found = ours(network, cells[0], context_y, cells[1])
        torch.testing.assert_close(found, ours(model, context_x, context_y, query_x), atol=1e-5, rtol=0)
        again = [network.scale(x[0], context_x[0])[None] for x in (context_x, query_x)]
        torch.testing.assert_close(again, cells, equal_nan=True)


@probed
def test_copies_of_a_row_are_seen_without_scaling_alone(models, version, task):
    model = models[version, task][1]
    reference, _, query_x = tables(task, 1)
    context_y = torch.arange(3).expand(3, -1) * (1 if task == "classification" else 1.5)
    with pytest.raises(AuditError, match="every column is constant"):
        model.forward(query_x[0, :, None].expand(-1, 3, -1), context_y, query_x[0, :, None])
    cells = model.scale(query_x[0], reference[0])[:, None]
    answers = ours(model.without_scaling(), cells.expand(-1, 3, -1), context_y, cells)
    assert answers.std(0).max() > 3e-3


@probed
def test_without_scaling_a_network_has_the_same_weights(models, version, task):
    model = deepcopy(models[version, task][1])
    tuned = deepcopy(model)
    network, other = model.without_scaling(), tuned.without_scaling()
    context_x, context_y, query_x = tables(task)
    before, plain = ours(network, context_x, context_y, query_x), ours(model, context_x, context_y, query_x)
    assert difference(before, plain) > 1e-3
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.mul_(1.1)
    assert difference(ours(network, context_x, context_y, query_x), before) > 1e-3
    torch.testing.assert_close(ours(other, context_x, context_y, query_x), before, atol=0, rtol=0)
    model.module.load_state_dict(tuned.module.state_dict())
    torch.testing.assert_close(ours(network, context_x, context_y, query_x), before)
    torch.testing.assert_close(ours(model, context_x, context_y, query_x), plain)


@pytest.mark.parametrize("version", COUPLED)
def test_a_version_that_removes_constant_columns_has_no_mode_without_scaling(models, version):
    with pytest.raises(AuditError, match=f"TabPFN {version} cannot be used without its scaling") as caught:
        models[version, "classification"][1].without_scaling()
    assert "\n" not in str(caught.value)


def test_too_many_classes_are_refused(models):
    context_x, _, query_x = tables("classification", 1, rows=11)
    with pytest.raises(AuditError, match="a context of 11 classes: this TabPFN has 10"):
        models["v2", "classification"][1].logits(context_x, torch.arange(11)[None], query_x)


@every
@torch.no_grad()
def test_attention_of_every_block_sums_to_one_and_the_last_is_attention(models, version, task):
    _, model = models[version, task]
    found = model.in_context_attention(*tables(task))
    assert found.shape == (2, 3, len(getattr(model.module, "icl_blocks", None) or model.module.blocks), 8)
    torch.testing.assert_close(found.sum(-1), torch.ones(found.shape[:3]))
    torch.testing.assert_close(found[:, :, -1], model.attention(*tables(task)))
    largest = model.in_context_attention(*tables(task), [0], lambda weights, _: weights.mean(1).amax(-1))
    torch.testing.assert_close(largest[..., 0], found[:, :, 0].amax(-1))

"""TabICL in raw mode: the package's own answers, in batches, every query as if it were alone."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from tabicl import TabICLClassifier, TabICLRegressor
from tabicl._model.inference_config import InferenceConfig
from tabicl._model.tabicl import TabICL
from tabicl._sklearn.preprocessing import EnsembleGenerator, TransformToNumerical

from memaudit.common.errors import AuditError
from memaudit.models.context_scaling import package_view, standardize, target_scale
from memaudit.models.tabicl import TabICLBranch

SIZES = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1, "row_nhead": 2}
SIZES |= {"row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}
V1 = {"col_affine": True, "col_feature_group": False, "col_target_aware": False, "col_ssmax": "none"}
V1 |= {"icl_ssmax": "none", "row_rope_interleaved": True}
V2 = {"row_rope_interleaved": False, "bias_free_ln": True}
MODELS = {
    "v1": V1 | {"max_classes": 4},
    "v2": V2 | {"max_classes": 4},
    "v1 regression": V1 | {"max_classes": 0, "num_quantiles": 19},
    "v2 regression": V2 | {"max_classes": 0, "num_quantiles": 19},
}
PLAIN = {"device": "cpu", "use_amp": False, "use_fa3": False, "allow_auto_download": False}
ONE_VIEW = PLAIN | {"n_estimators": 1, "norm_methods": "none", "feat_shuffle_method": "none"}
ROWS, QUERIES, COLUMNS = 30, 7, 5


def checkpoint(folder, name="v2", **config):
    """A folder of weights with a random TabICL whose answers vary: no layer starts at zero."""
    torch.manual_seed(0)
    config = SIZES | MODELS[name] | config
    module = TabICL(**config)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    folder.mkdir(exist_ok=True)
    torch.save({"config": config, "state_dict": module.state_dict()}, folder / "small.ckpt")
    return folder


def card(name="v2", **facts):
    task = "regression" if "regression" in name else "classification"
    return {"task": task, "version": name.split()[0], "options": {}} | facts


@pytest.fixture(params=MODELS)
def branch(request, tmp_path):
    weights = checkpoint(tmp_path / "weights", request.param)
    return TabICLBranch.load(weights, card(request.param), "cpu", None)


def tables(task, count=3, seed=0):
    """Contexts, targets and queries; in every other table a constant column, then missing cells, codes, outliers."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, ROWS + QUERIES, COLUMNS, generator=generator) * 3 + 1
    x[..., 3] = torch.randint(0, 4, x.shape[:2], generator=generator).float()
    x[1::2, :ROWS, 1] = 7.0
    x[2::3, ::5, 2] = torch.nan
    x[2::3, ROWS, 3] = torch.nan
    x[::3, 2, 4], x[::3, ROWS, 4] = 60.0, -90.0
    y = torch.randint(0, 3, (count, ROWS), generator=generator)
    y[:, :3] = torch.arange(3)
    if task == "regression":
        y = 5 + 2 * torch.randn(count, ROWS, generator=generator)
    return x[:, :ROWS], y, x[:, ROWS:]


def official(weights, task, context_x, context_y, query_x):
    """Log-probabilities (m, K) or sorted quantiles in deviations (m, K) of the package's own estimator."""
    path = next(Path(weights).iterdir())
    x, y, query = (part.numpy() for part in (context_x, context_y, query_x))
    if task == "classification":
        own = {"class_shuffle_method": "none", "softmax_temperature": 1.0}
        return np.log(TabICLClassifier(model_path=path, **ONE_VIEW, **own).fit(x, y).predict_proba(query))
    quantiles = TabICLRegressor(model_path=path, **ONE_VIEW).fit(x, y).predict(query, output_type="raw_quantiles")
    return (quantiles - y.mean()) / y.std()


def comparable(branch, outputs):
    """What `official` says, of `forward`'s outputs."""
    return outputs[..., :3].log_softmax(-1) if branch.task == "classification" else outputs.sort(-1).values


@pytest.mark.parametrize("count", [1, 3, 64])
@torch.no_grad()
def test_answers_are_the_packages_own(branch, tmp_path, count):
    """Of batches whose tables keep different columns, with missing cells, ordinal codes and outliers."""
    context_x, context_y, query_x = tables(branch.task, count)
    ours = comparable(branch, branch.forward(context_x, context_y, query_x))
    assert ours.std(1).min() > 1e-3, "the answers do not depend on the query"
    for table in range(min(count, 4)):
        theirs = official(tmp_path / "weights", branch.task, context_x[table], context_y[table], query_x[table])
        torch.testing.assert_close(ours[table], torch.tensor(theirs, dtype=torch.float32), atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_batch_answers_as_its_tables_do_alone(branch):
    batch = tables(branch.task, 64)
    together = branch.forward(*batch)
    alone = torch.cat([branch.forward(*(part[table : table + 1] for part in batch)) for table in range(64)])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_neighbour_does_not_change_my_prediction(branch):
    context_x, context_y, query_x = tables(branch.task)
    together = branch.forward(context_x, context_y, query_x)
    alone = [branch.forward(context_x, context_y, query_x[:, i : i + 1]) for i in range(QUERIES)]
    torch.testing.assert_close(together, torch.cat(alone, 1), atol=1e-5, rtol=0)


@torch.no_grad()
def test_swapped_queries_are_noticed(branch):
    context_x, context_y, query_x = tables(branch.task)
    answers = comparable(branch, branch.forward(context_x, context_y, query_x))
    swapped = comparable(branch, branch.forward(context_x, context_y, query_x.flip(1)))
    assert (answers - swapped).abs().amax((1, 2)).min() > 1e-3
    torch.testing.assert_close(answers, swapped.flip(1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_features_are_scaled_as_the_package_does(rows):
    generator = np.random.default_rng(rows)
    x = generator.standard_cauchy(size=(rows + 9, 6))
    x[:, 1] = x[:, 1] + 1e4
    x[:rows, 2] = 3.0
    x[generator.random(x.shape) < 0.2] = np.nan
    x[:rows, 4] = np.nan
    x = x.astype(np.float32).astype(np.float64)
    numerical = TransformToNumerical().fit(x[:rows])
    ensemble = EnsembleGenerator(False, 1, "none", "none", "none")
    ensemble.fit(numerical.transform(x[:rows]), np.zeros(rows))
    theirs = ensemble.transform(numerical.transform(x[rows:]))["none"][0][0]
    context, query, kept = package_view(*(torch.tensor(part)[None].float() for part in (x[:rows], x[rows:])))
    assert kept[0].tolist() == ensemble.unique_filter_.features_to_keep_.tolist()
    ours = torch.cat([context, query], 1)[0][:, kept[0]]
    torch.testing.assert_close(ours, torch.tensor(theirs).float(), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_context_of_copies_of_one_row_is_answered_as_by_the_package(branch, tmp_path):
    """All columns are constant: the first stays."""
    context_x, context_y, query_x = tables(branch.task, 1)
    context_x = torch.ones_like(context_x)
    ours = comparable(branch, branch.forward(context_x, context_y, query_x))
    theirs = official(tmp_path / "weights", branch.task, context_x[0], context_y[0], query_x[0])
    torch.testing.assert_close(ours[0], torch.tensor(theirs, dtype=torch.float32), atol=1e-5, rtol=0)


def copied(task):
    """`tables` whose context rows stand several times side by side, each table's with counts of its own."""
    context_x, context_y, query_x = tables(task)
    rows = torch.randint(0, 12, (3, ROWS), generator=torch.Generator().manual_seed(2)).sort(1).values
    rows[:, :3], rows[1] = torch.arange(3), torch.arange(ROWS) // 2
    at = rows[..., None].expand(-1, -1, COLUMNS)
    return context_x.nan_to_num(0.5).gather(1, at), context_y.gather(1, rows), query_x


@torch.no_grad()
def test_copies_that_are_computed_once_are_answered_as_by_the_package(branch, tmp_path):
    batch = copied(branch.task)
    ours = comparable(branch, branch.forward(*batch))
    for table in range(3):
        theirs = official(tmp_path / "weights", branch.task, *(part[table] for part in batch))
        torch.testing.assert_close(ours[table], torch.tensor(theirs, dtype=torch.float32), atol=1e-5, rtol=0)


def test_copies_that_are_computed_once_have_the_gradient_of_all(branch, monkeypatch):
    context_x, context_y, query_x = copied(branch.task)
    gradients = []
    for _ in range(2):
        loss = branch.loss(branch.forward(context_x, context_y, query_x), context_y, context_y[:, :QUERIES]).sum()
        parameters = [weight for weight in branch.module.parameters() if weight.requires_grad]
        gradients.append(torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True))
        monkeypatch.setattr("memaudit.models.tabicl.merged", lambda x, y: None)
    for once, each in zip(*gradients, strict=True):
        torch.testing.assert_close(once, each, atol=1e-3 * float(each.abs().max()) + 1e-6, rtol=0)


@pytest.fixture
def classifier(tmp_path):
    return TabICLBranch.load(checkpoint(tmp_path / "weights"), card(), "cpu", None)


@pytest.fixture
def regressor(tmp_path):
    weights = checkpoint(tmp_path / "weights", "v2 regression")
    return TabICLBranch.load(weights, card("v2 regression"), "cpu", None)


@torch.no_grad()
def test_a_class_that_a_context_lacks_is_impossible_and_shifts_no_other(classifier):
    context_x, context_y, query_x = tables("classification")
    context_y[0] = 2 * (context_y[0] > 0)
    logits = classifier.logits(context_x, context_y, query_x)
    renumbered = context_y.clone()
    renumbered[0] //= 2
    expected = classifier.logits(context_x, renumbered, query_x)
    assert (logits[0, :, [1, 3]] == -torch.inf).all()
    assert logits[..., 3].max() == -torch.inf
    torch.testing.assert_close(logits[0, :, [0, 2]], expected[0, :, [0, 1]])
    torch.testing.assert_close(logits[1:], expected[1:])


@torch.no_grad()
def test_few_classes_of_high_code_have_their_place(classifier):
    context_x, context_y, query_x = tables("classification", 1)
    logits = classifier.logits(context_x, context_y * 6, query_x)
    assert logits.shape == (1, QUERIES, 13)
    assert logits.isfinite().any(1)[0].nonzero()[:, 0].tolist() == [0, 6, 12]


def test_more_classes_than_the_head_has_are_refused(classifier):
    context_x, _, query_x = tables("classification", 1)
    assert classifier.limits.classes == 4
    with pytest.raises(AuditError, match="a context of 5 classes: this TabICL has 4 in raw mode"):
        classifier.logits(context_x, torch.arange(ROWS)[None] % 5, query_x)


def test_the_loss_of_a_classifier_is_the_cross_entropy_over_the_classes_of_the_context(classifier):
    context_x, context_y, query_x = tables("classification")
    query_y = torch.arange(3 * QUERIES).view(3, QUERIES) % 3
    logits = classifier.forward(context_x, context_y, query_x)
    loss = classifier.loss(logits, context_y, query_y)
    expected = -logits[..., :3].log_softmax(-1).gather(2, query_y[..., None])[..., 0]
    torch.testing.assert_close(loss, expected)


def test_the_loss_of_a_regressor_is_the_pinball_loss_in_deviations(regressor):
    context_x, context_y, query_x = tables("regression")
    query_y = torch.randn(3, QUERIES) * 2 + 5
    outputs = regressor.forward(context_x, context_y, query_x)
    loss = regressor.loss(outputs, context_y, query_y)
    for table, query in ((0, 0), (2, 6)):
        y = (query_y[table, query] - context_y[table].mean()) / context_y[table].std(correction=0)
        error = y - outputs[table, query]
        level = torch.arange(1, 20) / 20
        expected = torch.where(error > 0, level * error, (level - 1) * error).mean()
        torch.testing.assert_close(loss[table, query], expected)


@torch.no_grad()
def test_a_distribution_is_in_the_targets_unit(regressor, tmp_path):
    context_x, context_y, query_x = tables("regression")
    unit = regressor.distribution(context_x, context_y, query_x)
    other = regressor.distribution(context_x, 100 * context_y - 3, query_x)
    torch.testing.assert_close(other.mean(), 100 * unit.mean() - 3, atol=1e-2, rtol=0)
    path = next((tmp_path / "weights").iterdir())
    package = TabICLRegressor(model_path=path, **ONE_VIEW).fit(context_x[1].numpy(), context_y[1].numpy())
    theirs = package.predict(query_x[1].numpy(), output_type="raw_quantiles")
    torch.testing.assert_close(unit.borders[1], torch.tensor(theirs).double(), atol=1e-2, rtol=0)


@torch.no_grad()
def test_a_distribution_has_the_mass_1_in_float64(regressor):
    """A surplus of 1e-7 would shift a mean of a million by 0.1."""
    mass = regressor.distribution(*tables("regression")).log_mass.exp().sum(-1)
    torch.testing.assert_close(mass, torch.ones(3, QUERIES).double(), atol=1e-12, rtol=0)


def test_equal_targets_have_the_deviation_one():
    mean, deviation = target_scale(torch.tensor([[0.1, 0.1, 0.1], [1.0, 3.0, 5.0]]))
    torch.testing.assert_close(mean, torch.tensor([[0.1], [3.0]]))
    torch.testing.assert_close(deviation, torch.tensor([[1.0], [(8 / 3) ** 0.5]]))


def test_the_loss_reaches_all_weights_and_the_features(branch):
    context_x, context_y, query_x = (part.clone() for part in tables(branch.task))
    context_x, query_x = context_x.requires_grad_(), query_x.requires_grad_()
    query_y = context_y[:, :QUERIES]
    branch.loss(branch.forward(context_x, context_y, query_x), context_y, query_y).mean().backward()
    weights = {name: p.grad for name, p in branch.module.named_parameters() if p.requires_grad}
    assert [name for name, grad in weights.items() if grad is None or not grad.any()] == []
    assert all(grad.isfinite().all() for grad in weights.values())
    for x in (context_x, query_x):
        assert x.grad.isfinite().all()
        assert x.grad.abs().sum() > 0


def test_a_constant_column_and_a_missing_cell_have_a_finite_gradient(tmp_path):
    """With a clip, whose scaling divides by what may be 0: where a column says nothing its gradient is 0."""
    branch = TabICLBranch.load(checkpoint(tmp_path), card(options={"clip": 6.0}), "cpu", None)
    context_x, context_y, query_x = tables("classification")
    context_x.requires_grad_(), query_x.requires_grad_()
    branch.loss(branch.forward(context_x, context_y, query_x), context_y, context_y[:, :QUERIES]).mean().backward()
    for x in (context_x, query_x):
        assert x.grad.isfinite().all()
        assert not x.grad[1, :, 1].any()
        assert x.grad[1, :, 2].any()


@torch.no_grad()
def test_a_column_of_any_size_is_scaled_with_a_clip(tmp_path):
    branch = TabICLBranch.load(checkpoint(tmp_path), card(options={"clip": 6.0}), "cpu", None)
    context_x, context_y, query_x = (part[:1] for part in tables("classification"))
    expected = branch.logits(context_x, context_y, query_x)
    torch.testing.assert_close(branch.logits(context_x * 1e30, context_y, query_x * 1e30), expected)


@torch.no_grad()
def test_attention_is_what_the_last_layer_weighs_the_context_with(branch):
    """Values that are one-hot in the context row turn the layer's own output into its weights."""
    context_x, context_y, query_x = tables(branch.task)
    weights = branch.attention(context_x, context_y, query_x)
    assert weights.shape == (3, QUERIES, ROWS)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, QUERIES))
    assert weights.std(-1).min() > 1e-6, "attention is uniform"
    seen = []
    original = torch.nn.functional.scaled_dot_product_attention

    def record(q, k, v, *rest):
        seen.append(original(q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1), *rest))
        return original(q, k, v, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", record)
        for table in range(3):
            seen.clear()
            branch.forward(*(part[table : table + 1] for part in (context_x, context_y, query_x)))
            torch.testing.assert_close(weights[table], seen[-1][0, :, ROWS:].mean(0), atol=1e-5, rtol=0)


def test_the_shipped_model_reads_what_it_was_trained_on(project, tmp_path):
    """With its clip the branch is the module itself on standardised data."""
    folder = project / "resources/tabicl-small"
    (tmp_path / "small.ckpt").symlink_to(folder / "tabicl-small.ckpt")
    clip = json.loads((folder / "model.json").read_text())["clip"]
    branch = TabICLBranch.load(tmp_path, card(version=None, options={"clip": clip}), "cpu", None)
    context_x, context_y, query_x = tables("classification")
    content = torch.load(folder / "tabicl-small.ckpt", weights_only=True)
    module = TabICL(**content["config"]).eval()
    module.load_state_dict(content["state_dict"])
    plain = {"device": "cpu", "use_amp": False, "use_fa3": False}
    config = InferenceConfig(COL_CONFIG=plain, ROW_CONFIG=plain, ICL_CONFIG=plain)
    with torch.no_grad():
        scaled = torch.cat(standardize(context_x, query_x, clip), 1)
        theirs = module(scaled, context_y.float(), inference_config=config)
        ours = branch.logits(context_x, context_y, query_x)
    assert ours[..., :3].std(1).min() > 0.01
    torch.testing.assert_close(ours[..., :3], theirs[..., :3], atol=1e-5, rtol=0)


@pytest.fixture(params=[None, 6.0])
def scaling(request, branch):
    """A branch with the package's scaling, and with our own."""
    branch.clip = request.param
    return branch


@torch.no_grad()
def test_the_order_of_the_context_changes_no_answer(branch):
    assert branch.orderless
    context_x, context_y, query_x = tables(branch.task)
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(1))
    expected = comparable(branch, branch.forward(context_x, context_y, query_x))
    found = comparable(branch, branch.forward(context_x[:, order], context_y[:, order], query_x))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    other = comparable(branch, branch.forward(context_x, context_y[:, order], query_x))
    assert (other - expected).abs().max() > 1e-3


@torch.no_grad()
def test_scaled_by_its_context_beforehand_a_table_is_answered_as_ever(scaling):
    """With a constant column, then missing cells, codes and outliers."""
    network = scaling.without_scaling()
    for table in range(3):
        context_x, context_y, query_x = (part[table : table + 1] for part in tables(scaling.task))
        cells = [scaling.scale(x[0], context_x[0])[None] for x in (context_x, query_x)]
        found = network.forward(cells[0], context_y, cells[1])
        expected = scaling.forward(context_x, context_y, query_x)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def copies(task, rows=4):
    """Contexts of copies of one row each, and the row as query."""
    reference, y, query_x = tables(task)
    rows_x = query_x[0, :3, None].expand(-1, rows, -1)
    y = torch.arange(rows).expand(3, -1) % 3
    return reference[0], rows_x, y if task == "classification" else y.float(), rows_x[:, :1]


@torch.no_grad()
def test_copies_of_a_row_are_seen_without_scaling_alone(scaling):
    reference, context_x, context_y, query_x = copies(scaling.task)
    plain = comparable(scaling, scaling.forward(context_x, context_y, query_x))
    torch.testing.assert_close(plain, plain[:1].expand_as(plain), atol=1e-6, rtol=0)
    cells = scaling.scale(query_x[:, 0], reference)[:, None]
    said = scaling.without_scaling().forward(cells.expand(-1, 4, -1), context_y, cells)
    assert comparable(scaling, said).std(0).max() > 1e-2


@torch.no_grad()
def test_without_scaling_the_module_reads_the_cells_as_they_are(scaling):
    """Also standard normal columns that were added, and those that are constant in the context."""
    _, context_x, context_y, query_x = copies(scaling.task)
    seen = []
    hook = scaling.module.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    network = scaling.without_scaling()
    network.forward(context_x, context_y, query_x)
    hook.remove()
    torch.testing.assert_close(seen[0], torch.cat([context_x, query_x], 1), atol=0, rtol=0, equal_nan=True)


@torch.no_grad()
def test_counted_rows_are_answered_as_repeated_ones_also_of_tables_of_different_lengths(branch):
    network, counts = branch.without_scaling(), torch.tensor([[1, 4, 1], [1, 1, 1], [2, 1, 3]])
    torch.manual_seed(0)
    rows, query = torch.randn(3, 3, COLUMNS), torch.randn(3, 2, COLUMNS)
    y = torch.tensor([[0, 2, 3], [0, 1, 2], [1, 1, 3]])

    def answers(*batch):
        if branch.task == "classification":
            return network.logits(*batch)
        predicted = network.distribution(*batch)
        return torch.stack([predicted.mean(), predicted.entropy()], -1).float()

    together = answers(rows, y, query, counts)
    for table, each in enumerate(counts):
        repeated = rows[table].repeat_interleave(each, 0)[None], y[table].repeat_interleave(each)[None]
        # In fp32, whose sums depend on the processor: the mean of a distribution differs by 1.4e-5 on one of them.
        torch.testing.assert_close(together[table], answers(*repeated, query[[table]])[0], atol=3e-5, rtol=1e-5)


def test_rows_are_not_counted_where_the_context_scales_or_hides_them(branch):
    rows, y, query = torch.zeros(1, 2, COLUMNS), torch.zeros(1, 2, dtype=torch.int64), torch.zeros(1, 1, COLUMNS)
    for network in (branch, branch.without_scaling().with_anonymous_keys(2)):
        assert not network.counting
        with pytest.raises(AuditError, match="repeat the rows"):
            network.forward(rows, y, query, torch.ones(1, 2, dtype=torch.int64))


def test_without_scaling_a_network_has_the_same_weights(classifier):
    tuned = deepcopy(classifier)
    network, other = classifier.without_scaling(), tuned.without_scaling()
    context_x, context_y, query_x = tables("classification")
    batch = context_x[..., :2], context_y, query_x[..., :2]
    before, expected = network.logits(*batch), other.logits(*batch)
    with torch.no_grad():
        for weight in classifier.module.parameters():
            weight.mul_(1.1)
    assert (network.logits(*batch) - before)[..., :3].abs().max() > 1e-3
    torch.testing.assert_close(other.logits(*batch), expected, atol=0, rtol=0)
    assert classifier.scales
    classifier.module.load_state_dict(tuned.module.state_dict())
    torch.testing.assert_close(network.logits(*batch), expected)


def refusal(folder, **facts):
    with pytest.raises(AuditError) as caught:
        TabICLBranch.load(folder, card(**facts), "cpu", None)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_without_one_file_is_named(tmp_path):
    assert "0 files, expected one checkpoint" in refusal(tmp_path)
    checkpoint(tmp_path)
    (tmp_path / "second.ckpt").write_bytes(b"")
    assert "2 files, expected one checkpoint" in refusal(tmp_path)


def test_other_files_are_no_tabicl(tmp_path):
    file = tmp_path / "other.ckpt"
    torch.save({"config": {"emsize": 192}, "state_dict": {}, "architecture_name": "tabpfn_v2"}, file)
    assert "not a TabICL checkpoint" in refusal(tmp_path)
    file.write_bytes(b"no weights")
    assert "not a TabICL checkpoint" in refusal(tmp_path)
    torch.save([torch.zeros(2)], file)
    assert "not a TabICL checkpoint" in refusal(tmp_path)


def test_a_config_without_sense_is_no_tabicl(tmp_path):
    file = checkpoint(tmp_path) / "small.ckpt"
    content = torch.load(file, weights_only=True)
    torch.save(content | {"config": content["config"] | {"row_nhead": 0}}, file)
    assert "not a TabICL checkpoint" in refusal(tmp_path)
    torch.save(content | {"state_dict": {1: torch.zeros(1)}}, file)
    assert "not a TabICL checkpoint" in refusal(tmp_path)


def test_a_truncated_file_is_named(tmp_path):
    file = checkpoint(tmp_path) / "small.ckpt"
    file.write_bytes(file.read_bytes()[:-1000])
    assert f"{file}: not a TabICL checkpoint" in refusal(tmp_path)


def test_a_file_that_would_run_code_is_not_opened(tmp_path):
    class Code:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    torch.save({"config": Code(), "state_dict": {}}, tmp_path / "small.ckpt")
    assert "not a TabICL checkpoint" in refusal(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_model_of_the_other_task_is_named(tmp_path):
    assert "for classification, not for regression" in refusal(checkpoint(tmp_path), task="regression")
    checkpoint(tmp_path, "v2 regression")
    assert "for regression, not for classification" in refusal(tmp_path)


def test_another_version_is_named(tmp_path):
    assert "a TabICL v2, but the card says v1.1" in refusal(checkpoint(tmp_path), version="v1.1")
    assert "a TabICL v1, but the card says v2" in refusal(checkpoint(tmp_path, "v1"))
    named = tmp_path / "tabicl-classifier-v1.1-20250506.ckpt"
    (tmp_path / "small.ckpt").rename(named)
    assert "a TabICL v1.1, but the card says v1" in refusal(tmp_path, version="v1")
    TabICLBranch.load(tmp_path, card(version="v1.1"), "cpu", None)
    assert "there is no TabICL v3; set one of v1, v1.1, v2" in refusal(tmp_path, version="v3")


def test_an_unknown_option_is_named(tmp_path):
    said = refusal(checkpoint(tmp_path), options={"clip": 6.0, "shuffle": True})
    assert "TabICL has no shuffle; it has clip" in said
    for clip in ("six", True, float("inf"), float("nan")):
        assert f"clip is {clip!r}; set a number above 0" in refusal(tmp_path, options={"clip": clip})

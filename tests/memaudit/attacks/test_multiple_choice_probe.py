"""The multiple-choice probe: its signals, that it sees the query, and that batching changes nothing."""

import math

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer
from tabicl._model.tabicl import TabICL

from memaudit.attacks import multiple_choice_probe
from memaudit.attacks.context_manipulations import parsed
from memaudit.attacks.multiple_choice_probe import Reference, candidates_of, probe, questions_of
from memaudit.common.errors import AuditError
from memaudit.models.batched_queries import Question, answer
from memaudit.models.contexttab import ConTextTabBranch
from memaudit.models.deployed_estimators import Deployed
from memaudit.models.predictive_distributions import Binned
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn

SMALL = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1, "row_nhead": 2}
SMALL |= {"row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}
HEADS = {"classification": {"max_classes": 4}, "regression": {"max_classes": 0, "num_quantiles": 19}}
SHUFFLES = [[{"shuffle": place}] for place in ("random", "first", "last")]
STEPS = [[], *SHUFFLES, [{"drop": 2}], [{"noise": 2}], [{"random": 3}], [{"skew_true": 3}]]
STEPS += [[{"skew_false": {"labels": 2, "factor": 3}}], [{"shuffle": "random"}, {"uniform": 2}, {"drop": 1}]]
SUITE = parsed([{"name": str(steps), "category": "any", "steps": steps} for steps in STEPS])
BASELINE = SUITE[:1]
TARGETS, COLUMNS = 5, 4


class Shares:
    """A network that predicts the label shares of its context, and a normal distribution of numbers."""

    mode, alone, orderless, counting = "raw", True, True, False

    def __init__(self, task="classification"):
        self.task = task

    def scale(self, x, reference_x):
        return x

    def without_scaling(self):
        return self

    def logits(self, context_x, context_y, query_x):
        counts = torch.nn.functional.one_hot(context_y, 6).sum(1)
        return counts.log()[:, None].expand(-1, query_x.shape[1], -1)

    def distribution(self, context_x, context_y, query_x):
        mean = context_y.double().mean(1, keepdim=True).expand(-1, query_x.shape[1])
        return Binned.from_normal(mean, torch.full_like(mean, 3.0))


def tabicl(task="classification", clip=6.0):
    torch.manual_seed(0)
    module = TabICL(**SMALL, **HEADS[task])
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return TabICLBranch(module, "cpu", clip)


def tabpfn(folder, version, task):
    small_tabpfn.write(folder, version, task)
    return TabPFNBranch.load(folder, {"version": version, "task": task, "options": {}}, "cpu", None)


@pytest.fixture
def shipped(project):
    file = project / "resources/tabicl-small/tabicl-small.ckpt"
    return TabICLBranch.of_file(file, {"task": "classification", "version": None, "options": {"clip": 6.0}}, "cpu")


def targets(task="classification", count=TARGETS):
    """x, with a missing cell, true labels, candidates of each target, and a reference."""
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(3, 2, (count, COLUMNS)).astype(np.float32))
    x[1, 2] = torch.nan
    reference = torch.from_numpy(rng.normal(3, 2, (30, COLUMNS)).astype(np.float32))
    if task == "classification":
        return x, rng.integers(0, 3, count), np.arange(3), Reference(reference, torch.arange(30) % 3)
    y = rng.normal(50, 7, 30).astype(np.float32)
    candidates = np.stack([candidates_of(y, 4, true, rng) for true in y[:count]])
    return x, y[:count], candidates, Reference(reference, torch.from_numpy(y))


def rngs(count=TARGETS):
    return [np.random.default_rng(number) for number in range(count)]


def probed(model, task="classification", suite=SUITE, **options):
    x, labels, candidates, reference = targets(task)
    return probe(model, x, labels, candidates, suite, reference=reference, rngs=rngs(), **options)


def one_by_one(model, task):
    """The signals of `probe` from one table after another, rows in the manipulations' order."""
    x, labels, candidates, reference = targets(task)
    cells, network = model.scale(x, reference.x), model.without_scaling()
    candidates = np.broadcast_to(candidates, (len(x), candidates.shape[-1]))
    observed = []
    for target, rng in enumerate(rngs()):
        for one in SUITE:
            place = candidates[target].tolist().index(labels[target])
            made = one.context(candidates.shape[1], place, cells.shape[1], rng)
            rows = cells[target, made.columns].expand(len(made.noise), -1)
            rows = torch.cat([rows, torch.from_numpy(made.noise)], 1)[None]
            y = torch.from_numpy(candidates[target][made.labels])[None]
            predict = network.logits if task == "classification" else network.distribution
            observed.append(signals(predict(rows[:, :-1], y, rows[:, -1:]), labels[target], reference.y.double()))
    return torch.tensor(observed).view(len(x), len(SUITE), 4)


def signals(predicted, label, reference_y):
    if isinstance(predicted, torch.Tensor):
        p = predicted[0, 0].double().softmax(-1)
        entropy = -sum(share * math.log(share) for share in p.tolist() if share)
        return [-p[label].log().item(), entropy, p[label].item(), float(p.argmax() != label)]
    deviation = reference_y.std(correction=0)
    density = predicted.log_density(torch.tensor([[[label]]]).double())[0, 0, 0] + deviation.log()
    error = (predicted.mean()[0, 0] - label) / deviation
    return [
        -density.item(),
        (predicted.entropy()[0, 0] - deviation.log()).item(),
        density.exp().item(),
        error.item() ** 2,
    ]


@pytest.mark.parametrize("clip", [6.0, None])
@pytest.mark.parametrize("task", HEADS)
@torch.no_grad()
def test_tabicl_answers_as_if_queried_one_by_one(task, clip):
    """Queried together, with its rows in another order."""
    observed = torch.from_numpy(probed(tabicl(task, clip), task))
    assert observed.dtype == torch.float32
    assert observed.std(0).max() > 0.01
    # Rounding counts in the narrow bins between quantiles that nearly meet.
    atol = 2e-5 if task == "classification" else 1e-3
    torch.testing.assert_close(observed, one_by_one(tabicl(task, clip), task), atol=atol, rtol=1e-4)


@pytest.mark.parametrize("version", ["v3", "v3.5"])
@pytest.mark.parametrize("task", HEADS)
@torch.no_grad()
def test_tabpfn_answers_as_if_queried_one_by_one(tmp_path, version, task):
    model = tabpfn(tmp_path, version, task)
    observed = torch.from_numpy(probed(model, task))
    torch.testing.assert_close(observed, one_by_one(model, task), atol=2e-5, rtol=1e-4)


def test_signals_of_labels_are_those_of_their_shares():
    """A network that ignores the query predicts the more frequent label."""
    observed = probed(Shares(), suite=SUITE)
    names = [one.name for one in SUITE]
    third = [math.log(3), math.log(3), 1 / 3, 1]  # a tie is an error
    for name in (0, 1, 2, 3, 4, 5, 9):
        np.testing.assert_allclose(observed[:, name], np.tile(third, (TARGETS, 1)), rtol=1e-6)
    p = np.array([3, 1, 1]) / 5
    skewed = [-math.log(0.6), -(p * np.log(p)).sum(), 0.6, 0]
    of_true = observed[:, names.index(str([{"skew_true": 3}]))]
    np.testing.assert_allclose(of_true, np.tile(skewed, (TARGETS, 1)), rtol=1e-6)
    assert observed[:, 8, 0] == pytest.approx([math.log(7)] * TARGETS)
    assert observed[:, 8, 3].tolist() == [1] * TARGETS


def test_signals_of_numbers_are_in_deviations_of_the_reference():
    _, labels, candidates, reference = targets("regression")
    deviation = reference.y.double().std(correction=0).item()
    observed = probed(Shares("regression"), "regression", BASELINE)[:, 0]
    error = ((candidates.mean(1) - labels) / deviation) ** 2
    width = 3 / deviation
    loss = 0.5 * math.log(2 * math.pi) + math.log(width) + error / (2 * width**2)
    # Its bins of 0.02 deviations are uniform inside.
    np.testing.assert_allclose(observed[:, 0], loss, atol=0.03)
    np.testing.assert_allclose(observed[:, 1], 0.5 * math.log(2 * math.pi * math.e) + math.log(width), atol=1e-3)
    np.testing.assert_allclose(observed[:, 2], np.exp(-observed[:, 0]), rtol=1e-6)
    np.testing.assert_allclose(observed[:, 3], error, rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_the_shipped_model_sees_the_query_through_fixed_scaling_alone(shipped):
    """Another record's features change S; scaled by a context of duplicates all records have equal features."""
    data, _ = load_breast_cancer(return_X_y=True)
    x = torch.from_numpy(data[::30].astype(np.float32))
    reference = Reference(torch.from_numpy(data.astype(np.float32)), torch.zeros(len(data)))
    suite, labels = SUITE[:5], np.ones(len(x), dtype=int)

    def robustness(x):
        observed = probe(shipped, x, labels, [0, 1], suite, reference=reference, rngs=rngs(len(x)))
        return observed[..., 0].mean(1)

    change = abs(robustness(x) - robustness(x.roll(1, 0)))
    assert np.median(change) > 0.01
    plain = [
        question for row in x for question in questions_of(row, 1, np.arange(2), suite, np.random.default_rng(0), True)
    ]
    logs = torch.stack(answer(shipped, plain)).view(len(x), len(suite), -1)[..., :2].log_softmax(-1)
    assert abs(logs - logs[:1]).max() < 1e-6


@pytest.mark.parametrize("task", HEADS)
def test_fifty_repeated_queries_have_the_signals_of_one(task):
    """Where queries are answered as if alone; so 1 is the default."""
    model = tabicl(task)
    np.testing.assert_allclose(probed(model, task), probed(model, task, replicates=50), atol=2e-5, rtol=1e-4)


def test_signals_of_repeated_queries_are_averaged():
    class Drifting(Shares):
        alone = False

        def logits(self, context_x, context_y, query_x):
            logits = super().logits(context_x, context_y, query_x).clone()
            logits[..., 0] += torch.arange(query_x.shape[1])
            return logits

    observed = probed(Drifting(), suite=BASELINE, replicates=3)[:, 0]
    once = [[-math.log(math.exp(i * (y == 0)) / (math.exp(i) + 2)) for i in range(3)] for y in targets()[1]]
    np.testing.assert_allclose(observed[:, 0], np.mean(once, 1), rtol=1e-6)
    np.testing.assert_allclose(observed[:, 2], np.exp(-np.array(once)).mean(1), rtol=1e-6)


def test_the_number_of_targets_in_a_batch_changes_nothing(monkeypatch):
    expected = probed(tabicl())
    monkeypatch.setitem(multiple_choice_probe.RECORDS, "classification", 2)
    np.testing.assert_allclose(probed(tabicl()), expected, atol=1e-5)


@pytest.mark.parametrize(("orderless", "unlike"), [(True, 1), (False, 3)])
def test_orders_are_queried_once_where_they_are_ignored(orderless, unlike):
    """Baseline and shuffles of one query; the true label, the second of three, can stand in three places."""
    suite = [one for one in SUITE if one.name in map(str, [[], *SHUFFLES[1:]])]
    questions = questions_of(torch.ones(2), 1, np.arange(3), suite, np.random.default_rng(0), orderless)
    assert len({tuple(question.context_y.tolist()) for question in questions}) == unlike


def test_equal_rows_are_one_row_with_its_number_where_rows_are_counted():
    suite = [one for one in SUITE if not one.noise]
    counted, plain = (
        list(questions_of(torch.arange(4.0), 1, np.arange(3), suite, np.random.default_rng(0), True, counting=counting))
        for counting in (True, False)
    )
    assert {tuple(question.counts.tolist()) for question in counted} > {(1, 1, 1), (1, 3, 1)}
    for short, long in zip(counted, plain, strict=True):
        torch.testing.assert_close(short.context_x.repeat_interleave(short.counts, 0), long.context_x)
        torch.testing.assert_close(short.context_y.repeat_interleave(short.counts), long.context_y)
        torch.testing.assert_close(short.query_x, long.query_x)
        assert short.rows == len(long.context_x)


def test_added_cells_stay_with_their_labels_when_rows_are_sorted():
    suite = parsed([{"name": "one", "category": "any", "steps": [{"shuffle": "random"}, {"noise": 1}]}])
    questions = [
        next(questions_of(torch.ones(1), 1, np.arange(5), suite, np.random.default_rng(1), orderless))
        for orderless in (False, True)
    ]
    rows = [sorted(zip(q.context_y.tolist(), q.context_x[:, 1].tolist(), strict=True)) for q in questions]
    assert rows[0] == rows[1]
    assert questions[0].context_y.tolist() != questions[1].context_y.tolist()
    assert isinstance(questions[0], Question)


@pytest.mark.parametrize("task", HEADS)
def test_an_answer_that_is_not_finite_is_nan_in_all_signals(task):
    model = tabicl(task)
    with torch.no_grad():
        next(model.module.parameters()).fill_(torch.nan)
    assert np.isnan(probed(model, task)).all()


def test_models_that_do_not_see_the_query_are_refused(tmp_path):
    deployed = Deployed(None, "classification", None, 3, None)
    estimator = EstimatorBranch(None, {"task": "classification", "mode": "raw"})
    contexttab = ConTextTabBranch(None, {"columns": [], "target": {"categories": []}})
    for model in (deployed, estimator, contexttab):
        with pytest.raises(AuditError, match=f"a {type(model).__name__} in mode {model.mode} does not see") as caught:
            probed(model)
        assert "\n" not in str(caught.value)
    with pytest.raises(AuditError, match=r"TabPFN v2\.5 cannot be used without its scaling: .* choose tabicl"):
        probed(tabpfn(tmp_path, "v2.5", "classification"))


def test_a_true_label_that_is_no_candidate_is_named():
    x, labels, _, reference = targets()
    labels[3] = 5
    with pytest.raises(AuditError, match="the true label of target 3 is no candidate"):
        probe(Shares(), x, labels, np.arange(3), SUITE, reference=reference, rngs=rngs())


def test_candidates_are_the_different_targets_or_some_of_them_with_the_true_one():
    rng = np.random.default_rng(0)
    y = np.array([3.0, 1.0, 2.0, 2.0, 9.0, 3.0], dtype=np.float32)
    assert candidates_of(y, 9, 2.0, rng).tolist() == [1, 2, 3, 9]
    assert candidates_of(y, 4, 2.0, rng).tolist() == [1, 2, 3, 9]
    assert candidates_of(y, 9, 5.0, rng).tolist() == [1, 2, 3, 5, 9]
    assert candidates_of(y, 9, 2.0, rng).dtype == np.float32
    drawn = [candidates_of(y, 3, 9.0, rng).tolist() for _ in range(300)]
    assert all(len(set(some)) == 3 and some == sorted(some) and 9 in some for some in drawn)
    assert all(abs(sum(value in some for some in drawn) - 200) < 40 for value in (1, 2, 3))

"""Poison and Brainwash by brute force: every table of answers, every count of questions, and a model that remembers."""

import math

import numpy as np
import pytest
import torch

from memaudit.attacks.brainwash import scan, search
from memaudit.attacks.poisoning import Counted, Poisoned

MOST = [1, 2, 3, 5, 8, 31, 32, 33]


class Table:
    """Answers (target, copies) that are known in full; refuses to be asked twice."""

    def __init__(self, wrong):
        self.wrong, self.asked = np.asarray(wrong, dtype=bool), []

    def __call__(self, targets, copies):
        assert len(set(targets.tolist())) == len(targets), "a target has one question at a time"
        self.asked += zip(targets.tolist(), copies.tolist(), strict=True)
        assert len(set(self.asked)) == len(self.asked), "asked twice"
        return self.wrong[targets, copies]

    def first(self):
        """Brute force: fewest copies with a wrong answer, most + 1 where there are none."""
        return np.array([next((k for k, wrong in enumerate(row) if wrong), len(row)) for row in self.wrong])

    def monotone(self):
        return np.array([sorted(row) == list(row) for row in self.wrong.tolist()])

    def known(self, budgets):
        return {k: self.wrong[:, k] for k in budgets if k < self.wrong.shape[1]}


def flipping_at(first, most):
    return Table(np.arange(most + 1) >= np.asarray(first)[:, None])


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("budgets", [[], [0, 5, 10, 20], [1, 2, 3, 30, 31, 32]])
def test_bisection_finds_every_first_flip_with_logarithmically_many_questions(most, budgets):
    table = flipping_at(np.arange(most + 2), most)
    found = search(table, most + 2, most, table.known(budgets))
    assert found.copies.tolist() == list(range(most + 2))
    assert found.passes.max() <= math.ceil(math.log2(most)) + 2
    assert found.passes.tolist() == [sum(target == t for target, _ in table.asked) for t in range(most + 2)]


def test_an_already_wrong_record_costs_one_question_and_a_censored_one_two():
    found = search(flipping_at([0, 33], 32), 2, 32)
    assert found.copies.tolist() == [0, 33]
    assert found.passes.tolist() == [1, 2]


def test_known_answers_are_asked_for_first_but_only_where_that_takes_no_more_questions():
    table = flipping_at(np.arange(34), 32)
    budgets = {0, 5, 10, 20}
    search(table, 34, 32, table.known(budgets))
    new = [sum(target == t and k not in budgets for target, k in table.asked) for t in range(34)]
    assert max(new) == 5
    assert max(new[:21]) == 4
    assert [pair for pair in table.asked if pair[0] == 7] == [(7, k) for k in (0, 20, 10, 5, 7, 6)]


def test_a_known_answer_that_contradicts_bisection_makes_it_search_copy_by_copy():
    wrong = np.zeros((2, 33), dtype=bool)
    wrong[:, 5] = True
    table = Table(wrong)
    found = search(table, 2, 32, {**table.known([10, 20]), 5: np.array([True, False])})
    assert found.copies.tolist() == [5, 33], "who does not know of the flip at 5 takes the record for censored"
    assert sorted(k for target, k in table.asked if target == 0) == [0, 1, 2, 3, 4, 5, 10, 20, 32]
    assert found.passes.tolist() == [9, 3], "what gave the contradiction away has been asked, too"


def test_a_right_answer_above_the_flip_is_a_contradiction_as_well():
    wrong = np.zeros((1, 9), dtype=bool)
    wrong[0, [1, 4, 8]] = True
    table = Table(wrong)
    assert search(Table(wrong), 1, 8).copies == [4]
    assert search(table, 1, 8, table.known([4, 6])).copies == [1]


def test_budgets_above_the_most_copies_say_nothing():
    found = search(flipping_at([9], 8), 1, 8, {20: np.array([True]), 10: np.array([False])})
    assert (found.copies.tolist(), found.passes.tolist()) == ([9], [2])


@pytest.mark.parametrize("most", MOST)
def test_on_any_table_a_wrong_result_was_not_contradicted_by_what_was_known(most):
    wrong = np.random.default_rng(most).random((300, most + 1)) < 0.3
    table = Table(wrong)
    known = table.known([0, 5, 10, 20])
    found = search(table, 300, most, known)
    for target, missed in enumerate(found.copies != table.first()):
        asked = {k for t, k in table.asked if t == target}
        assert found.passes[target] == len(asked)
        if missed:
            assert all(answers[target] == (k >= found.copies[target]) for k, answers in known.items())
    assert (found.copies >= table.first()).all(), "an earlier flip can be missed, none invented"
    assert (found.copies == table.first())[table.monotone()].all()


def test_the_scan_is_brute_force_and_says_what_is_monotone():
    rng = np.random.default_rng(0)
    table = np.vstack([rng.random((50, 9)) < 0.3, flipping_at(np.arange(10), 8).wrong])
    targets = rng.permutation(60)[:40]
    found = scan(lambda targets, copies: table[targets, copies], targets, 8)
    assert found.copies.tolist() == Table(table).first()[targets].tolist()
    assert found.monotone.tolist() == Table(table).monotone()[targets].tolist()
    assert 0 < found.monotone.mean() < 1
    assert len(scan(lambda targets, copies: table[targets, copies], targets[:0], 8).copies) == 0


class Kernel:
    """Votes of all context rows, weighted by nearness; ten classes."""

    task, alone, module = "classification", True, None

    def logits(self, context_x, context_y, query_x):
        nearness = torch.exp(-torch.cdist(query_x, context_x).square())
        votes = nearness @ torch.nn.functional.one_hot(context_y, 10).float()
        return votes.log()


def shadow_set(seed=0, targets=12):
    """Targets far apart, each beside two true neighbours at a distance d; the first half are members."""
    rng = np.random.default_rng(seed)
    x = torch.arange(float(targets))[:, None] * 100 + torch.zeros(1, 2)
    labels = rng.integers(0, 3, targets)
    distance = 1 + 0.1 * torch.arange(targets)
    near = x + torch.stack([distance, torch.zeros(targets)], 1)
    inside = np.arange(targets) < targets // 2
    context = torch.cat([near, near, x[inside]])
    context_y = torch.from_numpy(np.concatenate([labels, labels, labels[inside]]))
    model = Counted(Kernel())
    asked = Poisoned(model, context, context_y, x, labels, (labels + 1) % 3, 3)
    return asked, np.exp(-(distance.numpy() ** 2)), inside


def test_members_need_more_copies_as_many_as_a_kernel_says():
    """Wrong once k copies outweigh 2 exp(-d^2) and, of a member, its own record."""
    asked, weight, inside = shadow_set()
    found = search(asked.wrong, 12, 32)
    assert found.copies.tolist() == np.ceil(2 * weight + inside).astype(int).tolist()
    assert found.copies[inside].min() > found.copies[~inside].max()
    assert scan(asked.wrong, np.arange(12), 32).copies.tolist() == found.copies.tolist()


def test_poisoned_logits_are_those_of_the_poisoned_context_in_any_order():
    asked, *_ = shadow_set()
    targets, copies = np.array([3, 0, 3, 11, 0]), np.array([5, 0, 2, 5, 1])
    for target, k, logits in zip(targets, copies, asked.logits(targets, copies), strict=True):
        x = torch.cat([asked.context_x, *[asked.x[target][None]] * k])
        y = torch.cat([asked.context_y, torch.tensor([asked.poison[target]] * k, dtype=torch.long)])
        alone = Kernel().logits(x[None], y[None], asked.x[None, [target]])[0, 0, :3]
        np.testing.assert_allclose(logits, alone.numpy(), rtol=1e-4)
    assert asked.logits([], []).shape == (0, 3)


def test_a_remembered_answer_is_no_forward_pass_but_a_question():
    asked, *_ = shadow_set()
    every, budgets = np.arange(12), [0, 5, 10, 20]
    for k in budgets:
        asked.logits(every, np.full(12, k))
    assert asked.model.contexts == 1 + 3 * 12, "unpoisoned, all targets have one context"
    seen = []

    def ask(targets, copies):
        seen.extend(zip(targets.tolist(), copies.tolist(), strict=True))
        return asked.wrong(targets, copies)

    known = {k: asked.wrong(every, np.full(12, k)) for k in budgets}
    found = search(ask, 12, 32, known)
    assert found.passes.sum() == len(seen)
    new = [pair for pair in seen if pair[1] not in budgets]
    assert 0 < len(new) < len(seen)
    assert asked.model.contexts == 1 + 3 * 12 + len(new)


def test_of_equally_likely_classes_the_lowest_is_predicted():
    asked, *_ = shadow_set()
    asked.context_x, asked.context_y = (
        torch.cat([asked.x, asked.x]),
        torch.from_numpy(np.r_[asked.labels, asked.poison]),
    )
    assert asked.wrong(np.arange(12), np.zeros(12, dtype=int)).tolist() == (asked.labels > asked.poison).tolist()

"""Questions asked together are answered as if each were asked alone."""

import pytest
import torch
from tabicl._model.tabicl import TabICL

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.models import batched_queries
from memaudit.models.batched_queries import Question, answer, as_wide, table_bytes
from memaudit.models.deployed_estimators import Deployed
from memaudit.models.predictive_distributions import Binned
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn

SMALL = {"max_classes": 4, "embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
SMALL |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 2, "icl_nhead": 2, "zero_init": False}


def small(**changes):
    torch.manual_seed(0)
    return Counted(TabICLBranch(TabICL(**SMALL | changes), "cpu", clip=6.0))


class Counted:
    """A model that writes down the tables of every forward pass, and can run out of memory."""

    def __init__(self, model, room=10**9, most=10**9):
        self.model, self.room, self.most = model, room, most  # room: tables of a pass; most: its queries
        self.task, self.alone = model.task, model.alone
        if hasattr(model, "module"):
            self.module = model.module
        self.passes = []

    def logits(self, *tables):
        return self._ask(self.model.logits, *tables)

    def distribution(self, *tables):
        return self._ask(self.model.distribution, *tables)

    def _ask(self, say, context_x, context_y, query_x):
        self.passes.append(tuple(context_x.shape[:2]) + tuple(query_x.shape[1:]))
        if len(context_x) > self.room or query_x.shape[0] * query_x.shape[1] > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nMore about it")
        return say(context_x, context_y, query_x)


def ragged(count, numbers=False, seed=0):
    """Questions of 3 to 5 context rows, 1 or 2 queries, 3 or 4 features, two or three classes."""
    torch.manual_seed(seed)
    made = []
    for index in range(count):
        n, m, d = 3 + index % 3, 1 + index % 2, 3 + index // 3 % 2
        y = torch.randn(n) if numbers else torch.cat([torch.arange(2), torch.randint(3, (n - 2,))])
        made.append(Question(torch.randn(n, d), y, torch.randn(m, d)))
    return made


def alone(model, question):
    say = model.logits if model.task == "classification" else model.distribution
    return say(question.context_x[None], question.context_y[None], question.query_x[None])


def assert_as_alone(model, question, found):
    expected = alone(model, question)
    if not isinstance(found, Binned):
        width = expected.shape[-1]
        torch.testing.assert_close(found[:, :width], expected[0], atol=1e-5, rtol=1e-5)
        assert (found[:, width:] == -torch.inf).all()
        return
    assert found.tail == expected.tail
    for part in ("borders", "log_mass", "scales"):
        torch.testing.assert_close(getattr(found, part), getattr(expected, part)[0], atol=1e-5, rtol=1e-5)


def test_ragged_questions_are_answered_in_order_as_if_alone():
    model, questions = small(), ragged(40)
    together = answer(model, questions)
    shapes = {question.shape for question in questions}
    assert len(shapes) > 4
    assert len(model.passes) == len(shapes)
    for question, logits in zip(questions, together, strict=True):
        torch.testing.assert_close(logits, alone(model, question)[0], atol=1e-5, rtol=0)


def test_distributions_of_numbers_are_answered_as_if_alone():
    model, questions = small(max_classes=0, num_quantiles=9), ragged(12, numbers=True)
    for question, ours in zip(questions, answer(model, questions), strict=True):
        assert_as_alone(model, question, ours)


def test_equal_questions_are_computed_once_and_nearly_equal_ones_are_not_merged():
    model, (question,) = small(), ragged(1)
    nearly = Question(question.context_x + 1e-6, question.context_y, question.query_x)
    first, second, third = answer(model, [question, nearly, question])
    assert model.passes == [(2, 3, 1, 3)]
    torch.testing.assert_close(first, third, atol=0, rtol=0)
    assert not torch.equal(first, second)


def test_other_labels_are_another_question():
    model, (question,) = small(), ragged(1)
    other = Question(question.context_x, question.context_y.flip(0), question.query_x)
    first, second = answer(model, [question, other])
    assert not torch.equal(first, second)


def test_queries_of_one_context_share_a_forward_pass():
    model, (question,) = small(), ragged(1)
    questions = [Question(question.context_x, question.context_y, torch.randn(m, 3)) for m in (1, 3, 2)]
    together = answer(model, [*questions, questions[1]])
    assert model.passes == [(1, 3, 6, 3)]
    for asked, logits in zip([*questions, questions[1]], together, strict=True):
        torch.testing.assert_close(logits, alone(model, asked)[0], atol=1e-5, rtol=0)


def test_a_forward_pass_stays_under_the_bound_of_memory(monkeypatch):
    model = small()
    torch.manual_seed(1)
    questions = [Question(torch.randn(6, 4), torch.arange(6) % 2, torch.randn(2, 4)) for _ in range(10)]
    monkeypatch.setattr(batched_queries, "MEBIBYTE", 3 * table_bytes(model, 6, 2, 4))
    answer(model, questions, memory=1)
    assert model.passes == [(3, 6, 2, 4)] * 3 + [(1, 6, 2, 4)]


def test_many_queries_of_one_context_do_not_pass_the_bound_of_memory(monkeypatch):
    model = small()
    (question,) = ragged(1)
    questions = [Question(question.context_x, question.context_y, torch.randn(5, 3)) for _ in range(6)]
    monkeypatch.setattr(batched_queries, "MEBIBYTE", table_bytes(model, 3, 10, 3))
    answers = answer(model, questions, memory=1)
    assert model.passes == [(1, 3, 10, 3)] * 3
    torch.testing.assert_close(answers[5], alone(model, questions[5])[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("room", [1, 3])
def test_out_of_memory_halves_the_batch_and_goes_on(room):
    model, questions = small(), ragged(12 * 5)
    whole = answer(model, questions)
    model.room = room
    for once, again in zip(whole, answer(model, questions), strict=True):
        torch.testing.assert_close(once, again, atol=1e-5, rtol=0)


HEADS = {"classification": {}, "regression": {"max_classes": 0, "num_quantiles": 9}}


def of_many_queries(task, count=1, queries=11):
    torch.manual_seed(2)
    y = torch.arange(6) % 2 if task == "classification" else torch.randn(6)
    return [Question(torch.randn(6, 4), y, torch.randn(queries, 4)) for _ in range(count)]


@pytest.mark.parametrize("task", HEADS)
def test_queries_of_one_question_are_parted_under_the_bound_of_memory(task, monkeypatch):
    model, questions = small(**HEADS[task]), of_many_queries(task, 2)
    monkeypatch.setattr(batched_queries, "MEBIBYTE", table_bytes(model, 6, 4, 4))
    answers = answer(model, questions, memory=1)
    assert sorted(model.passes) == [(1, 6, 3, 4)] * 2 + [(1, 6, 4, 4)] * 4
    for question, found in zip(questions, answers, strict=True):
        assert_as_alone(model, question, found)


def test_a_context_over_the_bound_of_memory_is_queried_in_parts(monkeypatch):
    model, (question,) = small(), of_many_queries("classification", queries=3)
    monkeypatch.setattr(batched_queries, "MEBIBYTE", 1)
    (found,) = answer(model, [question], memory=1)
    assert model.passes == [(1, 6, 1, 4)] * 3
    assert_as_alone(model, question, found)


def test_queries_are_parted_under_the_bound_of_rows(monkeypatch):
    model, (question,) = small(), of_many_queries("classification")
    monkeypatch.setattr(batched_queries, "ROWS", 10)
    (found,) = answer(model, [question])
    assert {n + m for _, n, m, _ in model.passes} == {10, 9}
    assert_as_alone(model, question, found)


@pytest.mark.parametrize("most", [1, 3, 10])
@pytest.mark.parametrize("task", HEADS)
def test_out_of_memory_of_one_table_halves_its_queries_and_goes_on(task, most):
    model, questions = small(**HEADS[task]), of_many_queries(task, 3)
    model.most = most
    answers = answer(model, questions)
    model.most = 10**9
    for question, found in zip(questions, answers, strict=True):
        assert_as_alone(model, question, found)


def test_a_part_of_a_question_that_shares_a_pass_with_higher_classes_is_joined_to_the_rest(monkeypatch):
    model, (question,) = small(), of_many_queries("classification")
    wide = Question(question.context_x, question.context_y * 9, question.query_x[:1])  # logits up to its class 9
    monkeypatch.setattr(batched_queries, "MEBIBYTE", table_bytes(model, 6, 10, 4))
    found = answer(model, [question, wide], memory=1)
    assert model.passes == [(1, 6, 10, 4), (2, 6, 1, 4)]
    for asked, logits in zip([question, wide], found, strict=True):
        assert_as_alone(model, asked, logits)


def test_a_question_without_queries_has_an_empty_answer():
    model, (question,) = small(), of_many_queries("classification", queries=2)
    nobody = Question(question.context_x, question.context_y, question.query_x[:0])
    none, some = answer(model, [nobody, question])
    assert none.shape == (0, 4)
    assert_as_alone(model, question, some)


def tabpfn(version, task, folder):
    small_tabpfn.write(folder / "weights", version, task)
    return TabPFNBranch.load(folder / "weights", {"task": task, "version": version, "options": {}}, "cpu")


def estimator(name, task, folder):
    write_json({"class": f"sklearn.ensemble.{name}", "params": {"n_estimators": 3}}, folder / "estimator.json")
    return EstimatorBranch.load(folder, {"name": "rival", "task": task, "mode": "raw", "options": {}}, "cpu", None)


FAMILIES = {
    "tabpfn v2": lambda folder: tabpfn("v2", "classification", folder),
    "tabpfn v2.5": lambda folder: tabpfn("v2.5", "regression", folder),
    "tabpfn v3": lambda folder: tabpfn("v3", "classification", folder),
    "forest": lambda folder: estimator("RandomForestClassifier", "classification", folder),
    "forest regression": lambda folder: estimator("RandomForestRegressor", "regression", folder),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_answered_as_if_alone(name, tmp_path, monkeypatch):
    model = Counted(FAMILIES[name](tmp_path), room=2, most=8)
    numbers = model.task == "regression"
    questions = ragged(6, numbers) + of_many_queries(model.task, 2) + ragged(2, numbers)
    monkeypatch.setattr(batched_queries, "MEBIBYTE", table_bytes(model, 130, 9, 4))
    answers = answer(model, questions, memory=1)
    model.room = model.most = 10**9
    for question, found in zip(questions, answers, strict=True):
        assert_as_alone(model, question, found)


def test_queries_that_change_each_other_are_computed_together(tmp_path, monkeypatch):
    small_tabpfn.write(tmp_path / "weights", "v2", "classification")
    card = {"family": "tabpfn", "version": "v2", "task": "classification", "options": {"n_estimators": 1}}
    model = Counted(Deployed.load(tmp_path / "weights", card, "cpu", None))
    (question,) = of_many_queries("classification", queries=4)
    few = Question(question.context_x, question.context_y, question.query_x[:1])
    monkeypatch.setattr(batched_queries, "MEBIBYTE", 1)
    answers = answer(model, [question, few, question], memory=1)
    assert sorted(model.passes) == [(1, 6, 1, 4), (1, 6, 4, 4)]
    assert torch.equal(answers[0], answers[2])
    model.most = 3
    with pytest.raises(AuditError, match="6 context and 4 query rows"):
        answer(model, [question])


def test_a_table_that_does_not_fit_alone_is_named():
    model = small()
    model.room = 0
    with pytest.raises(AuditError, match=r"3 context and 1 query rows, 3 features.*Tried to allocate 2 GiB.\)"):
        answer(model, ragged(1))


def test_an_error_that_is_not_of_memory_is_not_hidden():
    model, (question,) = small(), ragged(1)
    with pytest.raises(RuntimeError):
        answer(model, [Question(question.context_x, question.context_y, torch.randn(1, 7))])


def test_a_model_without_a_known_shape_is_taken_for_the_largest():
    class Unknown:
        task = "classification"

    assert table_bytes(Unknown(), 50, 10, 5) > table_bytes(small(), 50, 10, 5)


def test_no_questions_have_no_answers():
    assert answer(small(), []) == []


def test_no_part_of_a_large_context_has_fewer_queries_than_a_quarter_of_its_rows(monkeypatch):
    """A context at the bound would else be computed again for every single query."""
    model, (question,) = small(), of_many_queries("classification", queries=25)
    large = Question(question.context_x.repeat(7, 1)[:40], question.context_y.repeat(7)[:40], question.query_x)
    monkeypatch.setattr(batched_queries, "MEBIBYTE", 1)
    (found,) = answer(model, [large], memory=1)
    assert sorted(model.passes) == [(1, 40, 5, 4), (1, 40, 10, 4), (1, 40, 10, 4)]
    assert_as_alone(model, large, found)


def test_logits_are_cut_and_padded_to_the_classes_of_the_table():
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    assert as_wide(logits, 2).tolist() == [[1, 2]]
    assert as_wide(logits, 4).tolist() == [[1, 2, 3, -torch.inf]]

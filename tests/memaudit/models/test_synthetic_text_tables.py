"""Synthetic text tables: tokens without two digits, labels that can be learnt, and losses of answers alone."""

import numpy as np
import pytest
from small_text_settings import PRIOR, SHAPE, TINY

from memaudit.common import seeds
from memaudit.models.synthetic_text_tables import Shape, collate, parts_of, table, tokenizer_of


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of(TINY)


def drawn(name, **settings):
    return table(Shape(12, 3, 4, (3.0, 3.0)), PRIOR | settings, seeds.generator(0, name))


def test_text_comes_back_byte_by_byte_whatever_its_names_are(tokenizer):
    text = "What is the Übergröße/米 of each record?\nThe  a\tb is -0.5e-07.\nAnswer: naïve 🍷_12\n"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_no_token_holds_two_digits(tokenizer, project):
    shipped = load_tokenizer(project)
    for cutter in (tokenizer, shipped):
        pieces = [cutter.decode([number]) for number in range(len(cutter))]
        assert max(sum(mark.isdigit() for mark in piece) for piece in pieces) == 1
    assert [shipped.decode([one]) for one in shipped(" is 1065.27. The ")["input_ids"]] == [
        *(" is ", "1", "0", "6", "5", ".2", "7", ". The ")
    ]


def load_tokenizer(project):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(project / "resources/text-small", local_files_only=True)


def test_the_loss_is_that_of_the_answers_alone(tokenizer):
    texts = [parts_of(SHAPE, TINY["prior"], seeds.generator(0, "texts", i)) for i in range(3)]
    tokens, _, answers, others = collate(texts, tokenizer, TINY, seeds.generator(0, "leaps"))
    for parts, row, weight in zip(texts, tokens, answers, strict=True):
        assert tokenizer.decode(row[weight > 0]) == "".join(parts[2::2])
    assert not (answers * others).any()
    assert float(others.sum()) == pytest.approx(TINY["other"])


def test_rows_of_chance_labels_repeat_with_their_labels():
    repeated = 0
    for number in range(20):
        _, x, y = drawn(f"chance {number}", families={"chance": 1})
        _, first, counts = np.unique(x, axis=0, return_index=True, return_counts=True)
        repeated += (counts > 1).sum()
        labels = {x[i].tobytes(): y[i] for i in first}
        assert all(labels[row.tobytes()] == label for row, label in zip(x, y, strict=True))
    assert repeated > 20


@pytest.mark.parametrize(
    ("family", "least", "most"), [("clusters", 0.75, 1), ("linear", 0.6, 1), ("chance", 0.3, 0.65)]
)
def test_the_nearest_row_tells_the_class_where_there_is_something_to_learn(family, least, most):
    right = []
    for number in range(60):
        x, y = drawn(f"{family} {number}", families={family: 1})[1:]
        z = (x - x.mean(0)) / (x.std(0) + 1e-9)
        far = np.linalg.norm(z[:, None] - z, axis=2)
        far[far == 0] = np.inf
        right.append((y[far.argmin(1)] == y).mean())
    assert least < np.mean(right) <= most

"""Synthetic corpora, questions and images are read by the readers of the real ones."""

import numpy as np
import pytest

from memaudit.data.cifar10 import cifar10
from memaudit.data.corpus_documents import whole_documents
from memaudit.data.multiple_choice_questions import read_choices
from memaudit.rehearsal.stand_in_texts import corpus, words, write_cifar10, write_questions, write_tar

ETHICS = {
    "question": "input",
    "choices": None,
    "options": ["not wrong", "wrong"],
    "answer": "label",
    "member": "e/c.csv",
}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_words_are_random_and_corpora_have_the_columns_that_are_read(rng):
    assert len(set(words(rng, 200))) > 150
    assert list(corpus({"text_columns": ["title", "body"]}, 5, rng)) == ["title", "body"]
    code = corpus({"content": "code"}, 5, rng)["text"]
    assert all(" = " in text for text in code)


def test_a_corpus_of_lines_has_titles_that_begin_documents(rng):
    start = "= [^=]+ =$"
    table = corpus({"document_start": start}, 5, rng)
    rows = table.assign(document=[str(number) for number in range(len(table))])
    assert len(whole_documents(rows, start)) == 5


@pytest.mark.parametrize(
    ("data", "file"),
    [
        ({"question": "question", "choices": "choices", "answer": "answerKey"}, "arc.parquet"),
        ({}, "mmlu.parquet"),
        (ETHICS, "ethics.tar"),
    ],
)
def test_questions_are_read_as_their_settings_say(tmp_path, rng, data, file):
    write_questions(data, tmp_path / file, 12, rng)
    read = read_choices(tmp_path / file, {"question": "question", "choices": "choices", "answer": "answer"} | data)
    assert len(read.questions) == 12
    assert np.bincount(read.answers).min() == 12 // len(read.choices[0])


def test_images_of_cifar_10_are_read(tmp_path, rng):
    write_cifar10(tmp_path / "cifar.tar.gz", 120, rng)
    images, classes = cifar10(tmp_path / "cifar.tar.gz")
    assert images.shape == (120, 3072)
    assert np.bincount(classes).tolist() == [12] * 10


def test_an_archive_has_its_members(tmp_path):
    import tarfile

    write_tar(tmp_path / "a.tar", {"x/y.txt": b"one"}, "w")
    with tarfile.open(tmp_path / "a.tar") as archive:
        assert archive.extractfile("x/y.txt").read() == b"one"

"""Docstrings as records: read without an import, of one length, without names of packages, none in two packages."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.data import installed_packages as packages_module
from memaudit.data import package_docstrings

SHARED = "both packages say exactly this much and then nothing more at all"


class Package:
    """A distribution with two files: one with tests, one whose functions tell about something."""

    def __init__(self, folder, name, theme):
        self.folder, self.name = folder / name, name
        (self.folder / "tests").mkdir(parents=True)
        lines = ["raise SystemExit('imported')", f'def shared():\n    """{SHARED}"""']
        lines += [
            f'def f{n}():\n    """{name} {theme} {" ".join(f"w{chr(97 + n)}{chr(97 + k)}" for k in range(9))} same."""'
            for n in range(6)
        ]
        (self.folder / "code.py").write_text("\n".join([*lines, lines[-1].replace("f5", "again")]))
        (self.folder / "tests" / "code.py").write_text('def f():\n    """hidden ' + "word " * 20 + '"""')
        self.files = [File(self.folder, part) for part in ("code.py", "tests/code.py")]


class File:
    suffix = ".py"

    def __init__(self, folder, part):
        self.folder, self.part = folder, part
        self.parts = (folder.name, *part.split("/"))

    def __lt__(self, other):
        return self.part < other.part

    def locate(self):
        return self.folder / self.part


@pytest.fixture
def installed(tmp_path, monkeypatch):
    packages = {name: Package(tmp_path, name, theme) for name, theme in (("one", "sums"), ("two", "plots"))}
    monkeypatch.setattr(packages_module, "distribution", lambda name: packages[name])


def read(each, words=4, vocabulary=100, seed=0):
    return package_docstrings.read_docstrings(["one", "two"], words, vocabulary, each, np.random.default_rng(seed))


def test_records_are_first_words_without_names_and_copies(installed):
    found = read(each=3)
    assert found.words.shape == (6, 4)
    assert found.codes.tolist() == [0, 0, 0, 1, 1, 1]
    assert len(set(found.texts)) == 6
    assert all(text.split()[0] == ("sums", "plots")[code] for text, code in zip(found.texts, found.codes, strict=True))
    assert not any(word in text.split() for text in found.texts for word in ("one", "two", "both", "hidden"))


def test_words_are_numbers_of_the_most_frequent_ones(installed):
    # Of six docstrings each, `same` stands in all of both, the themes in all of one.
    found = read(each=2, words=2, vocabulary=30)
    assert found.words.max() < 30
    assert len({tuple(row) for row in found.words.tolist()}) == 4


def test_too_few_get_one_clear_line(installed):
    with pytest.raises(AuditError, match=r"docstrings: one has \d with 4 known words, 60 are needed"):
        read(each=60)


def test_a_package_that_is_not_there_is_named():
    with pytest.raises(AuditError, match="package no-such-package is not installed"):
        package_docstrings.read_docstrings(["no-such-package", "numpy"], 4, 10, 2, np.random.default_rng(0))

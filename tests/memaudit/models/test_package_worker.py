"""The process of another environment: a reply to each message, errors among them, until its input ends."""

import io
import pickle

import numpy as np
import pytest
import torch

from memaudit.models import package_adapters, package_worker
from memaudit.models.package_adapters import Opening

X, Y = np.zeros((3, 1)), np.arange(3)


class Adapter:
    """Echoes its queries; a context of class 9 is refused, one of class 8 needs too much memory."""

    def __init__(self, given):
        if given.weights == "bad":
            raise ValueError("no weights")

    def fit(self, x, y):
        print("packages print")
        if 9 in y:
            raise ValueError("class 9")
        if 8 in y:
            raise torch.OutOfMemoryError("8 GiB")

    def predict(self, x):
        return {"probabilities": x}


def replies(monkeypatch, tmp_path, weights, *contexts):
    monkeypatch.setitem(package_adapters.ADAPTERS, "Adapter", Adapter)
    monkeypatch.chdir(tmp_path)
    for name in ("good", "bad"):
        (tmp_path / name).touch()
    given = Opening(weights, "classification", None, {}, [], "cpu", 1)
    requests = io.BytesIO(b"".join(map(pickle.dumps, [("Adapter", given), *contexts])))
    out = io.BytesIO()
    package_worker.serve(requests, out)
    out.seek(0)
    found = []
    while out.tell() < len(out.getvalue()):
        found.append(pickle.load(out))
    return found


@pytest.fixture(autouse=True)
def settings_stay(monkeypatch):
    monkeypatch.setattr(package_worker, "make_deterministic", lambda threads: None)


def test_each_context_has_a_reply_and_an_error_ends_nothing(monkeypatch, tmp_path):
    contexts = [(X, Y, [X, X[:1]]), (X, Y + 7, [X]), (X, Y + 6, [X]), (X, Y, [X])]
    first, good, refused, large, again = replies(monkeypatch, tmp_path, "good", *contexts)
    assert (first.answers, first.error) == (None, "")
    assert [len(one["probabilities"]) for one in good.answers] == [3, 1]
    assert refused.error == "ValueError: class 9"
    assert not refused.memory
    assert large.memory
    assert len(again.answers) == 1
    assert all(one.packages["numpy"]["version"] == np.__version__ for one in (first, good, refused, large, again))


def test_weights_that_cannot_be_opened_are_the_only_reply(monkeypatch, tmp_path):
    (only,) = replies(monkeypatch, tmp_path, "bad", (X, Y, [X]))
    assert only.error == "ValueError: no weights"

"""Names on the page are short, unless two would be alike."""

import pytest

from memaudit.auditing.reading import short_names


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("tabicl-small", "tabicl-small"),
        ("sklearn.ensemble.RandomForestClassifier", "RandomForestClassifier"),
        ("/home/me/models/tabicl-v2.ckpt", "tabicl-v2.ckpt"),
        ("tabpfn:/home/me/model.ckpt", "model.ckpt"),
        ("model.ckpt", "model.ckpt"),
    ],
)
def test_an_estimator_is_called_by_its_class_and_a_file_by_its_name(name, short):
    assert short_names.short_models({"main": name}) == {"main": short}


def test_two_of_one_class_keep_their_whole_names():
    models = {"main": "a.Forest", "model_2": "b.Forest", "model_3": "c.Tree"}
    assert short_names.short_models(models) == models | {"model_3": "Tree"}


def test_a_long_name_is_cut():
    assert short_names.shortened("short") == "short"
    assert short_names.shortened("x" * 50) == "x" * 39 + "…"

"""The registry of attacks: threat models, names, options; entries are complete and their methods exist."""

import numpy as np
import pytest
from scipy.special import expit

from memaudit.attacks import registry
from memaudit.attacks.calibrate import METHODS, calibrate
from memaudit.plotting import figure_style

SIGNALS = np.random.default_rng(0).normal(size=(32, 40))
RMIA = {"gamma": 2.0, "offline_a": 0.3}


@pytest.mark.parametrize(
    ("attack", "threat"),
    [
        ("perturbation", "label-only passive"),
        ("correctness per class", "label-only passive"),
        ("rmia offline", "probabilities passive"),
        ("loss per class", "probabilities passive"),
        ("brainwash", "label-only active"),
        ("lira poisoned", "probabilities active"),
        ("attention combined", "white-box passive"),
    ],
)
def test_each_attack_has_its_threat_model(attack, threat):
    assert registry.threat(attack) == threat


def test_adding_records_to_the_context_is_active():
    assert [name for name in registry.REGISTRY if registry.is_active(name)] == [
        "brainwash", "chosen poisons on labels", "chosen poisons", "lira poisoned",
    ]  # fmt: skip


def test_attacks_of_one_query_are_passive_and_read_no_more_than_permitted():
    labels, everything = (registry.of_one_query(reads) for reads in ("label-only", "probabilities"))
    assert labels == ["correctness", "lira correctness", "lira correctness shrunk"]
    assert set(labels) < set(everything)
    assert not {"perturbation", "brainwash", "lira poisoned", "lira as published"} & set(everything)
    assert not {"attention", "lira attention", "attention combined"} & set(everything)


@pytest.mark.parametrize("name", registry.REGISTRY)
def test_an_entry_is_complete(name):
    entry = registry.REGISTRY[name]
    assert entry.method in METHODS
    assert entry.label
    assert entry.signal
    assert hasattr(figure_style, entry.colour)


def test_attacks_on_the_confidence_have_the_names_of_their_study_and_rmia_reads_probabilities():
    found = registry.on_confidence({name: name for name in registry.PASSIVE}, SIGNALS, SIGNALS[:, :20], RMIA)
    assert list(found) == ["lira", "lira fixed variance", "lira offline", "rmia", "rmia offline"]
    np.testing.assert_allclose(found["rmia"].signals, expit(SIGNALS))
    assert found["rmia offline"].options["offline"] == 0.3
    assert found["lira"].options == {"convention": "mean"}
    new = registry.on_confidence(registry.ON_ONE_MATRIX, SIGNALS, SIGNALS[:, :20], RMIA)
    assert new["rmia offline estimated"].options["offline"] == "estimated"
    np.testing.assert_array_equal(new["combined"].options["population"], SIGNALS[:, :20])


@pytest.mark.parametrize("name", registry.ON_ONE_MATRIX)
def test_every_attack_of_the_study_scores_every_entry(name):
    membership = SIGNALS.argsort(0) < 16
    made = registry.on_confidence(registry.ON_ONE_MATRIX, SIGNALS + membership, SIGNALS[:, :20], RMIA)[name]
    scores = calibrate(made.signals, membership, made.method, **made.options)
    assert scores.shape == membership.shape
    assert scores[membership].mean() > scores[~membership].mean()


def test_attacks_of_the_study_keep_their_names():
    renamed = registry.on_confidence(registry.ON_ONE_MATRIX, SIGNALS, SIGNALS[:, :20], RMIA)
    assert renamed["lira mean (as published)"].options == {"convention": "mean", "leave": "self"}


def test_threshold_attacks_are_plain_and_per_class():
    membership = SIGNALS.argsort(0) < 16
    labels = np.arange(40) % 2
    found = registry.thresholds({"loss": SIGNALS}, labels)
    assert list(found) == ["loss", "loss per class"]
    plain, per_class = (calibrate(of.signals, membership, of.method, **of.options) for of in found.values())
    np.testing.assert_array_equal(plain, SIGNALS)
    assert per_class.max() <= 1


def test_options_of_a_call_lie_over_those_of_the_entry():
    assert registry.attack("lira", SIGNALS, floor=0.1).options == {"convention": "mean", "floor": 0.1}

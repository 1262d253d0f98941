"""The strongest label-only attack and poisons with a chosen label: a planted leak is found, none is not."""

import numpy as np
import pytest
import xarray as xr

from memaudit.attacks.attack_entry import LABELS, PROBABILITIES
from memaudit.data import membership_matrices
from memaudit.statistics import chosen_attacks

SETS, TARGETS = 32, 64
SETTINGS = {"fpr": [0.1], "replicates": 40, "permutations": 19}
NOISE = {"scale": 0.1, "count": 20}


def near(leak, seed=0):
    """Labels near the targets, in which presence moves the boundary by `leak` deviations."""
    rng = np.random.default_rng(seed)
    design = membership_matrices.balanced(SETS, TARGETS, rng, block=8)
    distance = rng.normal(size=design.shape) + rng.normal(size=TARGETS) + leak * design
    shares = rng.binomial(20, 0.7, design.shape)[..., None] / 20
    dims = ("model", "record")
    return xr.Dataset(
        {"design": (dims, design), "distance": (dims, distance), "correct": (dims, distance > 0)}
        | dict.fromkeys(("stable", "right"), ((*dims, "setting"), shares)),
        {"unit": ("record", np.arange(TARGETS)), "scale": ("setting", [0.1]), "count": ("setting", [20])},
        {"block": 8, "directions": 4, "steps": 5},
    )


def poisoned(leak, seed=0):
    """Answers in which presence shows with poisons of a wrong label alone."""
    rng = np.random.default_rng(seed)
    design, label = membership_matrices.balanced(SETS, TARGETS, rng, block=8), rng.integers(0, 2, TARGETS)
    signal = rng.normal(size=(SETS, TARGETS, 2, 1)) + leak * design[..., None, None] * np.array([1, 0])[:, None]
    logits = np.where(np.arange(2) == label[:, None, None, None], signal[..., None], 0)
    return xr.Dataset(
        {"chosen_design": (("model", "target"), design)}
        | {"chosen_logits": (("model", "target", "poisons", "copy", "class"), logits)},
        {"target_label": ("target", label), "target_unit": ("target", np.arange(TARGETS))}
        | {"poisons": ["wrong", "true"], "copy": [4]},
        {"block": 8},
    )


def test_a_leak_of_the_boundary_is_found_among_attacks_without_one():
    panel = chosen_attacks.label_panel(near(1.0), NOISE)
    found = chosen_attacks.strongest_of(panel, SETTINGS, np.random.default_rng(1))[0]
    assert found.detected
    assert found.estimate > 0.65
    each = chosen_attacks.each_of(panel, SETTINGS, np.random.default_rng(1))
    assert each["boundary"][0].estimate > 0.65 > each["perturbation"][0].estimate


@pytest.mark.parametrize("seed", range(2))
def test_without_a_leak_neither_is_found(seed):
    panels = [chosen_attacks.label_panel(near(0.0, seed), NOISE)]
    panels += [chosen_attacks.poison_panel(poisoned(0.0, seed), reads) for reads in (LABELS, PROBABILITIES)]
    for panel in panels:
        assert not chosen_attacks.strongest_of(panel, SETTINGS, np.random.default_rng(seed))[0].detected


@pytest.mark.parametrize("reads", [LABELS, PROBABILITIES])
def test_the_poisons_label_that_shows_presence_is_chosen(reads):
    panel = chosen_attacks.poison_panel(poisoned(1.5), reads)
    assert list(panel.attacks) == ["4 copies, wrong label", "4 copies, true label"]
    assert chosen_attacks.strongest_of(panel, SETTINGS, np.random.default_rng(1))[0].detected


def test_queries_are_the_record_its_copies_and_the_lines():
    assert chosen_attacks.label_queries(near(0.0), NOISE) == {
        "boundary": 21, "copies correct": 21, "strongest labels": 41,
    }  # fmt: skip

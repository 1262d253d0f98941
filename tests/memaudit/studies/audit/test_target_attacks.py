"""Attacks on some of an audit's records: each permitted one has rows, and none where the sizes cannot tell."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack_grids import ATTACKS, passive, perturbed, poisoned

from memaudit.common import tidy
from memaudit.common.io import write_grid
from memaudit.studies.audit import target_attacks


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("targets"), np.random.default_rng(0)
    grid = passive(rng)
    for name, made in {"perturbed": perturbed(grid, rng), "poisoned": poisoned(grid, rng)}.items():
        write_grid(made, folder / f"{name}.nc")
    return {name: str(folder / f"{name}.nc") for name in ("perturbed", "poisoned")}


def attacks(inputs, threats, **settings):
    audit = {"threats": threats, "fpr": 0.1, "base_rates": [0.5]}
    params = SimpleNamespace(seed=1, attacks=ATTACKS | settings, audit=audit)
    job = SimpleNamespace(input=inputs, params=params, wildcards=SimpleNamespace(dataset="wine"))
    found = list(target_attacks.target_rows(job))
    return set(tidy.expand(tidy.frame(found))["attack"]) if found else set()


def test_each_permitted_attack_has_rows(inputs):
    labels = {"strongest labels", "boundary", "copies correct", "chosen poisons on labels"}
    assert attacks(inputs, ["labels", "poison"]) == labels
    assert attacks(inputs, ["probabilities", "poison"]) == labels | {"chosen poisons"}


def test_sizes_that_cannot_tell_have_no_numbers(inputs):
    assert attacks(inputs, ["probabilities", "poison"], detectable=0.6) == set()

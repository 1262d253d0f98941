"""Permuted groups of features: their rows, and that the unpermuted scores are the attack's own."""

import numpy as np
from ltmia_pipeline import HELD_OUT

from memaudit.common.io import read_table
from memaudit.studies.ltmia.transfer_bootstrap import is_combination


def test_every_group_is_permuted_as_often_as_requested(made):
    permuted = read_table(made / "permuted.parquet")
    counts = permuted.groupby(["permuted", "repeat"]).size()
    expected = {(group, repeat): 60 for group in ("comparison", "reference", "target") for repeat in (0, 1)}
    assert counts.to_dict() == expected | {("none", 0): 60}
    comparison = permuted[permuted["permuted"] == "comparison"]
    assert (comparison["score"][comparison["repeat"] == 0].to_numpy() != permuted["score"][:60].to_numpy()).any()


def test_without_permutation_the_scores_are_those_of_the_attack(made):
    permuted, attack = read_table(made / "permuted.parquet"), read_table(made / "transformer.parquet")
    own = attack[is_combination(attack, HELD_OUT)].set_index("id")["score"]
    plain = permuted[permuted["permuted"] == "none"]
    np.testing.assert_allclose(plain["score"], own.loc[plain["id"]], rtol=1e-6)

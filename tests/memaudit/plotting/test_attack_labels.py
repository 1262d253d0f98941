"""Keys of the registry become what readers call the attacks, and no two of one table become alike."""

import pytest

from memaudit.attacks.registry import ON_ONE_MATRIX, REGISTRY
from memaudit.plotting.attack_labels import readable


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("lira mean", "LiRA"),
        ("lira offline (cdf)", "LiRA, OUT models alone"),
        ("lira poisoned", "LiRA + poisons"),
        ("loss per class", "Loss, per class"),
        ("combined - lira mean", "LiRA and RMIA combined - LiRA"),
        ("another - lira", "another - LiRA"),
        ("", ""),
    ],
)
def test_an_attack_has_the_label_of_the_registry(name, label):
    assert readable(name) == label


@pytest.mark.parametrize("names", [ON_ONE_MATRIX, REGISTRY])
def test_labels_tell_attacks_apart(names):
    assert len({readable(name) for name in names}) == len(names)

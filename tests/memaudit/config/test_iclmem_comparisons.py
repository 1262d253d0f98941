"""Arms that are compared differ in the dose or in the defence alone."""

import pytest
from iclmem_settings import settings

from memaudit.config.iclmem_section import Arm, iclmem_faults

SMOOTH = {"learning_rate": 1e-3, "label_smoothing": 0.1, "datasets": ["wine"], "against": "usual"}


def of_arms(doses=None, **arms):
    changes = {"arms": {"usual": Arm(learning_rate=1e-3).model_dump(), **arms}, "doses": doses or {}}
    return "\n".join(iclmem_faults(*settings(**changes)))


@pytest.mark.parametrize(
    ("doses", "fault"),
    [
        (["usual", "slow", "fst"], "iclmem/doses/learning_rate: unknown arm 'fst'; did you mean `fast`?"),
        (["usual", "slow", "wide"], "usual and wide differ in queries, too; let them differ in learning_rate alone"),
        (["usual", "slow", "again"], "iclmem/doses/learning_rate: two arms have the same learning_rate"),
        (["usual", "slow", "late"], "iclmem/doses/learning_rate: usual, slow, late have no common value in epochs"),
        (["usual", "slow", "houses"], "usual, slow, houses have no common value in datasets"),
        (["usual", "slow", "fast"], ""),
    ],
)
def test_conditions_of_an_axis_differ_in_the_dose_alone(doses, fault):
    more = {"slow": 1e-4, "fast": 1e-2, "again": 1e-3}
    arms = {name: {"learning_rate": rate, "datasets": ["wine"]} for name, rate in more.items()}
    arms |= {"wide": {"learning_rate": 1e-2, "queries": 25}, "late": {"learning_rate": 1e-2, "epochs": [30]}}
    found = of_arms({"learning_rate": doses}, **arms, houses={"learning_rate": 1e-2, "datasets": ["diabetes"]})
    assert found == "" if not fault else fault in found


@pytest.mark.parametrize(
    ("last", "fault"),
    [
        ({"adapter": {"rank": 8, "alpha": 16.0}}, ""),
        ({"adapter": {"rank": 1, "alpha": 2.0}}, "iclmem/doses/trained_weights: two arms have the same rank"),
        ({"adapter": {"rank": 8, "alpha": 2.0}}, "iclmem/doses/trained_weights: adapters differ in alpha / rank"),
        ({"queries": 25}, "usual and last differ in queries, too; let them differ in adapter alone"),
    ],
)
def test_conditions_differ_in_the_weights_that_learn_by_their_adapters(last, fault):
    arms = {"small": {"adapter": {"rank": 1, "alpha": 2.0}}, "last": last}
    arms = {name: {"learning_rate": 1e-3} | about for name, about in arms.items()}
    found = of_arms({"trained_weights": ["usual", "small", "last"]}, **arms)
    assert found == "" if not fault else fault in found


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"against": "usua"}, "iclmem/arms/defended/against: usua is no other arm"),
        (
            {"learning_rate": 1e-4},
            "defended and usual differ in label_smoothing, learning_rate; let them differ in one",
        ),
        ({"label_smoothing": None}, "defended and usual differ in nothing"),
        ({"epochs": [5]}, "iclmem/arms/defended/against: defended, usual have no common value in epochs"),
        ({"epochs": [10]}, ""),
        ({"label_smoothing": None, "adapter": {"rank": 4, "alpha": 8.0}}, ""),
    ],
)
def test_a_defence_is_compared_with_the_same_arm_without_it(changes, fault):
    found = of_arms(defended=SMOOTH | changes)
    assert found == "" if not fault else fault in found


def test_a_defence_is_not_compared_with_an_arm_that_has_another_degree_of_it():
    found = of_arms(one=SMOOTH, two=SMOOTH | {"label_smoothing": 0.2, "against": "one"})
    assert "iclmem/arms/two/against: one has label_smoothing, too; name the arm without it" in found

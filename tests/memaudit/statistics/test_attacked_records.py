"""Attacks on the contexts of one variant: restriction to records, names of variants."""

import numpy as np

from memaudit.attacks.attack_entry import Attack
from memaudit.statistics.attacked_records import Attacked, compared, judged


def test_an_attack_is_restricted_to_records_that_it_has_in_the_order_asked_for():
    signals, names = np.arange(32.0).reshape(8, 4), np.array(list("abcd"))
    inside = np.arange(8)[:, None] % 2 == np.arange(4) % 2
    whole = Attacked(names, Attack(signals, "raw"), inside, np.array([0, 0, 1, 2]))
    part = whole.on(np.array(["d", "x", "a"])).first(3)
    assert list(part.records) == ["d", "a"]
    np.testing.assert_array_equal(part.scores(), signals[:3, [3, 0]])
    np.testing.assert_array_equal(part.membership, inside[:3, [3, 0]])
    np.testing.assert_array_equal(part.groups, [2, 0])
    asked, rng = {"fpr": [0.1], "replicates": 5, "permutations": 19}, np.random.default_rng(0)
    nobody = whole.on(np.array(["x"]))
    assert not [*judged(nobody, {}, asked, rng), *compared(whole, nobody, {}, asked, rng)]

"""Faults of the section `iclmem` that its own keys or several keys together have."""

from config_faults import REMOVE, each, refuses

FAULTS = [
    ({"iclmem/datasets": ["wyne"]}, "iclmem/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"iclmem/fpr": [0.1, 0.1]}, "iclmem/fpr: a value stands twice"),
    ({"iclmem/epochs": [10, 1]}, "iclmem/epochs: must increase, without repeats"),
    ({"iclmem/models/classification": "tabicl-small-regression"}, "tabicl-small-regression is for regression"),
    ({"iclmem/models/classification": REMOVE}, "iclmem/models/classification: missing;"),
    ({"iclmem/targets/context": 100_000}, "and iclmem/targets/context wants 100000 of them probed"),
    ({"iclmem/manipulations": []}, "iclmem/manipulations: "),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)

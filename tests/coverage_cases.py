"""A check of the cases of the coverage page that one module registers."""

import numpy as np

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.studies.coverage.coverage_registry import CASES, Bound, Interval, Rejection

SEEDS = 5


def names_of(module):
    """Names of the cases that a module registers."""
    return [name for name, case in CASES.items() if case.trial.__module__ == module.__name__]


def outcomes(name):
    """Outcomes of one trial of the first and the last scenario; a case that refuses every trial of all has none."""
    case = CASES[name]
    assert case.trial.__doc__
    assert case.printed
    found = []
    for scenario in {next(iter(case.scenarios)), next(reversed(case.scenarios))}:
        for seed in range(SEEDS):
            try:
                found += case.trial(seeds.generator(seed, name, scenario), **case.scenarios[scenario]).values()
            except AuditError:  # what the code refuses is counted by the page
                continue
            break
    return found


def check_case(name):
    """A case gives, in some scenario that the page shows, outcomes of one kind with a known truth."""
    found = outcomes(name)
    assert found, f"{name} refuses every trial"
    assert len({type(one) for one in found}) == 1
    for one in found:
        assert isinstance(one, Interval | Rejection | Bound)
        truths = np.asarray(one.false if isinstance(one, Rejection) else one.truth, dtype=float)
        assert np.isfinite(truths).all()

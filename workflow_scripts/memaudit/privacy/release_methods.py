"""The arms of a comparison: what each method releases from the same private records (TabPATE, Section 5.1, Appendix C).

Everything is made from public data here: no ledger is charged, and each output says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.privacy.accounting import Budget
from memaudit.privacy.private_prototypes import release_prototypes
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import Ask, Released, Settings, release
from memaudit.privacy.tuned_alpha import Tuning, release_tuned

# Methods that release a context, which a student is shown; the others answer themselves.
CONTEXTS = ("tabpate", "tabpate-tuned", "prompt-pate", "dp-tabicl")
NO_LEDGER = "an evaluation on public data: no ledger is charged"


@dataclass(frozen=True)
class Private:
    """Private records x (n, d), y (n,), their units, the shards' key, what is public, and public records (m, d)."""

    x: NDArray[np.float32]
    y: NDArray[np.int64] | NDArray[np.float64]
    units: Sequence[str]
    key: bytes
    public: Public
    unlabelled: NDArray[np.float32]


def released(arm: Mapping[str, Any], private: Private, budget: Budget, ask: Ask, rng: np.random.Generator) -> Released:
    """What an arm's method releases: a context. arm: method, and its settings."""
    x, y, units, key, public = private.x, private.y, private.units, private.key, private.public
    settings = dict(arm["settings"])
    match arm["method"]:
        case "tabpate":
            return release(x, y, units, key, public, Settings(**settings), budget, ask, rng)
        case "tabpate-tuned":
            tuning = Tuning(tuple(settings.pop("candidates")), settings.pop("share"), Settings(**settings))
            return release_tuned(x, y, units, key, public, tuning, budget, ask, rng)
        case "prompt-pate":
            wanted = Settings(**settings, prior="given")
            wanted = replace(wanted, queries=min(wanted.queries, len(private.unlabelled)))
            given = rng.permutation(private.unlabelled)[: wanted.queries]
            return release(x, y, units, key, public, wanted, budget, ask, rng, given=given)
        case "dp-tabicl":
            drawn, labels = release_prototypes(x, y, units, key, public, budget.epsilon, **settings)
            return Released(drawn, labels, 0, len(drawn), {"pure_epsilon": budget.epsilon})
    raise ValueError(f"{arm['method']} releases no context")

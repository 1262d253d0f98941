"""Private contexts by each method of the comparison (TabPATE, Section 5.1, Appendix C).

The comparison uses public data: no ledger is charged, and each output states this.
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

# Methods that release a context for a PATE student; the others answer queries directly.
CONTEXTS = ("tabpate", "tabpate-tuned", "prompt-pate", "dp-tabicl")
NO_LEDGER = "an evaluation on public data: no ledger is charged"


@dataclass(frozen=True)
class Private:
    """Private records x (n, d), y (n,), units, key of the shards, public schema, and public records (m, d)."""

    x: NDArray[np.float32]
    y: NDArray[np.int64] | NDArray[np.float64]
    units: Sequence[str]
    key: bytes
    public: Public
    unlabelled: NDArray[np.float32]


def released(
    entry: Mapping[str, Any], private: Private, budget: Budget, ask: Ask, rng: np.random.Generator
) -> Released:
    """The context that a method releases. entry: method and its settings, as in the config."""
    x, y, units, key, public = private.x, private.y, private.units, private.key, private.public
    settings = dict(entry["settings"])
    match entry["method"]:
        case "tabpate":
            return release(x, y, units, key, public, Settings(**settings), budget, ask, rng)
        case "tabpate-tuned":
            tuning = Tuning(tuple(settings.pop("candidates")), settings.pop("share"), Settings(**settings))
            return release_tuned(x, y, units, key, public, tuning, budget, ask, rng)
        case "prompt-pate":
            of_public = Settings(**settings, prior="given")
            of_public = replace(of_public, queries=min(of_public.queries, len(private.unlabelled)))
            given = rng.permutation(private.unlabelled)[: of_public.queries]
            return release(x, y, units, key, public, of_public, budget, ask, rng, given=given)
        case "dp-tabicl":
            drawn, labels = release_prototypes(x, y, units, key, public, budget.epsilon, **settings)
            return Released(drawn, labels, 0, len(drawn), {"pure_epsilon": budget.epsilon})
    raise ValueError(f"{entry['method']} releases no context")

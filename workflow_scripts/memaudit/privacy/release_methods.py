"""Private contexts by each method of the comparison (TabPATE, Section 5.1, Appendix C).

The comparison uses public data: no ledger is charged, and each output states this.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import Noise, discrete_gaussian
from memaudit.privacy.private_prototypes import release_prototypes
from memaudit.privacy.tabpate_release import Released, Settings, TabPATE
from memaudit.privacy.teacher_shards import Predict, Private
from memaudit.privacy.tuned_alpha import Tuning, release_tuned

# Methods that release a context for a PATE student; the others answer queries directly.
CONTEXTS = ("tabpate", "tabpate-tuned", "class-moments", "prompt-pate", "dp-tabicl")
# Queries from noisy moments of each class, labelled by that class: no teacher is queried. Not in the paper.
BY_CLASS = {"prior": "moments", "alpha": 1.0, "by_class": True, "labels": "group"}
NO_LEDGER = "an evaluation on public data: no ledger is charged"


def settings_at(entry: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
    """Settings of a method at one epsilon: those of the entry, changed by what `by_epsilon` has for it."""
    return {**entry["settings"], **entry.get("by_epsilon", {}).get(f"{epsilon:g}", {})}


def released(
    entry: Mapping[str, Any],
    private: Private,
    budget: Budget,
    predict: Predict,
    rng: np.random.Generator,
    noise: Noise = discrete_gaussian,
) -> Released:
    """The context that a method releases. entry: method and its settings, as in the config (`settings_at`).

    noise: of TabPATE and class-moments, for controls alone.
    """
    settings, mechanism = settings_at(entry, budget.epsilon), TabPATE(private, predict, rng, noise)
    match entry["method"]:
        case "tabpate":
            return mechanism.release(Settings(**settings), budget)
        case "tabpate-tuned":
            tuning = Tuning(tuple(settings.pop("candidates")), settings.pop("share"), Settings(**settings))
            return release_tuned(mechanism, tuning, budget)
        case "class-moments":
            return mechanism.release(Settings(**settings, **BY_CLASS), budget)
        case "prompt-pate":
            settings["queries"] = min(settings["queries"], len(private.unlabelled))
            return mechanism.release(Settings(**settings, prior="given"), budget)
        case "dp-tabicl":
            drawn, labels = release_prototypes(private, budget.epsilon, **settings)
            return Released(drawn, labels, 0, len(drawn), {"pure_epsilon": budget.epsilon})
    raise ValueError(f"{entry['method']} releases no context")

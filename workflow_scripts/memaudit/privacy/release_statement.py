"""The statement of a private release in words, for its recipients. The numbers are those of its statement.json."""

import math
from collections.abc import Mapping
from typing import Any

from memaudit.privacy.tabpate_release import Released

# By settings of the mechanism (tabpate_release.Settings).
MECHANISM = {
    "votes": "TabPATE: teachers, each shown its own part of the table, label made-up records together, with noise",
    "group": "TabPATE's moments alone: noisy sums of each class, records drawn from them and labelled by their class",
}
ACCOUNTING = {
    "joint": "for the worst table: privacy loss distributions of discrete Gaussians, a zCDP filter with a threshold",
    "as_published": "for the worst table: analytic Gaussian for moments, a zCDP filter for labels, half of delta each",
}
WORDS = """# What was released from `{dataset}`, and what that promises

`context.parquet` has {records} made-up records with noisy labels. It is **({epsilon:g}, {delta:g})-differentially
private** for {unit} of a private table.

In words: take {unit} out of that table, or put one more in. Whatever somebody may conclude from these records, with
whatever else they know and however long they work on it, the probability that they come to conclude it changes by a
factor of at most {factor:.3g}, and by {delta:g} beside that. If they thought it as likely as not, before, that {unit}
stands in the table, they can be at most {posterior} sure of it afterwards. Predictions that a model makes with these
records promise the same, however many.
{weak}
## In numbers
| | |
|---|---|
{table}

## What it does not promise
- That nothing can be learnt about anybody. What holds for many holds for them, and that is what the records are for:
  hidden is what can be told only because {unit} stands in the table.
- Anything about what is listed as public, the nominal number of records included.
- Anything about other files. It speaks of `context.parquet` and of this page alone.
- The same for several releases of one table together: their epsilons and deltas add up, see "table so far".
- Anything, if the settings were chosen by looking at the table. What was said about that stands at "tuned".
"""
WEAK = """
An epsilon of {epsilon:g} is a weak promise: it rules out little on its own. Attack the context before you rely on it.
"""
STRONG = 3  # at epsilons up to this, a prior of one half becomes a posterior of at most 95 %


def in_words(facts: Mapping[str, Any]) -> str:
    """The Markdown page of a statement."""
    epsilon = facts["epsilon"]
    rows = [(name.replace("_", " "), _as_text(value)) for name, value in _flat(facts)]
    return WORDS.format(
        **{key: facts[key] for key in ("dataset", "records", "epsilon", "delta", "unit")},
        factor=math.exp(min(epsilon, 700)),
        posterior=_percent(1 / (1 + math.exp(-epsilon))),
        weak=WEAK.format(epsilon=epsilon) if epsilon > STRONG else "",
        table="\n".join(f"| {name} | {value} |" for name, value in rows),
    )


def query_counts(released: Released, settings: Mapping[str, Any]) -> dict[str, int]:
    """Entry `queries` of a statement: number of queries, and of those asked of the model or answered."""
    if settings.get("labels", "votes") == "group":
        return {"drawn": released.answered, "asked of a model": 0}
    return {"asked": released.asked, "answered": released.answered}


def _flat(facts: Mapping[str, Any], prefix: str = ""):
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}: ")
        else:
            yield prefix + name, value


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value))
    text = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def _percent(share: float) -> str:
    """Share as a percentage, rounded up, with enough digits to differ from 100 %."""
    digits = max(0, math.ceil(-math.log10(1 - share)) - 2) if share < 1 else 0
    return f"{math.ceil(share * 10 ** (digits + 2)) / 10**digits:.{digits}f} %" if share < 1 else "100 %"

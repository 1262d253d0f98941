"""The statement of a private release as a page for its recipients, with the numbers of its statement.json."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memaudit.common.checksums import sha256
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import so_far
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.ledger_lines import Charge
from memaudit.privacy.public_facts import Public
from memaudit.privacy.tabpate_release import Released

# By settings of the mechanism (tabpate_release.Settings).
MECHANISM = {
    "votes": "TabPATE: teachers with disjoint parts of the table in context label synthetic records by noisy votes",
    "group": "TabPATE, moments only: synthetic records from noisy sums of each class, labelled by that class",
    "learned": "TabPATE, moments and classifier: synthetic records from noisy sums of each class, labelled by a "
    "classifier fitted to the table by noisy gradients",
}
ACCOUNTING = {
    "joint": "worst case over tables: privacy loss distributions of discrete Gaussians, a zCDP filter with a threshold",
    "as_published": "worst case over tables: analytic Gaussian for moments, zCDP filter for labels, half of delta each",
}
WORDS = """# Private release from `{dataset}` and its guarantee

`context.parquet` has {records} synthetic records with noisy labels. It is **({epsilon:g}, {delta:g})-differentially
private** for {unit} of a private table.

In words: compare the release with one from the same table without {unit}, or with one more. Whatever a recipient
concludes from the records, with any other knowledge and any amount of computation, the probability of that conclusion
differs by a factor of at most {factor:.3g}, plus {delta:g}. A recipient whose prior probability that {unit} is in the
table is one half has a posterior probability of at most {posterior}, except with a probability of at most {beyond}:
so often the noise reveals more. (Delta is smaller because it weighs how much more.) The same guarantee holds for any
number of predictions that a model makes with these records in context.
{weak}{looks}
## Largest success of a test for one person
No test for the presence of {unit}, with any other knowledge, can find more members than this:

| of 100 people who are not in the table it accuses | of 100 who are, it finds at most |
|---|---|
{tests}
{rows}
## Taken as public
These facts were written down beforehand; their source is stated as: {source}. The guarantee takes them for known and
does not cover what they themselves reveal about the table: judge whether they could be known without it. Bounds that
were paid for are named in the source with their charge. Numbers beyond their bounds were moved to them, a text that is
not listed counts as missing, and a record of another class is left out.

| column | type | bounds, or all categories |
|---|---|---|
{public}

## In numbers
| | |
|---|---|
{table}

## Not guaranteed
- Secrecy of facts that hold for many people. The records are released to show such facts; the guarantee covers only
  what depends on the presence of {unit}.
- Secrecy of the facts listed as public, including the nominal number of records.
- Anything about other files: the guarantee covers `context.parquet` and this page.
- The same epsilon for several releases of one table: see "table so far" for what all of them guarantee together.
- Anything, if the settings were chosen by looking at the table. The entry "tuned" states how they were chosen.
"""
WEAK = """
An epsilon of {epsilon:g} is a weak guarantee that excludes little by itself. Do not rely on it alone.
"""
ROWS = """
The guarantee covers one row. For a person with several rows, epsilon at the same delta is at most:

| rows | epsilon |
|---|---|
{table}
"""
LOOKS = """
Before this release, private contexts of the same table were measured on the table itself: {runs}. The settings may have
been chosen with what these runs showed. The guarantee does not cover what such a choice reveals.
"""
FPRS = (0.001, 0.01, 0.1)
SEVERAL = (2, 10)  # rows of one person
STRONG = 3  # at epsilons up to this, a prior of one half becomes a posterior of at most 95 %


def statement_terms(
    request: Mapping[str, Any],
    group: str | None,
    public: Public,
    guarantee: Guarantee,
    public_file: str | Path,
    model_sha256: str,
) -> dict[str, Any]:
    """Entries of a statement that do not depend on the records, so that they can be computed before the charge.

    request: section `release` of the config; group: column of the protected unit, None for one row.
    """
    settings, budget = request["settings"], Budget(request["epsilon"], request["delta"])
    return {
        "mechanism": MECHANISM[settings.get("labels", "votes")],
        "adjacency": "add or remove one unit",
        "unit": unit_in_words(group),
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "guarantee": guarantee_entries(guarantee, budget, one_row=group is None),
        "accounting": ACCOUNTING[settings.get("accounting", "joint")],
        "public": {
            "file": Path(public_file).name,
            "sha256": sha256(public_file),
            "source": public.source,
            "records": public.records,
            "task": public.task,
            "target": list(public.target.values),
            "columns": {column.name: list(column.values) for column in public.columns},
            "settings": settings,
        },
        "tuned": request["tuned"],
        "model": {"name": request["model"], "sha256 of its folder of weights": model_sha256},
        "noise": "discrete Gaussian of OpenDP, from the randomness of the operating system",
    }


def unit_in_words(group: str | None) -> str:
    """The protected unit: its column, or None for one row."""
    return f"one {group} with all its rows" if group else "one row"


def guarantee_entries(guarantee: Guarantee, budget: Budget, one_row: bool) -> dict[str, Any]:
    """Entry `guarantee` of a statement: what (epsilon, delta) means for one person, all upper bounds.

    one_row: whether the protected unit is a row, so that a person may have several.
    """
    tprs = guarantee.largest_tpr(FPRS)
    entries = {
        "probability_of_a_larger_privacy_loss": guarantee.beyond(budget.epsilon),
        "mu_of_a_gaussian_with_equal_rho": guarantee.mu,
        "largest_tpr_at_fpr": {f"{fpr:g}": float(tpr) for fpr, tpr in zip(FPRS, tprs, strict=True)},
    }
    if one_row:
        of_rows = {str(rows): guarantee.of_rows(rows).epsilon(budget.delta) for rows in SEVERAL}
        entries["epsilon_of_rows_at_this_delta"] = of_rows
    return entries


def in_words(facts: Mapping[str, Any]) -> str:
    """The Markdown page of a statement."""
    epsilon, guarantee = facts["epsilon"], facts["guarantee"]
    public = {name: value for name, value in facts["public"].items() if name not in ("columns", "target")}
    rows = [(name.replace("_", " "), _as_text(value)) for name, value in _flat({**facts, "public": public})]
    return WORDS.format(
        **{key: facts[key] for key in ("dataset", "records", "epsilon", "delta", "unit")},
        factor=math.exp(min(epsilon, 700)),
        posterior=_percent(1 / (1 + math.exp(-epsilon))),
        beyond=_rounded_up(guarantee["probability_of_a_larger_privacy_loss"]),
        tests=_tests(guarantee["largest_tpr_at_fpr"]),
        rows=_rows(guarantee.get("epsilon_of_rows_at_this_delta")),
        weak=WEAK.format(epsilon=epsilon) if epsilon > STRONG else "",
        source=_as_text(facts["public"]["source"]),
        public=_public(facts["public"]),
        looks=_looks(facts.get("private_contexts_measured_before", [])),
        table="\n".join(f"| {name} | {value} |" for name, value in rows),
    )


def query_counts(released: Released, settings: Mapping[str, Any]) -> dict[str, int]:
    """Entry `queries` of a statement: numbers of queries drawn, or processed by the teachers, and answered."""
    if settings.get("labels", "votes") != "votes":
        return {"drawn": released.answered, "asked of a model": 0}
    return {"asked": released.queried, "answered": released.answered}


def ledger_entries(charge: Charge, history: Sequence[Charge]) -> dict[str, Any]:
    """Entry `ledger` of a statement: this charge, and what all releases of the table guarantee together.

    history: all charges of the table, this one included. An earlier total that was smaller is printed: the people in
    the table were promised more before. So are other protected units of earlier releases.
    """
    total = charge.total
    together = so_far([one.cost for one in history], total)
    entries = {"charge": charge.id, "time": charge.time, "total": asdict(total)}
    entries |= {"releases_so_far": len(history), "table_so_far": asdict(together)}
    raised = [one.total for one in history if one.total.epsilon < total.epsilon or one.total.delta < total.delta]
    if raised:
        entries["total_was_raised_from"] = [
            f"epsilon {one.epsilon:g}, delta {one.delta:g}" for one in _different(raised)
        ]
    if others := _different(one.unit or "not recorded" for one in history if one.unit != charge.unit):
        entries["units_of_other_releases"] = others
    return entries


def _public(facts: Mapping[str, Any]) -> str:
    """Rows of the table of public facts: each column of the context with what was known of it."""
    values = {**facts["columns"], "target": facts["target"]}
    return "\n".join(f"| {_as_text(name)} | {' | '.join(_known(known))} |" for name, known in values.items())


def _known(values: Sequence[float] | Sequence[str]) -> tuple[str, str]:
    """Type of a column, and its bounds or categories, these in quotes: they may hold commas or be empty."""
    if isinstance(values[0], str):
        return "categories", _as_text([f'"{value}"' for value in values])
    return "number", "from {:.15g} to {:.15g}".format(*values)


def _different(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _looks(runs: Sequence[str]) -> str:
    return LOOKS.format(runs=", ".join(map(_as_text, runs))) if runs else ""


def _tests(largest: Mapping[str, float]) -> str:
    return "\n".join(f"| {100 * float(fpr):g} | {_rounded_up(100 * tpr)} |" for fpr, tpr in largest.items())


def _rows(epsilons: Mapping[str, float] | None) -> str:
    if epsilons is None:
        return ""
    return ROWS.format(table="\n".join(f"| {rows} | {_rounded_up(one)} |" for rows, one in epsilons.items()))


def _rounded_up(value: float) -> str:
    """A positive bound with three digits, never less than it is."""
    if not 0 < value < math.inf:
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.3g}"


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

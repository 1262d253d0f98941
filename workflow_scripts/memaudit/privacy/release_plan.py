"""What a release would buy, before anything is spent: it follows from the settings, the budget and the public facts."""

from collections.abc import Mapping
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.screen_lines import listed
from memaudit.privacy.accounting import Filter
from memaudit.privacy.declared_numbers import described
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.tabpate_release import Plan, Settings


def most_labels(plan: Plan, settings: Settings, public: Public) -> int:
    """Largest number of labels that the budget buys: all queries agreed on, and none abstained."""
    if plan.votes is None:
        return settings.queries
    cost = plan.votes.label_cost + plan.votes.check_cost
    if public.task == "regression":
        cost = plan.votes.label_cost / 2  # one sum of predictions moves, not two counts
    return Filter(plan.rho).times(cost, settings.queries)


def check_labels(plan: Plan, settings: Settings, public: Public) -> None:
    """Raise AuditError where the budget buys fewer labels than there are classes: such a context teaches nothing."""
    least = len(public.target.values) if public.task == "classification" else 2
    if (labels := most_labels(plan, settings, public)) < least:
        needs = f"{least} classes" if public.task == "classification" else "a regression"
        raise AuditError(
            f"release/settings: the budget buys at most {labels} labels, too few for {needs}; use a larger sigma2 or "
            "epsilon, more queries, or labels: group (docs/release.md)"
        )


def in_lines(plan: Plan, settings: Settings, public: Public) -> list[str]:
    """The plan for its owner, a line each."""
    lines = [f"labels: at most {most_labels(plan, settings, public)} of {settings.queries} queries"]
    if plan.learned:
        lines.append(f"a classifier labels the queries; noise of its gradients: sigma {plan.learned:.3g} records")
    elif plan.votes is None:
        lines.append("no model is asked: each query is labelled by the class whose moments it was drawn from")
    else:
        unit = "votes" if public.task == "classification" else "on the sum of predictions, each from 0 to 1"
        lines.append(f"noise of a label: sigma {plan.votes.sigma2:.3g} {unit}; {settings.teachers} teachers")
    if plan.votes is not None and plan.votes.threshold is not None:
        check = plan.votes.check_cost / plan.votes.label_cost
        lines.append(
            f"a query is answered if the largest count is {plan.votes.threshold:g} or more, with noise of sigma "
            f"{plan.votes.sigma1:.3g}; one that is not costs {check:.0%} of a label"
        )
    of_each = "each class" if public.task == "classification" and settings.by_class else "all records"
    uses = [f"of {of_each}, from which the queries are drawn"]
    if settings.narrowed:
        uses = ["of all records, which narrow the bounds first", *uses]
    named = zip(uses, plan.moments, strict=False)  # none without the prior `moments`
    lines += [f"noise of moments {use}: sigma {sigma:.3g} records" for use, sigma in named]
    guarantee = plan.guarantee(public)
    return [*lines, f"cost: rho {guarantee.rho:.3g}, like one Gaussian release of mu {guarantee.mu:.3g}"]


def columns_in_lines(public: Public, reading: Mapping[str, Any]) -> list[str]:
    """How each column is read, a line each. reading: the table's entry as its jobs use it (`release_jobs.reading`)."""
    numbers = "" if reading["typed"] and not reading["decimal"] else f", {described(reading['decimal'])}"
    roles = {column.name: _read(column, numbers) for column in public.columns}
    roles |= {reading["target"]: f"{_read(public.target, numbers)}, the target"}
    roles |= {reading["group"]: "the protected unit"} if reading["group"] else {}
    roles |= dict.fromkeys(reading["drop"], "left out: `drop`")
    return listed(roles)


def _read(column: Column, numbers: str) -> str:
    if column.type == "categorical":
        return f"categorical, {len(column.values)} texts are known"
    lower, upper = column.bounds
    return f"numeric, from {lower:.15g} to {upper:.15g}{numbers}"

"""What a release would buy, before anything is spent: it follows from the settings, the budget and the public facts."""

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Filter
from memaudit.privacy.public_facts import Public
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
    lines += [f"noise of moments: sigma {sigma:.3g} records" for sigma in plan.moments]
    guarantee = plan.guarantee(public)
    return [*lines, f"cost: rho {guarantee.rho:.3g}, like one Gaussian release of mu {guarantee.mu:.3g}"]

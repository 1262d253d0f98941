"""The section `release`: a private context from a table of the user's own, and what only several keys can get wrong."""

import os
from collections.abc import Iterator
from typing import Annotated, Literal

import yaml
from pydantic import Field, StringConstraints

from memaudit.common.project_paths import config_path
from memaudit.config.field_types import Count, Fraction, Name, Positive, Section
from memaudit.config.name_checks import licence_faults, unknown
from memaudit.config.shared_keys import SharedKeys

Text = Annotated[str, StringConstraints(min_length=1)]
PART = 10  # delta is at most 1 / (PART * records): at 1 / records a whole record could be published


class Amount(Section):
    """A privacy budget, adding or removing one record (or unit of records)."""

    epsilon: Positive = Field(description="epsilon")
    delta: Fraction = Field(description="delta")


class Mechanism(Section):
    """How the budget is used (memaudit.privacy.tabpate_release); none of it may be chosen by looking at the table."""

    queries: Count = Field(description="most records that are labelled")
    teachers: Annotated[int, Field(ge=0)] = Field(0, description="disjoint parts of the table, each a teacher's")
    prior: Literal["uniform", "gaussian", "moments"] = Field(
        "uniform", description="where queries are drawn from: public bounds alone, or moments released with noise"
    )
    alpha: Annotated[float, Field(ge=0, le=1)] = Field(0.0, description="share of the budget for these moments")
    by_class: bool = Field(False, description="moments of each class, not of all records together")
    narrowed: bool = Field(False, description="half of that share narrows the public bounds first")
    threshold: Positive | None = Field(None, description="votes that a query needs to be answered; null: none")
    sigma1: Positive | None = Field(None, description="noise of that check, in votes")
    sigma2: Positive | None = Field(
        None, description="noise of each class's votes; null: what makes the budget last for all queries"
    )
    labels: Literal["votes", "group", "learned"] = Field(
        "votes",
        description="labels by the teachers' votes, the class that a query was drawn from, or a noisy classifier that "
        "the rest of the budget pays for",
    )
    equal_classes: bool = Field(
        False, description="equal numbers of records of each class, whatever their shares in the table, at no cost"
    )
    accounting: Literal["as_published", "joint"] = Field(
        "joint", description="moments and labels with budgets of their own, as in the paper, or with one together"
    )


class Bounds(Amount):
    """Bounds of columns that no codebook gives bounds for, by noisy counts (`snakemake release_bounds`)."""

    columns: list[Text] = Field(
        min_length=1,
        description="columns of numbers or patterns; `target` for a number target; their public bounds "
        "must be wide enough for anything",
    )


class Release(Section):
    """A private context of one table (`snakemake release`; docs/release.md)."""

    dataset: Name = Field(description="table that is released")
    public: Text = Field(
        description="file of its public facts; a relative path starts at the working folder, else at the project's"
    )
    epsilon: Positive = Field(description="epsilon that this release may spend")
    delta: Fraction = Field(description="delta that it may spend; at most 1 / (10 * the nominal number of records)")
    total: Amount | None = Field(
        None, description="what all releases of the table may spend together, this one included; null: this one alone"
    )
    bounds: Bounds | None = Field(None, description="bounds to be paid for before the release; null: none")
    model: Name = Field(description="model that the teachers are, and that the context is for")
    settings: Mechanism
    tuned: Text = Field(description="on what these settings were chosen, in words: the statement repeats it")
    ledger: Text | None = Field(
        None,
        description="folder of the ledger of what was spent, an absolute path or one from ~; null: "
        "`memaudit/ledger` in the state folder of the user, for all clones of the project",
    )


def release_faults(release: Release | None, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section, each naming its key path and a remedy; none where there is no section."""
    if release is None:
        return
    yield from unknown("release/dataset", [release.dataset], "datasets", shared)
    yield from unknown("release/model", [release.model], "models", shared)
    yield from licence_faults({"release/model": release.model}, shared)
    entry, model = shared.datasets.get(release.dataset), shared.models.get(release.model)
    if entry and entry.kind != "table":
        yield f"release/dataset: {release.dataset} is no table"
    if entry and model and entry.task != model.task:
        yield f"release/model: {release.model} is for {model.task}, {release.dataset} has {entry.task}"
    if entry and entry.dates:
        yield (
            f"datasets/{release.dataset}/dates: a release holds numbers and categories, no dates; list their columns "
            "under `drop`, and remove the key"
        )
    total = release.total
    if total and (total.epsilon < release.epsilon or total.delta < release.delta):
        yield "release/total: is less than this release alone; it counts all releases of the table, this one included"
    if release.bounds and total is None:
        yield "release/total: is needed with `release/bounds`: it counts the bounds and the release"
    if release.ledger and not os.path.isabs(os.path.expanduser(release.ledger)):
        yield "release/ledger: a relative path would be another ledger in another folder; give the whole path"
    yield from _mechanism_faults(release.settings, classes=bool(entry) and entry.task == "classification")
    yield from _public_faults(release)


def _mechanism_faults(settings: Mechanism, classes: bool) -> Iterator[str]:
    where, votes, moments = "release/settings", settings.labels == "votes", settings.prior == "moments"
    if votes and settings.teachers < 2:
        yield f"{where}/teachers: {settings.teachers} cannot hide one another; take 10 or more, see docs/release.md"
    if (settings.alpha > 0) != moments or (votes and settings.alpha == 1):
        yield f"{where}/alpha: the prior `moments` needs a share above 0, the teachers one of 1 - alpha, others none"
    if (settings.by_class or settings.narrowed) and not moments:
        yield f"{where}/prior: `by_class` and `narrowed` are for the prior `moments`"
    if not votes and not (moments and (settings.by_class or not classes)):
        needed = "and where there are classes `by_class: true`"
        yield f"{where}/labels: `{settings.labels}` needs the prior `moments`, {needed}"
    if settings.labels == "learned" and not (classes and settings.alpha < 1 and settings.accounting == "joint"):
        yield f"{where}/labels: `learned` needs classes, an alpha below 1 and the accounting `joint`"
    if settings.equal_classes and not (classes and settings.by_class and not votes):
        yield f"{where}/equal_classes: needs classes, `by_class: true` and labels by `group` or `learned`"
    if (settings.threshold is None) != (settings.sigma1 is None):
        yield f"{where}/threshold: goes with `sigma1`, the noise of the check; give both or neither"
    if settings.threshold is not None and settings.sigma2 is None:
        yield f"{where}/sigma2: is needed with a `threshold`: how many queries pass it nobody knows before"


def _public_faults(release: Release) -> Iterator[str]:
    """What the nominal number of records forbids; the other public facts are checked where they are read."""
    path = config_path(release.public)
    if not path.is_file():
        yield f"release/public: there is no file {release.public}; write down what is public, see docs/release.md"
        return
    try:
        facts = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeError):
        facts = None
    records = facts.get("records") if isinstance(facts, dict) else None
    if not isinstance(records, int) or records < 1:
        yield f"release/public: {release.public} does not say `records`, the nominal number of records"
        return
    if release.delta > (most := 1 / (PART * records)):
        yield (
            f"release/delta: {release.delta:g} is too large, since {1 / records:.2g} would allow to publish a whole "
            f"record of the {records}; at most 1 / ({PART} * {records}) = {most:.2g}"
        )
    if release.settings.teachers > records / 2:
        teachers = f"release/settings/teachers: {release.settings.teachers}"
        yield f"{teachers} are more than half of the {records} nominal records: many would have one or none"

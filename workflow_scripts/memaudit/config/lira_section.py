"""The section `lira`: its shape, and what only several of its keys together can get wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from memaudit.config.field_types import Count, Fraction, Name, Rmia, Section
from memaudit.config.name_checks import hint, licence_faults, unknown
from memaudit.config.shared_keys import SharedKeys

MOST_OF_POPULATION = 0.05


class Simulation(Section):
    """Finite-population simulation (lira-reliability, Section 6.2)."""

    repeats: Annotated[int, Field(ge=2)] = Field(description="populations behind each mean ratio")
    models: Annotated[int, Field(ge=16)] = Field(description="shadow models M")
    population: Annotated[int, Field(ge=4)] = Field(description="superset size N+")
    dimensions: Count = Field(description="dimensions d of the Gaussian")
    sizes: list[Annotated[int, Field(ge=2)]] = Field(min_length=1, description="training-set sizes N")
    draws: list[Literal["fixed_size", "bernoulli"]] = Field(min_length=1, description="how training sets are drawn")


class PopulationCheck(Section):
    """Prediction of the population's TPR from a small superset, checked on contexts from a large one."""

    datasets: list[Name] = Field(description="tables that are large enough: `context` is at most 5 % of their members")
    supersets: Count = Field(description="number of small supersets, each with records of its own")
    targets: Annotated[int, Field(ge=4)] = Field(description="records of a small superset, N+")
    context: Annotated[int, Field(ge=2)] = Field(description="records of a context, N, in both grids")
    models: Annotated[int, Field(ge=16)] = Field(description="shadow contexts of a small superset's grid")
    population_models: Annotated[int, Field(ge=16)] = Field(description="shadow contexts of the population's grid")
    shard: Count = Field(description="shadow contexts per job")
    fpr: list[Fraction] = Field(min_length=1, description="false positive rates at which TPRs are predicted")


class Audit(Section):
    """Empirical lower bounds on epsilon, and a mechanism of known epsilon beside them."""

    delta: Fraction = Field(description="delta of the (epsilon, delta) guarantee that is refuted")
    toy_epsilons: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, description="true epsilons of the toys")
    toy_models: Annotated[int, Field(ge=16)] = Field(description="models of a toy's grid")
    toy_records: Annotated[int, Field(ge=2)] = Field(description="records of a toy's grid")


class Lira(Section):
    """How far a LiRA evaluation can be trusted (lira-reliability)."""

    datasets: list[Name] = Field(description="tables whose records are attacked; []: the study is left out")
    model: Name = Field(description="model whose contexts are attacked")
    split: Name = Field(
        description="split whose members are drawn into contexts; non-members serve as population and negative control"
    )
    whole: list[Name] = Field(
        [],
        description="those of lira/datasets of which all records are drawn into contexts and none is held back: without"
        " RMIA, combined score and negative control, which need records that are in no context",
    )
    design: Literal["balanced", "bernoulli", "fixed_size"] = Field(description="how contexts are drawn")
    models: Annotated[int, Field(ge=64)] = Field(description="shadow models M")
    shard: Count = Field(description="shadow models per job")
    sizes: list[Annotated[int, Field(ge=8)]] = Field(
        min_length=1, description="values of M at which strategies are compared; the last one is all of them"
    )
    oracle_models: Count | None = Field(
        None, description="models that oracle access has, one of `sizes`, also for FPRs of single records; null: all"
    )
    fpr: list[Fraction] = Field(min_length=1, description="target false positive rates")
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    permutations: Annotated[int, Field(ge=19)] = Field(description="redraws of the membership matrix behind each null")
    simulation: Simulation
    population_check: PopulationCheck
    audit: Audit
    rmia: Rmia


def lira_faults(lira: Lira, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section, each naming its key path and a remedy."""
    if not lira.datasets:
        return
    yield from unknown("lira/datasets", lira.datasets, "datasets", shared)
    yield from unknown("lira/model", [lira.model], "models", shared)
    yield from licence_faults({"lira/model": lira.model}, shared)
    if lira.split not in shared.data.splits:
        yield f"lira/split: unknown split {lira.split!r}{hint(lira.split, list(shared.data.splits))}"
    if max(lira.sizes) != lira.models:
        ends = f"lira/models = {lira.models}, not with {max(lira.sizes)}"
        yield f"lira/sizes: must end with {ends}; set lira/sizes beside lira/models"
    if lira.sizes != sorted(set(lira.sizes)):
        yield "lira/sizes: must increase, without repeats"
    if lira.oracle_models and lira.oracle_models not in lira.sizes:
        yield f"lira/oracle_models: {lira.oracle_models} is none of lira/sizes"
    block = lira.sizes[0]
    if lira.design == "balanced" and any(size % block for size in [*lira.sizes, lira.models, block // 2 * 2]):
        yield f"lira/sizes: `balanced` needs an even first size, and multiples of it ({block}) from there on"
    most = lira.simulation.population - 1
    for size in (size for size in lira.simulation.sizes if size >= most):
        yield f"lira/simulation/sizes: {size} must be smaller than population - 1 = {most}"
    if lira.model in shared.models and shared.models[lira.model].task != "classification":
        yield f"lira/model: {lira.model} is no classifier"
    lists = {"datasets": lira.datasets, "whole": lira.whole, "fpr": lira.fpr, "simulation/draws": lira.simulation.draws}
    for key, values in (lists | {"simulation/sizes": lira.simulation.sizes}).items():
        if len(set(values)) < len(values):
            yield f"lira/{key}: a value stands twice"
    yield from _table_faults(lira, shared)
    yield from _population_faults(lira, shared)


def _table_faults(lira: Lira, shared: SharedKeys) -> Iterator[str]:
    split = shared.data.splits.get(lira.split)
    for name in lira.whole:
        if name not in lira.datasets:
            yield f"lira/whole: {name} must be one of lira/datasets"
        elif (entry := shared.datasets.get(name)) and (entry.max_records or entry.balance):
            yield f"lira/whole: datasets/{name} has max_records or balance, and `whole` needs all of its records"
    for name in lira.datasets:
        entry = shared.datasets.get(name)
        if entry is None or split is None:
            continue
        if entry.kind != "table" or entry.task != "classification":
            yield f"lira/datasets: {name} is no classification table"
        rows = min(filter(None, (entry.rows, entry.max_records)), default=None)
        needed = _count(split.members, rows) + _count(split.nonmembers, rows) if rows else 0
        if rows and name not in lira.whole and needed > rows:
            yield f"data/splits/{lira.split}: {needed} members and non-members needed, {name} has {rows} records"


def _population_faults(lira: Lira, shared: SharedKeys) -> Iterator[str]:
    check, where = lira.population_check, "lira/population_check"
    yield from unknown(f"{where}/datasets", check.datasets, "datasets", shared)
    if check.context >= check.targets - 1:
        yield f"{where}/context: must be smaller than `targets` - 1: a context is a part of its superset"
    for name in check.datasets:
        entry, split = shared.datasets.get(name), shared.data.splits.get(lira.split)
        if name not in lira.datasets:
            yield f"{where}/datasets: {name} must be one of lira/datasets"
        if not (entry and split and entry.rows):
            continue
        rows = min(filter(None, (entry.rows, entry.max_records)))
        members = rows if name in lira.whole else _count(split.members, rows)
        if check.context > MOST_OF_POPULATION * members:
            share = f"{check.context} of {members} members of {name}"
            yield f"{where}/context: {share} are more than {MOST_OF_POPULATION:.0%}, too many to stand for a population"
        if check.supersets * check.targets > members:
            yield f"{where}: {check.supersets} x {check.targets} targets are more than the members of {name}"


def _count(part: float, rows: int) -> int:
    return round(part * rows) if isinstance(part, float) else part

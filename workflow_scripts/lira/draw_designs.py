"""Draw who is in the context of which shadow model, for one grid of one table.

python workflow_scripts/lira/draw_designs.py --input records=records.parquet split=lira.parquet --output design.nc \
    --wildcards '{"dataset": "wine", "grid": "efficient"}' \
    --params '{"seed": 1, "grid": {"draw": "balanced", "models": 64, "block": 16}}'

Grids: `efficient` draws halves of all members, as efficient LiRA does; `superset<i>` draws contexts from few records;
`population` draws contexts of that same size from all members, and queries only the supersets' records. Without a split
all records are members.
"""

import numpy as np
import pandas as pd
import xarray as xr

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import read_columns, read_table, write_grid
from memaudit.data import membership_matrices
from memaudit.data.member_splits import MEMBERS
from memaudit.workflow.job import run

MOST_OF_POPULATION = 0.05


def main(job):
    dataset, grid, arm = job.wildcards.dataset, job.wildcards.grid, job.params.grid
    records = _sided(job.input.records, job.input.get("split"))
    member, unit = (records.side == MEMBERS).to_numpy(), membership_matrices.unit_codes(records)
    streams = [seeds.generator(job.params.seed, "lira", dataset, name) for name in ("supersets", f"{grid} design")]
    superset = np.full(len(records), -1) if grid == "efficient" else _supersets(member, unit, arm, dataset, streams[0])

    drawn = superset == int(grid.removeprefix("superset")) if grid.startswith("superset") else member
    units = pd.factorize(unit[drawn])[0]
    design = np.zeros((arm["models"], len(records)), dtype=bool)
    design[:, drawn] = membership_matrices.expand(_draw(arm, units.max() + 1, streams[1]), units)

    queried = np.ones(len(records), dtype=bool) if grid == "efficient" else drawn & (superset >= 0)
    coordinates = {"member": member, "asked": queried, "superset": superset, "unit": unit}
    write_grid(
        xr.Dataset(
            {"design": (("model", "record"), design)},
            {"record": records.id.to_numpy(str), **{name: ("record", array) for name, array in coordinates.items()}},
            {
                "dataset": dataset,
                "grid": grid,
                "draw": arm["draw"],
                "block": arm.get("block", 0),
                "population": int(units.max() + 1),
            },
        ),
        job.output[0],
    )
    return {"seed": job.params.seed}


def _sided(records: str, split: str | None) -> pd.DataFrame:
    """Records that take part, with their side and, where they belong together, their group."""
    columns = [column for column in ("id", "group") if column in read_columns(records)]
    table = read_table(records, columns)
    if not split:
        return table.assign(side=MEMBERS)
    return table.merge(read_table(split), on="id", validate="one_to_one")


def _draw(arm: dict, units: int, rng: np.random.Generator) -> np.ndarray:
    if arm["draw"] == "balanced":
        return membership_matrices.balanced(arm["models"], units, rng, block=arm["block"])
    if arm["draw"] == "bernoulli":
        return membership_matrices.bernoulli(arm["models"], units, rng)
    return membership_matrices.fixed_size(arm["models"], units, arm.get("context", units // 2), rng)


def _supersets(member: np.ndarray, unit: np.ndarray, arm: dict, dataset: str, rng: np.random.Generator) -> np.ndarray:
    """Number of the small superset that a record belongs to, -1 for none: `targets` units each, none in two."""
    units = np.unique(unit[member])
    wanted = arm["supersets"] * arm["targets"]
    if wanted > units.size or arm["context"] > MOST_OF_POPULATION * units.size:
        raise AuditError(
            f"data set {dataset}: {units.size} members cannot stand for a population: lira/population_check wants "
            f"{wanted} targets and contexts of {arm['context']}, at most {MOST_OF_POPULATION:.0%} of them; take the "
            "data set from its datasets"
        )
    of_unit = np.full(unit.max() + 1, -1)
    of_unit[rng.permutation(units)[:wanted]] = np.arange(wanted) // arm["targets"]
    return of_unit[unit]


if __name__ == "__main__":
    run(main, globals())

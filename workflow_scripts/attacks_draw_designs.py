"""Draw the shadow contexts of every arm for one table: how often each record stands in which, and with which columns.

python workflow_scripts/attacks_draw_designs.py \
    --input records=records.parquet split=lira.parquet schema=schema.json --output main.nc settings.nc \
    --wildcards '{"dataset": "wine"}' --params '{"seed": 1, "block": 8, "targets": 20, "sensitive": {"wine": "alcohol"},
        "arms": {"main": {"sets": 128, "variants": [{}]}, "settings": {"sets": 64, "variants": [{"context": 16}]}}}'

Variants that differ in the model alone, or in what is done to the contexts afterwards, have the same contexts: the
stream of a design is named after its population and its size. A smaller design is the beginning of a larger one.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import xarray as xr

from memaudit import seeds
from memaudit.data import designs
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table, write_grid
from memaudit.job import run
from memaudit.variants import DEFAULTS, variant_name


def main(job):
    table = _table(job.input, job.params.seed, job.wildcards.dataset)
    for path in (path for path in job.output if path.endswith(".nc")):
        arm = job.params.arms[Path(path).stem]
        drawn = [_variant(table, DEFAULTS | variant, arm["sets"], job) for variant in arm["variants"]]
        grid = xr.concat(drawn, "model", data_vars="minimal", combine_attrs="override")
        write_grid(grid.assign_attrs(dataset=job.wildcards.dataset, arm=Path(path).stem), path)
    return {"seed": job.params.seed}


def _table(files, seed: int, dataset: str) -> SimpleNamespace:
    """What a design depends on: side, unit and class of each record, and the random order of the members."""
    records = read_table(files.records).merge(read_table(files.split), on="id", validate="one_to_one")
    schema = read_json(files.schema)
    member, unit = (records.side == "members").to_numpy(), designs.unit_codes(records)
    order = seeds.generator(seed, "attacks", dataset, "order")
    units = order.permutation(np.unique(unit[member]))
    rank = np.full(unit.max() + 1, -1)
    rank[units] = np.arange(units.size)
    label = pd.Index(schema["target"]["categories"], dtype="str").get_indexer(records.target.astype(str))
    columns = [column["name"] for column in schema["columns"]]
    coordinates = {"member": member, "unit": unit, "rank": np.where(member, rank[unit], -1), "label": label}
    return SimpleNamespace(records=records, columns=columns, **coordinates)


def _variant(table: SimpleNamespace, variant: dict, sets: int, job) -> xr.Dataset:
    stream = ("attacks", job.wildcards.dataset)
    shown = np.zeros(sets, dtype=bool)
    if variant["shares"]:
        shown = np.arange(sets) % 2 == 1
        counts, asked = _shares(table, variant["shares"], shown, job), ~table.member
    else:
        most = 2 * variant["context"] if variant["context"] else table.rank.max() + 1
        inside = (table.rank >= 0) & (table.rank < most)
        rng = seeds.generator(job.params.seed, *stream, "contexts", variant["population"], variant["context"] or 0)
        counts = np.zeros((sets, len(inside)), dtype=np.uint8)
        drawn = designs.balanced(sets, min(most, table.rank.max() + 1), rng, block=job.params.block)
        counts[:, inside] = drawn[:, table.rank[inside]]
        counts[:, inside & (table.rank < job.params.targets)] *= variant["copies"]
        asked = inside | _some(~table.member, inside.sum(), seeds.generator(job.params.seed, *stream, "non-members"))
    columns = seeds.generator(job.params.seed, *stream, "columns", variant["order"]).permutation(len(table.columns))
    kept = np.isin(np.arange(columns.size), columns[: variant["features"]])
    of_model = {"variant": [variant_name(variant)] * sets, "set": np.arange(sets), "shown": shown}
    of_model |= {"bags": [variant["bags"]] * sets, "layer": [variant["layer"] or ""] * sets}
    of_record = {name: getattr(table, name) for name in ("member", "unit", "rank", "label")}
    return xr.Dataset(
        {
            "counts": (("model", "record"), counts),
            "asked": (("model", "record"), np.tile(asked, (sets, 1))),
            "columns": (("model", "feature"), np.tile(kept, (sets, 1))),
        },
        {"record": table.records.id.to_numpy(str), "feature": table.columns}
        | {name: ("record", array) for name, array in of_record.items()}
        | {name: ("model", array) for name, array in of_model.items()},
    )


def _some(side: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many records of a side: more would tell a small context's attack nothing, and cost as much each."""
    chosen = np.zeros(side.size, dtype=bool)
    chosen[rng.permutation(np.flatnonzero(side))[:most]] = True
    return chosen


def _shares(table: SimpleNamespace, shares: list[float], shown: np.ndarray, job) -> np.ndarray:
    """Contexts of one size in which the property of a member, a high or the most frequent value, has these shares."""
    dataset = job.wildcards.dataset
    column = table.records.get(name := job.params.sensitive[dataset])
    if column is None:
        raise AuditError(f"attacks/inference/sensitive/{dataset}: the table has no column {name!r}; name one it has")
    value = column > column.median() if pd.api.types.is_numeric_dtype(column) else column == column.mode()[0]
    having, lacking = (np.flatnonzero(table.member & side) for side in (value.to_numpy(), ~value.to_numpy()))
    size = min(table.member.sum() // 2, int(having.size / max(shares)), int(lacking.size / (1 - min(shares))))
    counts = np.zeros((shown.size, table.member.size), dtype=np.uint8)
    rng = seeds.generator(job.params.seed, "attacks", dataset, "shares", *map(str, shares))
    for row, share in zip(counts, np.where(shown, shares[1], shares[0]), strict=True):
        with_it = round(share * size)
        row[rng.choice(having, with_it, replace=False)] = 1
        row[rng.choice(lacking, size - with_it, replace=False)] = 1
    return counts


if __name__ == "__main__":
    run(main, globals())

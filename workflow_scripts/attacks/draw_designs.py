"""Draw the shadow contexts of one arm for one table: how often each record stands in which, and with which columns.

python workflow_scripts/attacks/draw_designs.py \
    --input records=records.parquet split=lira.parquet schema=schema.json --output settings.nc \
    --wildcards '{"dataset": "wine", "arm": "settings"}' --params '{"seed": 1, "block": 8, "targets": 16,
        "sensitive": "alcohol", "sets": 64, "variants": [{"context": 16}, {"copies": 5}]}'

Variants that differ in the model alone, or in what is done to the contexts afterwards, have the same contexts: the
stream of a design is named after its population and its size. A smaller design is the beginning of a larger one.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import xarray as xr

from memaudit import seeds
from memaudit.config.context_variants import DEFAULTS, variant_name
from memaudit.data import membership_matrices
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table, write_grid
from memaudit.workflow.job import run


def main(job):
    table = _table(job.input, job.params.seed, job.wildcards.dataset)
    drawn = [_variant(table, DEFAULTS | variant, job) for variant in job.params.variants]
    grid = xr.concat(drawn, "model", data_vars="minimal", combine_attrs="override")
    write_grid(grid.assign_attrs(dataset=job.wildcards.dataset, arm=job.wildcards.arm), job.output[0])
    return {"seed": job.params.seed}


def _table(files, seed: int, dataset: str) -> SimpleNamespace:
    """What a design depends on: side, unit and class of each record, and the random order of the members."""
    records = read_table(files.records).merge(read_table(files.split), on="id", validate="one_to_one")
    schema = read_json(files.schema)
    member, unit = (records.side == "members").to_numpy(), membership_matrices.unit_codes(records)
    order = seeds.generator(seed, "attacks", dataset, "order")
    units = order.permutation(np.unique(unit[member]))
    rank = np.full(unit.max() + 1, -1)
    rank[units] = np.arange(units.size)
    label = pd.Index(schema["target"]["categories"], dtype="str").get_indexer(records.target.astype(str))
    columns = [column["name"] for column in schema["columns"]]
    coordinates = {"member": member, "unit": unit, "rank": np.where(member, rank[unit], -1), "label": label}
    return SimpleNamespace(records=records, columns=columns, **coordinates)


def _variant(table: SimpleNamespace, variant: dict, job) -> xr.Dataset:
    sets = job.params.sets
    shown = (np.arange(sets) % 2 == 1) & bool(variant["shares"])
    drawn = _shares(table, variant["shares"], shown, job) if variant["shares"] else _halves(table, variant, job)
    counts, asked = drawn
    if (least := counts.sum(1).min()) < variant["bags"]:
        raise AuditError(f"{_where(variant, job)}: {least} records in a context; take larger ones, or other settings")
    stream = seeds.generator(job.params.seed, "attacks", job.wildcards.dataset, "columns", variant["order"])
    columns = stream.permutation(len(table.columns))
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


def _where(variant: dict, job) -> str:
    return f"attacks/arms/{job.wildcards.arm}/variants, data set {job.wildcards.dataset}: {variant_name(variant)!r}"


def _halves(table: SimpleNamespace, variant: dict, job) -> tuple[np.ndarray, np.ndarray]:
    """Each unit of the population in half of the contexts (model, record); who is asked about (record,)."""
    stream = (job.params.seed, "attacks", job.wildcards.dataset)
    units = table.rank.max() + 1
    if (most := 2 * variant["context"] if variant["context"] else units) > units:
        remedy = f"take smaller ones, or leave the table out of attacks/arms/{job.wildcards.arm}/datasets"
        raise AuditError(
            f"{_where(variant, job)}: contexts are drawn from {most} members, the table has {units}; {remedy}"
        )
    inside = (table.rank >= 0) & (table.rank < most)
    rng = seeds.generator(*stream, "contexts", variant["population"], variant["context"] or 0)
    counts = np.zeros((job.params.sets, len(inside)), dtype=np.uint8)
    counts[:, inside] = membership_matrices.balanced(len(counts), most, rng, block=job.params.block)[
        :, table.rank[inside]
    ]
    counts[:, inside & (table.rank < job.params.targets)] *= variant["copies"]
    return counts, inside | _some(~table.member, inside.sum(), seeds.generator(*stream, "non-members"))


def _some(side: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many records of a side: more would tell a small context's attack nothing, and cost as much each."""
    chosen = np.zeros(side.size, dtype=bool)
    chosen[rng.permutation(np.flatnonzero(side))[:most]] = True
    return chosen


def _shares(table: SimpleNamespace, shares: list[float], shown: np.ndarray, job) -> tuple[np.ndarray, np.ndarray]:
    """Contexts of one size in which the property of a member, a high or the most frequent value, has these shares.

    No membership is attacked: the contexts are (model, record), the queried records (record,)
    all non-members.
    """
    dataset, name = job.wildcards.dataset, job.params.sensitive
    if name not in table.columns:
        raise AuditError(f"attacks/inference/sensitive/{dataset}: the table has no column {name!r}; name one it has")
    column = table.records[name]
    value = column > column.median() if pd.api.types.is_numeric_dtype(column) else column.isin(column.mode()[:1])
    having, lacking = (np.flatnonzero(table.member & side) for side in (value.to_numpy(), ~value.to_numpy()))
    size = min(table.member.sum() // 2, int(having.size / max(shares)), int(lacking.size / (1 - min(shares))))
    counts = np.zeros((shown.size, table.member.size), dtype=np.uint8)
    rng = seeds.generator(job.params.seed, "attacks", dataset, "shares", *map(str, shares))
    for row, share in zip(counts, np.where(shown, shares[1], shares[0]), strict=True):
        with_it = round(share * size)
        row[rng.choice(having, with_it, replace=False)] = 1
        row[rng.choice(lacking, size - with_it, replace=False)] = 1
    return counts, ~table.member


if __name__ == "__main__":
    run(main, globals())

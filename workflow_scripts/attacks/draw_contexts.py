"""Draw the shadow contexts of one arm for one table: how often each record stands in which, and with which columns.

python workflow_scripts/attacks/draw_contexts.py \
    --input records=records.parquet split=lira.parquet schema=schema.json --output settings.nc \
    --wildcards '{"dataset": "wine", "arm": "settings"}' --params '{"seed": 1, "block": 8, "targets": 16,
        "sensitive": "alcohol", "sets": 64, "variants": [{"context": 16}, {"copies": 5}]}'

Variants that differ in the model alone, or in what is done to the contexts afterwards, have the same contexts: the
random stream is named after their population and size. Fewer contexts are the first of more.
"""

import numpy as np
import xarray as xr

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, write_grid
from memaudit.config.context_variants import DEFAULTS, variant_name
from memaudit.studies.attacks.context_draws import Draw, Members, contexts_of_shares, halves, kept_columns
from memaudit.workflow.job import run


def main(job):
    files, dataset = job.input, job.wildcards.dataset
    records = read_table(files.records).merge(read_table(files.split), on="id", validate="one_to_one")
    order = seeds.generator(job.params.seed, "attacks", dataset, "order")
    members = Members.of(records, read_json(files.schema), order)
    drawn = [_variant(members, DEFAULTS | variant, job) for variant in job.params.variants]
    grid = xr.concat(drawn, "model", data_vars="minimal", combine_attrs="override")
    write_grid(grid.assign_attrs(dataset=dataset, arm=job.wildcards.arm, block=job.params.block), job.output[0])
    return {"seed": job.params.seed}


def _variant(members: Members, variant: dict, job) -> xr.Dataset:
    draw, contexts = _draw(variant, job), job.params.sets
    second = (np.arange(contexts) % 2 == 1) & bool(variant["shares"])
    if variant["shares"]:
        counts, queried = contexts_of_shares(members, variant["shares"], second, draw)
    else:
        counts, queried = halves(members, variant, draw)
    if (least := counts.sum(1).min()) < variant["bags"]:
        raise AuditError(f"{draw.where}: {least} records in a context; take larger ones, or other settings")
    kept = kept_columns(members, variant["features"], variant["order"], draw)
    of_model = {"variant": [variant_name(variant)] * contexts, "set": np.arange(contexts), "shown": second}
    of_model |= {"bags": [variant["bags"]] * contexts, "layer": [variant["layer"] or ""] * contexts}
    of_model |= {"anonymity": [variant["keys"] or 1] * contexts}
    of_record = {name: getattr(members, name) for name in ("member", "unit", "rank", "label")}
    return xr.Dataset(
        {
            "counts": (("model", "record"), counts),
            "asked": (("model", "record"), np.tile(queried, (contexts, 1))),
            "columns": (("model", "feature"), np.tile(kept, (contexts, 1))),
        },
        {"record": members.records.id.to_numpy(str), "feature": members.columns}
        | {name: ("record", array) for name, array in of_record.items()}
        | {name: ("model", array) for name, array in of_model.items()},
    )


def _draw(variant: dict, job) -> Draw:
    params, dataset = job.params, job.wildcards.dataset
    where = f"attacks/arms/{job.wildcards.arm}/variants, data set {dataset}: {variant_name(variant)!r}"
    return Draw(params.seed, dataset, params.sets, params.block, params.targets, params.sensitive, where)


if __name__ == "__main__":
    run(main, globals())

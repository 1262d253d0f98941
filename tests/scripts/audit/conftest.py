"""Results of the audit's scripts that run before the page, on planted score matrices."""

import numpy as np
import pandas as pd
import pytest
from attack_grids import RECORDS, call, halves, passive, perturbed, poisoned, seen_inside
from audit_examples import ATTACKS, AUDIT

from memaudit.common.io import write_grid, write_json, write_table


@pytest.fixture(scope="session")
def folder(tmp_path_factory, project):
    """Folder with the results of rate_records and compare_groups, and their inputs."""
    folder, rng = tmp_path_factory.mktemp("audit"), np.random.default_rng(0)
    grid = passive(rng)
    inputs = [f"main={path}" for path in halves(grid, folder / "main")]
    more = {"perturbed": perturbed(grid, rng), "poisoned": poisoned(grid, rng), "attention": seen_inside(grid, rng)}
    for name, matrix in more.items():
        write_grid(matrix, folder / f"{name}.nc")
        inputs.append(f"{name}={folder / name}.nc")
    write_grid(grid.isel(model=slice(16)), folder / "other.nc")
    rows = pd.DataFrame({"id": [*grid.record.values, grid.record.values[0]], "row": [*range(1, RECORDS + 1), 999]})
    write_table(rows, folder / "rows.parquet")
    outputs = [f"risk={folder / 'risk.parquet'}", f"tidy={folder / 'threats.parquet'}"]
    inputs += [f"model_2={folder / 'other.nc'}", f"rows={folder / 'rows.parquet'}"]
    call(project, "audit_rate_records", inputs, outputs, seed=1, attacks=ATTACKS, audit=AUDIT)

    cities = np.array(["Zqx-a", "Zqx-b"])[np.arange(RECORDS) % 2]
    records = pd.DataFrame({"id": grid.record.values, "c0": cities, "c9": np.arange(RECORDS) % 20.0, "target": cities})
    write_table(records, folder / "records.parquet")
    schema = {"columns": [{"name": "c0", "type": "categorical"}, {"name": "c9", "type": "numeric"}]}
    schema |= {"target": {"type": "categorical"}}
    write_json(schema, folder / "schema.json")
    inputs = [f"main={folder / 'main'}{i}.nc" for i in range(2)]
    inputs += [f"records={folder / 'records.parquet'}", f"schema={folder / 'schema.json'}"]
    outputs = [f"tidy={folder / 'groups.parquet'}", f"names={folder / 'groups.json'}"]
    call(project, "audit_compare_groups", inputs, outputs, seed=1, attacks=ATTACKS, audit=AUDIT)
    return folder

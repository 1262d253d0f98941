"""Shadow contexts of the attacks: who is drawn, what a variant changes, and what the query script makes of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_wine

from memaudit.attacks.score_matrices import gather, variant
from memaudit.checksums import sha256
from memaudit.config.attacks_section import Variant
from memaudit.config.context_variants import DEFAULTS, variant_name
from memaudit.errors import AuditError
from memaudit.io import read_grid, write_json, write_table
from memaudit.studies.attacks.shadow_contexts import Contexts
from memaudit.workflow.digest import script_of

pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS = [{"population": 1}, {"context": 16}, {"features": 4, "order": 1}, {"copies": 5}, {"shares": [0.5, 0.7]}]
LAYERS = [{"population": 2}, *({"population": 2, "layer": layer} for layer in ("dropped", "random", "coarsened"))]
ARMS = {
    "main": {"sets": 32, "variants": [{}]},
    "few": {"sets": 16, "variants": [{}]},
    "settings": {"sets": 16, "variants": SETTINGS},
    "defended": {"sets": 8, "variants": [*LAYERS, {"population": 2, "bags": 3}]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, project):
    """The wine table as the data rules leave it, a model that copies its neighbours, and the designs of all arms."""
    folder = tmp_path_factory.mktemp("attacks")
    bunch = load_wine(as_frame=True)
    table = bunch.data.iloc[:120].assign(target=bunch.target.astype(str))
    names = np.array([f"{number:04d}" for number in range(120)])
    write_table(table.assign(id=names), folder / "records.parquet")
    sides = np.where(np.random.default_rng(0).permutation(120) < 96, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": sides}), folder / "split.parquet")
    columns = [{"name": name, "type": "numeric"} for name in bunch.data]
    target = {"name": "target", "type": "categorical", "categories": ["0", "1"]}
    write_json({"task": "classification", "columns": columns, "target": target}, folder / "schema.json")
    (folder / "weights").mkdir()
    neighbours = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}}
    write_json(neighbours, folder / "weights/estimator.json")
    card = {"name": "nearest", "family": "estimator", "task": "classification", "mode": "raw", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    for arm, params in ARMS.items():
        draw(project, folder, arm, **params)
    ranks = pd.DataFrame({"id": names[sides == "members"], "exposure": 0.0, "rank": np.arange(96)})
    write_table(ranks, folder / "ranks.parquet")
    return folder


def draw(project, folder, arm, code=0, **params):
    """The design of an arm; what the script says."""
    usual = {"seed": 1, "block": 8, "targets": 10, "sensitive": "alcohol", "sets": 16, "variants": [{}]}
    files, wildcards = ["records.parquet", "split.parquet", "schema.json"], {"dataset": "wine", "arm": arm}
    files = [f"{Path(file).stem}={file}" for file in files]
    return run(project, folder, "attacks_draw_designs", files, [f"{arm}.nc"], usual | params, wildcards, code)


def run(project, folder, script, inputs, outputs, params, wildcards, code=0):
    command = [sys.executable, str(script_of(script)), "--input", *inputs, "--output", *outputs]
    command += ["--params", json.dumps(params), "--wildcards", json.dumps(wildcards)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def asked(project, folder, arm, shard=64, name=None):
    """The grid of an arm, asked in shards of so many contexts."""
    files = ["records=records.parquet", "schema=schema.json", f"design={arm}.nc", "model=model.json"]
    params = {"seed": 1, "shard": shard, "layer": 0.1, "code": "by hand"}
    paths = []
    for number in range(-(-read_grid(folder / f"{arm}.nc").sizes["model"] // shard)):
        paths.append(f"{name or arm}-{number}.nc")
        wildcards = {"dataset": "wine", "arm": arm, "shard": str(number)}
        run(project, folder, "attacks_query_contexts", [*files, "ranks=ranks.parquet"], [paths[-1]], params, wildcards)
    return gather([str(folder / path) for path in paths])


def test_names_and_defaults_of_variants_are_those_of_the_config():
    assert dict(DEFAULTS) == Variant().model_dump()
    assert variant_name({}) == variant_name(Variant().model_dump()) == "usual"
    assert variant_name({"features": 4, "order": 1, "bags": 1}) == "features 4 order 1"
    assert variant_name({"shares": [0.5, 0.7]}) == "shares 0.5 0.7"


def test_each_member_is_in_half_of_the_contexts_of_every_block_and_no_other_record_is(folder):
    main = read_grid(folder / "main.nc")
    counts = main.counts.values.reshape(4, 8, -1).sum(1)
    assert (counts[:, main.member.values] == 4).all()
    assert (counts[:, ~main.member.values] == 0).all()
    assert main.asked.values.all()


def test_an_arm_of_fewer_sets_has_the_first_contexts_of_the_larger_one(folder):
    """So the same contexts are asked raw and as deployed."""
    few, main = (read_grid(folder / f"{arm}.nc").counts.values for arm in ("few", "main"))
    assert (few == main[:16]).all()
    again = variants(folder, "settings", "population 1").counts.values
    assert (again != main[:16]).any()


def variants(folder, arm, name):
    grid = read_grid(folder / f"{arm}.nc")
    return grid.isel(model=grid.variant.values == name)


def test_a_smaller_context_is_half_of_a_smaller_population_and_is_asked_about_it_and_as_many_others(folder):
    small = variants(folder, "settings", "context 16")
    assert (small.counts.sum("record") <= 32).all()
    assert float(small.counts.sum("record").mean()) == 16
    inside = small.counts.values.any(0)
    assert inside.sum() == 32
    assert (small["rank"].values[inside] < 32).all()
    assert int(small.asked[0].sum()) == 32 + 24


def test_copies_are_the_targets_alone(folder):
    copies = variants(folder, "settings", "copies 5").counts.values
    usual = read_grid(folder / "few.nc")
    target = (usual["rank"].values >= 0) & (usual["rank"].values < 10)
    assert (copies[:, target] == 5 * usual.counts.values[:, target]).all()
    assert (copies[:, ~target] == usual.counts.values[:, ~target]).all()


def test_features_are_the_first_of_one_random_order(folder):
    kept = variants(folder, "settings", "features 4 order 1").columns.values
    assert (kept.sum(1) == 4).all()
    assert (kept == kept[0]).all()


def test_contexts_of_given_shares_are_of_one_size_and_have_them(folder):
    shares = variants(folder, "settings", "shares 0.5 0.7")
    table = pd.read_parquet(folder / "records.parquet").set_index("id").loc[shares.record.values]
    high = (table.alcohol > table.alcohol.median()).to_numpy()
    sizes = shares.counts.sum("record").values
    assert (sizes == sizes[0]).all()
    found = shares.counts.values @ high / sizes
    assert found == pytest.approx(np.where(shares.shown.values, 0.7, 0.5), abs=0.5 / sizes[0])
    assert not (shares.asked.values & shares.member.values).any()


def test_a_sensitive_column_that_is_not_there_is_named(folder, project):
    for name in ("colour", "target"):  # the target is no column whose value one could try
        said = draw(project, folder, "wrong", code=1, sensitive=name, variants=[{"shares": [0.5, 0.7]}])
        assert f"attacks/inference/sensitive/wine: the table has no column {name!r}" in said


@pytest.mark.parametrize(
    ("variant", "line"),
    [
        ({"context": 49}, "'context 49': contexts are drawn from 98 members, the table has 96; take smaller ones"),
        ({"context": 4, "bags": 8}, "'bags 8 context 4': [0-7] records in a context; take larger ones"),
    ],
)
def test_a_variant_that_the_table_is_too_small_for_is_refused(folder, project, variant, line):
    said = draw(project, folder, "wrong", code=1, variants=[variant])
    assert re.search(f"attacks/arms/wrong/variants, data set wine: {line}", said)


def test_targets_are_members_that_stand_in_the_contexts(folder):
    """A small context draws from fewer members than there are targets: the others would be outside in every set."""
    design = variants(folder, "settings", "context 16")
    contexts = Contexts(design, torch.zeros(120, 1), torch.zeros(120), {}, "", 1)
    assert design["rank"].values[contexts.targets(50)].tolist() == list(range(32))
    assert design["rank"].values[contexts.targets(10)].tolist() == list(range(10))


def test_a_record_is_answered_by_its_own_copy_in_every_context_that_has_it(folder, project):
    grid = variant(asked(project, folder, "main"), "usual")
    right = grid.logits.values.argmax(-1) == grid.label.values
    assert right[grid.design.values].all()
    assert not right[~grid.design.values].all()
    assert grid.attrs["mode"] == "raw"


def test_answers_do_not_depend_on_the_shards(folder, project):
    whole, parts = asked(project, folder, "defended"), asked(project, folder, "defended", shard=7, name="parts")
    assert whole.drop_attrs().identical(parts.drop_attrs())


def test_layers_leave_the_contexts_and_the_rest_stays(folder, project):
    grid = (
        gather([str(folder / "defended-0.nc")])
        if (folder / "defended-0.nc").exists()
        else asked(project, folder, "defended")
    )
    base = variant(grid, "population 2").counts.values
    rank = pd.read_parquet(folder / "ranks.parquet").set_index("id")["rank"].reindex(grid.record.values).to_numpy()
    exposed = rank < 10
    dropped, random = (variant(grid, f"layer {name} population 2").counts.values for name in ("dropped", "random"))
    assert (dropped[:, exposed] == 0).all()
    assert (dropped[:, ~exposed] == base[:, ~exposed]).all()
    gone = (random == 0).all(0) & base.any(0)
    assert gone.sum() == 10
    assert not (gone & exposed).any()
    coarse = variant(grid, "layer coarsened population 2")
    assert (coarse.counts.values == base).all()
    right = (coarse.logits.values.argmax(-1) == coarse.label.values)[coarse.design.values & exposed]
    assert right.mean() < 1


def test_variants_that_a_grid_does_not_have_are_named(folder):
    grid = read_grid(folder / "few.nc")
    with pytest.raises(AuditError, match="variant 'copies 2' of wine is not in the grid; it has: usual"):
        variant(grid, "copies 2")

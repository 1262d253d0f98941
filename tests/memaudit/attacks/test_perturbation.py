"""Noise as it was asked for, column by column; and the stability that a known classifier must have under it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from memaudit.attacks import perturbation
from memaudit.attacks.perturbation import Reference
from memaudit.common import seeds
from memaudit.common.checksums import sha256
from memaudit.common.io import read_grid, write_grid, write_json, write_table
from memaudit.models.sklearn_estimators import EstimatorBranch
from memaudit.studies.attacks.shadow_contexts import Contexts
from memaudit.workflow.job import Paths

pytestmark = pytest.mark.usefixtures("one_thread")

MANY = 8000
NUMBERS = np.zeros(3, dtype=bool)
TOWN = np.array([False, True])
WANTED = {
    "targets": 5, "sets": 8, "shard": 8, "counts": [4, 30], "scales": [0.2, 2.0], "count": 30, "scale": 2.0,
    "directions": 3, "steps": 4,
}  # fmt: skip
SETTINGS = [(2.0, 4), (2.0, 30), (0.2, 30)]


def copies(record, reference, scale, count=MANY, seed=0):
    return perturbation.queries(np.asarray(record), reference, [(scale, count)], np.random.default_rng(seed))[1:]


def test_settings_vary_one_thing_and_repeat_none():
    assert perturbation.settings([4, 30], [0.2, 2.0], 30, 2.0) == SETTINGS


@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_noise_has_each_columns_deviation_on_the_reference(scale):
    rng = np.random.default_rng(1)
    shown = rng.normal(5, [0.01, 1, 300], (400, 3))
    shown[::3, 1] = np.nan
    made = copies([0.0, 1.0, -2.0], Reference.of(shown, NUMBERS), scale)
    np.testing.assert_allclose(made.std(0), scale * np.nanstd(shown, axis=0), rtol=0.04)
    np.testing.assert_allclose(made.mean(0), [0, 1, -2], atol=0.05 * scale * np.nanstd(shown, axis=0).max())
    assert np.abs(np.corrcoef(made.T)[np.triu_indices(3, 1)]).max() < 0.05, "columns have noise of their own"


@pytest.mark.parametrize("scale", [0.25, 1.5])
def test_a_category_is_drawn_again_with_the_scale_as_probability_and_the_references_shares(scale):
    town = np.r_[np.zeros(70), np.ones(30), np.full(9, np.nan)]
    made = copies([1.0, 2.0], Reference.of(np.column_stack([town, town]), TOWN), scale)[:, 1]
    again = made != 2  # a code that the reference has not, so that every draw shows
    assert again.mean() == pytest.approx(min(scale, 1), abs=0.02)
    assert (made[again] == 1).mean() == pytest.approx(0.3, abs=0.04)
    assert set(made[again]) == {0, 1}


def test_scales_share_their_noise_and_fewer_copies_are_the_first_of_more():
    rng = np.random.default_rng(2)
    shown = np.column_stack([rng.normal(size=50), rng.integers(0, 9, 50)])
    reference, record = Reference.of(shown, TOWN), np.array([0.0, 20.0])
    weak, strong = copies(record, reference, 0.1, 300), copies(record, reference, 0.5, 40)
    np.testing.assert_allclose(5 * weak[:40, 0], strong[:, 0], rtol=1e-5)
    moved = weak[:40, 1] != 20
    assert 0 < moved.sum() < (strong[:, 1] != 20).sum()
    assert np.array_equal(weak[:40, 1][moved], strong[:, 1][moved])
    both = perturbation.queries(record, reference, [(0.5, 40), (0.1, 7), (0.1, 300)], np.random.default_rng(0))
    assert np.array_equal(both, np.vstack([record.astype(np.float32), strong, weak]))
    assert not np.array_equal(copies(record, reference, 0.5, 40, seed=1), strong)


def test_missing_cells_stay_missing_and_what_the_reference_does_not_know_stays():
    nothing = np.full((5, 2), np.nan)
    assert (copies([3.0, 1.0], Reference.of(nothing, TOWN), 2.0, 9) == [3, 1]).all()
    assert np.isnan(copies([np.nan, np.nan], Reference.of(np.arange(10.0).reshape(5, 2), TOWN), 2.0, 9)).all()


@pytest.mark.parametrize("scale", [0.05, 0.3, 2.0])
def test_a_linear_boundary_at_distance_d_keeps_a_share_of_phi_of_d_over_sigma(scale):
    shown = np.random.default_rng(3).normal(0, [0.1, 1, 50], (300, 3))
    weights, record = np.array([2.0, -0.3, 0.004]), np.array([0.2, 1.0, -40.0])
    asked = perturbation.queries(record, Reference.of(shown, NUMBERS), [(scale, MANY)], np.random.default_rng(4))
    boundary = record @ weights - 0.12  # the true label plays no part: only the side of the record itself
    share = perturbation.stability((asked @ weights > boundary).astype(int), [(scale, MANY)])
    sigma = scale * np.linalg.norm(weights * shown.std(0))
    assert share[0] == pytest.approx(norm.cdf(0.12 / sigma), abs=4 * 0.5 / np.sqrt(MANY))


def test_each_setting_counts_its_own_copies():
    predicted = np.array([[1, 1, 1, 0, 2, *[1] * 26, *[0] * 29, 1], [0, *[1] * 30, *[0] * 15, *[2] * 15]])
    expected = [[0.5, 28 / 30, 1 / 30], [0, 0, 0.5]]
    np.testing.assert_allclose(perturbation.stability(predicted, SETTINGS), expected, rtol=1e-6)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A table of numbers, a category and missing cells, a design of two variants, and logistic regression."""
    folder = tmp_path_factory.mktemp("perturb")
    rng = np.random.default_rng(5)
    size, town = rng.normal(0, 10, 40), rng.choice(["a", "b"], 40)
    target = np.where(size + rng.normal(0, 8, 40) > 0, "q", "p")
    records = pd.DataFrame({"id": [f"r{i:02d}" for i in range(40)], "size": size, "town": town, "target": target})
    records.loc[:3, "size"] = np.nan
    write_table(records, folder / "records.parquet")
    columns = [{"name": "size", "type": "numeric"}, {"name": "town", "type": "categorical", "categories": ["a", "b"]}]
    schema = {"task": "classification", "target": {"name": "y", "type": "categorical", "categories": ["p", "q"]}}
    write_json(schema | {"columns": columns}, folder / "schema.json")
    member = np.arange(40) < 30
    counts = (rng.random((20, 40)) < 0.5) * member
    coordinates = {
        "record": records.id.to_numpy(str), "feature": ["size", "town"], "member": ("record", member),
        "rank": ("record", np.where(member, (23 - np.arange(40)) % 30, -1)),
        "variant": ("model", ["usual"] * 12 + ["copies 2"] * 8), "anonymity": ("model", np.ones(20, int)),
    }  # fmt: skip
    design = {"counts": (("model", "record"), counts.astype(np.uint8))}
    design["columns"] = (("model", "feature"), np.ones((20, 2), dtype=bool))
    write_grid(xr.Dataset(design, coordinates, {"dataset": "towns"}), folder / "design.nc")
    regression = {"class": "sklearn.linear_model.LogisticRegression", "params": {}}
    write_json(regression, folder / "weights/estimator.json")
    card = {"family": "estimator", "mode": "raw", "task": "classification", "name": "rival", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    return folder


def asked(folder, number="0", **wanted):
    files = {"records": "records.parquet", "schema": "schema.json", "design": "design.nc", "model": "model.json"}
    job = SimpleNamespace(
        input=Paths([f"{name}={folder / file}" for name, file in files.items()]),
        output=Paths([str(folder / f"{number}.nc")]),
        params=SimpleNamespace(seed=7, perturbation=WANTED | wanted),
        wildcards=SimpleNamespace(dataset="towns", shard=number),
        **{"threads": 1, "resources": {}},
    )
    script = load_script("attacks_query_perturbed")
    facts = script.main(job, SimpleNamespace(part=lambda name, compute: compute()))
    assert facts == {"seed": 7, "device": "cpu", "dtype": "float32"}
    return read_grid(folder / f"{number}.nc")


def test_the_grid_does_not_depend_on_its_shards(world):
    whole = asked(world)
    shards = [asked(world, str(number), shard=3) for number in range(3)]
    assert [grid.sizes["model"] for grid in shards] == [3, 3, 2]
    xr.testing.assert_identical(xr.concat(shards, "model", data_vars="minimal"), whole)


def test_a_targets_copies_do_not_depend_on_the_other_targets_nor_on_other_settings(world):
    few = asked(world, targets=2, counts=[4], scales=[2.0], count=4)
    xr.testing.assert_equal(few.stable, asked(world).stable.isel(record=slice(2), setting=slice(1)))


def test_the_targets_in_order_of_rank_are_asked_in_the_contexts_of_the_first_variant(world):
    """A cell by hand: scikit-learn, fitted on the context that the design says, asked about the same copies."""
    grid, design = asked(world), read_grid(world / "design.nc")
    assert grid.stable.dims == ("model", "record", "setting")
    assert (grid.stable.dtype, list(zip(grid.scale.values, grid["count"].values, strict=True))) == ("float32", SETTINGS)
    assert grid["rank"].values.tolist() == [0, 1, 2, 3, 4]
    assert set(grid.variant.values) == {"usual"}
    records = pd.read_parquet(world / "records.parquet").set_index("id")
    x = np.column_stack([records["size"], records.town == "b"]).astype(np.float32)
    reference = Reference.of(x[30:], TOWN)
    for target, row in [(0, 0), (3, 7)]:
        name = grid.record.values[target]
        inside = design.counts.values[row] > 0
        assert grid.design.values[row, target] == inside[design.record.values == name]
        stream = seeds.generator(7, "attacks", "towns", "perturbed", name)
        made = perturbation.queries(x[records.index.get_loc(name)], reference, SETTINGS, stream)
        median = np.nanmedian(x[inside, 0])
        context, queries = (np.where(np.isnan(part), [median, 0], part) for part in (x[inside], made))
        spread = [np.column_stack([part[:, 1] == 0, part[:, 1] == 1, part[:, 0]]) for part in (context, queries)]
        predicted = LogisticRegression().fit(spread[0], records.target[inside]).predict(spread[1]) == "q"
        np.testing.assert_array_equal(grid.stable.values[row, target], perturbation.stability(predicted, SETTINGS))
    assert len(np.unique(grid.stable)) > 5, "answers that noise changes"


def test_where_queries_are_coupled_no_target_sees_the_copies_of_another(world, monkeypatch):
    asked_at_once = []

    def counted(self, row, queries, memory, ask=Contexts.query):
        asked_at_once.append(len(queries))
        return ask(self, row, queries, memory)

    monkeypatch.setattr(Contexts, "query", counted)
    usual = asked(world)
    copies = 1 + 30 + 30
    lines, bisections = WANTED["directions"], WANTED["steps"]
    assert asked_at_once == [5 * copies, *[5 * lines] * bisections] * 8
    monkeypatch.setattr(EstimatorBranch, "alone", False)
    asked_at_once.clear()
    xr.testing.assert_identical(asked(world), usual)
    assert asked_at_once == [*[copies] * 5, *[lines] * 5 * bisections] * 8

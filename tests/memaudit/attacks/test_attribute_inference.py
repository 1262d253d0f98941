"""Candidate values and their prior; the posterior over bins by hand; and a memoriser that gives its members away."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script

from memaudit.attacks import attribute_inference
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_grid, write_json, write_table
from memaudit.data import membership_matrices
from memaudit.workflow.job import Paths

pytestmark = pytest.mark.usefixtures("one_thread")

SETS, MEMBERS, RECORDS = 24, 60, 90
TOWNS = ["a", "b", "c"]
AGE = {"name": "age", "type": "numeric"}
TOWN = {"name": "town", "type": "categorical", "categories": TOWNS}
SCRIPT = load_script("attacks_query_attribute")


def test_levels_are_the_middles_of_equally_filled_bins_of_the_reference():
    ages = np.random.default_rng(0).permutation(np.r_[np.arange(16.0), np.nan, np.nan])
    tried = attribute_inference.candidates(AGE, ages, 4)
    assert tried.value.tolist() == [1, 5, 9, 13]
    assert tried.bin.tolist() == [0, 0, 1, 1]
    assert tried.prior.tolist() == [0.25] * 4
    assert tried.truth(np.array([0, 7, 7.5, 99])).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("size", [7, 8, 101])
@pytest.mark.parametrize("levels", [2, 5, 7])
def test_half_of_the_levels_lie_above_the_median(size, levels):
    tried = attribute_inference.candidates(AGE, np.random.default_rng(size).normal(size=size), levels)
    assert tried.bin.sum() == levels // 2
    assert (np.diff(tried.bin) >= 0).all()


def test_ties_at_the_median_are_all_below_the_border():
    tried = attribute_inference.candidates(AGE, np.r_[np.zeros(60), np.arange(1, 41.0)], 5)
    assert (tried.value.tolist(), tried.bin.tolist()) == ([0, 0, 0, 10, 30], [0, 0, 0, 1, 1])


def test_a_number_that_is_mostly_its_largest_value_has_no_two_bins():
    with pytest.raises(AuditError, match=r"attacks/inference/sensitive: half .* largest 'age'"):
        attribute_inference.candidates(AGE, np.r_[np.zeros(10), np.ones(30)], 4)
    with pytest.raises(AuditError, match=r"attacks/inference/sensitive: column 'age' is missing in all"):
        attribute_inference.candidates(AGE, np.full(5, np.nan), 4)


def test_a_category_that_the_reference_lacks_has_a_prior_too():
    tried = attribute_inference.candidates(TOWN, np.array([0, 0, 0, 2, np.nan]), 8)
    assert tried.value.tolist() == tried.bin.tolist() == [0, 1, 2]
    np.testing.assert_allclose(tried.prior, [4 / 7, 1 / 7, 2 / 7])
    assert tried.truth(np.array([2.0, 0.0])).tolist() == [2, 0]


def test_the_posterior_is_bayes_rule():
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(size=(5, 4, 3, 2)), rng.integers(0, 2, 4)  # (model, record, level, class)
    bins, prior = np.array([1, 0, 1]), np.array([0.5, 0.2, 0.3])
    found = attribute_inference.scores(logits.astype(np.float32), labels, bins, prior)
    assert (found.shape, found.dtype) == ((5, 4, 2), np.float64)
    for model, record in np.ndindex(5, 4):
        odds = np.exp(logits[model, record])
        likelihood = odds[:, labels[record]] / odds.sum(1)
        joint = [0.2 * likelihood[1], 0.5 * likelihood[0] + 0.3 * likelihood[2]]
        np.testing.assert_allclose(np.exp(found[model, record]), np.array(joint) / sum(joint), rtol=1e-5)


def test_the_posterior_of_a_nearly_impossible_label_does_not_underflow():
    logits = np.array([[2000.0, 0.0], [2001.0, 0.0]])
    found = attribute_inference.scores(logits, np.array(1), np.array([0, 1]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, -np.log1p(np.exp([-1, 1])))


def test_a_label_that_the_context_lacks_leaves_the_prior():
    logits = np.array([[[0.0, -np.inf], [0.3, -np.inf]], [[0.0, -np.inf], [0.0, 0.0]]])
    found = attribute_inference.scores(logits, np.array([1, 1]), np.array([0, 1]), np.array([0.9, 0.1]))
    np.testing.assert_allclose(np.exp(found), [[0.9, 0.1], [0, 1]])


def test_a_sensitive_column_must_be_in_the_contexts_and_have_values_to_try():
    schema = {"columns": [AGE, {"name": "note", "type": "text"}, TOWN]}
    assert attribute_inference.place(schema, np.array([True, True, True]), "towns", "town") == 2
    with pytest.raises(AuditError, match=r"attacks/inference/sensitive/towns: .* no column 'wage'; .* age, note, town"):
        attribute_inference.place(schema, np.array([True, True, True]), "towns", "wage")
    with pytest.raises(AuditError, match=r"attacks/inference/sensitive/towns: .* no column 'town'"):
        attribute_inference.place(schema, np.array([True, True, False]), "towns", "town")
    with pytest.raises(
        AuditError, match=r"attacks/inference/sensitive/towns: column 'note' holds texts that are no categories"
    ):
        attribute_inference.place(schema, np.array([True, True, True]), "towns", "note")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Labels that nothing predicts, a category far apart, and a nearest neighbour that remembers its context."""
    folder = tmp_path_factory.mktemp("attribute")
    rng = np.random.default_rng(2)
    records = pd.DataFrame(rng.normal(0, 0.3, (RECORDS, 2)), columns=["age", "wage"])
    records["town"] = rng.choice(TOWNS, RECORDS)
    records["target"] = rng.choice(["p", "q"], RECORDS)
    records.insert(0, "id", [f"r{i:02d}" for i in range(RECORDS)])
    records.loc[[4, 70], "town"] = None
    write_table(records, folder / "records.parquet")
    columns = [AGE, {"name": "wage", "type": "numeric"}, TOWN]
    target = {"name": "y", "type": "categorical", "categories": ["p", "q"]}
    write_json({"task": "classification", "target": target, "columns": columns}, folder / "schema.json")
    counts = np.zeros((SETS + 8, RECORDS), dtype=np.uint8)
    counts[:, :MEMBERS] = np.vstack([membership_matrices.balanced(n, MEMBERS, rng) for n in (SETS, 8)])
    coordinates = {
        "record": records.id.to_numpy(str), "feature": ["age", "wage", "town"],
        "member": ("record", np.arange(RECORDS) < MEMBERS), "label": ("record", (records.target == "q").astype(int)),
        "variant": ("model", ["usual"] * SETS + ["copies 2"] * 8), "anonymity": ("model", np.ones(SETS + 8, int)),
    }  # fmt: skip
    design = {"counts": (("model", "record"), counts)}
    design["columns"] = (("model", "feature"), np.ones((SETS + 8, 3), dtype=bool))
    write_grid(xr.Dataset(design, coordinates, {"dataset": "towns"}), folder / "design.nc")
    neighbour = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}}
    write_json(neighbour, folder / "weights/estimator.json")
    card = {"family": "estimator", "mode": "raw", "task": "classification", "name": "rival", "options": {}}
    write_json(card | {"sha256": sha256(folder / "weights")}, folder / "model.json")
    return folder


def asked(folder, column="town", sets=64, shard="0", size=1024, levels=4):
    files = {"records": "records.parquet", "schema": "schema.json", "design": "design.nc", "model": "model.json"}
    inference = {"sensitive": {"towns": column}, "levels": levels, "sets": sets}
    job = SimpleNamespace(
        input=Paths([f"{name}={folder / file}" for name, file in files.items()]),
        output=Paths([str(folder / f"{shard}.nc")]),
        params=SimpleNamespace(seed=7, shard=size, inference=inference),
        wildcards=SimpleNamespace(dataset="towns", shard=shard),
        **{"threads": 1, "resources": {}},
    )
    facts = SCRIPT.main(job, SimpleNamespace(part=lambda name, compute: compute()))
    assert facts == {"seed": 7, "device": "cpu", "dtype": "float32"}
    return read_grid(folder / f"{shard}.nc")


def test_a_memorising_model_gives_away_the_sensitive_value_of_members(world):
    """A member's true value always gives its label, a wrong one as often as not: 7/12 on average against 1/3."""
    grid = asked(world)
    assert grid.logits.dims == ("model", "record", "level", "class")
    found = attribute_inference.scores(grid.logits.values, grid.label.values, grid.bin.values, np.full(3, 1 / 3))
    posterior = np.exp(np.take_along_axis(found, grid.truth.values[None, :, None], -1))[..., 0]
    inside = grid.design.values
    assert posterior[inside].min() > 0.33, "the true value of a member is never ruled out"
    assert posterior[inside].mean() == pytest.approx(7 / 12, abs=0.05)
    assert posterior[~inside].mean() == pytest.approx(1 / 3, abs=0.06)


def test_only_members_with_a_true_value_are_asked_and_truth_is_theirs(world):
    grid = asked(world)
    records = pd.read_parquet(world / "records.parquet").set_index("id")
    assert grid.sizes["record"] == MEMBERS - 1
    assert "r04" not in grid.record.values
    assert [TOWNS[code] for code in grid.truth.values] == records.town[grid.record.values].tolist()
    assert (grid.sizes["model"], set(grid.variant.values)) == (SETS, {"usual"})
    design = read_grid(world / "design.nc").sel(record=grid.record.values)
    assert np.array_equal(grid.design.values, design.counts.values[:SETS] > 0)


def test_a_number_is_tried_at_levels_of_the_non_members(world):
    grid = asked(world, "age", sets=2)
    ages = pd.read_parquet(world / "records.parquet").age.to_numpy(np.float32)
    np.testing.assert_array_equal(grid.value.values, np.sort(ages[MEMBERS:])[[3, 11, 18, 26]])
    np.testing.assert_array_equal(grid.truth.values, ages[:MEMBERS] > np.sort(ages[MEMBERS:])[14])


def test_the_grid_does_not_depend_on_its_shards(world):
    shards = [asked(world, sets=10, shard=str(number), size=4) for number in range(3)]
    assert [grid.sizes["model"] for grid in shards] == [4, 4, 2]
    xr.testing.assert_identical(xr.concat(shards, "model", data_vars="minimal"), asked(world, sets=10))


def test_a_column_that_the_table_lacks_is_said_in_one_line(world):
    with pytest.raises(AuditError, match=r"attacks/inference/sensitive/towns: .* 'height'; name one of age, wage, to"):
        asked(world, "height")

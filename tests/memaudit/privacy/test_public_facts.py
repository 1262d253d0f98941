"""Public schemas: one line for each fault, records encoded each by itself, and the files that are shipped."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from conftest import PROJECT, load
from sklearn import datasets

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.data.column_schema import sort_categories
from memaudit.data.record_encoding import encode
from memaudit.models.model_folder import load as load_model
from memaudit.privacy.public_facts import read_facts, read_public

FACTS = {
    "source": "made up",
    "records": 100,
    "task": "classification",
    "target": ["no", "yes"],
    "columns": {"age": [18, 90], "job": ["nurse", "cook"], "grade": ["10", "9"], "sugar_*": [0, 0.1]},
}
TYPES = {"age": "numeric", "job": "categorical", "grade": "categorical", "sugar_1": "numeric"}
FILES = sorted((PROJECT / "config/public").glob("*.yaml"))
CATALOGUE = load()["datasets"]


def written(folder, **changes):
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(FACTS | changes, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture
def public(tmp_path):
    return read_public(written(tmp_path), TYPES)


@pytest.fixture
def numbers(tmp_path):
    """A public schema with a number as target."""
    return read_public(written(tmp_path, task="regression", target=[0, 5]), TYPES)


def people(**columns):
    frame = {
        "age": [20.0, 1e300, np.nan, -np.inf, 30.0, 40.0],
        "job": ["cook", "nurse", "pilot", None, "nurse", "cook"],
        "grade": ["9", "10", "9", "10", "11", "9"],
        "sugar_1": [0.05, 0.1, 0.2, -1.0, 0.0, np.nan],
        "target": ["no", "yes", "no", "perhaps", None, "yes"],
    }
    return pd.DataFrame(frame | columns).astype({"job": "str", "grade": "str"})


# --- files -------------------------------------------------------------------------------------------------------


def columns(**entries):
    return {"columns": FACTS["columns"] | entries}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"records": 0}, "records: must be greater than or equal to 1"),
        ({"records": 9.5}, "records: must be a valid integer"),
        ({"bounds_from_data": ["salt"]}, "bounds_from_data: salt is no key of columns"),
        ({"source": ""}, "source: string should have at least 1 character"),
        ({"rows": 5}, "rows: unknown key; known: bounds_from_data, columns, records, source, target, task"),
        ({"target": ["yes"]}, "target: classification needs two classes or more, regression [lower, upper]"),
        ({"target": [0, 1]}, "target: classification needs two classes or more, regression [lower, upper]"),
        ({"task": "regression"}, "target: classification needs two classes or more, regression [lower, upper]"),
        (columns(age=[90, 18]), "columns/age: the bounds are [90, 18]; the lower must be below the upper"),
        (columns(age=[18, 18]), "columns/age: the bounds are [18, 18]; the lower must be below the upper"),
        (columns(age=[18, float("nan")]), "columns/age: the bounds are [18, nan]; the lower must be below the upper"),
        (columns(age=[0, 1e39]), "both within float32"),
        (columns(age=[18]), "columns/age: give [lower, upper], two numbers, or a list of categories"),
        (columns(age=None), "columns/age: give [lower, upper], two numbers, or a list of categories"),
        (columns(age=[True, False]), "columns/age: give [lower, upper], two numbers, or a list of categories"),
        (columns(job=["cook", 1]), "columns/job: give [lower, upper], two numbers, or a list of categories"),
        (columns(job=["cook", "nurse", "cook"]), "columns/job: 'cook' is listed twice; remove one"),
        (columns(jobs=["cook"]), "columns/jobs: the table has no column of this name; did you mean `job`?"),
        (columns(**{"salt_*": [0, 1]}), "columns/salt_*: the table has no column of this name"),
        (columns(job=[0, 1]), "columns/job: the table holds 'job' as categorical; give [lower, upper], two numbers"),
        (columns(**{"sugar_*": ["low"]}), "columns/sugar_*: the table holds 'sugar_1' as numeric"),
        ({"columns": {"age": [18, 90]}}, "columns/job: missing; give [lower, upper]"),
    ],
)
def test_a_wrong_file_gets_one_line_with_the_key(tmp_path, changes, line):
    path = written(tmp_path, **changes)
    with pytest.raises(AuditError) as error:
        read_public(path, TYPES)
    assert str(error.value).startswith(f"{path}: ")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_every_fault_of_a_file_is_named(tmp_path):
    path = written(tmp_path, **columns(jobs=["cook"]))
    with pytest.raises(AuditError, match=r"columns/salt: missing.*; columns/jobs: the table has no"):
        read_public(path, TYPES | {"salt": "numeric"})


@pytest.mark.parametrize("kind", ["date", "text"])
def test_a_column_without_bounds_or_categories_is_refused(tmp_path, kind):
    path = written(tmp_path, **columns(born=[0, 1]))
    with pytest.raises(AuditError, match=f"columns/born: the table holds it as {kind}, which has no .* `drop` it"):
        read_public(path, TYPES | {"born": kind})


def test_a_file_that_is_missing_or_no_yaml_is_named(tmp_path):
    with pytest.raises(AuditError, match=r"nobody\.yaml: does not exist; private releases need these facts"):
        read_public(tmp_path / "nobody.yaml", TYPES)
    (tmp_path / "odd.yaml").write_text("a: [1", encoding="utf-8")
    with pytest.raises(AuditError, match=r"odd\.yaml: no readable YAML"):
        read_public(tmp_path / "odd.yaml", TYPES)
    (tmp_path / "list.yaml").write_text("- 1", encoding="utf-8")
    with pytest.raises(AuditError, match=r"list\.yaml: file: must be a valid dictionary"):
        read_public(tmp_path / "list.yaml", TYPES)


def test_a_name_goes_before_patterns_and_the_first_pattern_before_others(tmp_path):
    entries = {"a*": [0, 1], "*": [0, 2], "ab": [0, 3], "v(g)": [0, 4]}
    public = read_public(written(tmp_path, columns=entries), dict.fromkeys(["x", "v(g)", "ab", "ac"], "numeric"))
    assert [column.name for column in public.columns] == ["x", "v(g)", "ab", "ac"]
    assert public.bounds[1].tolist() == [2, 4, 3, 1]


# --- records -----------------------------------------------------------------------------------------------------


def test_records_are_clipped_and_what_is_unknown_is_missing_or_left_out(public):
    x, y, kept = public.encode(people())
    assert kept.tolist() == [True, True, True, False, False, True]
    assert x.dtype == np.float32
    assert y.tolist() == [0, 1, 0, 1]
    nan = np.nan
    np.testing.assert_array_equal(x[:, 0], np.float32([20, 90, nan, 40]))
    np.testing.assert_array_equal(x[:, 1], np.float32([0, 1, nan, 0]))
    np.testing.assert_array_equal(x[:, 2], np.float32([0, 1, 0, 0]))
    np.testing.assert_array_equal(x[:, 3], np.float32([0.05, 0.1, 0.1, nan]))


def test_a_number_target_is_clipped_and_a_missing_one_is_left_out(numbers):
    _, y, kept = numbers.encode(people(target=[1.5, 9.0, -3.0, np.nan, np.inf, 5.0]))
    assert y.tolist() == [1.5, 5.0, 0.0, 5.0, 5.0]
    assert kept.tolist() == [True, True, True, False, True, True]


def test_removing_one_record_leaves_the_others_as_they_are(public):
    frame = people()
    whole = public.encode(frame)
    places = np.cumsum(whole.kept) - 1
    for removed in range(len(frame)):
        rest = public.encode(frame.drop(index=removed))
        np.testing.assert_array_equal(rest.kept, np.delete(whole.kept, removed))
        gone = [places[removed]] if whole.kept[removed] else []
        np.testing.assert_array_equal(rest.x, np.delete(whole.x, gone, axis=0))
        np.testing.assert_array_equal(rest.y, np.delete(whole.y, gone))


def test_a_table_of_which_nothing_is_kept_is_empty(public):
    x, y, kept = public.encode(people().iloc[3:5])
    assert x.shape == (0, 4)
    assert y.shape == (0,)
    assert not kept.any()


def test_codes_are_those_of_a_table_with_every_category(public):
    """Models and evaluation that read the table's own schema.json mean the same class by the same code."""
    frame = people().iloc[[0, 1, 5]].fillna({"sugar_1": 0.0}).assign(age=[20.0, 30.0, 40.0])
    own = {
        "task": "classification",
        "columns": [
            {"name": name, "type": kind, "categories": sort_categories(list(frame[name].unique()))}
            for name, kind in TYPES.items()
        ],
        "target": {"type": "categorical", "categories": sort_categories(list(frame["target"].unique()))},
    }
    for ours, theirs in zip(public.encode(frame), encode(frame, own), strict=False):
        np.testing.assert_array_equal(ours, theirs)


def test_decoded_records_encode_to_themselves(public, numbers):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (50, 2))
    x = np.column_stack([rng.uniform(18, 90, 50), codes, rng.uniform(0, 0.1, 50)]).astype(np.float32)
    x[:4][np.eye(4, dtype=bool)] = np.nan
    x[4] = np.float32([18, 0, 1, 0.1])
    for known, y in ((public, rng.integers(0, 2, 50)), (numbers, rng.uniform(0, 5, 50))):
        frame = known.decode(x, y)
        assert list(frame) == [*TYPES, "target"]
        again = known.encode(frame)
        np.testing.assert_array_equal(again.x, x)
        np.testing.assert_array_equal(again.y, y)
    assert public.decode(x, rng.integers(0, 2, 50))["job"].iloc[:2].isna().tolist() == [False, True]
    assert public.decode(x[:1], np.array([1]))["target"].tolist() == ["yes"]


def test_scaled_numbers_lie_between_minus_one_and_one_and_come_back(public):
    x = np.float32([[18, 1, 0, 0.025], [90, 0, 1, 0.1], [54, np.nan, 1, np.nan], [np.inf, 7, 0, -9]])
    scaled = public.scaled(x)
    nan = np.nan
    expected = [[-1, 1, 0, -0.5], [1, 0, 1, 1], [0, nan, 1, nan], [1, 7, 0, -1]]
    np.testing.assert_allclose(scaled, expected, atol=1e-6)
    np.testing.assert_array_equal(public.unscaled(scaled[:3]), x[:3])
    np.testing.assert_array_equal(public.unscaled(np.full((1, 4), 3.0))[0], np.float32([90, 3, 3, 0.1]))


def test_models_and_encode_take_the_public_schema(public, tmp_path):
    (tmp_path / "weights").mkdir()
    forest = {"class": "sklearn.tree.DecisionTreeClassifier", "params": {"random_state": 0}}
    write_json(forest, tmp_path / "weights/estimator.json")
    facts = {"family": "estimator", "mode": "raw", "task": "classification", "options": {}}
    write_json({**facts, "sha256": sha256(tmp_path / "weights")}, tmp_path / "model.json")
    model = load_model(tmp_path / "model.json", 1, public.schema())
    x, y, _ = public.encode(people())
    logits = model.logits(torch.tensor(x)[None], torch.tensor(y)[None], torch.tensor(x)[None])
    assert logits.shape == (1, 4, 2)
    assert (logits[0].argmax(1).numpy() == y).all()
    np.testing.assert_array_equal(encode(people().iloc[[0]], public.schema())[0], x[:1])


# --- the files that are shipped ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_agrees_with_the_catalogue(path):
    facts, entry = read_facts(path), CATALOGUE[path.stem]
    assert path.read_text(encoding="utf-8").startswith("# Source: ")
    assert (facts.records, facts.task) == (entry["rows"], entry["task"])
    if not any(mark in name for name in facts.columns for mark in "*?") and "columns" in entry:
        assert len(facts.columns) == entry["columns"]


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits", "diabetes"])
def test_the_files_of_scikit_learns_tables_hold_for_them(name):
    bundle = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bundle.frame
    if "target_names" in bundle:
        frame = frame.assign(target=np.asarray(bundle.target_names)[bundle.target].astype(str))
    public = read_public(PROJECT / f"config/public/{name}.yaml", dict.fromkeys(bundle.data.columns, "numeric"))
    x, y, kept = public.encode(frame)
    assert kept.all()
    np.testing.assert_array_equal(x, bundle.data.to_numpy(np.float32))
    np.testing.assert_array_equal(public.decode(x, y)["target"], frame["target"])


def test_patterns_hold_for_the_columns_they_mean():
    shipped = PROJECT / "config/public"
    statistics = ["mean", "gmean", "entropy", "range", "std"]
    elements = ["atomic_mass", "fie", "atomic_radius", "Density"]
    elements += ["ElectronAffinity", "FusionHeat", "ThermalConductivity", "Valence"]
    names = ["_".join(parts) for parts in product(statistics, elements)]
    names = ["number_of_elements", *names, *(f"wtd_{name}" for name in names)]
    public = read_public(shipped / "superconduct.yaml", dict.fromkeys(names, "numeric"))
    bounds = {column.name: column.bounds for column in public.columns}
    assert len(bounds) == 81
    assert bounds["wtd_std_fie"] == (0, 700)
    assert bounds["wtd_gmean_fie"] == (300, 1700)
    assert bounds["range_fie"] == (0, 1700)
    assert bounds["wtd_entropy_Valence"] == (0, 2.2)
    assert bounds["gmean_Density"] == (0, 23000)
    words = ["fixed acidity", "volatile.acidity", "citric_acid", "residual sugar", "chlorides", "free.sulfur.dioxide"]
    words += ["total_sulfur_dioxide", "density", "pH", "sulphates", "alcohol"]
    read_public(shipped / "wine-quality.yaml", dict.fromkeys(words, "numeric"))
    read_public(shipped / "madelon.yaml", {f"V{number}": "numeric" for number in range(1, 501)})

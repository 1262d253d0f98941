"""Synthetic tables have the columns, categories, classes and missing cells of the shapes, and a target to learn."""

import arff
import numpy as np
import pytest
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.rehearsal.stand_in_tables import Shape, arff_of, openml_description, shape_of, synthetic

SHAPE = Shape({"age": (18.0, 90.0), "job": ("cook", "nurse"), "note": None}, "y", ("no", "it's", "yes"), ["job"])


def test_a_shape_comes_from_the_public_file_and_names_fit_its_patterns():
    public = {"target": ["a", "b"], "columns": {"Mean_*": [0, 9], "SD?x": ["p", "q"]}}
    shape = shape_of("wilt", {"target": "class"}, public, {"names": ["Mean_1", "Mean_2", "SD_x"], "missing": ["SD_x"]})
    assert shape.columns == {"Mean_1": (0, 9), "Mean_2": (0, 9), "SD_x": ("p", "q")}
    assert (shape.values, shape.missing) == (("a", "b"), ["SD_x"])
    assert list(shape_of("wilt", {"target": "class"}, public, {}).columns) == ["Mean_1", "SD_x"]
    with pytest.raises(AuditError, match="other: fits none of"):
        shape_of("wilt", {"target": "class"}, public, {"names": ["other"]})


def test_a_pattern_alone_is_all_columns_and_an_unknown_table_is_named():
    assert (
        len(shape_of("m", {"target": "c", "columns": 5}, {"target": ["1", "2"], "columns": {"V*": [0, 1]}}, {}).columns)
        == 5
    )
    with pytest.raises(AuditError, match="m: no file in config/public"):
        shape_of("m", {"target": "c"}, None, {})


def test_columns_that_are_left_out_are_in_the_file():
    shape = shape_of("m", {"target": "c", "drop": ["Id"]}, {"target": ["1", "2"], "columns": {"V1": [0, 1]}}, {})
    assert list(shape.columns) == ["V1", "Id"]


def test_a_table_has_every_category_and_class_and_no_two_equal_rows():
    table = synthetic(SHAPE, 60, np.random.default_rng(0), missing=0.2)
    assert list(table) == ["age", "job", "note", "y"]
    assert table["age"].between(18, 90).all()
    assert set(table["job"].dropna()) == {"cook", "nurse"}
    assert 0 < table["job"].isna().sum() < 30
    assert table["y"].value_counts().to_dict() == {"no": 20, "it's": 20, "yes": 20}
    assert not table.duplicated().any()


def test_a_target_depends_on_the_first_columns():
    shape = Shape({"x": (0.0, 1.0), "z": (0.0, 1.0)}, "y", (0.0, 10.0))
    table = synthetic(shape, 400, np.random.default_rng(0))
    assert table["y"].between(0, 10).all()
    assert np.corrcoef(table["x"], table["y"])[0, 1] > 0.4


def test_the_arff_file_holds_the_same_table_and_its_description_the_checksum():
    table = synthetic(SHAPE, 12, np.random.default_rng(0)).drop(columns="note")
    content = arff_of(table, SHAPE)
    read = arff.loads(content)
    assert [name for name, _ in read["attributes"]] == list(table)
    assert [row[-1] for row in read["data"]] == table["y"].tolist()
    described = openml_description({"id": 7, "version": 3, "target": "y"}, "a & b", content, "http://127.0.0.1/x")
    assert "<oml:id>7</oml:id>" in described
    assert "a &amp; b" in described


def test_public_files_of_the_project_give_shapes():
    import yaml

    public = yaml.safe_load((PROJECT / "config/public/ames-housing.yaml").read_text(encoding="utf-8"))
    shape = shape_of("ames-housing", {"target": "SalePrice"}, public, {})
    assert synthetic(shape, 30, np.random.default_rng(0)).shape == (30, len(shape.columns) + 1)

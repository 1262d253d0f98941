"""Tried values and joined halves are queried; a model that looks records up is found, one that ignores them is not."""

import json

import numpy as np
import pandas as pd
import pytest
from context_files import draw, run

from memaudit.auditing.summaries import summarize_inference
from memaudit.common.checksums import sha256
from memaudit.common.io import read_grid, read_table, write_json, write_table

pytestmark = pytest.mark.usefixtures("one_thread")
ROWS, SETS, TARGETS = 160, 16, 40
NEIGHBOUR = {"class": "sklearn.neighbors.KNeighborsClassifier", "params": {"n_neighbors": 1}}
IGNORANT = {"class": "sklearn.dummy.DummyClassifier", "params": {"strategy": "uniform", "random_state": 0}}


def write_table_of_codes(folder):
    """Records whose column c0 is a code that follows from nothing, and targets at random."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"c0": rng.integers(0, 4, ROWS).astype(float)})
    for name in ("c1", "c2", "c3"):
        table[name] = rng.normal(size=ROWS)
    names = np.array([f"{number:04d}" for number in range(ROWS)])
    write_table(table.assign(target=rng.integers(0, 6, ROWS).astype(str), id=names), folder / "records.parquet")
    sides = np.where(np.arange(ROWS) < 120, "members", "nonmembers")
    write_table(pd.DataFrame({"id": names, "side": sides}), folder / "split.parquet")
    columns = [{"name": name, "type": "numeric"} for name in table]
    target = {"name": "target", "type": "categorical", "categories": [str(one) for one in range(6)]}
    write_json({"task": "classification", "columns": columns, "target": target}, folder / "schema.json")


def write_model(folder, name, estimator):
    weights = folder / name / "weights"
    weights.mkdir(parents=True)
    write_json(estimator, weights / "estimator.json")
    card = {"name": name, "family": "estimator", "task": "classification", "mode": "raw", "options": {}}
    write_json(card | {"sha256": sha256(weights)}, folder / name / "model.json")


@pytest.fixture(scope="module")
def results(tmp_path_factory, project):
    """Grids of the answers and summaries, by model."""
    folder = tmp_path_factory.mktemp("candidates")
    write_table_of_codes(folder)
    draw(project, folder, "main", sensitive="c0", sets=SETS)
    inference = {"sets": SETS, "targets": TARGETS}
    audit = {"infer": ["c0", "c1"], "threats": ["probabilities", "linkability"], "inference": inference}
    found = {}
    for name, estimator in {"nearest": NEIGHBOUR, "ignorant": IGNORANT}.items():
        write_model(folder, name, estimator)
        files = ["records=records.parquet", "schema=schema.json", "design=main.nc", f"model={name}/model.json"]
        params, table = {"seed": 1, "code": "by hand"}, {"dataset": "wine"}
        run(project, folder, "audit_query_candidates", files, [f"{name}.nc"], params | {"audit": audit}, table)
        files = [f"candidates={name}.nc", "schema=schema.json"]
        attacks = {"replicates": 50, "permutations": 19}
        run(project, folder, "audit_judge_inference", files, [f"{name}.parquet"], params | {"attacks": attacks}, table)
        called = {f"c{place}": f"column {place}" for place in range(4)}
        summary = summarize_inference.inference(read_table(folder / f"{name}.parquet"), called)
        found[name] = read_grid(folder / f"{name}.nc"), summary
    return found


def test_every_tried_value_is_queried_in_every_context(results):
    grid, _ = results["nearest"]
    assert list(grid.question.values) == ["c0", "c1", "halves"]
    assert dict(grid.sizes) == {"model": SETS, "question": 3, "record": TARGETS, "level": 8, "bin_number": 8}
    assert set(grid.sel(question="c0").truth.values) == {0, 1, 2, 3}
    assert np.isnan(grid.sel(question="c0").own.values[..., 4:]).all()
    priors = grid.prior_known.sum("bin_number")
    assert priors.values == pytest.approx(1)


def test_a_model_that_looks_records_up_gives_columns_and_halves_of_members_away(results):
    _, summary = results["nearest"]
    code, number, halves = summary.questions
    assert (code.column, number.column, halves.column) == ("column 0", "column 1", None)
    assert (code.answers, code.targets, summary.contexts) == (4, TARGETS, SETS)
    for question in (code, halves):
        best = question.most()
        assert best.detected
        assert best.excess.low > 0.1
        assert best.nonmembers.estimate < best.without_model.high + 0.15  # nothing follows from the population
        assert question.lookup.detected
    assert not summary.failed()


def test_a_model_that_ignores_its_context_gives_nothing_away(results):
    _, summary = results["ignorant"]
    assert not any(one.detected for question in summary.questions for one in question.adversaries)
    assert all(one.excess.estimate == pytest.approx(0, abs=0.05) for one in summary.questions[0].adversaries)
    assert summary.questions[0].lookup.detected  # the test itself works
    assert summary.innocents >= 3
    assert json.loads(summary.model_dump_json())["questions"][2]["column"] is None

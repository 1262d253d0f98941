"""A study takes any family of models by a line of the catalogue; what cannot work ends before its first job."""

import shutil
import subprocess

import pytest
import torch

from memaudit.common.io import read_grid, read_json
from memaudit.rehearsal import small_tabpfn
from workflow.conftest import SNAKEMAKE, Checkout

pytestmark = pytest.mark.usefixtures("warm_jobs")

GRID = "results/smoke/signals/lira/wine/population.nc"


def ask(folder, line, *arguments, grid=GRID):
    """Add a line to the catalogue, choose its model, make a grid."""
    catalogue = folder / "config/models.yaml"
    catalogue.write_text(f"{catalogue.read_text()}  {line}\n")
    command = [*SNAKEMAKE, "--configfile", "config/smoke.yaml", "--config", 'lira={"model": "mine"}', *arguments]
    return subprocess.run([*command, "--", grid], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("models") / "memaudit")


@pytest.fixture
def folder(checkout):
    """A checkout with its own catalogue and no results."""
    catalogue = checkout.folder / "config/models.yaml"
    before = catalogue.read_text()
    shutil.rmtree(checkout.folder / "results", ignore_errors=True)
    yield checkout.folder
    catalogue.write_text(before)


@pytest.mark.xdist_group("models")
@pytest.mark.parametrize("mode", ["raw", "as_deployed"])
def test_a_study_asks_a_tabpfn_file_by_one_line_of_the_catalogue(folder, mode):
    file = small_tabpfn.write(folder / "my", "v2", "classification")
    options = ", options: {n_estimators: 2}" if mode == "as_deployed" else ""
    line = f"mine: {{family: tabpfn, path: my/{file.name}, mode: {mode}, licence: none{options}}}"
    done = ask(folder, line)
    assert done.returncode == 0, done.stdout + done.stderr
    grid = read_grid(folder / GRID)
    assert grid.attrs["mode"] == mode
    assert grid.signal.notnull().all()
    assert grid.signal.std() > 0
    assert read_json(folder / "results/smoke/models/mine/model.json")["origin"].endswith(f"my/{file.name}")


@pytest.mark.xdist_group("models")
def test_a_study_asks_what_people_use_today(folder):
    line = "mine: {family: estimator, estimator: sklearn.tree.DecisionTreeClassifier, licence: BSD-3-Clause}"
    done = ask(folder, line)
    assert done.returncode == 0, done.stdout + done.stderr
    grid = read_grid(folder / GRID)
    members = grid.signal.where(grid.design.sel(record=grid.record))
    others = grid.signal.where(~grid.design.sel(record=grid.record))
    assert members.mean() > others.mean(), "a full tree remembers its training set"


@pytest.mark.xdist_group("models")
def test_a_file_of_another_family_ends_the_run_before_its_first_job(folder):
    done = ask(folder, "mine: {family: tabpfn, path: resources/tabicl-small/tabicl-small.ckpt, licence: MIT}")
    assert "resources/tabicl-small/tabicl-small.ckpt: " in refused(done, folder)


@pytest.mark.xdist_group("models")
@pytest.mark.parametrize("family", ["tabpfn", "text"])
def test_a_path_that_is_not_there_ends_the_run_before_its_first_job(folder, family):
    done = ask(folder, f"mine: {{family: {family}, path: my/nothing.ckpt, licence: MIT}}")
    assert "models/mine/path: there is no file my/nothing.ckpt" in refused(done, folder)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.xdist_group("models")
def test_a_device_that_is_not_there_ends_the_run_before_its_first_job(folder, monkeypatch):
    monkeypatch.setenv("MEMAUDIT_DEVICE", "cuda")
    done = ask(folder, "mine: {family: estimator, estimator: sklearn.tree.DecisionTreeClassifier, licence: MIT}")
    assert refused(done, folder).startswith("memaudit: MEMAUDIT_DEVICE=cuda: there is no such device here")


def refused(done, folder):
    """The one line of a run that ended before it did anything."""
    told = [text for text in (done.stdout + done.stderr).splitlines() if text.startswith("memaudit: ")]
    assert done.returncode != 0
    assert len(told) == 1, done.stdout + done.stderr
    assert not list((folder / "results").rglob("*.parquet"))
    return told[0]

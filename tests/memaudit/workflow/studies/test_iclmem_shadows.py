"""Shadow models of a small section `iclmem`: their conditions, files and sizes."""

import pytest
from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.iclmem_lookups import Iclmem

TRUTH = {"datasets": ["wine"], "arms": ["lr_1e_3", "canaries"], "models": 12, "models_per_job": 8, "targets": 20}


def ground_truth(**changes):
    run = RunConfig(load(), PROJECT)
    run.config["iclmem"]["ground_truth"] = TRUTH | {"controls": 5, "epochs": [10]} | changes
    return Iclmem(run).ground_truth


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_arms_without_the_table_have_no_shadow_models():
    truth = ground_truth()
    assert truth.arms == {"lr_1e_3": {"labels": "normal", "learning_rate": 1e-3}}
    assert truth.shards(None) == [f"<results>/signals/iclmem/ground_truth/wine/lr_1e_3/{at}.nc" for at in range(2)]
    assert truth.results == ["<results>/scores/iclmem/ground_truth.parquet"]


def test_no_tables_mean_no_results_and_no_jobs():
    truth = ground_truth(datasets=[])
    assert (truth.results, truth.shards(None), truth.sizes(), truth.arms) == ([], [], {}, {})


def test_work_grows_with_models_epochs_and_probed_pairs():
    probes = ground_truth().sizes()["iclmem_probe_shadows"]
    assert list(probes) == ["wine/lr_1e_3/0", "wine/lr_1e_3/1"]
    first, second = probes.values()
    assert first.work == 2 * second.work
    assert first.work > ground_truth(targets=10).sizes()["iclmem_probe_shadows"]["wine/lr_1e_3/0"].work
    assert first.work > ground_truth(epochs=[1]).sizes()["iclmem_probe_shadows"]["wine/lr_1e_3/0"].work
    judged = ground_truth().sizes()["iclmem_judge_shadows"][""]
    assert ground_truth(models=24).sizes()["iclmem_judge_shadows"][""].work == 2 * judged.work


def test_judging_asks_for_the_memory_of_all_permutations_of_a_condition():
    truth = ground_truth()
    assert truth.sizes()["iclmem_judge_shadows"][""].forward == 32 * 12 * 25 * 1999
    assert truth.judging_memory(None) == round(32 * 12 * 25 * 1999 / 10**6)
    # At the counts of the paper .54 MB were measured for each of 9,999 permutations.
    paper = Iclmem(RunConfig(load("paper"), PROJECT)).ground_truth
    assert 0.54 * 9999 < paper.judging_memory(None) < 12_000

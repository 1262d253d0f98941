"""What jobs request against the partitions of a cluster."""

from types import SimpleNamespace

import pytest
from snakemake.resources import Resources

from memaudit.workflow.cluster_limits import partition_faults, typical_job
from memaudit.workflow.run_config import grows

PARTITIONS = "partitions: {cpu: {max_runtime: 12h, max_mem_mb: 16000}, gpu: {max_runtime: 2d, max_gpu: 1}}\n"


def job(name, threads=1, **resources):
    return SimpleNamespace(rule=SimpleNamespace(name=name), resources=resources, threads=threads)


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "partitions.yaml"
    path.write_text(PARTITIONS)
    return SimpleNamespace(executor_settings=SimpleNamespace(partition_config=path))


def test_a_job_that_no_partition_takes_is_named_once_by_its_rule(cluster):
    fitting = [job("small", mem_mb=8000, runtime=600), job("tuned", mem_mb=90000, runtime=2000, gpu=1)]
    large = [job("large", mem_mb=20000, runtime=3000, gpu=2), job("large", mem_mb=20000, runtime=3000, gpu=2)]
    assert partition_faults(cluster, fitting) == []
    [line] = partition_faults(cluster, [*fitting, *large])
    assert "no partition takes a job of large (mem_mb 20000, runtime 3000, gpu 2, threads 1); state the limits" in line
    assert line.endswith("in the profile (set-resources/large)")
    assert partition_faults(cluster, [job("large", runtime=9000, slurm_partition="long")]) == []


def test_without_a_file_of_partitions_nothing_is_compared(monkeypatch):
    monkeypatch.delenv("SNAKEMAKE_SLURM_PARTITIONS", raising=False)
    assert partition_faults(SimpleNamespace(executor_settings=None), [job("large", runtime=10**6)]) == []


def test_a_rule_has_the_requests_that_no_job_changes():
    resources = Resources.from_mapping(
        {"mem_mb": grows(8000), "runtime": "12h", "gpu": 1, "_cores": 2, "gpu_model": lambda wildcards: wildcards.kind}
    )
    typical = typical_job(SimpleNamespace(name="tune", resources=resources))
    assert typical.resources == {"mem_mb": 8000, "runtime": 720, "gpu": 1, "_cores": 2}
    assert typical.threads == 2

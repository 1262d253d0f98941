"""The workflow as a `module` of another one: paths, scripts and results of a killed job hold there, too."""

import re
import subprocess

import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from workflow.conftest import SNAKEMAKE

SNAKEFILE = f"""
module memaudit:
    snakefile:
        "{PROJECT}/Snakefile"


use rule * from memaudit as memaudit_*


rule mine:
    default_target: True
    input:
        "results/smoke/signals/lira/wine/superset0/0.nc",
"""


@pytest.fixture
def outer(tmp_path):
    """The folder of another workflow that takes this one as a module."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


def test_another_workflow_makes_a_result_of_this_one(outer):
    command = [*SNAKEMAKE, "--cores", "1", "--configfile", str(PROJECT / "config/smoke.yaml")]
    done = subprocess.run(command, cwd=outer, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sidecar = read_json(outer / "results/smoke/provenance/lira_query_shadows/wine/superset0/0.json")
    assert sidecar["rule"] == "lira_query_shadows"
    again = subprocess.run([*command, "-n"], cwd=outer, capture_output=True, text=True, check=True)
    assert "Nothing to be done" in again.stdout + again.stderr


DEPLOYED = f"""
configfile: "config/config.yaml"


module memaudit:
    snakefile:
        "{PROJECT}/Snakefile"
    config:
        config


use rule * from memaudit as memaudit_*


rule mine:
    default_target: True
    input:
        "results/mine/signals/lira/wine/superset0/0.nc",
"""


@pytest.fixture
def deployed(tmp_path):
    """A workflow folder as snakedeploy leaves it: workflow/Snakefile, and a config of a few keys."""
    for name, text in (
        ("workflow/Snakefile", DEPLOYED),
        ("config/config.yaml", "run: mine\nlira: {models: 192, shard: 64, sizes: [64, 192]}\n"),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_modules_config_lies_over_the_projects(deployed):
    done = subprocess.run([*SNAKEMAKE, "-n"], cwd=deployed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "results/mine/signals/lira/wine/superset0/0.nc" in done.stdout
    planned = subprocess.run(
        [*SNAKEMAKE, "-n", "results/mine/scores/lira/wine/strategies.parquet"],
        cwd=deployed,
        capture_output=True,
        text=True,
        check=False,
    )
    # Three shards of the 192 models, where the project has another number of each.
    shards = set(re.findall(r"results/mine/signals/lira/wine/efficient/(\d+)\.nc", planned.stdout))
    assert shards == {"0", "1", "2"}, planned.stdout + planned.stderr


def test_a_modules_config_is_checked(deployed):
    (deployed / "config/config.yaml").write_text("run: mine\nlira: {designs: {}}\n")
    done = subprocess.run([*SNAKEMAKE, "-n"], cwd=deployed, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "lira/designs: unknown key; did you mean `design`?" in done.stdout + done.stderr

"""The workflow as a `module` of another one: paths, scripts and results of a killed job hold there, too."""

import os
import re
import shutil
import subprocess
from threading import Thread

import pytest
from conftest import PROJECT
from file_server import Server

from memaudit.common.io import read_json
from workflow.conftest import SNAKEMAKE, Checkout

pytestmark = pytest.mark.long

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


# What snakedeploy 0.17.1 writes into workflow/Snakefile.
BY_ADDRESS = """
from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


# declare https://github.com/owner/memaudit as a module
module memaudit:
    snakefile:
        github("owner/memaudit", path="Snakefile", tag="v9")
    config:
        config


# use all rules from https://github.com/owner/memaudit
use rule * from memaudit
"""


@pytest.fixture(scope="module")
def at_an_address(tmp_path_factory):
    """Environment in which git finds this project, as tag v9, where it looks for github.com; and the commit."""
    folder = tmp_path_factory.mktemp("server")
    source = Checkout(folder / "source").folder
    names = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"], ["tag", "v9"]):
        subprocess.run(["git", "-C", source, *arguments], env=os.environ | names, check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", source, folder / "owner/memaudit"], check=True)
    # snakedeploy gives names without .git.
    stand_in = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{folder}/.insteadOf"}
    stand_in |= {"GIT_CONFIG_VALUE_0": "https://github.com/", "XDG_CACHE_HOME": str(folder / "cache")}
    commit = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    # The library is the address's own, not the one of the test.
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | stand_in, commit.stdout.strip()


def test_another_workflow_makes_a_result_by_an_address_alone(at_an_address, tmp_path):
    environment, commit = at_an_address
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text(BY_ADDRESS)
    shutil.copytree(PROJECT / "config", tmp_path / "config")
    result = "results/smoke/signals/lira/wine/superset0/0.nc"
    command = [*SNAKEMAKE, "--cores", "1", "--configfile", "config/smoke.yaml", "--", result]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sidecar = read_json(tmp_path / "results/smoke/provenance/lira_query_shadows/wine/superset0/0.json")
    assert sidecar["git"] == {"commit": commit, "dirty": False}
    assert [path.name for path in (tmp_path / ".snakemake/memaudit").iterdir()] == [commit]


@pytest.mark.skipif(not shutil.which("snakedeploy"), reason="no snakedeploy: `pip install snakedeploy` installs it")
def test_snakedeploy_leaves_a_project_that_draws_a_figure(at_an_address, tmp_path):
    environment, _ = at_an_address
    address = ["https://github.com/owner/memaudit", tmp_path / "mine", "--tag", "v9"]
    subprocess.run(["snakedeploy", "deploy-workflow", *address], env=environment, check=True)
    assert (tmp_path / "mine/workflow/Snakefile").read_text().split() == BY_ADDRESS.split()
    # Of simulated scores: no table is fetched and no model queried.
    figure = "results/smoke/figures/lira_fpc_sigma.svg"
    command = [*SNAKEMAKE, "--cores", "1", "--configfile", "config/smoke.yaml", "--", figure]
    done = subprocess.run(command, cwd=tmp_path / "mine", env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "mine" / figure).stat().st_size > 0


def test_an_address_without_a_repository_is_refused_in_one_line(tmp_path):
    with Server() as server:
        server.files = {f"/{name}": (PROJECT / name).read_bytes() for name in ("Snakefile", "rules/setup.smk")}
        Thread(target=server.serve_forever).start()
        (tmp_path / "Snakefile").write_text(SNAKEFILE.replace(f"{PROJECT}/Snakefile", f"{server.url}/Snakefile"))
        command = [*SNAKEMAKE, "-n"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        server.shutdown()
    assert done.returncode != 0
    assert "/rules: a module needs its library and its catalogues; give github(...)" in done.stdout + done.stderr


def test_the_test_config_of_the_catalogue_is_the_smoke_config_and_plans_the_whole_run(tmp_path):
    assert (PROJECT / ".test/config/config.yaml").samefile(PROJECT / "config/smoke.yaml")
    shutil.copytree(PROJECT / ".test", tmp_path / ".test", ignore=shutil.ignore_patterns("results", ".snakemake"))
    command = [*SNAKEMAKE, "-n", "--directory", ".test", "--configfile", ".test/config/config.yaml"]
    command += ["--snakefile", str(PROJECT / "Snakefile")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "results/smoke/report/index.html" in done.stdout

"""The pages that say how to add something: their files are written, their changes made, their commands run."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from memaudit.report import docs_pages
from workflow.conftest import SNAKEMAKE, Checkout
from workflow.test_readme import customers
from workflow.test_smoke import edited

pytestmark = pytest.mark.usefixtures("warm_jobs")

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(page, folder, replace=None):
    """Do what a page says, in a checkout; `replace`: texts that a test must put its own in the place of."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    for old, new in (replace or {}).items():
        assert old in text
        text = text.replace(old, new)
    for language, block in BLOCK.findall(text):
        if language == "sh":
            run(at_smoke_size(block), folder)
        elif language == "diff":
            change(block, folder)
        else:
            path = folder / re.match(r"# (\S+)\n", block)[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")


def at_smoke_size(commands):
    if "--configfile" in commands:
        return commands.replace("--configfile", "--configfile config/smoke.yaml")
    return commands.replace("snakemake ", "snakemake --configfile config/smoke.yaml ").replace("/demo/", "/smoke/")


def change(block, folder):
    """Each hunk's context and removed lines stand in the file once; added lines come in their place."""
    name, _, hunks = block.removeprefix("--- ").partition("\n")
    path = folder / name
    text = path.read_text(encoding="utf-8")
    for hunk in hunks.split("@@\n"):
        lines = hunk.splitlines()
        old, new = ("\n".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
        assert text.count(old) == 1, f"{name} has no such place any more:\n{old}"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def run(commands, folder):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euc", commands], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"


@pytest.mark.xdist_group("smoke")
def test_add_an_attack_and_a_table(smoke, tmp_path):
    folder = tmp_path / "memaudit"
    shutil.copytree(smoke.folder, folder, symlinks=True)
    grid = folder / "results/smoke/signals/lira/wine/efficient.nc"
    before = grid.stat().st_mtime_ns
    for page in ("add-an-attack.md", "add-a-table.md"):
        follow(page, folder)
    assert grid.stat().st_mtime_ns == before, "the shadow models are kept"
    attacks = pd.read_csv(folder / "results/smoke/tables/lira_attacks.csv")
    auc = attacks[(attacks.attack == "rank") & (attacks.metric == "auc")].iloc[0]
    assert auc.low < auc.estimate < auc.high
    assert abs(auc.null - 0.5) < 0.05
    sizes = pd.read_csv(folder / "results/smoke/tables/mine_sizes.csv")
    assert set(sizes.models) == {16, 64}
    assert sizes["null"].notna().all()
    # One of a thousand of the non-members of 16 models is less than two: no interval.
    resolved = (sizes["models"] == 64) | (sizes["metric"] != "tpr@0.001")
    assert (sizes[["low", "high"]].notna().all(axis=1) == resolved).all()


@pytest.mark.xdist_group("smoke")
def test_add_a_figure(smoke, tmp_path):
    folder = tmp_path / "memaudit"
    shutil.copytree(smoke.folder, folder, symlinks=True)
    grid = folder / "results/smoke/signals/lira/wine/efficient.nc"
    before = grid.stat().st_mtime_ns
    follow("add-a-figure.md", folder)
    assert grid.stat().st_mtime_ns == before, "the models are not queried again"
    for form in ("svg", "png", "pdf"):
        assert (folder / f"results/smoke/figures/lira_agreement.{form}").stat().st_size > 0


@pytest.mark.xdist_group("smoke")
def test_a_finished_run_can_be_published_and_a_changed_one_cannot(smoke, tmp_path):
    (tmp_path / "runs.yaml").write_text("smoke: {command: make smoke, tables: [attacks_cost]}\n")
    command = [
        sys.executable,
        "workflow_scripts/maintenance/publish_results.py",
        "--input",
        f"runs={tmp_path}/runs.yaml",
    ]
    command += ["--output", f"run={tmp_path}/smoke.json", f"results={tmp_path}/smoke.parquet"]
    command += ["--params", '{"run": "smoke"}']
    subprocess.run(command, cwd=smoke.folder, env=smoke.environment, check=True)
    published = read_json(tmp_path / "smoke.json")
    table = pd.read_csv(smoke.results / "tables/lira_claims.csv", dtype=str, keep_default_na=False)
    assert published["studies"]["lira"]["claims"]["rows"] == table.to_dict("records")
    assert published["config"]["lira"]["models"] == 64
    assert "lira_query_shadows" in published["code"]
    assert (smoke.results / "tables/attacks_cost.md").read_text() in docs_pages.results_of(published, published)
    assert all(sentence in docs_pages.results(published) for sentence in sentences(published))
    again = judge_anew(smoke, tmp_path)
    for name, study in published["studies"].items():
        for kind in {"claims", "headlines"} & study.keys():
            assert in_order(again["studies"][name][kind]["rows"]) == in_order(study[kind]["rows"])
    assert again["code"] == published["code"]
    path = smoke.results / "tables/lira_claims.csv"
    with edited(path, path.read_text().replace("reproduced", "Reproduced", 1)):
        done = subprocess.run(
            command, cwd=smoke.folder, env=smoke.environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 1
    assert "memaudit: results/smoke/tables/lira_claims.csv: changed since it was made" in done.stderr


def judge_anew(smoke, folder):
    command = [sys.executable, "workflow_scripts/maintenance/rejudge_published.py", "--output", f"{folder}/again.json"]
    command += ["--input", f"run={folder}/smoke.json", f"results={folder}/smoke.parquet", "claims=config/claims.yaml"]
    subprocess.run(command, cwd=smoke.folder, env=smoke.environment, check=True)
    return read_json(folder / "again.json")


def in_order(rows):
    """The values of a sentence are kept without their order."""
    return sorted(rows, key=lambda row: sorted(row.items()))


def sentences(published):
    found = [row["sentence"] for study in published["studies"].values() for row in study["headlines"]["rows"]]
    assert found
    return found


@pytest.mark.long
@pytest.mark.xdist_group("add_model")
def test_add_a_model_and_a_family(tmp_path):
    folder = Checkout(tmp_path / "memaudit").folder
    for page in ("add-a-model.md", "add-a-family.md"):
        follow(page, folder)
    assert (folder / "results/checkpoint/models/my-tabicl/weights/tabicl-small.ckpt").exists()
    attacks = pd.read_csv(folder / "results/kernel/tables/lira_attacks.csv")
    auc = attacks[(attacks.attack == "lira mean") & (attacks.metric == "auc")].set_index("records")
    assert auc.low["members"] > 0.6, "a kernel of small bandwidth remembers its context"
    assert auc.low["placebo"] < 0.5 < auc.high["placebo"]


@pytest.mark.xdist_group("add_model")
def test_gated_weights_run_only_with_the_line_that_accepts_them(tmp_path):
    folder = Checkout(tmp_path / "memaudit").folder
    block = next(text for _, text in BLOCK.findall((PROJECT / "docs/add-a-model.md").read_text()) if "gated" in text)
    planned = plan(folder, block)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    refused = plan(folder, re.sub(r"accept_licences.*\n", "", block))
    assert refused.returncode != 0
    assert (
        "lira/model: the weights of my-gated (non-commercial) have terms of their own"
        in refused.stdout + refused.stderr
    )


def plan(folder, config):
    (folder / "mine.yaml").write_text(config)
    command = [*SNAKEMAKE, "-n", "--configfile", "config/smoke.yaml", "mine.yaml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def server(tmp_path):
    """Serves the test's folder."""
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.xdist_group("add_data")
def test_add_a_data_set(tmp_path, server):
    folder = Checkout(tmp_path / "memaudit").folder
    customers(folder)
    table = pd.read_csv(folder / "customers.csv")
    table.insert(0, "customer_number", range(len(table)))
    for path in (folder / "customers.csv", tmp_path / "customers.csv"):
        table.to_csv(path, index=False)
    found = hashlib.sha256((tmp_path / "customers.csv").read_bytes()).hexdigest()
    follow("add-a-data-set.md", folder, {"https://example.org": server, "0" * 64: found})
    for name in ("mine", "address"):
        splits = pd.read_csv(folder / f"results/{name}/tables/data_splits.csv")
        assert set(splits.dataset) == {"customers"}
    planned = plan(folder, (folder / "openml.yaml").read_text())
    assert planned.returncode == 0, planned.stdout + planned.stderr

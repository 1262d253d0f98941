"""The whole workflow on the smoke config: complete, repeatable, and it knows what an edit touches."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import xarray as xr

from memaudit.common import tidy
from memaudit.common.io import read_table
from memaudit.common.project_paths import SCRIPTS
from memaudit.workflow.digest import closure, script_of
from memaudit.workflow.sidecar import read_all
from workflow.conftest import Checkout, job_counts

pytestmark = pytest.mark.xdist_group("smoke")

TABLES = ["data_dedup", "data_splits", "lira_strategies", "lira_attacks", "lira_fpr_calibration", "lira_fpc"]
TABLES += ["lira_variances", "lira_dp_audit", "lira_reliability", "lira_claims"]
TABLES += ["data_headlines", "lira_headlines", "attacks_headlines", "attacks_claims", "attacks_threat_models"]
TABLES += ["attacks_perturbation", "attacks_perturbation_count", "attacks_perturbation_scale", "attacks_poisoning"]
TABLES += ["attacks_thresholds", "attacks_text", "attacks_datasets", "attacks_cost", "attacks_settings", "attacks_risk"]
TABLES += ["attacks_inference", "attacks_mitigations", "tabpate_headlines", "tabpate_claims", "tabpate_utility"]
TABLES += ["attacks_model_families"]
TABLES += ["tabpate_datasets", "tabpate_regression", "tabpate_queries", "tabpate_ablations", "tabpate_answers"]
TABLES += ["ltmia_headlines", "ltmia_claims", "ltmia_auc", "ltmia_tpr", "ltmia_differences", "ltmia_combinations"]
TABLES += ["ltmia_rates", "ltmia_classifiers", "ltmia_diversity", "ltmia_importance", "ltmia_controls"]
TABLES += ["ltmia_corpora", "ltmia_membership", "ltmia_nulls", "ltmia_models", "ltmia_lead", "ltmia_contrasts"]
TABLES += ["ltmia_setting", "ltmia_trend"]
TABLES += ["lira_defences", "predict_contrasts"]
TABLES += ["tabpate_attack", "tabpate_audit", "predict_headlines", "predict_claims", "predict_predictors"]
TABLES += ["predict_recommended", "predict_thresholds", "predict_drops", "predict_cost", "predict_memorized"]
TABLES += ["predict_theorem"]
FIGURES = ["lira_strategies", "lira_oracle", "lira_sample_fpr", "lira_roc", "lira_fpc_sigma", "lira_fpc_ratio"]
FIGURES += ["lira_fpc_fraction", "lira_fpc_population", "attacks_roc", "attacks_features", "attacks_poison"]
FIGURES += ["attacks_shadow_sets", "attacks_risk_map", "attacks_settings", "attacks_inference", "attacks_mitigations"]
FIGURES += ["attacks_model_families"]
FIGURES += ["tabpate_utility", "tabpate_answers", "tabpate_queries", "tabpate_regression", "tabpate_roc"]
FIGURES += ["ltmia_transfer", "ltmia_roc", "ltmia_importance", "ltmia_diversity", "ltmia_trend"]
FIGURES += ["predict_roc", "predict_roc_later", "predict_planted", "predict_auc", "predict_threshold"]
FIGURES += ["predict_timing", "predict_layers"]
FIGURES += ["predict_lira_threshold", "predict_early", "predict_definitions", "predict_theorem"]
FAMILIES = {
    f"memaudit.models.{name}"
    for name in [
        "anonymous_keys",
        "checkpoint_deltas",
        "context_attention",
        "context_query_pairs",
        "context_scaling",
        "contexttab",
        "deployed_estimators",
        "dp_sgd",
        "fine_tuning",
        "given_estimator",
        "in_context_classifier",
        "language_model_classifiers",
        "network_sharing",
        "lora",
        "merged_rows",
        "model_files",
        "model_options",
        "package_adapters",
        "package_sessions",
        "package_worker",
        "packaged_models",
        "sklearn_estimators",
        "tabicl",
        "tabicl_network",
        "tabpfn",
        "tabpfn_checkpoint",
        "table_serialisation",
        "text_table_models",
        "user_frames",
    ]
} | {"memaudit.common.deployed_packages", "memaudit.common.unreadable_texts"}


def test_every_table_and_figure_is_made(smoke):
    missing = [
        path
        for folder, names, kinds in (("tables", TABLES, "csv md tex"), ("figures", FIGURES, "svg png pdf"))
        for path in (f"{folder}/{name}.{kind}" for name in names for kind in kinds.split())
        if not (smoke.results / path).stat().st_size
    ]
    assert not missing


def test_a_second_run_does_nothing(smoke):
    assert "Nothing to be done" in smoke.snakemake()


def test_one_figures_path_regenerates_that_figure_and_no_other_file_changes(smoke):
    figure = "results/smoke/figures/lira_strategies.svg"
    before = {path: path.read_bytes() for path in (smoke.results / "figures").iterdir()}
    (smoke.folder / figure).unlink()
    assert job_counts(smoke.snakemake(figure)) == {"views_draw_figures": 1}
    assert before == {path: path.read_bytes() for path in (smoke.results / "figures").iterdir()}
    assert job_counts(smoke.snakemake()).keys() == {"report_write_page", "all"}, "the page shows it"


def test_provenance_passes_and_names_a_changed_byte(smoke):
    assert "files behind them agree with their sidecars" in smoke.snakemake("provenance")
    path = smoke.results / "signals/lira/wine/efficient.nc"
    with edited(path, path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])):
        printed = smoke.snakemake("provenance", check=False)
        assert "results/smoke/signals/lira/wine/efficient.nc: changed since it was made" in printed


def loaded_by_name(record):
    """Module that a job's script imports by a name of its params: what draws a study's figures, or has its words."""
    if record["rule"] == "views_tabulate_results":
        return record["params"]["words"]
    if record["rule"] != "views_draw_figures":
        return None
    return f"memaudit.plotting.{next(iter(record['params']['where'])).partition('_')[0]}_figures"


def test_the_digest_follows_exactly_the_modules_that_a_script_loads(smoke):
    """The closure in every rule's params holds the memaudit modules in `sys.modules` after its real run, no more."""
    records = read_all(smoke.results / "provenance").values()
    assert len({record["rule"] for record in records}) > 10
    for record in records:
        files = closure(record["rule"], loaded_by_name(record)) - {script_of(record["rule"])}
        names = {".".join(file.relative_to(SCRIPTS).with_suffix("").parts).removesuffix(".__init__") for file in files}
        # Families of models that a run does not ask are imported by none of its jobs.
        assert names - set(record["modules"]) <= FAMILIES, record["rule"]
        assert set(record["modules"]) <= names, record["rule"]


@pytest.mark.parametrize(
    "module", ["plotting/lira_figures.py", "claims/claim_predicates.py", "models/tabicl.py", "common/seeds.py"]
)
def test_an_edited_module_reruns_exactly_the_rules_that_import_it(smoke, module):
    ran = read_all(smoke.results / "provenance").values()
    edited_module = SCRIPTS / "memaudit" / module
    importers = {one["rule"] for one in ran if edited_module in closure(one["rule"], loaded_by_name(one))}
    path = smoke.folder / "workflow_scripts/memaudit" / module
    with edited(path, path.read_text() + "\n\n# a comment changes nothing\n"):
        assert smoke.reruns() == (set(), set())
    with edited(path, path.read_text() + "\n\nEDITED = True\n"):
        rules, for_code = smoke.reruns()
        assert for_code
        assert for_code <= importers <= rules


def test_a_new_pin_reruns_what_runs_in_its_environment(smoke):
    path = smoke.folder / "envs/tabular.yaml"
    with edited(path, re.sub(r"torch==\S+", "torch==9.9.9", path.read_text())):
        asked = {f"attacks_query_{name}" for name in ("contexts", "perturbed", "poisoned", "attribute", "attention")}
        private = {"release_contexts", "release_shadows", "poison_shadows", "answer_queries", "code_records"}
        asked |= {f"tabpate_{name}" for name in private} | {"iclmem_probe_reference", "iclmem_probe_tuned"}
        asked |= {"iclmem_probe_shadows", "attacks_fit_families"}
        # What takes the prepared setting, or corpora, runs again for its input.
        asked |= {"predict_prepare_setting", "ltmia_fetch_corpus"}
        assert smoke.reruns()[1] == {"lira_query_shadows"} | asked


@contextmanager
def edited(path, text):
    """The file with another text, its bytes and times back afterwards."""
    kept, stat = path.read_bytes(), path.stat()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        yield
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_a_permuted_design_claims_no_leak(smoke, tmp_path):
    """Rows of the recorded design given to other models: nothing is left to find, and nothing is found."""
    grid = xr.load_dataset(smoke.results / "signals/lira/wine/efficient.nc")
    permuted = np.random.default_rng(0).permutation(grid.sizes["model"])
    grid["design"] = grid.design.copy(data=grid.design.values[permuted])
    grid.to_netcdf(tmp_path / "permuted.nc")
    params = {"fpr": [0.1], "replicates": 100, "permutations": 39, "rmia": {"gamma": 2.0, "offline_a": 0.3}}
    command = [sys.executable, "workflow_scripts/lira/compare_attacks.py", "--input", str(tmp_path / "permuted.nc")]
    command += ["--output", f"tidy={tmp_path}/attacks.parquet", f"roc={tmp_path}/roc.parquet"]
    command += ["--wildcards", '{"dataset": "wine"}', "--params", json.dumps({"seed": 1, "lira": params})]
    subprocess.run(command, cwd=smoke.folder, env=smoke.environment, check=True)
    table = tidy.expand(read_table(tmp_path / "attacks.parquet"))
    areas = table[table.metric == "auc"]
    assert ((areas.low <= 0.5) & (areas.high >= 0.5)).sum() >= len(areas) - 1
    assert not table.loc[table.metric.str.endswith("detected"), "estimate"].any()


def test_results_do_not_depend_on_shards(smoke, tmp_path):
    """Another shard size, the same grid: seeds belong to models, not to shards."""
    other = Checkout(tmp_path / "memaudit", smoke.given)
    config = other.folder / "config/smoke.yaml"
    config.write_text(config.read_text().replace("shard: 32", "shard: 9"))
    grid = "results/smoke/signals/lira/wine/efficient.nc"
    other.snakemake(grid)
    first, second = (xr.load_dataset(checkout.folder / grid) for checkout in (smoke, other))
    xr.testing.assert_identical(first, second)
    shutil.rmtree(other.folder)

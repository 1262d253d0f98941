"""Look-ups of rules/iclmem.smk: files, values of its views, and sizes of its jobs."""

import copy
from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.studies.iclmem.joint_permutations import needed
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.workflow.run_config import RunConfig, read_yaml
from memaudit.workflow.studies.iclmem_lookups import Iclmem
from memaudit.workflow.study_catalogue import prepare
from memaudit.workflow.view_files import read_file
from memaudit.workflow.view_schema import SharedFile

RULE = {"loss_ratio": 5.0, "auc": 0.5, "mu_gap": 0.05, "sigma_gap": 0.2, "flag": 0.1}
SUITE = [
    {"name": "baseline", "category": "baseline", "steps": []},
    {"name": "mixed", "category": "mixed_skewing", "steps": [{"mixed": {"correct": 2, "incorrect": 3}}, {"drop": 2}]},
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with three tables, 5 splits in shards of 2, two manipulations and the arms plain, canaries and joint."""
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load(), PROJECT)
    section = run.config["iclmem"]
    plain = section["arms"]["lr_1e_3"]
    section |= {"splits": 5, "splits_per_job": 2, "queries": 50, "context": 150, "contexts": {"wine": 60}}
    section |= {"epochs": [1, 10], "targets": {"queries": 21, "context": 2}, "permutations": 99, "replicates": 20}
    section |= {"copies": 1, "fpr": [0.1, 0.01], "rules": {"lax": RULE, "strict": RULE | {"auc": 0.55}}}
    section |= {"manipulations": SUITE, "datasets": ["breast_cancer", "wine", "diabetes"]}
    section["doses"] = {}
    section["arms"] = {
        "plain": plain,
        "canaries": plain | {"labels": "canaries", "datasets": ["wine"], "epochs": [7]},
        "joint": plain | {"joint": True, "datasets": ["breast_cancer", "wine"]},
    }
    truth = {"datasets": ["wine"], "arms": ["plain", "canaries"], "models": 12, "models_per_job": 8}
    section["ground_truth"] = truth | {"targets": 20, "controls": 5, "epochs": None}
    return run


@pytest.fixture
def iclmem(run):
    return Iclmem(run)


def model(task, arm):
    return SimpleNamespace(task=task, arm=arm)


def views(run):
    folder = PROJECT / "config" / "views"
    return read_file(folder / "iclmem.yaml", Iclmem(run), SharedFile.model_validate(read_yaml(folder / "shared.yaml")))


def test_a_run_without_tables_does_not_have_the_study(run, iclmem):
    assert iclmem.present
    run.config["iclmem"]["datasets"] = []
    left_out = Iclmem(run)
    assert not left_out.present
    sizes = left_out.sizes()
    assert not any(sizes[rule] for rule in sizes if rule != "data_make_key")
    config = load("smoke")
    config["iclmem"]["datasets"] = []
    assert "iclmem" not in prepare(config, PROJECT)[2]


def test_results_are_by_task_or_table_or_of_the_study(iclmem):
    tasks = ("breast_cancer", "wine", "diabetes", "joint")
    assert iclmem.results["results"] == [f"<results>/scores/iclmem/{task}/results.parquet" for task in tasks]
    assert iclmem.results["outcomes"] == ["<results>/scores/iclmem/outcomes.parquet"]
    assert iclmem.results["checks"][1] == "<results>/signals/iclmem/wine/splits.checks.parquet"


def test_a_model_reads_its_tables_and_their_base_model(iclmem):
    records = iclmem.table_files("{dataset}.parquet")
    assert records(model("joint", "joint")) == ["breast_cancer.parquet", "wine.parquet"]
    assert records(model("diabetes", "plain")) == ["diabetes.parquet"]
    card = iclmem.model_file("model.json")
    assert card(model("joint", "joint")) == "<results>/models/tabicl-small/model.json"
    assert card(SimpleNamespace(dataset="diabetes")) == "<results>/models/tabicl-small-regression/model.json"


def test_canaries_need_the_grid_that_chose_their_labels(iclmem):
    assert iclmem.canaries(model("wine", "plain")) == []
    assert iclmem.canaries(model("wine", "canaries")) == ["<results>/signals/iclmem/wine/reference_canaries.nc"]


def test_a_task_is_judged_with_all_its_arms_and_their_references(iclmem):
    folder = "<results>/signals/iclmem/wine"
    wine = SimpleNamespace(task="wine")
    assert iclmem.shards_by_arm(wine) == {
        arm: [f"{folder}/{arm}/{shard}.nc" for shard in range(3)] for arm in ("plain", "canaries")
    }
    assert iclmem.references(wine) == [f"{folder}/reference_{labels}.nc" for labels in ("normal", "canaries")]
    assert list(iclmem.settings_by_arm(wine)) == ["plain", "canaries"]
    joint = [f"<results>/signals/iclmem/{name}/reference_normal.nc" for name in ("breast_cancer", "wine")]
    assert iclmem.references(SimpleNamespace(task="joint")) == joint


def test_checkpoints_are_an_output_only_if_they_are_kept(iclmem):
    iclmem.config["keep_checkpoints"] = False
    assert iclmem.checkpoints == []
    iclmem.config["keep_checkpoints"] = True
    assert iclmem.checkpoints == ["<results>/models/iclmem/{task}/{arm}/{shard}.zip"]


def test_probes_have_their_params_in_common(iclmem):
    assert (iclmem.probe["context"], iclmem.probe["replicates"], iclmem.probe["manipulations"]) == (2, 1, SUITE)
    assert iclmem.keys("fpr", "permutations") == {"fpr": [0.1, 0.01], "permutations": 99}


def test_readers_see_how_each_arm_fine_tunes(iclmem):
    plain, canaries, joint = iclmem.names["arm_rows"]
    trained = ["fixed", "one a table", "all weights", "none", ""]
    assert plain == ["plain", "all", 1e-3, 50, "60, 150", "normal", "1, 10", *trained]
    assert canaries == ["canaries", "wine", 1e-3, 50, "60", "canaries", "7", *trained]
    assert joint[1:5] == ["breast_cancer, wine", 1e-3, 50, "60"]
    assert joint[8] == "one for all"


def test_readers_see_what_all_arms_share(iclmem):
    shown = {parameter: value for _, parameter, value in iclmem.names["probe_rows"]}
    assert shown["randomization of labels"] == "normal, canaries"
    assert shown["query"] == "one row, 1 times"
    assert shown["metrics"].startswith("AUC and TPR at 10 % and 1 % FPR")


def test_readers_see_steps_and_thresholds_as_text(iclmem):
    names = iclmem.names
    assert names["manipulation_rows"] == [
        ["baseline", "baseline", ""],
        ["mixed", "mixed skewing", "mixed correct 2 incorrect 3, drop 2"],
    ]
    assert (names["auc_thresholds"], names["loss_ratio_thresholds"]) == (["0.5", "0.55"], ["5", "5"])
    assert (names["published_rule"], names["no_threshold"]) == ("lax", ["", ""])
    assert ["diabetes", "target", "regression", "tabicl-small-regression"] in names["table_rows"]


def test_layouts_take_metrics_from_the_config(iclmem):
    names = iclmem.names
    assert names["tprs"] == ["tpr@0.1", "tpr@0.01"]
    assert names["aucs_by_labels"] == ["auc normal", "auc canaries"]
    assert names["last_epochs"] == [7, 10]
    assert names["categories"] == ["mixed_skewing"]


def test_captions_and_criteria_name_the_runs_own_thresholds(run):
    run.config["iclmem"]["rules"]["lax"] |= {"loss_ratio": 3.5, "flag": 0.25}
    seen = views(run)
    assert "at least 0.25:" in seen.tables["iclmem_flags"]["caption"]
    assert "Above 3.5 a run has collapsed" in seen.figures["iclmem_loss_ratios"]["caption"]
    criteria = seen.facts["iclmem_criteria"]
    assert criteria["columns"] == ["outcome", "criterion", "lax", "strict"]
    assert {len(row) for row in criteria["rows"]} == {4}
    assert criteria["rows"][0][2:] == ["3.5", "5"]


def test_views_of_arms_that_a_run_does_not_have_are_left_out(run):
    everything = views(run)
    assert "iclmem_arms" in everything.tables
    assert len(everything.figures) == 10
    arms = run.config["iclmem"]["arms"]
    joint = copy.deepcopy(arms["joint"])
    run.config["iclmem"] |= {"arms": {"joint": joint}, "ground_truth": None}
    few = views(run)
    of_arms = {"iclmem_arms", "iclmem_ground_truth", "iclmem_exposure"}
    assert everything.tables.keys() - few.tables.keys() == of_arms
    assert list(few.figures) == ["iclmem_survival", "iclmem_manipulations"]
    run.config["iclmem"]["arms"] = {"plain": arms["plain"] | {"labels": "shuffled_all"}}
    shuffled = views(run)
    assert everything.figures.keys() - shuffled.figures.keys() == {"iclmem_spread"}


def test_base_models_answer_for_all_targets_of_all_splits(iclmem):
    sizes = iclmem.sizes()["iclmem_probe_reference"]
    assert list(sizes) == ["breast_cancer/normal", "wine/normal", "wine/canaries", "diabetes/normal"]
    # 21 query members, as many non-members and 2 context rows, under both manipulations.
    assert sizes["wine/normal"].written == 5 * 44 * 2
    operations = iclmem.run.passes("tabicl-small").operations(7, 1, 13)
    assert sizes["wine/normal"].work == 5 * 44 * 2 * operations


def test_fine_tuning_is_sized_by_its_steps_and_probes(iclmem):
    sizes = iclmem.sizes()["iclmem_probe_tuned"]
    first, last = sizes["wine/plain/0"], sizes["wine/plain/2"]
    model = iclmem.run.passes("tabicl-small")
    steps = 3 * 10 * model.operations(60, 50, 13)
    probes = 2 * 44 * 2 * model.operations(7, 1, 13)
    assert first.work == 2 * (steps + probes)
    assert first.written == 2 * 2 * 44 * 2
    assert (last.work, last.written) == (first.work / 2, first.written / 2)
    assert first.forward == last.forward == 2 * model.memory_bytes(60, 50, 13)
    assert len(sizes) == 3 * (3 + 1 + 1)
    # Both tables of the joint arm are probed.
    assert sizes["joint/joint/0"].written == 2 * first.written


def test_judging_is_sized_by_runs(iclmem):
    sizes = iclmem.sizes()
    judged = sizes["iclmem_judge_runs"]
    assert judged["wine"].written == 5 * (2 + 1)
    assert judged["wine"].work == 5 * (2 + 1) * (99 + 20)
    assert judged["joint"].written == 5 * 2 * 2
    assert sizes["iclmem_decide_outcomes"][""].written == sum(one.written for one in judged.values())


def test_deciding_asks_for_the_memory_of_all_permutations_of_all_runs(iclmem):
    decided = iclmem.sizes()["iclmem_decide_outcomes"][""]
    tests = len(SIGNALS) * decided.written / iclmem.config["splits"]
    permuted, joint = 200 * decided.written * 99, 8 * tests * needed(round(tests))
    assert decided.forward == pytest.approx(permuted + joint, rel=0.01)
    assert iclmem.decision_memory(None) == round(decided.forward / 10**6)
    # At the counts of the paper about 22 GiB were measured, and tests by joint permutations take 8.
    paper = Iclmem(RunConfig(load("paper"), PROJECT))
    assert 30 * 2**30 / 10**6 < paper.decision_memory(None) < 48_000


def test_base_models_are_requested_for_contexts_of_their_tables(iclmem):
    uses = iclmem.model_uses()
    assert [use["rows"] for use in uses["tabicl-small"]] == [150, 60]
    assert uses["tabicl-small-regression"] == [{"where": "iclmem, data set diabetes", "rows": 150, "features": 10}]
    assert list(iclmem.sizes()["models_fetch_checkpoint"]) == ["tabicl-small", "tabicl-small-regression"]


def test_an_arm_may_have_other_shards_than_the_study(iclmem):
    iclmem.config["arms"]["joint"]["splits_per_job"] = 1
    joint = SimpleNamespace(task="joint", arm="joint")
    assert (iclmem.splits_per_job(joint), iclmem.splits_per_job(model("wine", "plain"))) == (1, 2)
    assert len(iclmem.shards_by_arm(joint)["joint"]) == 5
    tuned = iclmem.sizes()["iclmem_probe_tuned"]
    assert sum(name.startswith("joint/joint/") for name in tuned) == 5
    assert sum(name.startswith("wine/plain/") for name in tuned) == 3
    # What a job fine-tunes does not depend on how many others are beside it.
    assert "splits_per_job" not in iclmem.settings_by_arm(joint)["joint"]


def test_the_work_of_a_probe_grows_with_the_numbers_to_choose_from(iclmem):
    iclmem.config["candidates"] = 3
    few = {name: iclmem.probe_work(name, 21) for name in ("diabetes", "wine")}
    iclmem.config["candidates"] = 300
    many = {name: iclmem.probe_work(name, 21) for name in ("diabetes", "wine")}
    assert many["wine"] == few["wine"]
    assert 50 < many["diabetes"] / few["diabetes"] < 200


def test_the_papers_run_has_a_positive_control_and_all_three_defences():
    names = Iclmem(RunConfig(load("paper"), PROJECT)).names
    assert names["positive_arms"] == ["planted"]
    assert set(names["defended_arms"]) == {"canaries_smoothed", "lora", "dp_sgd"}


@pytest.mark.parametrize(("name", "most"), [("paper", 61), ("iclmem", 61), ("config", 1)])
def test_the_figure_of_doses_has_few_panels_and_all_arms_of_small_runs(name, most):
    run = RunConfig(load(name), PROJECT)
    arms, drawn = Iclmem(run).arms, views(run).figures["iclmem_doses"]["where"]["arm"]
    assert drawn[0] is None  # rows of axes over arms name none
    assert sum(len(arms.datasets(arm)) for arm in drawn[1:]) <= most
    often = [arm for arm in arms.positive if len(arms.used[arm]["epochs"]) >= 3]
    assert name == "paper" or drawn[1:] == arms.doses + often


def test_the_docs_say_what_the_papers_permutations_can_detect():
    run = RunConfig(load("paper"), PROJECT)
    arms, permutations = Iclmem(run).arms, run.config["iclmem"]["permutations"]
    clean = [
        len(one["epochs"]) * len(arms.tables(task, arm))
        for task, arm in arms.runs
        if not ((one := arms.settings(task, arm))["placebo"] or one["control"] or one["labels"] == "shuffled_members")
    ]
    tests = 4 * sum(clean)
    runs = run.config["iclmem"]["splits"] * sum(clean)
    least = -(-runs * 20 // (permutations + 1))  # detected together at the smallest p-value, with q at most .05
    text = (PROJECT / "docs" / "differences.md").read_text(encoding="utf-8")
    said = text.split("- **Permutations.**")[1].split("\n- ")[0]
    numbers = [f"{tests:,} tests", f"{sum(clean):,} settings", f"their {runs:,} q-values", f"unless {least} runs"]
    numbers += [f"{permutations:,} each", f"{needed(tests):,} for"]
    assert [one for one in numbers if one not in " ".join(said.split())] == []

"""Before the first job and after the last, with a workflow that is a stand-in."""

import json
import logging
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow import snakemake_handlers as handlers
from memaudit.workflow.study_catalogue import prepare


def job(name, script=None, sidecar=None, **wildcards):
    output = {"sidecar": sidecar} if sidecar else {}
    return SimpleNamespace(
        rule=SimpleNamespace(name=name, script=script), output=output, wildcards=SimpleNamespace(**wildcards)
    )


def workflow(*jobs, rate=(100, 1), quiet=False, files=()):
    return SimpleNamespace(
        dag=SimpleNamespace(jobs=jobs, needrun_jobs=lambda: jobs, derived_targetfiles=set(files)),
        local_exec=True,
        global_resources={"_cores": SimpleNamespace(value=2)},
        output_settings=SimpleNamespace(quiet=quiet),
        deployment_settings=SimpleNamespace(deployment_method=set()),
        scheduling_settings=SimpleNamespace(max_jobs_per_timespan=SimpleNamespace(max_jobs=rate[0], timespan=rate[1])),
        scheduler=SimpleNamespace(job_rate_limiter="limits"),
    )


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return prepare(load("smoke"), PROJECT)


@pytest.fixture
def workload(prepared):
    return prepared[3]


@pytest.fixture
def views(prepared):
    return prepared[2]


@pytest.mark.parametrize(
    ("job", "name"),
    [
        (job("all"), ("all", "")),
        (job("plan", "../workflow_scripts/maintenance/print_plan.py"), ("maintenance_print_plan", "")),
        (
            job(
                "lira_gather_grid",
                "../workflow_scripts/lira/gather_grid.py",
                "r/provenance/lira_gather_grid/wine/a.json",
            ),
            ("lira_gather_grid", "wine/a"),
        ),
        (
            job(
                "views_draw_figures_lira_roc",
                "../workflow_scripts/views/draw_figures.py",
                "r/provenance/views_draw_figures/lira_roc.json",
            ),
            ("views_draw_figures", "lira_roc"),
        ),
    ],
)
def test_a_job_has_the_name_that_its_size_has(job, name):
    assert handlers.sized_as(job) == name


def test_the_default_rate_is_removed_and_one_that_the_user_sets_is_kept():
    ours, theirs = workflow(), workflow(rate=(5, 1))
    for one in (ours, theirs):
        handlers.remove_default_rate(one)
    assert (ours.scheduler.job_rate_limiter, theirs.scheduler.job_rate_limiter) == (None, "limits")


def test_a_line_is_printed_for_each_job_that_starts(workload):
    lines = []
    name = "lira_gather_grid"
    waiting = workflow(job(name, f"w/{name.replace('_', '/', 1)}.py", f"r/provenance/{name}/wine/efficient.json"))
    handler = handlers.progress(workload, waiting, SimpleNamespace(info=lines.append, handlers=[]))
    handler.emit(
        logging.makeLogRecord({"event": "job_info", "rule_name": name, "wildcards": {"dataset": "wine"}, "log": []})
    )
    [line] = lines
    assert line.startswith("memaudit: 0 of 1 jobs done")
    assert line.endswith("lira_gather_grid wine starts")


def test_the_screen_has_one_line_of_a_failed_job_and_the_log_file_all(workload, tmp_path, capsys):
    logger, file = logging.Logger("run"), logging.FileHandler(tmp_path / "all.log")
    for handler in (logging.StreamHandler(), file):
        logger.addHandler(handler)
    logger.addHandler(handlers.progress(workload, workflow(), logger))
    logger.error("WorkflowError:\nAt least one job did not complete successfully.")
    logger.info("Error in rule a", extra={"event": "job_error", "rule_name": "a", "log": ["a.log"]})
    file.close()
    assert capsys.readouterr().err == "memaudit: a has failed; see a.log\n"
    assert "did not complete" in (tmp_path / "all.log").read_text()
    assert "Error in rule a" in (tmp_path / "all.log").read_text()


def test_a_local_model_that_is_not_there_is_named_before_the_first_job(workload):
    workload.run.config["models"]["tabicl-small"]["path"] = "nowhere.ckpt"
    fetching = job("models_fetch_checkpoint", model="tabicl-small")
    with pytest.raises(AuditError, match=r"models/tabicl-small/path: there is no file .*nowhere.ckpt"):
        handlers.check_models(workload, workflow(fetching))


def test_a_column_that_a_local_table_lacks_is_named_before_the_first_job(workload):
    Path("mine.csv").write_text("a;b;churn\n1;2;x\n")
    datasets = workload.run.config["datasets"]
    datasets["mine"] = datasets["wine"] | {"source": "file", "path": "mine.csv", "target": "chrun", "types": {}}
    reading = workflow(job("data_deduplicate_table", dataset="mine"), job("data_fetch_table", dataset="wine"))
    told = r"^data set mine \(file mine.csv\): target: there is no column 'chrun'; the table has a, b, churn$"
    with pytest.raises(AuditError, match=told):
        handlers.check_tables(workload, reading)
    datasets["mine"]["target"] = "churn"
    handlers.check_tables(workload, reading)


def test_no_process_is_started_for_tables_that_are_not_read_or_were_named_by_an_audit(workload, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    datasets = workload.run.config["datasets"]
    datasets["gone"] = datasets["wine"] | {"source": "file", "path": "gone.csv", "target": "y"}
    reading = workflow(job("data_fetch_table", dataset="gone"), job("data_fetch_table", dataset="wine"))
    handlers.check_tables(workload, reading)
    Path("gone.csv").write_text("x,y\n")
    workload.run.config["audit"] = {"dataset": "gone"}
    handlers.check_tables(workload, reading)


def test_a_file_that_a_job_of_this_run_needs_is_named_before_the_first_job(workload):
    setting = workload.run.config["predict"]["settings"]["wine_mlp"]
    setting["data"] = {"kind": "cifar10", "path": "nowhere"}
    script, sidecar = "../workflow_scripts/predict/prepare_setting.py", "r/provenance/predict_prepare_setting/{}.json"
    preparing = [job("predict_prepare_setting", script, sidecar.format(name)) for name in ("wine_mlp", "wine_lora")]
    with pytest.raises(AuditError, match=r"^predict/settings/wine_mlp/data/path: there is no nowhere; put the data"):
        handlers.check_inputs(workload, workflow(*preparing))
    handlers.check_inputs(workload, workflow(preparing[1]))


@pytest.mark.parametrize(
    ("files", "settings", "options"),
    [
        ([], None, []),
        (["/a.yaml", "/b.yaml"], None, ["--configfile", "/a.yaml", "/b.yaml"]),
        (["/a.yaml"], ["seed=7"], ["--configfile", "/a.yaml", "--config", "seed=7"]),
    ],
)
def test_the_settings_of_a_call_can_be_given_again(files, settings, options):
    given = SimpleNamespace(configfiles=files, config_args=settings)
    assert handlers.given_settings(SimpleNamespace(config_settings=given)) == options


def test_runtimes_are_those_that_rules_state(workload):
    resources = {
        "fixed": SimpleNamespace(is_evaluable=lambda: False, value=240),
        "computed": SimpleNamespace(is_evaluable=lambda: True, value=None),
    }
    rules = [
        SimpleNamespace(script=f"../workflow_scripts/lira/{name}.py", resources={"runtime": runtime})
        for name, runtime in resources.items()
    ]
    rules.append(SimpleNamespace(script=None, resources={}))
    assert handlers.requested_minutes(SimpleNamespace(rules=rules)) == {"lira_fixed": 240}


def test_no_process_is_started_where_no_local_model_is_fetched(workload, monkeypatch):
    monkeypatch.delenv("MEMAUDIT_DEVICE", raising=False)
    monkeypatch.setattr(subprocess, "run", None)
    handlers.check_models(workload, workflow(job("all")))


@pytest.fixture
def started(monkeypatch):
    """Params of the script of main results, each time that it is started."""
    found = []

    def start(command, **_):
        assert command[1].endswith("workflow_scripts/maintenance/print_headlines.py")
        found.append(json.loads(command[-1]))

    monkeypatch.setattr(subprocess, "run", start)
    return found


@pytest.mark.parametrize(("target", "studies"), [("lira", ["lira"]), ("all", None)])
def test_main_results_are_those_of_the_requested_studies(workload, views, started, target, studies, capsys):
    files = ["results/smoke/figures/lira_roc.svg", "results/smoke/report/index.html"]
    handlers.after_jobs(workload.run, views, workflow(job("lira_gather_grid"), job(target), files=files))
    assert started == [{"run": "results/smoke", "studies": studies or list(views)}]
    assert "lira_roc" not in capsys.readouterr().err


def test_a_requested_file_ends_with_its_path_and_its_title(workload, views, started, capsys):
    files = ["results/smoke/figures/lira_roc.svg", "results/smoke/signals/lira/wine/efficient.nc"]
    handlers.after_jobs(workload.run, views, workflow(job("views_draw_figures_lira_roc"), files=files))
    assert started == []
    title = views["lira"].figures["lira_roc"]["title"]
    assert capsys.readouterr().err == f"memaudit: results/smoke/figures/lira_roc.svg: {title}\n"


def test_the_report_ends_with_its_path(workload, views):
    [line] = handlers.finished_files(workload.run, views, ["results/smoke/report/index.html"])
    assert line.startswith("results/smoke/report/index.html: ")


def test_results_that_cannot_be_written_end_the_run_with_one_line(workload, monkeypatch):
    def refuse(folder):
        raise AuditError(f"{folder}: not writable")

    monkeypatch.setattr(handlers.housekeeping, "check_folder", refuse)
    with pytest.raises(SystemExit, match="memaudit: results/smoke: not writable"):
        handlers.before_jobs(workload, workflow(), None)


@pytest.mark.parametrize("name", ["provenance", "archive"])
def test_a_run_that_is_not_there_is_not_traced_and_gets_no_folder(workload, name):
    with pytest.raises(SystemExit, match="memaudit: results/smoke: nothing has been computed yet"):
        handlers.before_jobs(workload, workflow(job(name)), None)
    assert not Path("results").exists()

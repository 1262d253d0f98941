"""The walk from figures back to raw data names the first file that does not match."""

from pathlib import Path

import pytest

from memaudit.common import command_name
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.workflow import provenance


@pytest.fixture
def run(tmp_path, monkeypatch):
    """raw -> scores -> figure, each with its sidecar, as three rules would leave them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(command_name.CALLED, raising=False)
    steps = {"raw": [], "scores": ["raw"], "figures/roc.svg": ["scores"]}
    for name, sources in steps.items():
        path = tmp_path / "results/demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
        relative = f"results/demo/{name}"
        sidecar(relative, [f"results/demo/{source}" for source in sources])
    return tmp_path / "results/demo"


def sidecar(output, inputs):
    record = {"inputs": {path: sha256(path) for path in inputs}, "outputs": {output: sha256(output)}}
    write_json(record, f"results/demo/provenance/{output.replace('/', '_')}.json")


def test_an_untouched_run_agrees(run):
    checked = provenance.verify("results/demo")
    assert (checked.results, len(checked.hashes), len(checked.sidecars), checked.leftover) == (1, 3, 3, [])


@pytest.mark.parametrize("name", ["raw", "scores", "figures/roc.svg"])
def test_one_changed_byte_is_named(run, name):
    text = (run / name).read_text()
    (run / name).write_text("C" + text[1:])
    with pytest.raises(AuditError, match=rf"^results/demo/{name}: changed since it was made"):
        provenance.verify("results/demo")


def test_an_input_made_anew_by_other_code_is_named(run):
    (run / "raw").write_text("other rows")
    sidecar("results/demo/raw", [])
    with pytest.raises(AuditError, match=r"^results/demo/raw: differs from what .*scores.json records as its input"):
        provenance.verify("results/demo")


def test_a_missing_intermediate_is_named(run):
    (run / "scores").unlink()
    with pytest.raises(AuditError, match=r"^results/demo/scores: missing"):
        provenance.verify("results/demo")


def test_a_figure_from_nowhere_is_named(run):
    (run / "figures/pasted.svg").write_text("<svg/>")
    with pytest.raises(AuditError, match=r"^results/demo/figures/pasted.svg: no rule of this run accounts for it"):
        provenance.verify("results/demo")


def test_a_run_that_has_not_begun_says_so(tmp_path):
    with pytest.raises(AuditError, match="nothing has been computed yet"):
        provenance.verify(tmp_path / "results/demo")


def test_a_run_that_has_not_begun_beside_others_names_them(run):
    Path("results/empty/provenance").mkdir(parents=True)
    with pytest.raises(AuditError, match=r"there are results in results/demo: give their config behind --configfile"):
        provenance.verify("results/mine")
    assert not Path("results/mine").exists()


def test_a_run_without_results_is_not_said_to_agree(run):
    (run / "figures/roc.svg").unlink()
    (run / "config.yaml").write_text("seed: 1")
    sidecar("results/demo/config.yaml", [])
    with pytest.raises(AuditError, match=r"^results/demo: nothing to verify; run `snakemake --cores all`"):
        provenance.verify("results/demo")


@pytest.mark.parametrize("kind", provenance.PRIVATE)
def test_audits_and_releases_are_verified_on_request_and_never_archived(run, kind):
    (run / "figures/roc.svg").unlink()
    (run / kind).mkdir()
    (run / kind / "page").write_text("of a private table")
    sidecar(f"results/demo/{kind}/page", ["results/demo/scores"])
    with pytest.raises(AuditError, match="nothing to verify"):
        provenance.verify("results/demo")
    assert provenance.verify("results/demo", provenance.PRIVATE).results == 1
    (run / "raw").write_text("tampered")
    with pytest.raises(AuditError, match=r"raw: changed since it was made"):
        provenance.verify("results/demo", provenance.PRIVATE)


def test_two_sidecars_of_one_output_are_both_named(run):
    write_json({"inputs": {}, "outputs": {"results/demo/scores": "0" * 64}}, "results/demo/provenance/old.json")
    with pytest.raises(AuditError, match=r"scores: recorded by .*/old.json and .*_scores.json; delete the stale"):
        provenance.verify("results/demo")


def test_sidecars_in_a_circle_end_the_walk(run):
    sidecar("results/demo/raw", ["results/demo/scores"])
    with pytest.raises(AuditError, match=r"rests on itself"):
        provenance.verify("results/demo")


@pytest.mark.parametrize("content", [[], {"outputs": {}}, {"inputs": {}, "outputs": ["results/demo/raw"]}])
def test_what_is_no_sidecar_is_named(run, content):
    write_json(content, "results/demo/provenance/odd.json")
    with pytest.raises(AuditError, match=r"^results/demo/provenance/odd.json: is no sidecar"):
        provenance.verify("results/demo")


def test_what_an_earlier_config_left_behind_does_not_fail_a_sound_run(run):
    (run / "shard").write_text("of another shard size")
    sidecar("results/demo/shard", ["results/demo/raw"])
    (run / "raw").write_text("fetched anew")
    for name, sources in {"raw": [], "scores": ["raw"], "figures/roc.svg": ["scores"]}.items():
        sidecar(f"results/demo/{name}", [f"results/demo/{source}" for source in sources])
    checked = provenance.verify("results/demo")
    assert (checked.results, len(checked.hashes)) == (1, 3)
    assert checked.leftover == ["results/demo/provenance/results_demo_shard.json"]


def test_of_two_sidecars_of_one_result_the_later_counts_and_the_other_is_left_over(run):
    path = run / "provenance/results_demo_scores.json"
    old = read_json(path) | {"started": "2026-01-01T00:00:00+00:00", "outputs": {"results/demo/scores": "0" * 64}}
    write_json(old, run / "provenance/old.json")
    write_json(read_json(path) | {"started": "2026-02-01T00:00:00+00:00"}, path)
    assert provenance.verify("results/demo").leftover == ["results/demo/provenance/old.json"]


def test_versions_of_packages_of_other_environments_are_gathered(run):
    assert provenance.verify("results/demo").elsewhere == {}
    for name, version in (("raw", "2.3.3"), ("scores", "2.3.4"), ("unused", "1")):
        (run / name).write_text(f"content of {name}")
        sidecar(f"results/demo/{name}", ["results/demo/raw"] * (name == "scores"))
        path = run / f"provenance/results_demo_{name}.json"
        packages = {"pandas": {"version": version, "file": "f"}}
        write_json(read_json(path) | {"other_environments": {".venv-deployed": packages}}, path)
    assert provenance.verify("results/demo").elsewhere == {".venv-deployed": {"pandas": ["2.3.3", "2.3.4"]}}


def remedy(run, settings=()):
    with pytest.raises(AuditError) as caught:
        provenance.verify("results/demo", settings=settings)
    return str(caught.value).split("; ")[-1]


def test_the_remedy_makes_again_what_rests_on_a_file_and_nothing_else(run):
    (run / "config.yaml").write_text("seed: 1")
    (run / "figures/other.svg").write_text("of other scores")
    for name in ("config.yaml", "figures/other.svg"):
        sidecar(f"results/demo/{name}", [])
    (run / "scores").write_text("tampered")
    assert remedy(run) == (
        "make it again with `snakemake --cores all results/demo/figures/roc.svg "
        "--configfile results/demo/config.yaml --forcerun results/demo/scores`"
    )


def test_the_remedy_of_a_changed_end_names_it_and_not_another_output_of_its_job(run):
    (run / "figures/a.svg").write_text("made by the same job")
    outputs = {path: sha256(path) for path in ("results/demo/figures/a.svg", "results/demo/figures/roc.svg")}
    write_json({"inputs": {}, "outputs": outputs}, run / "provenance/results_demo_figures_roc.svg.json")
    (run / "figures/roc.svg").write_text("tampered")
    assert "--cores all results/demo/figures/roc.svg --forcerun results/demo/figures/roc.svg`" in remedy(run)


@pytest.mark.parametrize("called", [None, "memaudit"])
def test_the_remedy_of_a_run_of_single_targets_can_be_pasted(run, monkeypatch, called):
    """It has the settings of the call, as there is no merged config, and the command that was called."""
    if called:
        monkeypatch.setenv(command_name.CALLED, called)
    (run / "figures/roc.svg").write_text("tampered")
    figure = "results/demo/figures/roc.svg"
    assert remedy(run, ["--configfile", "my settings.yaml"]) == (
        f"make it again with `{'memaudit run' if called else 'snakemake'} --cores all {figure} "
        f"--configfile 'my settings.yaml' --forcerun {figure}`"
    )


def test_a_page_that_was_removed_is_missing(run):
    (run / "report").mkdir()
    (run / "report/index.html").write_text("page")
    sidecar("results/demo/report/index.html", ["results/demo/figures/roc.svg"])
    provenance.verify("results/demo")
    (run / "report/index.html").unlink()
    with pytest.raises(AuditError, match=r"index\.html: missing, though a sidecar records it; make it again"):
        provenance.verify("results/demo")


def test_the_settings_of_the_call_make_it_again_not_the_merged_config_of_a_later_run_that_failed(run):
    (run / "config.yaml").write_text("target: wrong")
    sidecar("results/demo/config.yaml", [])
    (run / "scores").unlink()
    assert "--configfile mine.yaml --forcerun results/demo/scores`" in remedy(run, ["--configfile", "mine.yaml"])


def test_a_changed_config_is_not_what_makes_it_again(run):
    (run / "config.yaml").write_text("seed: 1")
    sidecar("results/demo/config.yaml", [])
    (run / "config.yaml").write_text("seed: 2")
    assert "--configfile mine.yaml --forcerun results/demo/config.yaml`" in remedy(run, ["--configfile", "mine.yaml"])


def test_many_results_are_named_by_their_studies_and_the_whole_run_by_nothing(run):
    ends = [f"results/demo/tables/{study}_{name}.csv" for study in ("lira", "attacks") for name in "ab"]
    records = {"raw": {"inputs": {}, "outputs": {"raw": ""}}, "odd": []}
    records |= {end: {"inputs": {"raw": ""}, "outputs": {end: ""}} for end in ends}
    assert provenance.targets("raw", ends, records) == ["attacks", "lira"]
    assert provenance.targets("raw", ends[:3], records) == sorted(ends[:3])
    page = "results/demo/report/index.html"
    records["page"] = {"inputs": dict.fromkeys(ends, ""), "outputs": {page: ""}}
    assert provenance.targets("raw", [*ends, page], records) == []


def test_a_file_in_a_folder_that_a_rule_makes_is_made_again_by_the_folder(run):
    """Snakemake knows the folder alone."""
    (run / "weights").mkdir()
    (run / "weights/.snakemake_timestamp").touch()
    (run / "weights/model.ckpt").write_text("weights")
    sidecar("results/demo/weights/model.ckpt", [])
    sidecar("results/demo/figures/roc.svg", ["results/demo/weights/model.ckpt"])
    (run / "weights/model.ckpt").write_text("tampered")
    assert remedy(run).endswith("--forcerun results/demo/weights`")


def test_a_missing_file_that_no_rule_makes_is_to_be_put_back(run, tmp_path):
    (tmp_path / "mine.csv").write_text("rows")
    sidecar("results/demo/raw", ["mine.csv"])
    (tmp_path / "mine.csv").unlink()
    assert remedy(run) == "no rule makes it: put it back"


def test_what_a_failed_job_has_removed_with_its_sidecar_is_made_again(run):
    (run / "provenance/results_demo_scores.json").unlink()
    (run / "scores").unlink()
    assert remedy(run).endswith("results/demo/figures/roc.svg --forcerun results/demo/scores`")


def test_a_changed_file_that_no_result_rests_on_is_named(run):
    """As a job that failed over it leaves it: figure and sidecar are removed."""
    (run / "figures/roc.svg").unlink()
    (run / "provenance/results_demo_figures_roc.svg.json").unlink()
    provenance.check_unused("results/demo", [])
    (run / "scores").write_text("tampered")
    with pytest.raises(AuditError, match=r"^results/demo/scores: changed .*delete it with `rm results/demo/scores`"):
        provenance.check_unused("results/demo", [])
    provenance.check_unused("results/demo", ["results/demo/scores"])  # `verify` has checked it


def test_an_unused_file_may_be_gone_or_what_one_of_its_sidecars_records(run):
    write_json({"inputs": {}, "outputs": {"results/demo/scores": "0" * 64}}, "results/demo/provenance/old.json")
    (run / "raw").unlink()
    provenance.check_unused("results/demo", [])


def test_jobs_without_a_sidecar_are_unfinished(run):
    for job in ("lira_query_shadows/wine/0", "data_fetch_table/wine", *provenance.NO_SIDECAR):
        (run / f"logs/{job}.log").parent.mkdir(parents=True, exist_ok=True)
        (run / f"logs/{job}.log").touch()
    write_json({}, run / "provenance/data_fetch_table/wine.json")
    assert provenance.unfinished("results/demo") == ["results/demo/logs/lira_query_shadows/wine/0.log"]

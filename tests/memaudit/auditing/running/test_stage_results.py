"""Results that rest on files that are gone, and a page of another request."""

import pytest

from memaudit.auditing.running import stage_results
from memaudit.common.checksums import TIMESTAMP, sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json

STAGE = "results/quick"
CONFIG = {"seed": 1, "audit": {"shown": 20, "fpr": 0.01}}


@pytest.fixture
def folder(tmp_path):
    """weights -> score matrix -> page, as an audit leaves them."""
    steps = {"models/m/weights/a.bin": [], "signals/0.nc": ["models/m/weights/a.bin"], "audit/table/index.html": []}
    steps["audit/table/index.html"] = ["signals/0.nc"]
    for name, inputs in {**steps, "of an earlier config": []}.items():
        path = tmp_path / STAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        record = {"inputs": dict.fromkeys((f"{STAGE}/{one}" for one in inputs), ""), "outputs": {f"{STAGE}/{name}": ""}}
        write_json(record, tmp_path / STAGE / "provenance" / f"{name}.json")
    (tmp_path / "table").mkdir()
    write_json({"name": "t.csv"}, tmp_path / stage_results.FACTS)
    page = {"inputs": {stage_results.FACTS: sha256(tmp_path / stage_results.FACTS), f"{STAGE}/signals/0.nc": ""}}
    page |= {"outputs": {f"{STAGE}/audit/table/index.html": ""}, "params": {**CONFIG, "attacks": {}}}
    (tmp_path / STAGE / "provenance/audit/table/index.html.json").unlink()
    write_json(page, tmp_path / STAGE / "provenance/audit_write_page/table.json")
    return tmp_path


def files(folder):
    paths = (path.relative_to(folder / STAGE).as_posix() for path in (folder / STAGE).rglob("*") if path.is_file())
    return {path for path in paths if not path.startswith("provenance/")}


def test_what_rests_on_a_file_that_is_gone_is_removed(folder):
    every = files(folder)
    stage_results.remove_unsupported(folder, "quick")
    assert files(folder) == every
    (folder / STAGE / "of an earlier config").unlink()
    (folder / STAGE / "signals/0.nc").unlink()
    stage_results.remove_unsupported(folder, "quick")
    assert files(folder) == {"models/m/weights/a.bin"}
    stage_results.remove_unsupported(folder, "full")


def test_a_folder_that_a_rule_makes_is_removed_whole(folder):
    weights = folder / STAGE / "models/m/weights"
    (weights / "a.bin").unlink()
    for name in (TIMESTAMP, "b.bin"):
        (weights / name).touch()
    stage_results.remove_unsupported(folder, "quick")
    assert not weights.exists()
    assert files(folder) == {"of an earlier config"}


@pytest.mark.parametrize("change", ["seed", "audit", "intake", "no page"])
def test_a_page_of_another_request_is_refused(folder, change):
    stage_results.check(folder, "quick", CONFIG, [])
    config = CONFIG | {"seed": {"seed": 2}, "audit": {"audit": CONFIG["audit"] | {"shown": 5}}}.get(change, {})
    if change == "intake":
        write_json({"name": "t.csv", "rows": 60}, folder / stage_results.FACTS)
    if change == "no page":
        (folder / STAGE / "provenance/audit_write_page/table.json").unlink()
    with pytest.raises(AuditError, match="no page of this request; leave out --executor dryrun"):
        stage_results.check(folder, "quick", config, ["--executor", "dryrun"])


@pytest.mark.parametrize(
    "option",
    ["-n", "-np", "-pn", "-kpn", "--dry-ru", "--dryrun", "--touch", "--tou", "--until=x", "-Ux", "--lint", "-t"],
)
def test_an_option_that_makes_nothing_is_refused(option):
    with pytest.raises(AuditError, match="Snakemake makes no page"):
        stage_results.refuse_idle(["--jobs", "2", option])


def test_other_options_are_kept():
    stage_results.refuse_idle(["--profile", "slurm", "-j2", "-p", "-k", "--keep-going", "--set-threads", "a=1"])

"""The description of a run for other programs is made from sidecars: workflow, times, inputs, results, checksums."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow import run_crate

RUN = "results/mine"
OUTSIDE, TABLE = "outside/0123-our table.csv", "../elsewhere/our table.csv"
FIGURE, RECORDS, CONFIG = f"{RUN}/figures/roc.svg", f"{RUN}/data/records.parquet", f"{RUN}/config.yaml"
MEMBERS = (OUTSIDE, FIGURE, RECORDS, CONFIG, "Snakefile", "requirements.lock")
HASHES = {name: f"{number:064x}" for number, name in enumerate(MEMBERS)}
RECORDED = {name: name for name in (FIGURE, RECORDS, CONFIG)} | {OUTSIDE: TABLE}


def sidecar(started, wall_seconds, outputs, commit="c0ffee"):
    return {
        "started": started,
        "wall_seconds": wall_seconds,
        "outputs": dict.fromkeys(outputs, ""),
        "git": {"commit": commit, "dirty": False},
        "packages": {"snakemake": {"version": "9.27.1", "file": "f"}},
    }


SIDECARS = {
    f"{RUN}/provenance/first.json": sidecar("2026-11-27T10:00:00+00:00", 600.0, [RECORDS]),
    f"{RUN}/provenance/second.json": sidecar("2026-11-27T10:05:00+00:00", 2.5, [FIGURE, CONFIG]),
}


def described(records=SIDECARS):
    crate = run_crate.describe(RUN, HASHES, RECORDED, [FIGURE, CONFIG], records, "0.1.0")
    return {entity["@id"]: entity for entity in crate["@graph"]}, crate


def references(entities):
    return [entity["@id"] for entity in entities]


def test_the_run_is_an_action_of_the_workflow():
    entities, _ = described()
    action, workflow = entities["#run"], entities["Snakefile"]
    assert entities["./"]["mainEntity"] == action["instrument"] == {"@id": "Snakefile"}
    assert entities["./"]["mentions"] == {"@id": "#run"}
    assert (action["startTime"], action["endTime"]) == ("2026-11-27T10:00:00+00:00", "2026-11-27T10:10:00+00:00")
    assert "agent" not in action
    assert references(action["object"]) == [CONFIG, "outside/0123-our%20table.csv"]
    assert references(action["result"]) == [FIGURE]
    assert action["description"].startswith("2 jobs at commit c0ffee;")
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} == set(workflow["@type"])
    assert workflow["version"] == "0.1.0"
    assert entities[workflow["programmingLanguage"]["@id"]]["version"] == "9.27.1"


def test_files_have_checksums_and_the_names_that_the_run_knew_them_by():
    entities, _ = described()
    outside = entities["outside/0123-our%20table.csv"]
    assert (outside["sha256"], outside["alternateName"]) == (HASHES[OUTSIDE], TABLE)
    assert outside["encodingFormat"] == "text/csv"
    assert "alternateName" not in entities[FIGURE]
    assert {entities[name]["sha256"] for name in (FIGURE, "requirements.lock")} <= set(HASHES.values())
    files = {name for name, entity in entities.items() if "File" in entity["@type"]}
    assert files | {f"{RUN}/provenance/"} == set(references(entities["./"]["hasPart"]))


def test_whatever_is_referred_to_is_described():
    entities, _ = described()
    found = [value for entity in entities.values() for given in entity.values() for value in listed(given)]
    named = {value["@id"] for value in found if isinstance(value, dict)}
    elsewhere = {"https://doi.org/10.1093/bioinformatics/bts480", "https://snakemake.readthedocs.io"}
    assert named - entities.keys() == elsewhere | {run_crate.SPECIFICATION}


def listed(value):
    return value if isinstance(value, list) else [value]


def test_a_sidecar_without_times_is_named():
    records = SIDECARS | {f"{RUN}/provenance/second.json": {"outputs": {}}}
    with pytest.raises(AuditError, match=r"provenance/second.json: lacks the start or the duration of its job"):
        described(records)


def test_a_checksum_that_is_not_the_files_is_found():
    _, crate = described()
    run_crate.check(crate, HASHES)
    with pytest.raises(AuditError, match=r"our table.csv is not the file that ro-crate-metadata.json describes"):
        run_crate.check(crate, HASHES | {OUTSIDE: "f" * 64})
    with pytest.raises(AuditError, match="is no description that `snakemake archive` made"):
        run_crate.check({"@graph": ["sha256"]}, HASHES)

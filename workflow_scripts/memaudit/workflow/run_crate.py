"""Describe an archived run as a Workflow Run RO-Crate, for programs that do not know memaudit's sidecars.

Profile: https://w3id.org/ro/wfrun/workflow/0.5, on RO-Crate 1.1. The description is made from the sidecars alone, so
the same run has the same one. Who started the run is not recorded, and so not stated.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from memaudit.common.errors import AuditError

Entity = dict[str, Any]

CRATE = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    WORKFLOW_CRATE: ("Workflow RO-Crate", "1.0"),
}
# RO-Crate 1.1 has no term for a checksum; the profile's vocabulary has.
CONTEXT = [f"{SPECIFICATION}/context", {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
MIT = "https://spdx.org/licenses/MIT"
RIGHTS = "None is granted: the archive holds records of the run's tables, which keep the terms of those who gave them."
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
}


def describe(
    run: str,
    hashes: Mapping[str, str],
    recorded: Mapping[str, str],
    results: Iterable[str],
    records: Mapping[str, Mapping[str, Any]],
    version: str,
) -> Entity:
    """Return the content of ro-crate-metadata.json for the run whose folder is `run` (results/<run>).

    hashes: sha256 by member of the archive; recorded: the path that sidecars know a member by, for all of which they
    speak; results: members that are tables, figures, the page; records: sidecars by member; version: of the workflow.
    """
    config = f"{run}/config.yaml"
    made = {path for record in records.values() for path in record["outputs"]}
    inputs = [config, *sorted(name for name, path in recorded.items() if path not in made)]
    outputs = sorted({*results} - {config})
    pins = sorted(hashes.keys() - recorded.keys() - records.keys() - {WORKFLOW})
    files = [_file(name, hashes[name], recorded.get(name, name)) for name in dict.fromkeys([*inputs, *outputs, *pins])]
    trace = _reference(f"{run}/provenance/") | {"@type": "Dataset", "name": "Sidecars", "about": _reference("#run")}
    trace["description"] = "One file for each job: sha256 of inputs and outputs, parameters, packages, times."
    sums = _reference("SHA256SUMS") | {"@type": "File", "name": "sha256 of every other file", **_media("x.txt")}
    workflow = _workflow(version, hashes[WORKFLOW])
    return {
        "@context": CONTEXT,
        "@graph": [
            {
                **_reference(CRATE),
                "@type": "CreativeWork",
                "about": _reference("./"),
                "conformsTo": [_reference(SPECIFICATION), _reference(WORKFLOW_CRATE)],
            },
            _root(Path(run).name, [workflow, *files, trace, sums], _times(records)[1]),
            *_context(records),
            workflow,
            _action(Path(run).name, inputs, outputs, records),
            *files,
            trace,
            sums,
        ],
    }


def check(crate: Any, hashes: Mapping[str, str]) -> None:
    """Raise AuditError unless every file that a description gives a sha256 of has it."""
    try:
        stated = {unquote(entity["@id"]): entity["sha256"] for entity in crate["@graph"] if "sha256" in entity}
    except (KeyError, TypeError) as error:
        raise AuditError(f"{CRATE} is no description that `snakemake archive` made ({error!r})") from error
    for name, stated_hash in stated.items():
        if hashes.get(name) != stated_hash:
            raise AuditError(f"{name} is not the file that {CRATE} describes")


def _root(run: str, parts: Iterable[Entity], published: str) -> Entity:
    return {
        **_reference("./"),
        "@type": "Dataset",
        "name": f"memaudit run {run}",
        "description": "Tables, figures and report of a run, with the inputs and the sidecars that they rest on.",
        "datePublished": published,
        "license": RIGHTS,
        "conformsTo": [_reference(profile) for profile in PROFILES],
        "mainEntity": _reference(WORKFLOW),
        "mentions": _reference("#run"),
        "hasPart": [{"@id": part["@id"]} for part in parts],
    }


def _context(records: Mapping[str, Mapping[str, Any]]) -> list[Entity]:
    """Profiles, the language of the workflow in the version that ran, and the licence of the workflow."""
    profiles = [
        {**_reference(profile), "@type": "CreativeWork", "name": name, "version": version}
        for profile, (name, version) in PROFILES.items()
    ]
    ran = {record.get("packages", {}).get("snakemake", {}).get("version") for record in records.values()} - {None}
    language = {
        **_reference(SNAKEMAKE),
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": _reference("https://doi.org/10.1093/bioinformatics/bts480"),
        "url": _reference("https://snakemake.readthedocs.io"),
        **({"version": ", ".join(sorted(ran))} if ran else {}),
    }
    licence = {
        **_reference(MIT),
        "@type": "CreativeWork",
        "name": "MIT License",
        "description": "Of the workflow alone.",
    }
    return [*profiles, language, licence]


def _workflow(version: str, sha: str) -> Entity:
    return {
        **_reference(WORKFLOW),
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "memaudit",
        "description": "Measures what models memorize of single records. The rules that it includes stand in rules/.",
        "version": version,
        "programmingLanguage": _reference(SNAKEMAKE),
        "license": _reference(MIT),
        "sha256": sha,
    }


def _action(run: str, inputs: list[str], outputs: list[str], records: Mapping[str, Mapping[str, Any]]) -> Entity:
    started, ended = _times(records)
    states = [state for record in records.values() if (state := record.get("git"))]
    commits = sorted({state["commit"] + " with uncommitted changes" * state["dirty"] for state in states})
    at = f" at commit {', '.join(commits)}" if commits else ""
    return {
        **_reference("#run"),
        "@type": "CreateAction",
        "name": f"memaudit run {run}",
        "description": f"{len(records)} jobs{at}; `snakemake --configfile {run}/config.yaml` runs them again.",
        "startTime": started,
        "endTime": ended,
        "instrument": _reference(WORKFLOW),
        "object": [_reference(name) for name in inputs],
        "result": [_reference(name) for name in outputs],
    }


def _times(records: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Start of the first job and end of the last, in ISO 8601. Raises AuditError where a sidecar lacks them."""
    begins, ends = [], []
    for name, record in records.items():
        if not {"started", "wall_seconds"} <= record.keys():
            raise AuditError(f"{name}: lacks the start or the duration of its job; run the job again with --forcerun")
        begins.append(datetime.fromisoformat(record["started"]))
        ends.append(begins[-1] + timedelta(seconds=record["wall_seconds"]))
    return min(begins).isoformat(), max(ends).isoformat(timespec="seconds")


def _file(name: str, sha: str, path: str) -> Entity:
    """A member that may have another name in the archive than in the run."""
    elsewhere = {"alternateName": path} if path != name else {}
    return {
        **_reference(name),
        "@type": "File",
        "name": PurePosixPath(name).name,
        **elsewhere,
        **_media(name),
        "sha256": sha,
    }


def _media(name: str) -> Entity:
    known = MEDIA_TYPES.get(PurePosixPath(name).suffix)
    return {"encodingFormat": known} if known else {}


def _reference(name: str) -> Entity:
    """Reference to an entity: a member by its path, which may hold spaces, anything else by its address."""
    return {"@id": name if "://" in name or name.startswith("#") else quote(name)}

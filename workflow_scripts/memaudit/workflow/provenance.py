"""Follow every figure and table back to raw data through the sidecars of a run."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.common.checksums import TIMESTAMP, sha256
from memaudit.common.command_name import workflow_command
from memaudit.common.errors import AuditError
from memaudit.workflow.sidecar import read_all

ENDS = ("figures", "tables", "report", "config.yaml")
PAGE = "/report/index.html"
PRIVATE = ("audit", "release", "own")  # results that rest on a private table, so they are never archived
NO_SIDECAR = ("plan", "costs", "provenance", "archive", "release_plan", "data_make_key")  # rules that leave none
Remedy = Callable[[str], str]
Makers = Mapping[str, list[tuple[str, Mapping[str, Any]]]]


@dataclass(frozen=True)
class Checked:
    """A run that agrees with its sidecars.

    results: number of end results; hashes: sha256 of every file that they rest on, themselves included (None where it
    was withheld); sidecars: those that speak of them; leftover: sidecars of files that no result rests on any more;
    elsewhere: by environment, versions of the packages whose models jobs have used there.
    """

    results: int
    hashes: dict[str, str | None]
    sidecars: list[str]
    leftover: list[str]
    elsewhere: dict[str, dict[str, list[str]]]


def verify(
    run: str | Path,
    ends: Iterable[str] = ENDS,
    settings: Iterable[str] = (),
    remedy: Remedy | None = None,
    unmade: str = "no rule makes it: put it back",
) -> Checked:
    """Check that every result of a run is the one that its recorded inputs, back to the raw data, have made.

    run: the folder results/<run>; paths in sidecars are relative to the folder that holds `results`; ends: the folders
    and files in it that hold results; settings: options of Snakemake that give the run its settings, without a config
    file the merged one that the run has left; remedy: what to do about a path, by default the command that makes it
    again; unmade: what to do about one that is missing and that no rule makes.
    Raises AuditError at the first file that is missing, changed, unaccounted for, or made from an older input.
    """
    records = _records_of(run)
    results = results_of(run, ends)
    if (page := f"{run}{PAGE}") not in results and set(ENDS) <= set(ends):
        # No result would miss the page, as the page misses a table.
        results += [page] if any(page in record["outputs"] for record in filter(_is_sidecar, records.values())) else []
    if not results:
        raise AuditError(f"{run}: nothing to verify; run `{workflow_command()} --cores all`")
    remedy = remedy or _remedies(run, results, records, list(settings))

    def hash_of(path: str) -> str:
        if Path(path).exists():
            return sha256(path)
        # A job that fails loses its sidecar, too.
        made = Path(path).is_relative_to(run) or any(path in record["outputs"] for record in records.values())
        raise AuditError(f"{path}: missing, though a sidecar records it; {remedy(path) if made else unmade}")

    return walk(results, records, hash_of, remedy)


def _records_of(run: str | Path) -> dict[str, dict[str, Any]]:
    """Sidecars of a run by path. Raises AuditError where there are none."""
    check_computed(run)
    return read_all(Path(run, "provenance"))


def check_computed(run: str | Path) -> None:
    """Raise AuditError where a run has no sidecars; it names the runs beside it that have some."""
    if any(Path(run, "provenance").rglob("*.json")):
        return
    others = sorted(str(path.parent) for path in Path(run).parent.glob("*/provenance") if any(path.rglob("*.json")))
    if others:
        raise AuditError(
            f"{run}: nothing has been computed; there are results in {', '.join(others)}: give their config behind "
            "--configfile (the merged one is config.yaml in such a folder)"
        )
    raise AuditError(f"{run}: nothing has been computed yet; run `{workflow_command()} --cores all`")


def results_of(run: str | Path, ends: Iterable[str]) -> list[str]:
    """Files of a run that are results; none where the merged config stands alone."""
    results = [str(path) for kind in ends for path in _files(Path(run, kind))]
    return [] if set(results) <= {str(Path(run, "config.yaml"))} else results


def _remedies(run: str | Path, results: Iterable[str], records: Mapping[str, Any], settings: list[str]) -> Remedy:
    """What makes a file of a run again, as a command to be pasted."""
    config = str(Path(run, "config.yaml"))
    there = {*results, *(str(path) for kind in ENDS for path in _files(Path(run, kind)))}

    def remedy(path: str) -> str:
        # The merged config may be that of a later run with other settings, which failed. Audits, releases and single
        # targets leave none, and one that was changed must not be read.
        merged = Path(config).exists() and path != config and "--configfile" not in settings
        options = ["--configfile", config] if merged else settings
        command = ["--cores", "all", *targets(path, there, records), *options, "--forcerun", _declared(path)]
        return f"make it again with `{workflow_command()} {shlex.join(command)}`"

    return remedy


def check_unused(run: str | Path, used: Iterable[str]) -> None:
    """Check the recorded files of a run that no result rests on, among them those over which a job has failed.

    used: paths that results rest on, themselves included. Raises AuditError at the first file that differs from what
    each of its sidecars records.
    """
    recorded: dict[str, set[str]] = defaultdict(set)
    for record in filter(_is_sidecar, _records_of(run).values()):
        for path, sha in record["outputs"].items():
            recorded[path].add(sha)
    for path in sorted(recorded.keys() - set(used)):
        if Path(path).exists() and sha256(path) not in recorded[path]:
            declared = _declared(path)
            delete = shlex.join(["rm", *(["-r"] if Path(declared).is_dir() else []), declared])
            raise AuditError(
                f"{path}: changed since it was made, and no result rests on it (a job that failed over it loses its "
                f"results); delete it with `{delete}`, and run again what is missing"
            )


def unfinished(run: str | Path) -> list[str]:
    """Logs of jobs that have failed or were stopped, or are running: what they make is missing, as is their sidecar."""
    logs = Path(run, "logs")
    found = {path: path.relative_to(logs).with_suffix("") for path in sorted(logs.rglob("*.log"))}
    return [
        str(path)
        for path, job in found.items()
        if str(job) not in NO_SIDECAR and not Path(run, "provenance", f"{job}.json").exists()
    ]


def targets(path: str, ends: Iterable[str], records: Mapping[str, Any]) -> list[str]:
    """The targets that make again what rests on a path and nothing else; none where that is the whole run.

    ends: the results that there are; records: sidecars by path. One file of each job that made some of these results,
    or their studies where such jobs are more than three.
    """
    readers = defaultdict(set)
    sound = {name: record for name, record in records.items() if _is_sidecar(record)}
    for name, record in sound.items():
        for source in record["inputs"]:
            readers[source].add(name)
    jobs = {name for name, record in sound.items() if path in record["outputs"]} | readers[path]
    todo = list(jobs)
    while todo:
        found = set().union(*(readers[output] for output in sound[todo.pop()]["outputs"])) - jobs
        jobs |= found
        todo += found
    made = [sound[name]["outputs"].keys() & ends for name in jobs]
    again = sorted(path if path in found else min(found) for found in made if found)
    if any(end.endswith(PAGE) for end in again):
        return []
    return again if len(again) <= 3 else sorted({Path(end).name.split("_")[0] for end in again})


def _declared(path: str) -> str:
    """The path itself, or the folder that a rule declares as its output in whose place the file stands."""
    return next((str(folder) for folder in Path(path).parents if (folder / TIMESTAMP).exists()), path)


def walk(
    ends: Iterable[str],
    records: Mapping[str, Mapping[str, Any]],
    hash_of: Callable[[str], str | None],
    remedy: Remedy,
) -> Checked:
    """Check the files behind these end results against sidecars, wherever both lie.

    records: sidecars by path; hash_of: sha256 of a recorded path, None where it is withheld and anything goes; remedy:
    what to do about a path. Raises AuditError at the first file that does not match.
    """
    made = _makers(records, remedy)
    seen: dict[str, str | None] = {}
    ends = list(ends)
    for path in ends:
        if path not in made:
            raise AuditError(
                f"{path}: no rule of this run accounts for it; delete it, a rule that makes it does so again"
            )
        _check(path, made, seen, hash_of, remedy)
    used = {_the_maker(path, made)[0] for path in seen if path in made}
    elsewhere = _versions_elsewhere(records[name] for name in used)
    return Checked(len(ends), seen, sorted(used), sorted(records.keys() - used), elsewhere)


def _versions_elsewhere(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for environment, packages in record.get("other_environments", {}).items():
            for name, facts in packages.items():
                found[environment][name].add(facts["version"])
    return {place: {name: sorted(one) for name, one in found[place].items()} for place in sorted(found)}


def _makers(records: Mapping[str, Any], remedy: Remedy) -> Makers:
    """Name and content of the sidecars that record a path as their output, by path."""
    made: dict[str, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for name, record in records.items():
        if not _is_sidecar(record):
            raise AuditError(f"{name}: is no sidecar, it lacks inputs and outputs; {remedy(name)}")
        for path in record["outputs"]:
            made[path].append((name, record))
    return dict(made)


def _is_sidecar(record: Any) -> bool:
    return isinstance(record, dict) and all(isinstance(record.get(key), dict) for key in ("inputs", "outputs"))


def _the_maker(path: str, made: Makers) -> tuple[str, Mapping[str, Any]]:
    """The sidecar that started last: one of a rule that has been renamed since stays beside it."""
    *_, last = sorted(made[path], key=lambda entry: entry[1].get("started", ""))
    same = [name for name, record in made[path] if record.get("started", "") == last[1].get("started", "")]
    if len(same) > 1:
        raise AuditError(
            f"{path}: recorded by {' and '.join(same)}; delete the stale sidecar (of a rule that was renamed)"
        )
    return last


def _check(path, made, seen, hash_of, remedy) -> None:
    """Depth first, so that the file named is the one nearest to the raw data."""
    todo, begun = [(path, False)], set()
    while todo:
        path, inputs_done = todo.pop()
        if path in seen:
            continue
        if path in made and not inputs_done:
            if path in begun:
                raise AuditError(f"{path}: rests on itself, as the sidecars tell; {remedy(path)}")
            begun.add(path)
            todo.append((path, True))
            todo += [(source, False) for source in _the_maker(path, made)[1]["inputs"]]
            continue
        seen[path] = hash_of(path)
        if path in made:
            sidecar, record = _the_maker(path, made)
            for source, recorded in record["inputs"].items():
                if seen[source] not in (recorded, None):
                    raise AuditError(f"{source}: differs from what {sidecar} records as its input; {remedy(path)}")
            if seen[path] != record["outputs"][path]:
                raise AuditError(f"{path}: changed since it was made ({sidecar}); {remedy(path)}")


def _files(path: Path) -> Iterator[Path]:
    return (found for found in (path, *sorted(path.rglob("*"))) if found.is_file())

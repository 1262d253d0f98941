"""The jobs behind results, their files and their costs, read from sidecars."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

Record = Mapping[str, Any]
KEY = "/data/id.key"


@dataclass(frozen=True)
class Step:
    """Files that one rule made, each with its sha256; rule is None for given files, which no rule made."""

    rule: str | None
    files: dict[str, str]


@dataclass(frozen=True)
class Cost:
    """Cost of a rule: number of jobs, CPU seconds of all, wall seconds of the longest, largest peak in MiB."""

    rule: str
    jobs: int
    cpu: float
    longest: float
    memory: int


class Lineage:
    """The jobs that some results depend on. Sidecars of other jobs, such as outdated ones, are ignored."""

    def __init__(self, sidecars: Iterable[Record], ends: Iterable[str]):
        """sidecars: of the whole run; ends: paths of the results, as sidecars record them."""
        # Of a result that a renamed rule has made again the last sidecar counts.
        in_order = sorted(sidecars, key=lambda record: record.get("started", ""))
        self._made = {path: record for record in in_order for path in record["outputs"]}
        behind = [record for end in ends for record in self._walk(end)]
        self.records = list({id(record): record for record in behind}.values())

    def behind(self, path: str) -> list[Step]:
        """The files that a result depends on, rule by rule, nearest first; given files last.

        Pages are passed on: paths of a user's files and the key of the record ids are omitted.
        """
        files: dict[str | None, dict[str, str]] = {}
        for record in self._walk(path):
            files.setdefault(record["rule"], {})
            for source, sha in record["inputs"].items():
                origin = self._made.get(source)
                files.setdefault(origin and origin["rule"], {})[source] = sha
        given = {_displayed(name, sha): sha for name, sha in files.pop(None, {}).items() if not name.endswith(KEY)}
        steps = [Step(rule, made) for rule, made in files.items() if made]
        return steps + ([Step(None, given)] if given else [])

    def edges(self) -> set[tuple[str, str]]:
        """Pairs of rules of which the second reads an output of the first."""
        return {
            (self._made[source]["rule"], record["rule"])
            for record in self.records
            for source in record["inputs"]
            if source in self._made
        }

    def costs(self) -> dict[str, Cost]:
        """Costs by rule."""
        jobs: dict[str, list[Record]] = defaultdict(list)
        for record in self.records:
            jobs[record["rule"]].append(record)
        return {rule: _cost(rule, records) for rule, records in jobs.items()}

    def packages(self) -> dict[str, list[str]]:
        """Versions of every package that a job had loaded; several if jobs differ. Those elsewhere name their place."""
        own = [(name, one["version"]) for record in self.records for name, one in record["packages"].items()]
        elsewhere = [
            (f"{name} ({environment})", one["version"])
            for record in self.records
            for environment, packages in record.get("other_environments", {}).items()
            for name, one in packages.items()
        ]
        return _distinct([*own, *elsewhere])

    def circumstances(self) -> dict[str, list[str]]:
        """Commit, Python, platform, device and number type of all jobs; several values if jobs differ."""
        recorded = _distinct(
            (label, str(record[key]))
            for label, key in (("Python", "python"), ("platform", "platform"), ("device", "device"), ("dtype", "dtype"))
            for record in self.records
            if record.get(key) is not None
        )
        return _distinct(("commit", _commit(record["git"])) for record in self.records) | recorded

    def _walk(self, path: str) -> Iterable[Record]:
        """Records of the jobs behind a path, nearest first, each once."""
        seen, todo = set(), [path]
        while todo:
            record = self._made.get(todo.pop(0))
            if record is not None and id(record) not in seen:
                seen.add(id(record))
                yield record
                todo += record["inputs"]


def _displayed(path: str, sha: str) -> str:
    """Path of a given file for readers; outside the project's folder even the name may identify people."""
    outside = PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
    return f"a file of yours ({sha[:8]})" if outside else path


def _cost(rule: str, records: list[Record]) -> Cost:
    return Cost(
        rule,
        len(records),
        sum(record["cpu_seconds"] for record in records),
        max(record["wall_seconds"] for record in records),
        max(record["peak_memory_mib"] for record in records),
    )


def _commit(git: Mapping[str, Any] | None) -> str:
    if git is None:
        return "no repository"
    return git["commit"][:12] + (" with uncommitted changes" if git["dirty"] else "")


def _distinct(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    distinct: dict[str, set[str]] = defaultdict(set)
    for name, value in pairs:
        distinct[name].add(value)
    return {name: sorted(values) for name, values in sorted(distinct.items(), key=lambda pair: pair[0].lower())}

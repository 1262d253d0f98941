"""One run of the workflow: its checked config, the project's folder, and look-ups that all rules files share."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.errors import AuditError
from memaudit.common.hub_address import hub_address
from memaudit.common.local_table_size import counted
from memaudit.common.project_paths import config_path
from memaudit.config.check_config import checked
from memaudit.models import language_model_costs
from memaudit.workflow.model_passes import Passes

UNKNOWN_TABLE = {"rows": 10000, "columns": 20}
PLANNED = ("architecture", "parameters")  # of a model's entry, for the plan alone
LARGE = 10**8  # bytes of a table that is read by two threads
UNIT_COSTS = "results/bench/unit_costs.json"


class RunConfig:
    """A run: `config` is complete and free of faults, `folder` is where its results are. Raises AuditError.

    files: those that the config was read from.
    """

    def __init__(self, config: Mapping[str, Any], project: str | Path, files: Sequence[str | Path] = ()):
        try:
            self.config = checked(dict(config), files)
        except AuditError as error:
            raise AuditError(f"config: {error}") from None
        self.project = Path(project)
        self.folder = f"results/{self.config['run']}"
        self.unit_costs = self.named(UNIT_COSTS)

    def in_project(self, path: str | Path) -> str:
        """A file of the project itself, relative to the working folder."""
        return os.path.relpath(self.project / path)

    def named(self, path: str | Path) -> str:
        """A file that the config names, or that a run makes, as `config_path`; relative to the working folder."""
        return os.path.relpath(config_path(path))

    def published(self, study: str) -> Callable:
        """A params function: the numbers that a study's paper prints. Few jobs need them, so that few read the file."""
        return lambda wildcards: self._published[study]

    @cached_property
    def _published(self) -> dict[str, Any]:
        return read_yaml(self.in_project("config/published.yaml"))

    def dataset_keys(self, *keys: str) -> Callable:
        """A params function: these keys of a data set's catalogue entry."""
        return lambda wildcards: {key: self.config["datasets"][wildcards.dataset][key] for key in keys}

    def table_size(self, dataset: str) -> dict[str, Any]:
        """Rows and features of a table: from the fetched table, the catalogue, a local file, else a guess.

        known: whether from the first two; counted: whether from a local file; damaged: the path of the fetched
        table's facts if they cannot be read.
        """
        path = Path(f"{self.folder}/data/{dataset}/raw.json")
        if raw := read_facts(path):
            size = {"rows": raw["rows"], "columns": len(raw["columns"]) - 1}
            return size | {"known": True, "counted": False, "damaged": None}
        entry = self.config["datasets"][dataset]
        stated = {key: entry[key] for key in UNKNOWN_TABLE if entry[key]}
        known = len(stated) == len(UNKNOWN_TABLE)
        found = {} if known or entry["source"] != "file" else counted(entry)
        damaged = str(path) if path.exists() else None
        return UNKNOWN_TABLE | found | stated | {"known": known, "counted": bool(found), "damaged": damaged}

    def most_records(self, dataset: str) -> int | None:
        """Most records that a table can have once it is sampled; None where nobody knows before it is fetched.

        Duplicates that are dropped make them fewer.
        """
        raw = read_facts(f"{self.folder}/data/{dataset}/raw.json")
        rows = raw["rows"] if raw else self.config["datasets"][dataset]["rows"]
        return rows and min(filter(None, (rows, self.config["datasets"][dataset]["max_records"])))

    def side_sizes(self, dataset: str, split: str) -> list[int]:
        """Numbers of members and non-members of a split."""
        limits = (self.table_size(dataset)["rows"], self.config["datasets"][dataset]["max_records"])
        rows = min(filter(None, limits))
        parts = self.config["data"]["splits"][split]
        sides = [parts["members"], parts["nonmembers"]]
        return [round(part * rows) if isinstance(part, float) else part for part in sides]

    def passes(self, model: str) -> Passes:
        """Costs of a model's answers, by its entry's `architecture` or `parameters`, else by the files at its path."""
        entry = self.config["models"][model]
        if entry["family"] == "text":
            return Passes(entry, {}, self._known_weights("models", model) or 0.0)
        card = read_facts(Path(self.named(entry["path"])).with_name("model.json")) if entry["path"] else None
        return Passes(entry, entry["architecture"] or (card["settings"]["architecture"] if card else {}))

    def states(self, model: str) -> int:
        """Numbers in the hidden states of one record, in all layers of a model of `models`; 0 where not known."""
        entry = self.config["models"][model]
        if entry["family"] != "text":
            return self.passes(model).states
        return language_model_costs.states(self._shape(entry))

    def layers(self, model: str) -> int:
        """Layers of a model of `models` that have hidden states; 0 where not known."""
        entry = self.config["models"][model]
        if entry["family"] != "text":
            return self.passes(model).layers
        return language_model_costs.layers(self._shape(entry))

    def _shape(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Numbers of a language model's architecture: of its entry, else of the config at its path."""
        file = f"{self.named(entry['path'])}/config.json" if entry["path"] else ""
        return entry["architecture"] or (read_facts(file) if os.path.exists(file) else {})

    def model_entry(self, model: str) -> dict[str, Any]:
        """A model's catalogue entry without what the plan alone reads."""
        return {key: value for key, value in self.config["models"][model].items() if key not in PLANNED}

    def weights(self, catalogue: str, model: str, vocabulary: int = 0) -> float:
        """Weights of a language model of `models` or `language_models`: as stated, else by its architecture's numbers.

        vocabulary: tokens, of a model that is made here. 0 for a folder that is not there: `missing_inputs` names it.
        Raises AuditError where the numbers are not known.
        """
        found = self._known_weights(catalogue, model, vocabulary)
        if found is None:
            path = self.config[catalogue][model]["path"]
            where = f"{self.named(path)}/config.json" if path else f"{catalogue}/{model}/config"
            raise AuditError(f"{where}: states no width and layers; give the weights as {catalogue}/{model}/parameters")
        return found

    def _known_weights(self, catalogue: str, model: str, vocabulary: int = 0) -> float | None:
        """As `weights`; None where the numbers are not known."""
        entry = self.config[catalogue][model]
        if entry["parameters"]:
            return entry["parameters"]
        if not entry["path"]:
            return language_model_costs.weights(entry.get("config") or {}, vocabulary)
        file = f"{self.named(entry['path'])}/config.json"
        return language_model_costs.weights(read_facts(file) or {}, vocabulary) if os.path.exists(file) else 0.0

    def model_rows(self, models: list[str]) -> list[list[Any]]:
        """Name, family, task, mode, version, source and licence of each model, for a table of the report."""
        rows = []
        for name in models:
            entry = self.config["models"][name]
            source = entry["path"] or entry["estimator"] or hub_address(entry["hub"])
            rows.append(
                [name, entry["family"], entry["task"], entry["mode"], entry["version"], source, entry["licence"]]
            )
        return rows


def grows(amount: int | Callable[[Any], int], fixed: Callable[[Any], int] | None = None) -> Callable:
    """A resource function: MB of memory or minutes of runtime, more at each retry.

    amount: at first, or a function of the wildcards that gives it. A cluster ends a job that exceeds what it requested.
    fixed: of the wildcards, what is added and does not grow, as the memory of a large model: a job that is sent again
    after its time was over would otherwise request more than any machine has.
    """

    def request(wildcards: Any, attempt: int) -> int:
        growing = amount(wildcards) if callable(amount) else amount
        return (fixed(wildcards) if fixed else 0) + growing * attempt

    return request


def two_if_large(wildcards: Any, input: Any) -> int:
    """Threads of a job that reads tables: two above `LARGE` bytes. On two cores it waits until both are free."""
    present = (Path(path) for path in input if Path(path).exists())
    return 2 if sum(path.stat().st_size for path in present) > LARGE else 1


def shards(models: int, size: int) -> range:
    """Numbers of the shards of `size` models each."""
    return range(-(-models // size))


def read_facts(path: str | Path) -> Any:
    """Content of a JSON file; None if it is missing or damaged: no run fails because a size cannot be predicted."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def read_yaml(path: str | Path) -> Any:
    """Content of a YAML file of the project, by the parser in C: every job of a cluster reads the workflow again."""
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.load(file, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise AuditError(f"{path}: {' '.join(str(error).split())}") from None

"""What the workflow must know of a study: look-ups of its rules, its result files, names for its views, job sizes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from memaudit.workflow.downloads import stored_bytes
from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.run_config import RunConfig

Sizes = dict[str, dict[str, Size]]  # rule -> job (name of its sidecar below the rule's folder) -> size


class Study:
    """Base of the classes in `studies/`: one for each rules file that looks something up in the config.

    Methods with the argument `wildcards` are functions for `input:` and `params:`.
    """

    name = ""
    # False where the config leaves the study out: its rules stay, nothing of it is shown.
    present = True
    # Kinds of results that one job makes: figures of any of them wait for the same job, and one job draws them.
    made_together: Sequence[frozenset[str]] = ()

    def __init__(self, run: RunConfig):
        self.run = run
        self.config = run.config.get(self.name)

    @property
    def results(self) -> dict[str, list[str]]:
        """Files of tidy results by kind; config/views/<study>.yaml names the kinds."""
        return {}

    @property
    def names(self) -> dict[str, Any]:
        """Values that config/views/<study>.yaml takes from the config: `$name` or `{$name}` there."""
        return {}

    @property
    def judged(self) -> bool:
        """Whether claims of the paper are judged: not where all tables are a user's own (`licence: private`)."""
        tables = (self.config or {}).get("datasets") or [None]
        return any(name is None or self.run.config["datasets"][name]["licence"] != "private" for name in tables)

    def keys(self, *keys: str) -> dict[str, Any]:
        """These keys of the study's section, as params."""
        return {key: self.config[key] for key in keys}

    def section(self, *keys: str) -> Callable:
        """A params function: these keys of the study's section, or all of them."""
        return lambda wildcards: {key: self.config[key] for key in keys or self.config}

    def sizes(self) -> Sizes:
        """Size of every job, for the plan and the time left (memaudit/workflow/job_costs.py)."""
        return {}

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        """Models that the study asks, each with its requests: `where`, `rows` of a context, `features` if known."""
        return {}

    def faults(self) -> Iterator[str]:
        """Faults known before the first job: what the study needs and its tables or files lack, each with a remedy."""
        yield from ()

    def shadows(self) -> dict[str, Any] | None:
        """Number of shadow models, the FPRs that they are for, and the records of each table; None without any."""
        return None

    def data_sizes(self, datasets: Sequence[str], splits: Sequence[str] = ()) -> Sizes:
        """Sizes of the jobs of rules/data.smk that a study needs: its tables, with these splits."""
        tables = {dataset: self.table_cells(dataset) for dataset in datasets}
        sides = {f"{dataset}/{split}": tables[dataset] for dataset in datasets for split in splits}
        return {
            "data_make_key": {"": size(0)},
            "data_fetch_table": tables,
            "data_deduplicate_table": dict(tables),
            "data_split_records": sides,
        }

    def fetch_sizes(self, models: Sequence[str]) -> Sizes:
        """Sizes of the jobs that fetch these models."""
        catalogue = self.run.config["models"]
        return {"models_fetch_checkpoint": {name: size(0, stored=stored_bytes(catalogue[name])) for name in models}}

    def asked_memory(self, jobs: Iterable[Size]) -> int:
        """MB of memory for jobs of one rule: 4,000, or the largest forward pass of these and 2,000 beside it."""
        return max([4000, *(2000 + round(job.forward / 1e6) for job in jobs)])

    def table_cells(self, dataset: str) -> Size:
        """Size of jobs that read each cell of a table once."""
        table = self.run.table_size(dataset)
        return size(table["rows"] * (table["columns"] + 1))

    def known_classes(self, dataset: str) -> dict[str, int]:
        """{"classes": their number}, for a request of a model; {} where nobody knows it before the table is fetched."""
        classes = self.run.config["datasets"][dataset]["classes"]
        return {"classes": classes} if classes else {}

    def features(self, dataset: str) -> int | None:
        """Number of a table's features; None where nobody knows it before the table is fetched."""
        table = self.run.table_size(dataset)
        return table["columns"] if table["known"] else None

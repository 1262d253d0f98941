"""How large the jobs of `all` are (`snakemake plan`): a registry that every study fills, a line a rule; no rule here.

costs("rule", jobs, size)   jobs: names of their sidecars below <results>/provenance/rule, without `.json`
                            size: a function of the parts of such a name, asked when somebody wants to know
"""

import json
from types import SimpleNamespace

from memaudit.workflow.job_costs import size
from memaudit.models import flops

COSTS = {}
# Studies with shadow models: how many, the FPRs that they are for, and the records of each table.
SHADOWS = {}
UNKNOWN_TABLE = {"rows": 10000, "columns": 20}
UNIT_COSTS = "results/bench/unit_costs.json"


def costs(rule, jobs, size):
    """Register jobs of a rule; a job that two studies need is registered once."""
    COSTS.setdefault(rule, {}).update(dict.fromkeys(jobs, size))


def job_sizes():
    """The size of every registered job, by rule and name; a rule that has no job in this run is left out."""
    return {
        name: {job: size(*filter(None, job.split("/"))) for job, size in jobs.items()}
        for name, jobs in COSTS.items()
        if jobs
    }


def no_size(*_):
    """The size of jobs that all cost the same."""
    return size(0)


def facts(path):
    """What a JSON file says; None if it is missing or damaged: sizes are asked for to show how far a run is, and no run
    ends for that. The rule that needs the file says what is wrong with it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def table_size(dataset):
    """Rows and features of a table, and who says so: the run if it has fetched it, the catalogue, or nobody yet."""
    path = Path(f"results/{config['run']}/data/{dataset}/raw.json")
    raw = facts(path)
    if raw:
        return {"rows": raw["rows"], "columns": len(raw["columns"]) - 1, "known": True, "damaged": None}
    known = {key: config["datasets"][dataset][key] for key in UNKNOWN_TABLE if config["datasets"][dataset][key]}
    damaged = str(path) if path.exists() else None
    return UNKNOWN_TABLE | known | {"known": len(known) == len(UNKNOWN_TABLE), "damaged": damaged}


def data_size(dataset, split=None):
    table = table_size(dataset)
    return size(table["rows"] * (table["columns"] + 1))


def data_costs(datasets, splits):
    """Jobs of `data.smk` that a study needs: its tables, with these splits."""
    sides = [f"{dataset}/{split}" for dataset in datasets for split in splits]
    costs("data_make_key", [""], no_size)
    costs("data_fetch_table", datasets, data_size)
    costs("data_deduplicate_table", datasets, data_size)
    costs("data_split_records", sides, data_size)
    costs("data_validate_split", sides, data_size)


def side_sizes(dataset, split):
    """Members and non-members of a split."""
    rows = min(filter(None, (table_size(dataset)["rows"], config["datasets"][dataset]["max_records"])))
    parts = config["data"]["splits"][split]
    return [round(part * rows) if isinstance(part, float) else part for part in (parts["members"], parts["nonmembers"])]


def uncounted(models):
    """Models whose arithmetic is not that of one raw TabICL pass, which is what the plan counts for every model."""
    entries = {name: config["models"][name] for name in models}
    return sorted(name for name, entry in entries.items() if (entry["family"], entry["mode"]) != ("tabicl", "raw"))


def architecture(model):
    """Arguments of a model's class: those on the card beside a local checkpoint; none, the package's own, if unknown."""
    path = config["models"][model]["path"]
    card = facts(Path(in_project(path)).with_name("model.json")) if path else None
    return card["settings"]["architecture"] if card else {}

"""A small study tabpate, for tests of its look-ups and sizes."""

from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.tabpate_lookups import Tabpate


def small_study() -> Tabpate:
    """Two repeats of two methods on two tables, one of them attacked, at two epsilons."""
    run = RunConfig(load("smoke"), PROJECT)
    config = run.config["tabpate"]
    arms = {
        name: config["arms"][name] | {"datasets": None, "epsilons": None} for name in ("as_published", "query_time")
    }
    arms["mst"] = config["arms"]["mst"] | {"datasets": ["wine"], "epsilons": [1.0]}
    config |= {"datasets": ["wine", "diabetes"], "arms": arms, "epsilons": [1.0, 10.0], "repeats": 2, "shard": 3}
    config["ablations"] = {"base": "as_published", "datasets": ["wine"], "epsilons": [1.0], "vary": {"alpha": [0.2]}}
    config["shadows"] |= {"datasets": ["wine"], "arms": ["as_published", "query_time"], "epsilons": [1.0], "fpr": [0.1]}
    config["shadows"] |= {"sets": 20, "shard": 8, "poisoned": config["shadows"]["poisoned"] | {"epsilons": [10.0]}}
    return Tabpate(run)

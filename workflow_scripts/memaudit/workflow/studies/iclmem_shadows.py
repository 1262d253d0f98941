"""Look-ups of the ground truth of the study iclmem: conditions, shards and sizes of its shadow models."""

from collections.abc import Callable, Mapping
from typing import Any

from memaudit.workflow.job_costs import Size, asked_mb, size
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.studies.iclmem_arms import Arms

Sizes = dict[str, dict[str, Size]]

PERMUTED = 32  # bytes that each coin of a condition takes for each permutation


class GroundTruth:
    """Shadow models of a run; section: the config's `iclmem`; probe_work: operations of a probe of so many pairs."""

    def __init__(self, run: RunConfig, section: Mapping[str, Any], arms: Arms, probe_work: Callable[[str, int], float]):
        self._run, self._section, self._arms, self._probe_work = run, section, arms, probe_work

    @property
    def results(self) -> list[str]:
        """The file of results; none without shadow models."""
        return ["<results>/scores/iclmem/ground_truth.parquet"] if self._arms.shadowed else []

    @property
    def arms(self) -> dict[str, dict[str, Any]]:
        """Labels and learning rate of each arm that has shadow models."""
        named = dict.fromkeys(arm for _, arm in self._arms.shadowed)
        return {arm: {key: self._section["arms"][arm][key] for key in ("labels", "learning_rate")} for arm in named}

    def shards(self, wildcards) -> list[str]:
        """Answers of all shadow models."""
        return [f"<results>/signals/iclmem/ground_truth/{job}.nc" for job in self._jobs()]

    def sizes(self) -> Sizes:
        """Sizes of the jobs; {} without shadow models."""
        if not self._arms.shadowed:
            return {}
        probes = {job: self._probe_size(*job.split("/")) for job in self._jobs()}
        return {"iclmem_probe_shadows": probes, "iclmem_judge_shadows": {"": self._judge_size()}}

    def judging_memory(self, wildcards: Any) -> int:
        """MB of the permuted coins of a condition, for the job that judges all shadow models."""
        return asked_mb(self._judge_size(), 0)

    def _jobs(self) -> list[str]:
        return [
            f"{dataset}/{arm}/{shard}"
            for dataset, arm in self._arms.shadowed
            for shard in shards(self._truth["models"], self._truth["models_per_job"])
        ]

    @property
    def _truth(self) -> dict[str, Any]:
        return self._section["ground_truth"]

    def _probe_size(self, dataset: str, arm: str, shard: str) -> Size:
        """Steps, each a forward pass and twice as much backward, and the probes."""
        truth, settings = self._truth, self._arms.shadow_settings(dataset, arm)
        model, probes = self._run.passes(settings["model"]), len(settings["epochs"])
        shape = (settings["context"], settings["queries"], self._run.table_size(dataset)["columns"])
        pairs = truth["targets"] + truth["controls"]
        work = 3 * settings["epochs"][-1] * model.operations(*shape) + probes * self._probe_work(dataset, pairs)
        here = min(truth["models_per_job"], truth["models"] - int(shard) * truth["models_per_job"])
        answers = probes * 2 * pairs * len(self._section["manipulations"])
        return size(here * work, here * answers, 0, 2 * model.memory_bytes(*shape))

    def _judge_size(self) -> Size:
        """Permutations and replicates of all shadow models' scores; the memory is that of one condition at a time."""
        epochs = [len(self._arms.shadow_settings(*one)["epochs"]) for one in self._arms.shadowed]
        models, pairs = self._truth["models"], self._truth["targets"] + self._truth["controls"]
        runs, permutations = sum(epochs) * models, self._section["permutations"]
        permuted = PERMUTED * max(epochs) * models * pairs * permutations
        return size(runs * (permutations + self._section["replicates"]), runs, 0, permuted)

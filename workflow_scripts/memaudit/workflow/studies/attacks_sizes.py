"""How large the jobs of the attacks on in-context learning are: contexts, forward passes, scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from memaudit.workflow import estimator_costs
from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.model_passes import Load

if TYPE_CHECKING:
    from memaudit.workflow.studies.attacks_lookups import Attacks

EACH_REDRAW = 10_000  # entries whose scores take as long as a redraw does without any


class Contexts(NamedTuple):
    """Contexts of one shape: their number, rows and columns, queries and answers of each."""

    number: float
    rows: int
    columns: int
    queries: int
    answers: int


class Context(NamedTuple):
    """Context of a variant: rows, columns, bags that are queried one by one, and records that are queried."""

    rows: int
    columns: int
    bags: int
    queries: int


class AttackSizes:
    """Sizes of the jobs of a study, by table and arm."""

    def __init__(self, study: "Attacks"):
        self.study = study

    @property
    def config(self) -> dict[str, Any]:
        """The study's section."""
        return self.study.config

    def contexts(self, dataset: str, arm: str) -> Iterator[Context]:
        """The context of each variant of an arm."""
        members, nonmembers = self.study.sides(dataset)
        columns = self.study.run.table_size(dataset)["columns"]
        for variant in self.config["arms"][arm]["variants"]:
            rows = variant["context"] or members // 2
            copies = (variant["copies"] - 1) * min(self.config["active"]["targets"], 2 * rows) // 2
            both = min(members, 2 * rows) + min(nonmembers, 2 * rows)
            queries = nonmembers if variant["shares"] else both
            yield Context(rows + copies, min(variant["features"] or columns, columns), variant["bags"], queries)

    def drawn(self, dataset: str, arm: str) -> Size:
        return size(self.study.arms.contexts(arm) * sum(self.study.sides(dataset)))

    def queried(self, dataset: str, arm: str, shard: int) -> Size:
        contexts, whole = self.study.arms.contexts(arm), self.config["shard"]
        share = min(whole, contexts - shard * whole) / contexts
        sets = share * self.config["arms"][arm]["sets"]
        shapes = [
            Contexts(sets * bags, rows // bags, columns, queries, queries)
            for rows, columns, bags, queries in self.contexts(dataset, arm)
        ]
        return self._query_size(arm, shapes)

    def perturbed(self, dataset: str) -> Size:
        """Noisy copies of the targets, and the steps of a bisection along lines; of each target apart, if need be."""
        noise = self.config["perturbation"]
        rows, columns, *_ = next(self.contexts(dataset, "main"))
        targets, sets = min(noise["targets"], 2 * rows), min(noise["shard"], noise["sets"])
        together = targets if self.study.run.passes(self.config["arms"]["main"]["model"]).alone else 1
        apart = sets * targets / together
        copies = 1 + max(noise["counts"]) + (len(noise["scales"]) - 1) * noise["count"]
        shapes = [Contexts(apart, rows, columns, together * copies, together)]
        shapes += [Contexts(noise["steps"] * apart, rows, columns, together * noise["directions"], 0)]
        return self._query_size("main", shapes)

    def attention(self, dataset: str, arm: str) -> Size:
        rows, columns, _, queries = next(self.contexts(dataset, arm))
        sets = min(self.config["attention"]["shard"], self.study.arms.attended_sets(arm))
        return self._query_size(arm, [Contexts(sets, rows, columns, queries, queries)])

    def attribute(self, dataset: str) -> Size:
        inference = self.config["inference"]
        rows, columns, *_ = next(self.contexts(dataset, "main"))
        queries = self.study.sides(dataset)[0] * inference["levels"]
        sets = min(self.config["shard"], inference["sets"])
        return self._query_size("main", [Contexts(sets, rows, columns, queries, queries)])

    def poisoned(self, dataset: str, arm: str) -> Size:
        active = self.config["active"]
        rows, columns, *_ = next(self.contexts(dataset, arm))
        # Every budget once, log2(most) + 1 queries of bisection beside the unpoisoned one, and a share copy by copy.
        queries = len(active["budgets"]) + active["most"].bit_length() + 1 + active["scanned"] * active["most"]
        passes = min(active["targets"], 2 * rows) * queries * min(active["shard"], self.study.arms.poisoned_sets(arm))
        return self._query_size(arm, [Contexts(passes, rows + max(active["budgets"]), columns, 1, 1)])

    def _query_size(self, arm: str, shapes: list[Contexts]) -> Size:
        """A job that queries an arm's model."""
        model = self.study.run.passes(self.config["arms"][arm]["model"])
        load = sum((model.load(of.number, of.rows, of.queries, of.columns) for of in shapes), Load())
        written = sum(of.number * of.answers for of in shapes)
        # A forward pass is cut to the memory that it may have, to a quarter as many queries as rows at the least.
        least = [model.memory_bytes(of.rows, max(1, of.rows // 4), of.columns) for of in shapes]
        whole = [model.memory_bytes(of.rows, of.queries, of.columns) for of in shapes]
        allowed = self.study.run.config["memory_mb"] * 2**20
        forward = max(min(needed, max(allowed, part)) for needed, part in zip(whole, least, strict=True))
        return size(load.operations, written, 0, forward, load.seconds)

    def fitted(self, dataset: str) -> Size:
        """A job that fits all estimators on the contexts of a table; its work is in CPU seconds."""
        rows, columns, _, queries = next(self.contexts(dataset, "main"))
        catalogue, sets = self.study.run.config["models"], self.config["families"]["sets"]
        each = sum(estimator_costs.seconds(catalogue[name]["estimator"], rows, columns) for name in self.study.fitted)
        answers = sets * queries * len(self.study.fitted)
        return size(sets * each, answers, answers)

    def compared(self, dataset: str) -> Size:
        """A job that scores the answers of each family, as often as memberships are redrawn and contexts left out."""
        members, nonmembers = self.study.sides(dataset)
        families = 1 + len(self.study.arms.of_table(dataset, self.config["families"]["arms"])) + len(self.study.fitted)
        entries = self.config["families"]["sets"] * members
        redrawn = self.config["permutations"] * families * (entries + EACH_REDRAW)
        return size(redrawn, families, families * (entries + nonmembers))

    def scored(self, dataset: str) -> Size:
        """A job that goes over the scores of a table's members at each replicate and permutation."""
        entries = self.config["sets"] * self.study.sides(dataset)[0]
        passes = self.config["replicates"] + self.config["permutations"]
        return size(passes * entries, entries, self.study.arms.contexts("main") * sum(self.study.sides(dataset)))

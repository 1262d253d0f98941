"""The block `iclmem/ground_truth`: shadow models whose LiRA tells which records are memorized, and its faults."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from memaudit.config.field_types import Count, Name, Section
from memaudit.config.name_checks import unknown
from memaudit.config.shared_keys import SharedKeys

if TYPE_CHECKING:
    from memaudit.config.iclmem_section import Iclmem


class GroundTruth(Section):
    """Shadow models on random halves of the pairs of the first split, whose LiRA tells which records are memorized."""

    datasets: list[Name] = Field(description="those of iclmem/datasets that have shadow models; []: none")
    arms: list[Name] = Field(description="their conditions, of iclmem/arms, on the tables that the arm has")
    models: Annotated[int, Field(ge=12, multiple_of=2)] = Field(
        description="shadow models of each table and condition, half of them with each record"
    )
    models_per_job: Count = Field(description="shadow models per job")
    targets: Count = Field(description="pairs that are fine-tuned on, one record of each, and judged")
    controls: Count = Field(description="last pairs of the queries, which none is fine-tuned on: negative control")
    epochs: list[Count] | None = Field(None, description="probed epochs, of those of the arm; null: the last one")


def ground_truth_faults(truth: GroundTruth, study: "Iclmem", shared: SharedKeys) -> Iterator[str]:
    """Faults of the block, each naming its key path and a remedy."""
    where = "iclmem/ground_truth"
    yield from unknown(f"{where}/datasets", truth.datasets, "datasets", shared)
    if truth.epochs is not None and truth.epochs != sorted(set(truth.epochs)):
        yield f"{where}/epochs: must increase, without repeats"
    for name in truth.arms:
        if not (arm := study.arms.get(name)):
            yield f"{where}/arms: {name} is none of iclmem/arms, which are {', '.join(study.arms)}"
            continue
        special = [key for key in ("joint", "private", "placebo", "planted", "copies") if getattr(arm, key)]
        special += ["pairs"] if arm.pairs != "fixed" else []
        special += ["labels"] if arm.labels == "shuffled_members" else []
        if special:
            yield f"{where}/arms: {name} has {', '.join(special)}, which shadow models do not take; name another arm"
        queries, sizes = arm.queries or study.queries, truth.targets + truth.controls
        if sizes > queries:
            yield f"{where}/targets: {sizes} pairs with the controls, {name} has {queries}; ask for fewer"
        epochs = arm.epochs or study.epochs
        if truth.epochs is not None and not set(truth.epochs) & set(epochs):
            yield f"{where}/epochs: none is probed by {name}, which has {', '.join(map(str, epochs))}"

"""Settings of one arm of `iclmem` that exclude each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memaudit.config.arm_tables import tables_of

if TYPE_CHECKING:
    from memaudit.config.iclmem_section import Arm, Iclmem


def setting_faults(arm: "Arm", study: "Iclmem", tasks: set[str]) -> Iterator[str]:
    """Faults of an arm's settings, each from the setting on; tasks: of the tables of the arm."""
    queries = arm.queries or study.queries
    if arm.placebo and (arm.private or arm.pairs != "fixed" or arm.labels != "normal"):
        yield "/placebo: is a plain arm on fixed pairs with normal labels; take private, pairs and labels out"
    if arm.placebo and arm.control:
        yield "/control: a positive control cannot be a placebo, which is a negative one; take one of the two out"
    if arm.planted and (arm.control != "positive" or arm.private or arm.pairs == "random"):
        yield "/planted: is for positive controls on the same queries; set control to positive, no private, other pairs"
    if arm.pairs == "random_contexts" and arm.context is None:
        yield "/context: missing; random contexts have fewer rows than the table's context, which they are drawn from"
    if arm.copies and (arm.private or arm.placebo or arm.pairs == "random"):
        yield "/copies: are of the same queries in all epochs; take private, placebo and random pairs out"
    used = set(tables_of(arm.datasets, study.datasets)) & set(study.datasets)
    if arm.copies and used and (study.targets.queries or queries) >= queries:
        yield f"/copies: all {queries} queries are probed, and equal copies of all change nothing; raise queries"
    if arm.label_smoothing and "regression" in tasks:
        yield "/label_smoothing: is for classes; name tables of classes alone in `datasets`"
    if arm.label_smoothing and arm.private:
        yield "/label_smoothing: is no part of private fine-tuning; take one of the two out"
    if arm.private:
        yield from _private_faults(arm, study, queries)


def _private_faults(arm: "Arm", study: "Iclmem", queries: int) -> Iterator[str]:
    if arm.joint or arm.pairs != "fixed":
        yield "/private: the guarantee is of the fixed queries of one table; set joint to false and pairs to fixed"
    if len(arm.epochs or study.epochs) > 1:
        yield "/epochs: a private model is probed once, at its end; name that epoch alone"
    if arm.private and arm.private.delta > 1 / queries:
        yield f"/private/delta: {arm.private.delta:g} is more than 1 / queries"

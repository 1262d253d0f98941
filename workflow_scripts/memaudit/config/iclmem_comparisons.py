"""Faults of the comparisons between arms of `iclmem`: axes of a dose-response, and defences against the same arm."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memaudit.config.arm_tables import tables_of
from memaudit.config.name_checks import hint

if TYPE_CHECKING:
    from memaudit.config.iclmem_section import Arm, Iclmem

DEFENCES = ("adapter", "private", "label_smoothing")
WEIGHTS = "trained_weights"
# What a comparison leaves out: arms are compared on the tables and at the last epoch that they share.
ASIDE = {"datasets", "epochs", "against", "control", "splits_per_job"}


def dose_faults(study: "Iclmem") -> Iterator[str]:
    """Faults of `doses`, each naming its key path: unknown arms, and arms that differ in more than the dose."""
    for axis, arms in study.doses.items():
        where, setting = f"iclmem/doses/{axis}", "adapter" if axis == WEIGHTS else axis
        missing = [arm for arm in arms if arm not in study.arms]
        yield from (f"{where}: unknown arm {arm!r}{hint(arm, list(study.arms))}" for arm in missing)
        if missing:
            continue
        first, *others = arms
        for other in others:
            if also := ", ".join(sorted(_different(study, first, other) - {setting})):
                yield f"{where}: {first} and {other} differ in {also}, too; let them differ in {setting} alone"
        doses = [_settings(study, arm)[setting] for arm in arms]
        if axis == WEIGHTS:
            scales = {one["alpha"] / one["rank"] for one in doses if one}
            if len(scales) > 1:
                yield f"{where}: adapters differ in alpha / rank, too; give them one"
            setting, doses = "rank of adapters", [one and one["rank"] for one in doses]
        if len(set(doses)) < len(doses):
            yield f"{where}: two arms have the same {setting}; name arms that differ in it"
        yield from _shared_faults(study, where, arms)


def defence_faults(study: "Iclmem") -> Iterator[str]:
    """Faults of `against`, each naming its key path: no such arm, and arms that differ in more than one defence."""
    for name, arm in study.arms.items():
        if arm.against is None:
            continue
        where = f"iclmem/arms/{name}/against"
        if arm.against not in study.arms or arm.against == name:
            yield f"{where}: {arm.against} is no other arm; name the arm without this defence"
            continue
        changed = _different(study, name, arm.against)
        if len(changed) != 1 or not changed <= set(DEFENCES):
            differ, allowed = ", ".join(sorted(changed)) or "nothing", ", ".join(DEFENCES)
            yield f"{where}: {name} and {arm.against} differ in {differ}; let them differ in one of {allowed}"
        elif getattr(study.arms[arm.against], *changed):
            yield f"{where}: {arm.against} has {', '.join(changed)}, too; name the arm without it"
        yield from _shared_faults(study, where, [name, arm.against])


def _settings(study: "Iclmem", arm: str) -> dict[str, Any]:
    """Settings that are compared, with the study's own where the arm has none."""
    settings: Arm = study.arms[arm]
    filled = {"queries": settings.queries or study.queries, "copies": settings.copies or 1}
    return {key: value for key, value in settings.model_dump().items() if key not in ASIDE} | filled


def _different(study: "Iclmem", first: str, second: str) -> set[str]:
    one, other = _settings(study, first), _settings(study, second)
    return {key for key in one if one[key] != other[key]}


def _shared_faults(study: "Iclmem", where: str, arms: list[str]) -> Iterator[str]:
    """Whether arms have a table and a probed epoch in common; an arm without a table of the study is left out of it."""
    if not all(set(tables_of(study.arms[arm].datasets, study.datasets)) & set(study.datasets) for arm in arms):
        return
    for key in ("datasets", "epochs"):
        every = [set(getattr(study.arms[arm], key) or getattr(study, key)) for arm in arms]
        if not set.intersection(*every):
            yield f"{where}: {', '.join(arms)} have no common value in {key}; let them share one"

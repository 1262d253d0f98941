"""What readers call the attacks that tables of results name by keys of the registry."""

from memaudit.attacks.attack_entry import PER_CLASS
from memaudit.attacks.registry import ON_ONE_MATRIX, REGISTRY

DIFFERENCE = " - "


def readable(name: str) -> str:
    """The registry's label of an attack, of its thresholds per class, and of a difference of two attacks.

    A name that the registry does not have is returned as it is. Poisons are counted in a column of their own.
    """
    if DIFFERENCE in name:
        return DIFFERENCE.join(readable(part) for part in name.split(DIFFERENCE))
    of_classes = name.endswith(PER_CLASS)
    key = name.removesuffix(PER_CLASS)
    if (entry := REGISTRY.get(ON_ONE_MATRIX.get(key, key))) is None:
        return name
    return entry.label.replace("{k:g} ", "") + (", per class" if of_classes else "")


READABLE = {"attack": readable}

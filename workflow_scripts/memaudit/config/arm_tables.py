"""Tables that an arm of a study has."""

from collections.abc import Sequence


def tables_of(named: Sequence[str] | None, every: Sequence[str]) -> Sequence[str]:
    """Tables that a key `datasets` names: null stands for all of the study, [] for none."""
    return every if named is None else named

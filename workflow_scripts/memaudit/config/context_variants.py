"""Names of the variants of a study's contexts; light, for the workflow asks for it too."""

from collections.abc import Mapping
from typing import Any

# What a variant of the contexts leaves as it is: config/attacks_section.py, class Variant.
DEFAULTS: Mapping[str, Any] = {
    "bags": 1, "context": None, "copies": 1, "features": None, "keys": None, "layer": None, "order": 0, "population": 0,
    "shares": None,
}  # fmt: skip


def variant_name(variant: Mapping[str, Any]) -> str:
    """What differs from the usual contexts, in words: "copies 5", "features 4 order 1", "shares 0.5 0.7", "usual"."""
    changed = {key: value for key, value in sorted(variant.items()) if value != DEFAULTS[key]}
    words = (f"{key} {' '.join(map(str, value)) if key == 'shares' else value}" for key, value in changed.items())
    return " ".join(words) or "usual"

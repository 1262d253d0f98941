"""What a run fetches from a hub, from OpenML or from a web address."""

from collections.abc import Mapping
from typing import Any

from memaudit.common.hub_address import hub_address

# rule: section of the config with its entries, and what its jobs fetch
FETCHED = {
    "data_fetch_table": ("datasets", "tables"),
    "ltmia_fetch_corpus": ("datasets", "corpora"),
    "models_fetch_checkpoint": ("models", "checkpoints"),
    "ltmia_fetch_model": ("language_models", "language models"),
}
SINGLE = {"tables": "table", "corpora": "corpus", "checkpoints": "checkpoint", "language models": "language model"}
REMOTE = ("openml", "url", "hub")
WIDTHS = (2, 4)  # bytes of a stored weight: half and full precision


def stored_bytes(entry: Mapping[str, Any]) -> float:
    """Bytes of the copy of a model that its entry says is fetched from a hub, in full precision; 0 if not known."""
    return WIDTHS[-1] * (entry["parameters"] or 0.0) if entry["hub"] else 0.0


def downloads(config: Mapping[str, Any], sizes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """How many of each kind a run fetches, and `weights`, the weights of those of which the catalogue states them.

    sizes: of all jobs, by rule and job. Entries with the same file of a hub count once: its client keeps a cache.
    """
    found, weights = {}, {}
    for rule, (section, kind) in FETCHED.items():
        remote = {}
        for name in sizes.get(rule, {}):
            entry = config[section][name]
            if entry.get("hub") or entry.get("source") in REMOTE:
                file = hub_address(entry["hub"]) if entry.get("hub") else name
                remote[file] = max(remote.get(file, 0.0), entry.get("parameters") or 0.0)
        found |= {kind: len(remote)} if remote else {}
        weights |= remote
    return found | {"weights": sum(weights.values())}


def told(found: Mapping[str, float]) -> str:
    """`29 tables and 7 checkpoints`, with the size of the weights that are known; empty if nothing is fetched."""
    counts = {kind: int(count) for kind, count in found.items() if kind != "weights"}
    *others, last = [""] + [f"{count:,} {kind if count > 1 else SINGLE[kind]}" for kind, count in counts.items()]
    kinds = " and ".join(filter(None, [", ".join(filter(None, others)), last]))
    if not found["weights"]:
        return kinds
    weights = found["weights"]
    number, unit, size = ("billion", "GB", 1e9) if weights >= 1e9 else ("million", "MB", 1e6)
    least, most = (f"{width * weights / size:,.0f}" for width in WIDTHS)
    return f"{kinds} ({weights / size:,.1f} {number} weights: {least} {unit} in half precision, {most} in full)"

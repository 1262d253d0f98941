"""How much the base models have learnt: their losses beside those of unigram and bigram tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from memaudit.common import tidy

LOSSES = {"before": "untrained", "after": "pre-trained", "bigram": "bigram table", "unigram": "unigram table"}


def base_model_rows(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Tidy rows of base models, from what `ltmia_prepare_model` records of each.

    A model of a hub or a folder has its number of parameters alone: it has another tokenizer, and its training texts
    are not known here.
    """
    for name, entry in facts.items():
        keys = {"source": "here", "base": name}
        yield tidy.row("ltmia", keys, "parameters", entry["parameters"], unit="weights")
        if "losses" not in entry:
            continue
        yield tidy.row("ltmia", keys, "pre-training texts", entry["texts"], unit="texts")
        for kind, words in LOSSES.items():
            yield tidy.row("ltmia", keys, f"loss, {words}", entry["losses"][kind], unit="nats")
        learnt = entry["losses"]["after"] < entry["losses"]["bigram"]
        yield tidy.row("ltmia", keys, "below the bigram table", learnt, unit="yes or no")

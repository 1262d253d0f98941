"""Pre-training of the base model of a family's targets, a small language model."""

from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table
from memaudit.data.text_corpora import PRETRAINING, SELECTION
from memaudit.models.language_models import build, encode, mean_loss, open_tokenizer
from memaudit.models.language_training import Run, Settings
from memaudit.models.ngram_losses import ngram_losses


def pretrained(
    name: str, params: Any, texts: str | Path, tokenizer_folder: Path, state: Path, device: str = "cpu"
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, dict[str, Any]]:
    """A model of the entry's type, pre-trained on its part of the texts, with its tokenizer and facts.

    params: seed, length, entry (of config/language_models.yaml) and training; state: file from which a killed run
    resumes. Raises AuditError if `training` has `below_bigram` and the model's loss is not below a bigram table's.
    """
    tokenizer, table = open_tokenizer(tokenizer_folder), read_table(texts)
    tokens = {
        part: encode(tokenizer, table["text"][table["part"] == part], params.length)
        for part in (PRETRAINING, SELECTION)
    }
    seed = seeds.integer(params.seed, "ltmia", name, "pretraining")
    fresh = build(params.entry, len(tokenizer), params.length, seed).to(device)
    settings = dict(params.training)
    below_bigram = settings.pop("below_bigram", False)
    training = Run(fresh, tokens[PRETRAINING], None, Settings.of(settings), seed, state)
    before = mean_loss(fresh, *tokens[SELECTION])
    trained = training.train()
    losses = {"before": before, "after": mean_loss(trained, *tokens[SELECTION])}
    losses |= ngram_losses(tokens[PRETRAINING], tokens[SELECTION], len(tokenizer))
    if below_bigram and losses["after"] >= losses["bigram"]:
        raise AuditError(
            f"base model {name}: its loss is {losses['after']:.2f} after pre-training and a bigram table's"
            f" {losses['bigram']:.2f}; raise ltmia/pretraining/epochs or ltmia/texts/parts/pretraining"
        )
    facts = {"origin": "pre-trained here", "losses": losses, "history": training.done["history"]}
    counts = {"texts": len(tokens[PRETRAINING][0]), "tokens": int(tokens[PRETRAINING][1].sum())}
    return trained, tokenizer, facts | counts

"""The base of all targets of a family: a small language model pre-trained here, or one that is there."""

from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from memaudit import seeds
from memaudit.data.text_corpora import PRETRAINING, SELECTION
from memaudit.io import read_table
from memaudit.models.language_models import build, encode, mean_loss, open_model, open_tokenizer
from memaudit.models.language_training import Run, Settings

Base = tuple[PreTrainedModel, PreTrainedTokenizerBase, dict[str, Any]]


def pretrained(
    name: str, wanted: Any, texts: str | Path, tokenizer_folder: Path, state: Path, device: str = "cpu"
) -> Base:
    """A model of the entry's type, its tokenizer and facts, trained on the texts for it.

    wanted: seed, length, entry (of config/language_models.yaml) and training; state: file from which a killed run goes
    on.
    """
    tokenizer, table = open_tokenizer(tokenizer_folder), read_table(texts)
    part = {
        one: encode(tokenizer, table["text"][table["part"] == one], wanted.length) for one in (PRETRAINING, SELECTION)
    }
    seed = seeds.integer(wanted.seed, "ltmia", name, "pretraining")
    fresh = build(wanted.entry, len(tokenizer), wanted.length, seed).to(device)
    training = Run(fresh, part[PRETRAINING], None, Settings.of(wanted.training), seed, state)
    before = mean_loss(fresh, *part[SELECTION])
    trained = training.train()
    losses = {"before": before, "after": mean_loss(trained, *part[SELECTION])}
    facts = {"origin": "pre-trained here", "losses": losses, "history": training.done["history"]}
    return trained, tokenizer, facts | {"texts": len(part[PRETRAINING][0]), "tokens": int(part[PRETRAINING][1].sum())}


def opened(folder: str | Path, origin: str) -> Base:
    """The model of a folder, its tokenizer and facts."""
    return open_model(folder), open_tokenizer(folder), {"origin": origin}

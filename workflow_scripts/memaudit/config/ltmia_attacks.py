"""Parts of the section `ltmia`: attacks beside the learned one, and an attack on models and texts of one's own."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memaudit.config.field_types import Count, Fraction, Positive, Section, Share

Text = Annotated[str, StringConstraints(min_length=1)]


class Baselines(Section):
    """Attacks without training that one pass of a text by target and base does not give, on what is judged."""

    names: list[Literal["dc_pdd", "recall", "con_recall", "neighbourhood", "self_loss", "spv"]] = Field(
        description="those computed; neighbourhood takes `neighbours` passes, self_loss a target, spv both and more"
    )
    known: Annotated[int, Field(ge=2)] = Field(
        description="texts that the adversary knows, taken from `selection`: half become members of the target"
    )
    prefix: Count = Field(description="tokens of a known text before the text (ReCaLL), and of prompts (SPV-MIA)")
    contrast: Share = Field(description="weight of the known members (Con-ReCaLL's gamma)")
    ceiling: Positive = Field(description="largest cross-entropy of a token (DC-PDD's a)")
    neighbours: Count = Field(description="neighbours of a text")
    replaced: Fraction = Field(description="share of its tokens that a neighbour replaces")


class Attack(Section):
    """Models and texts of one's own (`snakemake ltmia_attack`)."""

    target: Text = Field(description="folder of the fine-tuned model, as `save_pretrained` leaves it")
    base: Text = Field(description="folder of the model that it was before")
    texts: Text = Field(description=".txt (a text a line), .csv, .tsv, .jsonl or .parquet")
    columns: Annotated[list[Text], Field(min_length=1)] = Field(["text"], description="columns of a table's texts")
    nonmembers: Text | None = Field(
        None, description="such a file of texts that the target was not fine-tuned on; null: no p-values"
    )
    false_discovery_rate: Fraction | None = Field(
        None, description="of the column `detected`, which needs `nonmembers`; null: no such column"
    )


def baseline_faults(baselines: Baselines, selection: int, length: int) -> Iterator[str]:
    """What further baselines need of the texts; selection: texts of that part; length: tokens of a text."""
    if baselines.known >= selection:
        yield "ltmia/baselines/known: ltmia/texts/parts/selection has no more texts; the best epoch needs some of them"
    if baselines.prefix >= length:
        yield f"ltmia/baselines/prefix: a text of {length} tokens leaves no room for it; set a smaller one"


def attack_faults(attack: Attack, trained: bool) -> Iterator[str]:
    """What an attack on one's own texts needs; trained: whether the run trains a classifier."""
    if not trained:
        yield "ltmia/attack: needs a classifier, and ltmia/training is empty; name combinations to learn from"
    if attack.false_discovery_rate and not attack.nonmembers:
        yield "ltmia/attack/false_discovery_rate: needs known non-members; give ltmia/attack/nonmembers"

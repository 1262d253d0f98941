"""The config's shape: every key with its type, its limits and what it means. Values stand in config/*.yaml alone."""

from typing import Annotated, Any

from pydantic import Field

from memaudit.config.attacks_section import Attacks
from memaudit.config.audit_section import Audit
from memaudit.config.field_types import Count, Fraction, Name, Section
from memaudit.config.iclmem_section import Iclmem
from memaudit.config.lira_section import Lira
from memaudit.config.ltmia_section import Ltmia
from memaudit.config.predict_section import Own, Predict
from memaudit.config.predictions_section import Predictions
from memaudit.config.release_section import Release
from memaudit.config.shared_keys import SharedKeys
from memaudit.config.tabpate_section import Tabpate


class Pretrained(Section):
    """What one shipped model has of its own."""

    max_classes: Annotated[int, Field(ge=0)] = Field(description="classes that it knows; 0: it predicts numbers")
    num_quantiles: Count | None = Field(None, description="quantiles that a model of numbers predicts")
    steps: Count = Field(description="optimiser steps")


class Training(Section):
    """Settings that the training runs share."""

    seed: Annotated[int, Field(ge=0)] = Field(description="seed of weights and synthetic tables")
    validate_every: Count = Field(description="steps between two looks at held-out synthetic tables")
    save_every: Count = Field(description="steps between two saved states, from which a killed run goes on")
    validation_batches: Count = Field(description="batches of held-out synthetic tables")
    architecture: dict[str, bool | int | float | str] = Field(description="arguments of the package's class TabICL")
    prior: dict[str, Any] = Field(description="synthetic tables; see memaudit/models/synthetic_tables.py")
    optimiser: dict[str, float | list[float]] = Field(
        description="Muon and AdamW; see memaudit/models/tabicl_pretraining.py"
    )


class Pretrain(Section):
    """Pre-training of the small models that are shipped (`make pretrain`); a run is a function of these settings."""

    tables: str | None = Field(description="folder of NAME.csv.gz for the benchmark; null trains without it")
    models: dict[Name, Pretrained] = Field(description="the shipped models")
    settings: Training
    text: dict[str, Any] = Field(description="settings of text-small; see memaudit/models/text_pretraining.py")


class Plan(Section):
    """What `snakemake plan` takes for granted; no result depends on it."""

    gpu_tflops: Annotated[float, Field(gt=0)] = Field(
        description="fp32 operations a second, in 10^12, that a GPU reaches, where none has been measured"
    )
    width: Fraction = Field(description="requested width of a 95 % interval of a TPR")


class Config(SharedKeys):
    """One run of the workflow."""

    lira: Lira
    attacks: Attacks
    tabpate: Tabpate
    iclmem: Iclmem
    ltmia: Ltmia
    predict: Predict
    pretrain: Pretrain
    plan: Plan
    release: Release | None = Field(None, description="a private context of a table of your own; null: none")
    audit: Audit | None = Field(None, description="an audit of a table of your own (`memaudit audit`); null: none")
    predictions: Predictions | None = Field(
        None, description="an audit of files of predictions (`memaudit audit --predictions`); null: none"
    )
    own: Own | None = Field(None, description="a ranking of your own training records; null: none")

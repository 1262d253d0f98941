"""Prepared records of a setting of study `predict`: inputs of its networks, labels and flags, membership matrix.

"Predicting memorization within LLMs fine-tuned for classification", Sections 3, 5.1 and 5.8. Every draw has a random
stream named after the setting.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.data import member_splits, membership_matrices
from memaudit.data.multiple_choice_questions import LETTERS
from memaudit.models import token_questions
from memaudit.statistics.histograms import rank_bins
from memaudit.statistics.record_distances import standardised
from memaudit.studies.predict.planted_records import mislabelled, with_canaries
from memaudit.studies.predict.setting_sources import Records, Setting, read_source


def prepare(setting: Setting, name: str, seed: int, files: Any) -> xr.Dataset:
    """The data of a setting: inputs of its models, labels and flags, and the membership matrix.

    files: paths by name, as a job's input: records and schema of a table; or key; and model, of the catalogue.
    Variables x (record, ...) and membership (model, record); coordinates record, code, clean, choices,
    mislabelled, canary, unit, and answer (class,), the index of each class among the logits; context_x, context_y
    where there is a context.
    """

    def rng(purpose: str) -> np.random.Generator:
        return seeds.generator(seed, "predict", name, purpose)

    records = read_source(setting, files, rng("source"))
    records = records.take(_drawn(records, setting["max_records"] or len(records.code), rng("sample")))
    context = None
    if setting["network"]["kind"] == "in_context":
        context, records = _context(records, setting["network"]["context"], rng("context"))
    records = with_canaries(records, setting["canaries"], rng("canaries"))
    records = mislabelled(records, setting["label_noise"], rng("noise"))
    units = np.unique(records.unit, return_inverse=True)[1]
    models = setting["models"]
    block = models // 2 if models % 4 == 0 else models  # each half of the models is balanced, where that is possible
    membership = membership_matrices.expand(
        membership_matrices.balanced(models, units.max() + 1, rng("design"), block), units
    )
    _check_classes(records, membership[: setting["targets"]], name)
    x, answer, facts = _inputs(records, setting, files)
    of_record = {"code": records.code, "clean": records.clean, "choices": records.choices}
    of_record |= {"unit": units, "canary": records.canary}
    of_record["mislabelled"] = records.code != records.clean
    grid = xr.Dataset(
        {
            "x": (("record", *(f"x{axis}" for axis in range(1, x.ndim))), x),
            "membership": (("model", "record"), membership),
        },
        {"record": records.ids, "answer": ("class", answer)}
        | {key: ("record", values) for key, values in of_record.items()},
        {"case": name} | facts,
    )
    if context is None:
        return grid
    return grid.assign(context_x=(("context", "x1"), context.x), context_y=("context", context.code))


def _check_classes(records: Records, targets: Mask, name: str) -> None:
    """Raise AuditError if a target, of (target, record), is trained on a single record of a class."""
    for own in targets:
        alone = own & (np.bincount(records.code[own], minlength=records.classes)[records.code] == 1)
        if alone.any():
            raise AuditError(
                f"predict/settings/{name}: record {records.ids[np.argmax(alone)]} is the only one of its class that a"
                " target is trained on, and PSMI needs two: leave the class out of the data, or give more records of it"
            )


def labels(grid: xr.Dataset) -> Codes:
    """Index of each record's label among the logits, (record,)."""
    return grid.answer.values[grid.code.values]


def rivals(grid: xr.Dataset) -> Codes:
    """Indices of the other possible answers of each question among the logits, (record, rival).

    A question with fewer answers than another one repeats its first rival.
    """
    answers, codes, choices = grid.answer.values, grid.code.values, grid.choices.values
    places = np.arange(grid.sizes["class"] - 1)
    others = places + (places >= codes[:, None])  # the answers in order, without the label
    return answers[np.where(others < choices[:, None], others, others[:, :1])]


def question_words(grid: xr.Dataset) -> token_questions.Words:
    """Vocabulary of a small language model's questions."""
    return token_questions.Words(
        *(int(grid.attrs[key]) for key in ("columns", "bins", "classes")), bool(grid.attrs["shared"])
    )


def _drawn(records: Records, count: int, rng: np.random.Generator) -> Mask:
    """Mask of `count` records, or all if there are fewer, stratified by class."""
    count = min(count, len(records.code))
    return member_splits.draw(member_splits.strata(records.code, True, count, rng), count, rng)


def _context(records: Records, count: int, rng: np.random.Generator) -> tuple[Records, Records]:
    """A public context, and the records of the privacy units that are not in it."""
    chosen = _drawn(records, count, rng)
    context, others = records.take(chosen), records.take(~np.isin(records.unit, records.unit[chosen]))
    if len(np.unique(context.code)) < records.classes or len(others.code) < 2:
        raise AuditError(
            f"predict: a context of {count} of {len(records.code)} records; take more for every class to be in it, and"
            " fewer for records to be left"
        )
    return context, others


def _inputs(records: Records, setting: Setting, files: Any) -> tuple[NDArray[Any], Codes, dict[str, Any]]:
    """Inputs of the network (record, ...), the index of each class among its logits, and facts about both."""
    network, classes = setting["network"], np.arange(records.classes)
    if network["kind"] == "mlp":
        return standardised(records.x, records.categorical, ~records.canary).astype(np.float32), classes, {}
    if network["kind"] == "wrn":
        shape, natural = network["shape"], records.x[~records.canary]
        if records.x.shape[1] != np.prod(shape):
            raise AuditError(f"predict: images of {records.x.shape[1]} numbers, not {shape}; fix `network/shape`")
        return records.x.reshape(-1, *shape), classes, {"shift": natural.mean(), "scale": natural.std()}
    if network["kind"] == "in_context":
        return records.x, classes, {}  # the model scales by its context
    if records.x.ndim == 1:
        from memaudit.models.language_model_classifiers import cut, tokenizer_of  # transformers takes seconds

        tokenizer, most = tokenizer_of(Path(files.model).parent / "weights")
        return *cut(tokenizer, list(records.x), LETTERS[: records.classes], most), {}
    if setting["data"]["kind"] == "docstrings":
        words = token_questions.Words(records.x.shape[1], setting["data"]["vocabulary"], records.classes, shared=True)
        return words.questions(records.x), words.answers, asdict(words) | {"shared": 1}
    return _table_questions(records, setting["data"]["questions"])


def _table_questions(records: Records, sizes: Mapping[str, int]) -> tuple[NDArray[Any], Codes, dict[str, Any]]:
    """Questions about the columns with the most mutual information with the target, in bins of about equal size."""
    from sklearn.feature_selection import mutual_info_classif

    if np.isnan(records.x).any():
        raise AuditError("predict: questions about a table need a value in every cell; choose a table without gaps")
    binned = rank_bins(records.x, sizes["bins"])
    information = mutual_info_classif(binned, records.clean, discrete_features=True)
    kept = np.sort(np.argsort(-information, kind="stable")[: sizes["features"]])
    words = token_questions.Words(len(kept), sizes["bins"], records.classes)
    return words.questions(binned[:, kept]), words.answers, asdict(words) | {"shared": 0}

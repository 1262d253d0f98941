"""Records of a setting of study `predict`: sources, planted label noise and canaries, and the membership matrix.

"Predicting memorization within LLMs fine-tuned for classification", Sections 3, 5.1 and 5.8. A setting is a dict of
config (`config.predict_section.Setting`). Every draw has a random stream named after the setting.
"""

import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table
from memaudit.data import member_splits, membership_matrices
from memaudit.data.cifar10 import cifar10
from memaudit.data.multiple_choice_questions import LETTERS, read_choices
from memaudit.data.package_docstrings import read_docstrings
from memaudit.data.record_encoding import encode
from memaudit.data.record_ids import read_key
from memaudit.models import token_questions
from memaudit.statistics.histograms import rank_bins
from memaudit.statistics.record_distances import standardised

Setting = Mapping[str, Any]
OF_RECORD = ("x", "code", "clean", "choices", "ids", "unit", "canary")


@dataclass(frozen=True)
class Records:
    """Records, arrays (record, ...) of one length.

    x: (record, column) numbers, NaN where missing, or (record,) prompts; code: class that models are trained on; clean:
    class before noise; choices: number of classes that a record may have, the first ones; ids; unit: privacy unit
    (person, household); canary; categorical: (column,) whether numbers are codes.
    """

    x: NDArray[Any]
    code: Codes
    clean: Codes
    choices: Codes
    ids: NDArray[np.str_]
    unit: Codes
    canary: Mask
    categorical: Mask

    def take(self, rows: NDArray[Any]) -> "Records":
        """Some of the records."""
        return replace(self, **{name: getattr(self, name)[rows] for name in OF_RECORD})

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.choices.max())


def prepare(setting: Setting, name: str, seed: int, files: Any) -> xr.Dataset:
    """The data of a setting: inputs of its models, labels and flags, and the membership matrix.

    files: paths by name, as a job's input: records and schema of a table; or key; and model, of the catalogue.
    Variables x (record, ...) and membership (model, record); coordinates record, code, clean,
    mislabelled, canary, unit, and answer (class,), the index of each class among the logits; context_x, context_y
    where there is a context.
    """

    def rng(purpose: str) -> np.random.Generator:
        return seeds.generator(seed, "predict", name, purpose)

    records = _source(setting, files, rng("source"))
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
    of_record = {"code": records.code, "clean": records.clean, "unit": units, "canary": records.canary}
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


def question_words(grid: xr.Dataset) -> token_questions.Words:
    """Vocabulary of a small language model's questions."""
    return token_questions.Words(
        *(int(grid.attrs[key]) for key in ("columns", "bins", "classes")), bool(grid.attrs["shared"])
    )


def with_canaries(records: Records, count: int, rng: np.random.Generator) -> Records:
    """The records and `count` canaries: each column is drawn independently from the records', the label at random.

    Canaries lie outside the distribution, as those of Section 5.8: their label can only be memorized.
    """
    if not count:
        return records
    rows = rng.integers(0, len(records.code), (count, records.x.shape[1]))
    code = rng.integers(0, records.classes, count)
    drawn = {
        "x": np.take_along_axis(records.x, rows, 0),
        "code": code,
        "clean": code,
        "choices": np.full(count, records.classes),
        "ids": np.array([f"canary-{number:04d}" for number in range(count)]),
        "unit": records.unit.max() + 1 + np.arange(count),
        "canary": np.ones(count, bool),
    }
    return replace(records, **{key: np.concatenate([getattr(records, key), more]) for key, more in drawn.items()})


def mislabelled(records: Records, share: float, rng: np.random.Generator) -> Records:
    """The records with another of their possible labels on that share of those that are no canaries."""
    natural = np.flatnonzero(~records.canary)
    wrong = rng.permutation(natural)[: round(share * len(natural))]
    code, choices = records.code.copy(), records.choices[wrong]
    code[wrong] = (code[wrong] + rng.integers(1, choices)) % choices
    return replace(records, code=code)


def _source(setting: Setting, files: Any, rng: np.random.Generator) -> Records:
    """All records of a setting's source, in its order, without duplicates; at most max_records docstrings."""
    data = setting["data"]
    if data["kind"] == "table":
        table, schema = read_table(files.records), read_json(files.schema)
        x, code = encode(table, schema)
        kinds = np.array([column["type"] == "categorical" for column in schema["columns"]])
        classes = np.full(len(code), len(schema["target"]["categories"]))
        return _records(x, code, classes, table["id"].to_numpy(str), membership_matrices.unit_codes(table), kinds)
    key, none = read_key(files.key), np.zeros(0, bool)
    if data["kind"] == "cifar10":
        x, code = cifar10(data["path"])
        rows, choices = [row.tobytes() for row in x], np.full(len(code), 10)
    elif data["kind"] == "docstrings":
        packages = data["packages"]
        each = setting["max_records"] // len(packages)
        docstrings = read_docstrings(packages, data["words"], data["vocabulary"], each, rng)
        x, code = docstrings.words, docstrings.codes
        rows, choices = [text.encode() for text in docstrings.texts], np.full(len(code), len(packages))
    else:
        questions = read_choices(data["path"], data)
        x, code = np.array(questions.prompts(), object), questions.answers
        choices = np.array(list(map(len, questions.choices)))
        kept = np.array([len(prompt) <= (data["longest"] or inf) for prompt in x])
        if not kept.any():
            raise AuditError(
                f"{data['path']}: no question is as short as {data['longest']} characters; allow longer ones"
            )
        x, code, choices = x[kept], code[kept], choices[kept]
        rows = [prompt.encode() for prompt in x]
    ids = np.array([hmac.digest(key, row, "sha256")[:16].hex() for row in rows])
    records = _records(x, code, choices, ids, np.arange(len(ids)), none)
    return records.take(np.sort(np.unique(ids, return_index=True)[1]))


def _records(x: Any, code: Any, choices: Any, ids: Any, unit: Any, categorical: Any) -> Records:
    return Records(x, code, code, choices, ids, unit, np.zeros(len(code), bool), categorical)


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

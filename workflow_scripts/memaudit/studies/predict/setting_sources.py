"""Records of a setting's source: a table, images, docstrings or multiple-choice questions.

A setting is a dict of config (`config.predict_section.Setting`).
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Codes, Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table
from memaudit.data import membership_matrices
from memaudit.data.cifar10 import cifar10
from memaudit.data.multiple_choice_questions import read_choices
from memaudit.data.package_docstrings import read_docstrings
from memaudit.data.photographed_digits import photographed_digits
from memaudit.data.record_encoding import encode
from memaudit.data.record_ids import read_key

Setting = Mapping[str, Any]
OF_RECORD = ("x", "code", "clean", "choices", "ids", "unit", "canary")


@dataclass(frozen=True)
class Records:
    """Records, arrays (record, ...) of one length.

    x: (record, column) numbers, NaN where missing, or (record,) prompts; code: class that models are trained on; clean:
    class before noise; choices: number of classes that a record may have, the first ones; ids; unit: privacy unit
    (person, household); canary; categorical: (column,) whether numbers of a table are codes; words: whether numbers are
    words.
    """

    x: NDArray[Any]
    code: Codes
    clean: Codes
    choices: Codes
    ids: NDArray[np.str_]
    unit: Codes
    canary: Mask
    categorical: Mask
    words: bool = False

    def take(self, rows: NDArray[Any]) -> "Records":
        """Some of the records."""
        return replace(self, **{name: getattr(self, name)[rows] for name in OF_RECORD})

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.choices.max())


def read_source(setting: Setting, files: Any, rng: np.random.Generator) -> Records:
    """All records of a setting's source, in its order, without duplicates; at most max_records docstrings."""
    data = setting["data"]
    if data["kind"] == "table":
        table, schema = read_table(files.records), read_json(files.schema)
        x, code = encode(table, schema)
        kinds = np.array([column["type"] == "categorical" for column in schema["columns"]])
        classes = np.full(len(code), len(schema["target"]["categories"]))
        return _records(x, code, classes, table["id"].to_numpy(str), membership_matrices.unit_codes(table), kinds)
    key, none = read_key(files.key), np.zeros(0, bool)
    if data["kind"] == "digits":
        x, code = photographed_digits(data["contrast"], rng)
        rows, choices = [row.tobytes() for row in x], np.full(len(code), 10)
    elif data["kind"] == "cifar10":
        x, code = cifar10(data["path"], data.get("sha256"))
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
    records = replace(records, words=data["kind"] == "docstrings")
    return records.take(np.sort(np.unique(ids, return_index=True)[1]))


def _records(x: Any, code: Any, choices: Any, ids: Any, unit: Any, categorical: Any) -> Records:
    return Records(x, code, code, choices, ids, unit, np.zeros(len(code), bool), categorical)

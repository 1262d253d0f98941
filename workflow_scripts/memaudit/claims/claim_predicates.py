"""The language of claims: a paper's sentence as a predicate over tidy results, data only (config/claims.yaml).

`statistics.claim_comparisons` compares, `statistics.verdicts` judges.
"""

from pathlib import Path
from typing import Literal

import pandas as pd
import yaml
from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from memaudit.claims.row_selection import Scalar, Selection, Strict, Wanted
from memaudit.common.errors import AuditError

UNITS = {
    "lira": "shadow models and records",
    "attacks": "contexts and records",
    "tabpate": "shadow contexts and records",
    "iclmem": "splits",
    "ltmia": "combinations and texts",
    "predict": "targets and records",
}


class Constant(Strict):
    """A number, or the row's own value of a settings key or of its null (key: "null"), times factor."""

    value: float | None = None
    key: str | None = None
    factor: float = 1.0

    @model_validator(mode="after")
    def _one_of_two(self) -> "Constant":
        if (self.value is None) == (self.key is None):
            raise ValueError("give either value or key")
        return self


class Number(Strict):
    """A number that the paper prints: intervals of the rows `of` must lie within +-tolerance of it.

    of: default is the claim's `difference`, else its left side. relative: tolerance is in units of the number. tables:
    of the paper's mean, if it is one: a mean over another number of tables is not compared with it.
    """

    value: float
    tolerance: float = Field(gt=0)
    relative: bool = False
    of: Selection | None = None
    tables: int | None = None

    @property
    def margin(self) -> float:
        """The tolerance in the unit of the number."""
        return self.tolerance * (abs(self.value) if self.relative else 1.0)

    @model_validator(mode="after")
    def _not_nothing(self) -> "Number":
        if self.margin >= abs(self.value):
            raise ValueError(f"a result of 0 would agree with {self.value:g}: give a smaller tolerance")
        return self


def several(given: object) -> object:
    """A list, also of the one that is given alone."""
    return [given] if isinstance(given, (dict, str)) else given


class Condition(Selection):
    """Rows that must show what a claim supposes: an interval above chance (`null`), or within a share of it.

    near: the interval must lie within +-near times `null`, as a realised FPR near its nominal one. at_least: of a
    decision, which has no interval, the least value. by: some of the claim's keys `by`, where the rows have the others
    for other reasons: an epsilon of infinity without privacy.
    """

    near: float | None = Field(None, gt=0, lt=1)
    at_least: float | None = None
    by: list[str] = Field([])

    @property
    def place(self) -> str:
        """Where a row's value must be, in words."""
        if self.at_least is not None:
            return f"{self.at_least:g}"
        return "above chance" if self.near is None else "near its nominal value"

    @field_validator("by", mode="before")
    @classmethod
    def _are_several(cls, given: object) -> object:
        return several(given)

    @model_validator(mode="after")
    def _one_of_two(self) -> "Condition":
        if self.near is not None and self.at_least is not None:
            raise ValueError("give either near or at_least")
        return self


class Claim(Strict):
    """One claim of a paper and the predicate that tests it.

    value: the paper's numbers as a text for readers; numbers: those that are tested; without them only the relation is.
    greater, less: the difference's interval lies beyond `tolerance`; at_most: its upper end is at most `tolerance`;
    close: it lies within +-tolerance; increases, decreases: the intervals at both ends of the key `along` are disjoint
    by more than `tolerance` in that direction, and no step of it is in the other. relative: tolerance is in units of
    the right side (of the first value, along a key). Each value of a list in `left` or `difference` must have results:
    without some of them the relation is not reproduced. Widths and ends of intervals have no interval of their own: the
    tolerance is then the half-width of the interval of their difference.
    effect: of greater and less, the smallest difference that the paper prints for this comparison. An interval that
    does not reach it shows the opposite, unless it lies beyond `tolerance`, where the verdict is direction only.
    Without an effect a sentence cannot fail where there is no difference: hardly any interval is on the other side.
    room: of an effect on a metric of at most 1, rows of what it is added to: the claim cannot be tested where all of
    them are within the effect of 1.
    covers: rows that the run must have at all, such as those of the paper's longest training: a share of all runs
    depends on which runs there are.
    difference: rows of left - right, along a key of its last value - its first (with the key "less"), that decide where
    there are any (paired intervals are narrower).
    share: part of the comparisons that must hold. needs: least values of numeric columns, or of products of them
    ("models*fpr"); other rows are not judged.
    units: what an interval's width depends on (default: UNITS of the study); more of them would decide what is open.
    provided: rows whose intervals must all lie above what chance gives (`null`), or near it, else the claim cannot be
    tested here.
    by: a key, or several; `provided` is tested for each of their values, and rows of values that fail are not judged.
    Rows of values for which there is no result of `provided` are.
    least: comparisons that there must be, else the claim cannot be tested here.
    control: positive control of an upper bound; rows are judged only where its value lies above their right side.
    unlike: rows that those of `left` must differ from: where none does, the sentence compares nothing of its own.
    identity: the relation holds by construction: it is shown, but is no evidence.
    """

    id: str
    paper: str
    place: str
    text: str
    value: Scalar | None = None
    study: str
    units: str = ""
    relation: Literal["greater", "less", "at_most", "close", "increases", "decreases"]
    left: Selection
    right: Selection | Constant | None = None
    difference: Selection | None = None
    along: str | None = None
    tolerance: float = Field(0.0, ge=0)
    relative: bool = False
    effect: float | None = Field(None, gt=0)
    room: Selection | None = None
    covers: Selection | None = None
    numbers: list[Number] = Field([])
    where: dict[str, Wanted] = Field({})
    needs: dict[str, float] = Field({})
    provided: list[Condition] = Field([])
    by: list[str] = Field([])
    control: Selection | None = None
    share: float = Field(0.8, gt=0, le=1)
    least: int = Field(1, ge=1)
    unlike: Selection | None = None
    identity: bool = False
    note: str = ""

    @property
    def resampled(self) -> str:
        """What an interval's width depends on."""
        return self.units or UNITS.get(self.study, "records")

    @field_validator("provided", "by", mode="before")
    @classmethod
    def _are_several(cls, given: object) -> object:
        return several(given)

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        trend = self.relation in ("increases", "decreases")
        if trend != (self.along is not None) or trend != (self.right is None):
            raise ValueError("increases and decreases take `along`, every other relation takes `right`")
        if self.by and all(one.by for one in self.provided):
            raise ValueError("`by` says for which values of all its keys something is `provided`: name that, too")
        if any(not set(one.by) <= set(self.by) for one in self.provided):
            raise ValueError("`provided` is tested by keys that are not among the claim's `by`")
        if self.effect is not None and (self.relation not in ("greater", "less") or self.relative):
            raise ValueError("an `effect` belongs to greater and less, in the unit of the sides")
        if self.effect is not None and self.effect <= self.tolerance:
            raise ValueError("an `effect` is larger than `tolerance`, which holds beyond it")
        if self.room and self.effect is None:
            raise ValueError("`room` is for an `effect`: name that, too")
        if self.control and self.relation != "at_most":
            raise ValueError("a `control` belongs to the relation at_most")
        ends = [side.quantity for side in (self.left, self.right or self.left) if isinstance(side, Selection)]
        if len(ends) == 2 and "estimate" not in ends and not self.tolerance:
            raise ValueError(f"a {self.left.quantity} has no interval of its own: give a tolerance as its margin")
        return self


def load(path: str | Path) -> list[Claim]:
    """Claims of a YAML file. Raises AuditError naming the claim and the key that is wrong, or an id given twice."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        claims = TypeAdapter(list[Claim]).validate_python(raw)
    except (OSError, yaml.YAMLError) as error:
        raise AuditError(f"{path}: cannot be read as YAML ({error})") from error
    except ValidationError as error:
        raise AuditError(f"{path}: " + "; ".join(_complaint(raw, **one) for one in error.errors())) from error
    ids = pd.Series([claim.id for claim in claims])
    if ids.duplicated().any():
        raise AuditError(f"{path}: claim {ids[ids.duplicated()].iloc[0]} stands twice: give each an id of its own")
    return claims


def _complaint(raw: object, loc: tuple[int | str, ...], msg: str, **_: object) -> str:
    position, *keys = loc or ("",)
    entry = raw[position] if isinstance(raw, list) and isinstance(position, int) else {}
    name = entry.get("id", position) if isinstance(entry, dict) else position
    return f"claim {name}, {'.'.join(map(str, keys)) or 'as a whole'}: {msg}"

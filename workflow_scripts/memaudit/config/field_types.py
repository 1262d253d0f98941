"""Types that the config's sections share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Repo = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$")]
ImportPath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Checksum = Annotated[
    Sha256 | None, Field(description="SHA-256 that the file must have; null: any file, its hash is in the sidecar")
]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
RowNoun = Annotated[
    str,
    StringConstraints(pattern=r"^([^\W\d_]+( [^\W\d_]+)*)?$", max_length=40),
    Field(description="plural noun for rows that are not records of people; then there is no data-protection section"),
]


class Section(BaseModel):
    """No unknown keys, no silent conversion: a typo is an error, "12" is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Rmia(Section):
    """Robust membership inference attack (Zarifzadeh 2024) on the same grid."""

    gamma: Annotated[float, Field(gt=0)] = Field(description="how far a record must exceed a population record")
    offline_a: Annotated[float, Field(ge=0, le=1)] = Field(description="the paper's a, for the offline form")


class Adapter(Section):
    """LoRA (Hu et al. 2021) in every linear layer: what trains beside the frozen weights."""

    rank: Count = Field(8, description="rank of the adapters")
    alpha: Positive = Field(16.0, description="their scale is alpha / rank")

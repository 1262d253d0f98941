"""Building blocks of an audit's summary."""

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A model without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Value(Part):
    """An estimate with its 95 % interval and its value under the null; a missing number is null."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    null: float | None = None
    detected: bool | None = Field(None, description="p <= 0.05 of the randomisation test, and the interval above it")

"""The section `predictions`: what `./memaudit audit --predictions` asks of somebody's files of predictions."""

from typing import Annotated

from pydantic import Field

from memaudit.config.field_types import Count, Fraction, RowNoun, Section


class Predictions(Section):
    """An audit of a model by its predictions alone (docs/audit.md); `./memaudit audit` writes this section."""

    table: str = Field(description="copy of the predictions about members and non-members")
    facts: str = Field(description="file of what the intake knows of them: true names of columns, rows")
    fpr: Fraction = Field(description="share of non-members that the accusing threshold accuses as well")
    base_rates: list[Fraction] = Field(
        min_length=1, description="shares of the candidates who are in the data, for the precision of an attack"
    )
    permutations: Annotated[int, Field(ge=19)] = Field(description="permutations of the memberships behind the null")
    replicates: Count = Field(description="bootstrap replicates behind an interval")
    owner: str = Field("", description="name of the reviewer, for the data-protection section")
    review_by: str = Field("", description="ISO date of the next review at the latest, for the same section")
    records: RowNoun = ""
    offline_a: Annotated[float, Field(ge=0, le=1)] = Field(description="RMIA's a, where there are reference models")

"""Parts of a summary about groups of records: classes, categories of a column, and a subpopulation that is found."""

from pydantic import Field

from memaudit.auditing.summaries.summary_parts import Part, Value


class Group(Part):
    """Records of one class, or of one category of a column; the name is null unless values may be shown."""

    column: str = Field(description="as the table calls it")
    number: int
    name: str | None
    records: int
    auc: Value
    q_value: float
    excess: Value = Field(
        description="AUC against all records minus that of the others; detected: corrected for the choice among groups"
    )


class LeftOut(Part):
    """Records of a group that is not compared: too small, or beyond the largest; the name may be hidden."""

    column: str = Field(description="as the table calls it")
    number: int | None = Field(description="null: all groups beyond the largest ones that are compared")
    name: str | None
    records: int


class Subgroup(Part):
    """A group of one column by which a subpopulation is described; the name is null unless values may be shown."""

    column: str = Field(description="as the table calls it")
    number: int
    name: str | None


class Subpopulation(Part):
    """The subpopulation that leaks most in half of the records, judged on the other half."""

    groups: list[Subgroup] = Field(description="of one or two columns; records are in all of them")
    records: int = Field(description="in both halves")
    confirmed: int = Field(description="of these, in the half that confirms")
    searched: int = Field(description="subpopulations that were compared")
    auc: Value = Field(description="in the half that confirms")
    excess: Value = Field(description="AUC against all records minus that of the others, in the half that confirms")

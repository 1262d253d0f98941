"""What the rows of a table are called on the page and on the screen: records of people, or the noun of --records."""

import re
from dataclasses import dataclass

from memaudit.common.errors import AuditError

NOUN = re.compile(r"[^\W\d_]+( [^\W\d_]+)*")
LONGEST = 40


@dataclass(frozen=True)
class RowNouns:
    """Words for rows, for what is accused, and for those whom a leak concerns.

    noun: plural, of --records; empty: rows are records of people. by_person: whether several rows are accused together.
    fitted: whether the model is fitted on its rows, and has no context that it reads. alike: whether those accused
    together have equal features, and no column says to whom they belong: such rows count as one record.
    """

    noun: str = ""
    by_person: bool = False
    fitted: bool = False
    alike: bool = False

    @property
    def rows(self) -> str:
        """What rows are: "records", "modules"; "rows" where several of them count as one record."""
        return self.noun or ("rows" if self.alike else "records")

    @property
    def owner(self) -> str:
        """What several rows belong to."""
        if self.alike:
            return "record"
        return "group" if self.noun else "person"

    @property
    def owners(self) -> str:
        """Plural of `owner`: "persons", "groups of modules"; of rows alike "records", "modules"."""
        if self.alike:
            return self.noun or "records"
        return f"groups of {self.noun}" if self.noun else "persons"

    @property
    def unit(self) -> str:
        """What a score accuses at once: "person", "group", or "record"."""
        return self.owner if self.by_person else "record"

    @property
    def accused(self) -> str:
        """What the headline accuses: "records", "persons", "modules", "groups of modules"."""
        return self.owners if self.by_person else self.rows

    @property
    def one(self) -> str:
        """One of the accused: "a record", "one of the modules"."""
        if self.noun:
            return f"one of the {self.accused}"
        return f"a {self.unit}"

    @property
    def which_are(self) -> str:
        """What a leak tells, before "in its context": "who is", "which modules are"."""
        return f"which {self.accused} are" if self.noun else "who is"

    @property
    def context(self) -> str:
        """Where the rows are: "context", "training data"."""
        return "training data" if self.fitted else "context"

    @property
    def that(self) -> str:
        """The relative pronoun of candidates."""
        return "that" if self.noun else "who"

    @property
    def people(self) -> str:
        """Those whom rows stand for: "people", "modules"."""
        return self.noun or "people"

    @property
    def single(self) -> str:
        """One of those: "one person", "one of the modules"."""
        return f"one of the {self.noun}" if self.noun else "one person"

    @property
    def consent(self) -> str:
        """Whose consent vulnerable rows need."""
        return f"the owners of these {self.noun}" if self.noun else "the people behind these records"

    @property
    def speakers(self) -> str:
        """Who is told that a group leaks more."""
        return f"those who answer for these {self.noun}" if self.noun else "those who represent these people"

    @property
    def as_secret(self) -> str:
        """How to treat what leaks rows."""
        return "as confidential, as the table is" if self.noun else "as personal data"


def require(noun: str, owner: str, review_by: str) -> None:
    """Raise AuditError for a noun of --records that is none, or beside options of the data-protection section."""
    if not noun:
        return
    if len(noun) > LONGEST or not NOUN.fullmatch(noun):
        raise AuditError(
            f"--records {noun!r}: give a plural noun of at most {LONGEST} letters and single spaces, such as modules"
        )
    for option, value in {"--owner": owner, "--review-by": review_by}.items():
        if value:
            raise AuditError(
                f"{option}: is for the data-protection section, which a page with --records lacks; leave one out"
            )

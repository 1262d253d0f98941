"""One place decides what rows are called: records of people, or the noun of --records; and which nouns are refused."""

import pytest

from memaudit.auditing.reading.row_nouns import RowNouns, require
from memaudit.common.errors import AuditError


@pytest.mark.parametrize(
    ("noun", "by_person", "accused", "one"),
    [
        ("", False, "records", "a record"),
        ("", True, "persons", "a person"),
        ("modules", False, "modules", "one of the modules"),
        ("modules", True, "groups of modules", "one of the groups of modules"),
    ],
)
def test_what_is_accused(noun, by_person, accused, one):
    nouns = RowNouns(noun, by_person)
    assert (nouns.accused, nouns.one) == (accused, one)


def test_rows_that_differ_in_the_target_alone_count_as_one_record():
    nouns = RowNouns(by_person=True, alike=True)
    assert (nouns.accused, nouns.one, nouns.owner) == ("records", "a record", "record")
    assert nouns.rows == "rows"
    named = RowNouns("modules", by_person=True, alike=True)
    assert (named.accused, named.one, named.owner) == ("modules", "one of the modules", "record")


def test_without_a_noun_rows_are_records_of_people():
    nouns = RowNouns()
    assert (nouns.rows, nouns.owner, nouns.owners, nouns.people) == ("records", "person", "persons", "people")
    assert (nouns.which_are, nouns.that, nouns.single) == ("who is", "who", "one person")
    assert (nouns.consent, nouns.speakers) == ("the people behind these records", "those who represent these people")
    assert nouns.as_secret == "as personal data"
    assert (nouns.context, RowNouns(fitted=True).context) == ("context", "training data")


def test_with_a_noun_nothing_is_said_of_people():
    nouns = RowNouns("data modules")
    assert (nouns.rows, nouns.owner, nouns.owners) == ("data modules", "group", "groups of data modules")
    assert (nouns.which_are, nouns.that, nouns.people) == ("which data modules are", "that", "data modules")
    assert nouns.single == "one of the data modules"
    words = [nouns.consent, nouns.speakers, nouns.as_secret]
    assert not [word for word in words if "people" in word or "person" in word]


@pytest.mark.parametrize("noun", ["", "modules", "data modules", "Gebäude"])
def test_nouns_of_letters_and_spaces_are_taken(noun):
    require(noun, "", "")


@pytest.mark.parametrize("noun", ["mod1", "<b>", " modules", "a  b", "modules\n", "x" * 41, "a_b"])
def test_other_nouns_are_refused_in_one_line(noun):
    with pytest.raises(AuditError, match=r"^--records .*such as modules$") as refused:
        require(noun, "", "")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("owner", "review_by", "named"), [("A. B.", "", "--owner"), ("", "2030-01-31", "--review-by")])
def test_options_of_the_section_that_is_left_out_are_refused(owner, review_by, named):
    require("", owner, review_by)
    with pytest.raises(AuditError, match=named):
        require("modules", owner, review_by)


def test_a_score_accuses_persons_groups_or_records():
    assert [RowNouns().unit, RowNouns(by_person=True).unit, RowNouns(by_person=True, alike=True).unit] == [
        "record",
        "person",
        "record",
    ]
    assert RowNouns("modules", by_person=True).unit == "group"

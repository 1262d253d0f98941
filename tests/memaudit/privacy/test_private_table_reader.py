"""A private table: a row decides about itself alone, so that removing one changes nothing else."""

import io
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.table_sources import fetch
from memaudit.privacy.private_table_reader import read_raw

# Equal rows (also of two people), conflicts, missing and unknown values, a number beyond its bounds.
ROWS = """person,age,colour,born,churn
ann,41,red,2001-01-01,yes
ann,41,red,2001-01-01,yes
bob,41,red,2001-01-01,yes
bob,41,red,2001-01-01,no
cid,57,blue,2002-02-02,no
cid,57,blue,2002-02-02,yes
dan,,green,2003-03-03,no
eve,230,?,soon,yes
eve,30,violet,2003-03-03,perhaps
"""
FACTS = """source: a test
records: 9
task: classification
target: ["no", "yes"]
columns:
  age: [18, 100]
  colour: [blue, green, red]
"""
ENTRY = {"target": "churn", "group": None, "drop": ["person", "born"], "missing": ["?"], "typed": False}


@pytest.fixture
def read(tmp_path):
    """Read a table given as CSV; `facts` and keys of its entry may be others."""

    def call(text, facts=FACTS, **entry):
        (tmp_path / "table.csv").write_text(text)
        (tmp_path / "facts.yaml").write_text(facts)
        fetch({"source": "file", "path": str(tmp_path / "table.csv")}, tmp_path / "raw.parquet", tmp_path)
        return read_raw(tmp_path / "raw.parquet", tmp_path / "facts.yaml", ENTRY | entry)

    return call


def without(text, row):
    lines = text.splitlines(keepends=True)
    return "".join(lines[: row + 1] + lines[row + 2 :])


def records(table):
    """Every record with its unit, as texts: NaN equals itself."""
    return [f"{x.tolist()} {y} {unit}" for x, y, unit in zip(table.x, table.y, table.units, strict=True)]


def test_a_table_most_of_whose_classes_are_spelt_otherwise_is_refused(read):
    with pytest.raises(AuditError, match=r"9 of 9 records have no target that it names.*spelling and case count"):
        read(ROWS, FACTS.replace('["no", "yes"]', '["No", "Yes"]'))


def test_removing_a_row_removes_one_record_and_moves_no_other(read):
    """Its shard, place and features are those of one record; all others keep theirs, also its copies' and rivals'."""
    whole = records(read(ROWS))
    for row in range(ROWS.count("\n") - 1):
        rest = records(read(without(ROWS, row)))
        lost = Counter(whole) - Counter(rest)
        assert not Counter(rest) - Counter(whole)
        assert sum(lost.values()) == (0 if "perhaps" in ROWS.splitlines()[row + 1] else 1)
        assert [record for record in whole if record not in lost] == rest


def test_removing_a_person_removes_their_records_and_moves_no_other(read):
    whole = records(read(ROWS, group="person", drop=["born"]))
    frame = pd.read_csv(io.StringIO(ROWS), dtype=str, keep_default_na=False)
    for person in frame.person.unique():
        rest = records(read(frame[frame.person != person].to_csv(index=False), group="person", drop=["born"]))
        assert rest == [record for record in whole if not record.endswith(f" {person}")]
    assert sum(record.endswith(" ann") for record in whole) == 2


@pytest.mark.parametrize(("conflicts", "moved"), [("keep_first", 2), ("drop_both", 1)])
def test_keeping_the_first_of_a_conflict_is_what_this_avoids(tmp_path, conflicts, moved):
    """Removing one record of a table whose conflicts were settled: with `keep_first` another one takes its place."""
    policy = Policy(task="classification", target="churn", conflicts=conflicts)

    def settled(rows):
        frame = pd.DataFrame({"age": ["41", "41", "57", "30"], "churn": ["yes", "no", "no", "yes"]}).iloc[rows]
        write_table(frame, tmp_path / "raw.parquet")
        deduplicate(tmp_path / "raw.parquet", tmp_path / "records.parquet", b"key", policy, "table")
        return set(read_table(tmp_path / "records.parquet")["id"])

    assert len(settled([0, 1, 2, 3]) ^ settled([1, 2, 3])) == moved


def test_the_order_of_the_file_plays_no_part(read):
    frame = pd.read_csv(io.StringIO(ROWS), dtype=str, keep_default_na=False)
    shuffled = frame.sample(frac=1, random_state=0)
    first, second = read(ROWS), read(shuffled.to_csv(index=False))
    assert records(first) == records(second)
    reordered = read(frame[frame.columns[::-1]].to_csv(index=False))
    assert sorted(first.rows) == sorted(second.rows) == sorted(reordered.rows)
    assert sorted(read(without(ROWS, 0)).rows) != sorted(first.rows)


def test_what_a_column_is_the_facts_say_and_not_its_values(read):
    """Detected, `code` would be numbers until one row is a word, and `born` a date as long as all rows are."""
    facts = FACTS.replace("colour: [blue, green, red]", 'colour: ["1", "2"]')
    numbers = "age,colour,churn\n20,1,no\n30,2,yes\n40, 1 ,no\n"
    table, longer = read(numbers, facts, drop=[]), read(f"{numbers}50,one,no\n", facts, drop=[])
    codes = dict(table.x.tolist())
    assert codes == {20: 0, 30: 1, 40: 0}
    assert np.isnan(dict(longer.x.tolist())[50])
    assert set(records(table)) < set(records(longer))


def test_records_are_encoded_as_the_facts_say(read):
    table = read(ROWS)
    expected = Counter({"41.0 2.0 1": 3, "41.0 2.0 0": 1, "57.0 0.0 0": 1, "57.0 0.0 1": 1, "nan 1.0 0": 1})
    expected["100.0 nan 1"] = 1
    assert Counter(f"{x[0]} {x[1]} {y}" for x, y in zip(table.x, table.y, strict=True)) == expected


def test_a_column_that_is_neither_declared_nor_dropped_is_named(read):
    with pytest.raises(AuditError, match="columns/born: missing; give"):
        read(ROWS, drop=["person"])
    with pytest.raises(AuditError, match="columns/colour: the table has no column of this name"):
        read(ROWS, drop=["person", "born", "colour"])


def test_patterns_fit_as_in_the_facts(read):
    facts = FACTS.replace("  age: [18, 100]", "  a*: [0, 1]\n  age: [18, 100]")
    table = read("age,area,colour,churn\n20,0.5,red,no\n30,7,red,yes\n", facts, drop=[])
    assert sorted(table.x.tolist()) == [[20, 0.5, 2], [30, 1, 2]]


def test_a_cell_that_is_no_number_is_named_by_its_row_alone(read):
    with pytest.raises(AuditError, match=r"column 'age' must be numeric, but data row 4 holds no number") as caught:
        read(ROWS.replace("bob,41,red,2001-01-01,no", "bob,forty-one,red,2001-01-01,no"))
    assert "forty" not in str(caught.value)


GERMAN = """person,größe,colour,churn
ann,"171,5",red,1
ann,"1.171,5",red,"1,5"
bob,"1.171",blue,"2,25"
cid,?,red,3
"""
OF_NUMBERS = """source: a test
records: 9
task: regression
target: [0, 10]
columns:
  größe: [0, 2000]
  colour: [blue, green, red]
"""


def test_decimal_commas_are_read_as_the_entry_declares_them(read):
    """The texts of the rows, by which a ledger knows the table, stay those of the file."""
    german = {"decimal": ",", "drop": ["person"]}
    table = read(GERMAN, OF_NUMBERS, **german)
    pairs = sorted(zip(np.nan_to_num(table.x[:, 0], nan=-1.0).tolist(), table.y.tolist(), strict=True))
    assert pairs == [(-1.0, 3.0), (171.5, 1.0), (1171.0, 2.25), (1171.5, 1.5)]
    english = GERMAN.replace("1.171,5", "1171.5").replace("1.171", "1171").replace("171,5", "171.5")
    english = english.replace("1,5", "1.5").replace("2,25", "2.25")
    as_points = read(english, OF_NUMBERS, drop=["person"])
    assert Counter(map(str, as_points.x.tolist())) == Counter(map(str, table.x.tolist()))
    assert sorted(table.rows) != sorted(as_points.rows)
    assert any("1.171,5" in row for row in table.rows)


def test_with_a_declared_decimal_sign_a_row_decides_about_itself_alone(read):
    german = {"decimal": ",", "drop": [], "group": "person"}
    whole = records(read(GERMAN, OF_NUMBERS, **german))
    for row in range(4):
        rest = records(read(without(GERMAN, row), OF_NUMBERS, **german))
        assert sum((Counter(whole) - Counter(rest)).values()) == 1
        assert not Counter(rest) - Counter(whole)


def test_without_the_key_a_decimal_comma_is_refused_with_the_key(read):
    with pytest.raises(AuditError, match=r"column 'größe' must be numeric, but data row 1 holds no number; .*decimal"):
        read(GERMAN, OF_NUMBERS, drop=["person"])


def test_a_row_without_its_person_is_refused(read):
    with pytest.raises(AuditError, match="group 'person' is missing in data row 5: every record needs its unit"):
        read(ROWS.replace("cid,57,blue,2002-02-02,no", ",57,blue,2002-02-02,no"), group="person", drop=["born"])


def test_features_keep_their_names_but_one_that_is_called_target(read):
    facts = FACTS.replace("  age:", "  side: [0, 1]\n  age:")
    table = read("age,side,colour,churn\n20,1,red,no\n30,0,red,yes\n", facts, drop=[])
    assert [column.name for column in table.public.columns] == ["age", "side", "colour"]
    with pytest.raises(AuditError, match="column 'target': a release gives this name to its target"):
        read("age,Target,colour,churn\n20,1,red,no\n", FACTS.replace("  age:", "  Target: [0, 1]\n  age:"), drop=[])


def test_nothing_is_left_beside_the_raw_table(read, tmp_path):
    read(ROWS)
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", "facts.yaml", "raw.parquet"}


def test_bounds_that_were_chosen_in_view_of_the_data_are_refused(read):
    with pytest.raises(AuditError, match=r"bounds_from_data: bounds of age were chosen in view of the data"):
        read(ROWS, FACTS + "bounds_from_data: [age]\n")
    assert read(ROWS, FACTS + "bounds_from_data: []\n").public.records == 9

"""Lines on how an audit reads each column."""

from memaudit.auditing.reading.column_lines import EDIT, column_lines, remark_lines


def facts(names, **others):
    columns = {f"c{place}": {"name": name, "type": "numeric", "use": True} for place, name in enumerate(names)}
    return {"columns": columns, "left_out": {}, "readings": {}} | others


def test_a_column_that_is_the_same_in_all_rows_is_told_beside_its_reading():
    lines = column_lines(facts(["Land", "Größe"], constant=["Land", "Größe"], readings={"Größe": "decimal comma"}))
    assert lines == [
        "  'Land'   numeric (the same in all rows)",
        "  'Größe'  numeric (decimal comma; the same in all rows)",
        EDIT,
    ]
    assert column_lines(facts(["Land"])) == ["  'Land'  numeric", EDIT]


def test_of_a_wide_table_columns_with_a_remark_come_first():
    lines = column_lines(facts([f"f{place}" for place in range(100)], constant=["f99"]))
    assert lines[0] == "  'f99'  numeric (the same in all rows)"
    assert lines[-2] == "  ... and 60 more"
    assert len(lines) == 42


def test_of_a_table_in_memory_only_columns_with_a_remark_are_told():
    looks = "text in the file, although its values look like {}; only a declared type reads them so"
    readings = {"price": looks.format("numbers"), "vat": looks.format("numbers"), "day": looks.format("dates")}
    readings |= {"churn": looks.format("numbers"), "seen": "dates in UTC"}
    columns = ["price", "vat", "day", "seen", "age"]
    assert remark_lines(facts(columns, readings=readings, target="churn", constant=["seen"])) == [
        "'price', 'vat': texts that look like numbers are read as words; to have numbers read convert them before, by "
        "pandas.to_numeric",
        "'day': texts that look like dates are read as words; to have dates read convert them before, by "
        "pandas.to_datetime",
        "'seen': dates in UTC; the same in all rows",
    ]
    assert remark_lines(facts(columns, target="churn")) == []

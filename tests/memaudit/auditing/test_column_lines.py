"""Lines on how an audit reads each column."""

from memaudit.auditing.column_lines import EDIT, column_lines


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

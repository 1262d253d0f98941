"""A mistyped column finds its name across case and accents."""

import pytest

from memaudit.auditing.reading.column_hints import column_hint


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Strasse", "Straße_Typ"),
        ("ALTER", "Alter"),
        ("Grosse", "Größe (cm)"),
        ("Ubergabe", "Übergabe"),
        ("größe", "Größe"),
        ("chrun", "churn"),
    ],
)
def test_case_and_accents_do_not_hide_a_close_name(name, meant):
    assert column_hint(name, ["Einkommen €", meant, "PLZ"]) == f"; did you mean `{meant}`?"


def test_all_columns_are_listed_where_none_is_close_but_not_hundreds():
    assert column_hint("zzz", ["wine", "Übergabe"]) == "; known: wine, Übergabe"
    assert column_hint("zzz", [f"c{n}" for n in range(500)]).count(",") == 49

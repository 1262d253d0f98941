"""Lines of a ledger: what is written is read, and what would give budget back is damaged."""

import json
from dataclasses import asdict

import pytest

from memaudit.privacy.accounting import Budget
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.ledger_lines import Charge, PrivateTable, is_amount, parsed
from memaudit.privacy.table_fingerprint import identity

CHARGE = Charge(
    "0" * 16, "2026-01-01T00:00:00+00:00", "customers", "a" * 64, Budget(1.0, 1e-6), Budget(2.0, 1e-6), "a test"
)


def line(charge, **changes):
    return json.dumps(asdict(charge) | changes).encode()


@pytest.mark.parametrize("noise", [None, Guarantee(0.5), Guarantee(0.5, ((2, 1.0, 3.5), (1, 2e6, 1e6)))])
def test_a_line_gives_back_its_charge(noise):
    charge = Charge(**(vars(CHARGE) | {"unit": "one row", "guarantee": noise, "rows": 7}))
    assert parsed(line(charge)) == charge
    assert parsed(line(charge)).cost.guarantee == noise


def test_a_line_of_an_earlier_version_has_neither_unit_nor_noise_nor_rows():
    fields = {key: value for key, value in asdict(CHARGE).items() if key not in ("unit", "guarantee", "rows")}
    assert parsed(json.dumps(fields).encode()) == CHARGE


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"null"])
def test_what_is_no_line_is_none(text):
    assert parsed(text) is None


@pytest.mark.parametrize(
    "noise",
    [
        {"rho": -1, "mechanisms": None},
        {"rho": 1, "mechanisms": [[1, 1.0, 0]]},
        {"rho": float("inf"), "mechanisms": None},
    ],
)
def test_noise_that_costs_nothing_is_damage(noise):
    assert parsed(line(CHARGE, guarantee=noise)) is None


def test_an_amount_is_positive_and_finite():
    assert is_amount(Budget(1.0, 0.0))
    assert not any(is_amount(Budget(*pair)) for pair in [(0, 0.1), (float("inf"), 0.1), (1, 1), (1, -0.1)])


def test_a_table_is_identified_by_its_rows():
    assert PrivateTable("a", ["1", "2"]).identity == PrivateTable("b", ["2", "1"]).identity == identity(["1", "2"])

"""Notations from shapes: which decimal signs are possible, and what stands beside the digits."""

import pytest

from memaudit.data.number_formats import described, notation, parse


@pytest.mark.parametrize(
    ("shapes", "signs"),
    [
        (["9,9"], [","]), (["9.999,99"], [","]), (["9,999.99"], ["."]), (["9,999,999"], ["."]), (["9.999.999"], [","]),
        (["9,999"], [",", "."]), (["z,999"], [","]), (["9999,999"], [","]), (["9 999"], [""]), (["9'999.9"], ["."]),
        (["9,999", "9,9"], [","]), (["9.999", "9,99"], [","]), (["99,99,999"], ["."]), ([",99"], [","]),
    ],
)  # fmt: skip
def test_the_decimal_signs_that_fit_all_cells(shapes, signs):
    assert sorted(notation(dict.fromkeys(shapes, 1)).decimals) == signs


@pytest.mark.parametrize(
    "shape", ["a", "9.9.9", "99-99", "9/9", "(9", "9)", "-(9)", "--9", "-9-", "9 99", "99:99", "a9a", "%"]
)
def test_other_shapes_are_no_numbers(shape):
    assert parse(shape) is None or notation({shape: 1}) is None


def test_cells_of_another_unit_or_notation_are_not_counted():
    assert notation({"9 %": 5, "9": 3}).cells == 5
    assert notation({"9,9": 5, "9.9,9": 3}).cells == 5
    assert notation({"$9": 2, "€9": 1}).affix == ("$", "")


def test_many_groups_beside_short_numbers_are_thousands():
    assert notation({"9,999": 100, "999": 5}).decimals == (".",)
    assert len(notation({"9,999": 99, "999": 5}).decimals) == 2
    assert len(notation({"9,999": 100, "z": 5}).decimals) == 2
    assert len(notation({"9,999": 100, "9999": 5}).decimals) == 2


def test_leading_zeros_and_long_numbers_are_codes():
    assert notation({"z9999": 3, "9999": 2}).codes == 3
    assert notation({"9" * 16: 3}).codes == 3
    assert notation({"z,99": 3, "z": 1}).codes == 0


def test_a_notation_is_described_in_words():
    found = notation({"(9.999,9 %)": 1, "99,9 %": 1})
    assert described(found, ",") == ["decimal comma", "points group thousands", "12 % is read as 12", "(12) is -12"]

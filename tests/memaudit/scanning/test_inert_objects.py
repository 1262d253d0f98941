"""Inert objects name attributes, never keys of a dict, which may be values."""

from memaudit.scanning.inert_objects import Global, Made, Pairs, Place, parts


def test_attributes_are_named_and_keys_are_not():
    state = Pairs([("weights", 1), ("not a name", 2)])
    made = Made(Global("a", "B"), (), (None, state), mapping=Pairs([("Zqx", 3)]))
    assert [name for name, _ in parts(made)][:3] == ["", ".weights", "[...]"]
    assert [name for name, _ in parts(made.mapping)] == ["[...]", "[key]"]
    assert [name for name, _ in parts([4, 5])] == ["[...]", "[...]"]


def test_the_last_value_of_a_key_counts():
    assert Pairs([("a", 1), ("a", 2), ((), 3)]).get("a") == 2
    assert Pairs().get("a") is None


def test_a_place_is_written_from_the_outside():
    place = Place("")
    for name in ("a", "b", "c"):
        place = Place(f".{name}", place)
    assert str(place) == "a.b.c"
    assert place.names(1) == [".c"]
    for _ in range(100_000):
        place = Place("[...]", place)
    assert str(place).startswith("..")
    assert len(str(place)) < 60


def test_an_attribute_is_found_in_both_parts_of_a_state():
    assert Made(None, (), (Pairs([("a", 1)]), Pairs([("b", 2)]))).attribute("b") == 2
